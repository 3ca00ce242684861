"""Recognises the results of tools that read a source file (PROTOCOL.md §14.6).

A tool that is none of these, a command that does more than to show lines, a result that is not what such a
tool gives: the text is no source as far as anybody knows, and stays. Another tool is a row of READERS.
"""

import re
import shlex
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ctxf.conversations.guidance import SHELL_TOOLS

__all__ = ["READERS", "SourceRead", "read_source"]

READERS: Final[Mapping[str, tuple[str, ...]]] = {
    "Read": ("file_path",),  # Claude Code: numbered
    "read_file": ("absolute_path", "file_path", "path"),  # Gemini CLI and many others
}
"""Tools whose result is a file's text, with the arguments that may name the file."""

_COMMAND_ARGUMENTS: Final = ("command", "cmd")
_SHELLS: Final = frozenset({"bash", "sh", "zsh"})
_LONGEST_COMMAND: Final = 4096
# Anything that a shell would not take as it stands, blanks and quotes aside.
_SHELL_SYNTAX: Final = re.compile(r"[;&|<>`$\\\n*?(){}\[\]~#!]")
_RANGE: Final = re.compile(r"[0-9]+(?:,[0-9]+)?p")

# `     1→def f():`, `     1\tdef f():`: blanks, the number, an arrow or a tab.
_NUMBERED: Final = re.compile(r"[ ]*+([0-9]{1,9}+)(?:\u2192|\t)")
# What clients say behind the lines of a file.
_TRAILER: Final = re.compile(
    r"(?<!\n)\n*+<system-reminder>(?:(?!<system-reminder>).)*</system-reminder>\s*\Z", re.DOTALL
)
# What Codex says before the output of a command.
_HEAD: Final = re.compile(
    r"(?:(?!Output:\n)[A-Z][^\n:]{0,60}(?::[^\n]{0,200})?\n|Process exited with code 0\n)*Output:\n"
)
_TRUNCATED: Final = "IMPORTANT: The file content has been truncated"


class SourceRead(NamedTuple):
    """A file's lines as a tool showed them: `head` and `tail` stand around `shown`, which may be numbered.

    `source` is the same lines without their numbers, `first_line` the number of the first.
    """

    file: str
    head: str
    shown: str
    tail: str
    source: str
    first_line: int = 1

    @property
    def is_numbered(self) -> bool:
        """Whether what is shown differs from the source."""
        return self.shown != self.source


def read_source(
    tool: str, arguments: Mapping[str, Any], text: str, readers: Mapping[str, tuple[str, ...]] = READERS
) -> SourceRead | None:
    """The file that a tool's result shows, or None where it is not certain that it shows just that."""
    head, tail = "", ""
    if tool in readers:
        file = next((arguments[name] for name in readers[tool] if isinstance(arguments.get(name), str)), None)
    elif tool in SHELL_TOOLS:
        file = _file_of_command(arguments)
        head = match[0] if (match := _HEAD.match(text)) else ""
    else:
        return None
    if not file or text.startswith(_TRUNCATED):
        return None
    trailer = _TRAILER.search(text)
    if trailer:
        tail = trailer[0]
    shown = text[len(head) : len(text) - len(tail)]
    return _numbered(file, head, shown, tail) or SourceRead(file, head, shown, tail, shown)


def _file_of_command(arguments: Mapping[str, Any]) -> str | None:
    """The file that a command shows, if it does nothing else."""
    command = next((arguments[name] for name in _COMMAND_ARGUMENTS if name in arguments), None)
    words = _words(command)
    if len(words) == 3 and words[0].rpartition("/")[2] in _SHELLS and words[1] in ("-c", "-lc"):
        words = _words(words[2])
    match words:
        case ["cat", file] | ["cat", "-n", file] | ["nl", file] | ["nl", "-ba", file]:
            return None if file.startswith("-") else file
        case ["sed", "-n", lines, file] if _RANGE.fullmatch(lines):
            return None if file.startswith("-") else file
    return None


def _words(command: object) -> list[str]:
    if isinstance(command, list):
        return command if all(isinstance(word, str) for word in command) else []
    if (
        not isinstance(command, str)
        or len(command) > _LONGEST_COMMAND
        or _SHELL_SYNTAX.search(command.strip())
    ):
        return []
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _numbered(file: str, head: str, shown: str, tail: str) -> SourceRead | None:
    """The read of lines that all have their numbers before them, each one more than the last."""
    lines = shown.split("\n")
    ends_open = lines[-1] == ""
    first = None
    source = []
    for index, line in enumerate(lines[:-1] if ends_open else lines):
        match = _NUMBERED.match(line)
        if match is None:
            return None
        number = int(match[1])
        first = number if first is None else first
        if number != first + index:
            return None
        source.append(line[match.end() :])
    if first is None:
        return None
    text = "\n".join(source) + ("\n" if ends_open else "")
    return SourceRead(file, head, shown, tail, text, first)
