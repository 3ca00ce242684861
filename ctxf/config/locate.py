"""The lines on which the keys of a TOML file stand, which `tomllib` does not tell.

The text has been accepted by `tomllib`, so this is no second parser that could disagree on what is
valid: it only splits valid TOML into statements, strings and comments taken whole, and notes where
each key of a statement begins. Keys inside an inline table have the line of the key outside it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

__all__ = ["Key", "key_lines", "line_of"]

Key = tuple[str, ...]

# Strings come first and whole, so that nothing inside them is read as syntax. A multi-line string may
# end in up to two quotes of its own before the closing three.
_TOKEN = re.compile(
    r"""
      (?P<string> \"{3} (?: \\. | [^\\] )*? \"{3,5}
                | '{3} .*? '{3,5}
                | " (?: \\. | [^"\\\n] )* "
                | ' [^'\n]* ' )
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

    `[a.b]` names `("a",)` and `("a", "b")`; `c = 1` below it names `("a", "b", "c")`.
    """
    lines: dict[Key, int] = {}
    table: Key = ()
    for statement in _statements(text):
        if statement[0].text == "[":
            table = _leading_key(statement[2:] if statement[1].text == "[" else statement[1:])
            path = table
        else:
            path = table + _leading_key(statement)
        for length in range(1, len(path) + 1):
            lines.setdefault(path[:length], statement[0].line)
    return lines


def line_of(lines: Mapping[Key, int], path: Key) -> int | None:
    """The line of `path`, or of the nearest key around it that has one."""
    for length in range(len(path), 0, -1):
        if (line := lines.get(path[:length])) is not None:
            return line
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
    import tomllib  # noqa: PLC0415  # loaded already: this text has been through it

    value = tomllib.loads(f"key = {quoted}")["key"]
    assert isinstance(value, str)
    return value
