"""The lines on which the keys of a TOML file stand, which `tomllib` does not tell.

This is no second parser that could disagree with `tomllib` on what is valid: it only splits TOML into
statements, strings and comments taken whole, and notes where the key of each begins. Of text that is
no TOML it makes tokens of some kind, in linear time. Keys inside an inline table have the line of the
key outside it.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

__all__ = ["MAX_KEY_PARTS", "Key", "key_lines", "line_of", "overlong_key"]

Key = tuple[str, ...]

MAX_KEY_PARTS: Final = 8
_LOCATED_PARTS: Final = 2  # no field lies deeper

# Strings come first and whole, so that nothing inside them is read as syntax. A multi-line string may
# end in up to two quotes of its own before the closing three. One that is never closed is taken to the
# end as well, else hostile text would be searched again from each of its quotes.
_TOKEN = re.compile(
    r"""
      (?P<string> \"{3} (?: \\. | [^\\] )*? (?: \"{3,5} | \Z )
                | '{3} .*? (?: '{3,5} | \Z )
                | " (?: \\. | [^"\\\n] )*+ "?
                | ' [^'\n]*+ '? )
    | (?P<comment> \# [^\n]* )
    | (?P<newline> \n )
    | (?P<word> [A-Za-z0-9_-]+ )
    | (?P<blank> [ \t\r]+ )
    | (?P<sign> . )
    """,
    re.VERBOSE | re.DOTALL,
)


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


def key_lines(text: str) -> dict[Key, int]:
    """The 1-based line of the first appearance of each key of valid TOML, by its path from the top.

    Paths end after two keys: `[a]` gives a line to `("a",)`, `b.c = 1` below it to `("a", "b")`.
    """
    lines: dict[Key, int] = {}
    table: Key = ()
    for statement in _statements(text):
        if statement[0].text == "[":
            table = _leading_key(statement[2:] if statement[1].text == "[" else statement[1:])
            path = table
        else:
            path = table + _leading_key(statement)
        for length in range(1, min(len(path), _LOCATED_PARTS) + 1):
            lines.setdefault(path[:length], statement[0].line)
    return lines


def line_of(lines: Mapping[Key, int], path: Key) -> int | None:
    """The line of `path`, or of the nearest key around it that has one."""
    for length in range(len(path), 0, -1):
        if (line := lines.get(path[:length])) is not None:
            return line
    return None


def overlong_key(text: str) -> int | None:
    """The line of the first dotted key of more than MAX_KEY_PARTS parts.

    `tomllib` takes quadratic time for such a key: 40 seconds for one of 64 KiB.
    """
    dots = 0
    for token in _tokens(text):
        if token.text == ".":
            dots += 1
            if dots >= MAX_KEY_PARTS:
                return token.line
        elif token.kind not in ("word", "string", "blank"):
            dots = 0
    return None


def _statements(text: str) -> Iterator[list[_Token]]:
    """The headers and assignments, each as its tokens without blanks and comments."""
    statement: list[_Token] = []
    depth = 0  # of arrays and inline tables: a line end inside them ends no statement
    for token in _tokens(text):
        if token.kind == "newline":
            if statement and depth == 0:
                yield statement
                statement = []
        elif token.kind not in ("blank", "comment"):
            statement.append(token)
            if token.kind == "sign":
                depth += (token.text in "[{") - (token.text in "]}")
    if statement:
        yield statement


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        yield _Token(match.lastgroup or "", match[0], line)
        line += match[0].count("\n")


def _leading_key(tokens: list[_Token]) -> Key:
    """The dotted key before the first `=` or `]`."""
    parts = []
    for token in tokens:
        if token.kind == "word":
            parts.append(token.text)
        elif token.kind == "string":
            parts.append(_unquote(token.text))
        elif token.text != ".":
            break
    return tuple(parts)


def _unquote(quoted: str) -> str:
    """What a quoted key means. `tomllib` itself knows all the escapes."""
    value = tomllib.loads(f"key = {quoted}")["key"]
    assert isinstance(value, str)
    return value
