"""Finds the here-documents of a shell command, as far as that is certain.

It knows a small part of the shell's grammar: quotes, escapes, comments, `<<` and `<<-`. Where the meaning of
a `<<` depends on anything else (a substitution, arithmetic, an unclosed quote), it gives up, and the command
stays as it is. The full grammar was rejected: a hook has 100 ms, and its parser may take longer.
"""

import re
from typing import Final, NamedTuple

__all__ = ["Heredoc", "find_heredocs"]

_DELIMITER = re.compile(
    r"<<(-?)[ \t]*(?:'([^'\n]+)'|\"([^\"\\$`\n]+)\"|([A-Za-z0-9_.:/+=@%^-]+))(?=[\s;&|()<>]|\Z)"
)
_WORD_ENDS: Final = " \t\n;&|()<>"
_QUOTED = re.compile(r"'[^']*+'|\"(?:[^\"\\`$]|\\.|\$(?:\w|\{\w+\}|(?![\w('\"{])))*+\"", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\w|\{\w+\}|(?![\w('\"{]))")
_PLAIN = re.compile(r"[^\\'\"`$#<\n]+")


class Heredoc(NamedTuple):
    """The text between the command line and the line of the delimiter is `command[start:end]`.

    `is_literal`: the delimiter is quoted, so the shell expands nothing in the text. `strips_tabs`: `<<-`.
    """

    start: int
    end: int
    delimiter: str
    is_literal: bool
    strips_tabs: bool

    def can_hold(self, body: str) -> bool:
        """Whether `body` would reach the command as it is."""
        if "\0" in body or "\r" in self.delimiter:
            return False
        if body and not body.endswith("\n"):
            return False  # the delimiter would stand in its last line
        lines = body.split("\n")
        if self.strips_tabs and any(line.startswith("\t") for line in lines):
            return False
        return self.delimiter not in lines and (self.is_literal or not set(body) & set("$`\\"))


def find_heredocs(command: str) -> list[Heredoc] | None:
    """All of them in order; None where that cannot be told."""
    found: list[Heredoc] = []
    waiting: list[re.Match[str]] = []
    position = 0
    while position < len(command):
        if command[position] == "\n":
            position += 1
            for opener in waiting:
                heredoc = _heredoc(command, position, opener)
                if heredoc is None:
                    return None
                found.append(heredoc)
                position = heredoc.end + len(_line_at(command, heredoc.end))
            waiting = []
        elif command.startswith("<<", position) and not command.startswith("<<<", position):
            delimiter = _DELIMITER.match(command, position)
            if delimiter is None:
                return None
            waiting.append(delimiter)
            position = delimiter.end()
        else:
            after = _behind_word(command, position)
            if after is None:
                return None
            position = after
    return None if waiting else found


def _behind_word(command: str, position: int) -> int | None:
    """Where the shell goes on behind plain characters, a here-string's operator, a comment or quoting."""
    if plain := _PLAIN.match(command, position):
        return plain.end()
    if command[position] == "<":
        return position + (3 if command.startswith("<<<", position) else 1)
    if command[position] == "#":
        is_comment = position == 0 or command[position - 1] in _WORD_ENDS
        return position + (len(_line_at(command, position).removesuffix("\n")) if is_comment else 1)
    if command[position] == "\\":
        return position + 2
    # A substitution, or a quote that is not closed: what follows may be anything.
    quoted = _QUOTED.match(command, position) or _VARIABLE.match(command, position)
    return quoted.end() if quoted else None


def _heredoc(command: str, start: int, opener: re.Match[str]) -> Heredoc | None:
    strips_tabs = bool(opener[1])
    delimiter = opener[2] or opener[3] or opener[4]
    position = start
    while position < len(command):
        line = _line_at(command, position)
        text = line.removesuffix("\n")
        if (text.lstrip("\t") if strips_tabs else text) == delimiter:
            return Heredoc(start, position, delimiter, opener[4] is None, strips_tabs)
        position += len(line)
    return None


def _line_at(command: str, position: int) -> str:
    end = command.find("\n", position)
    return command[position:] if end < 0 else command[position : end + 1]
