"""Looking for lines in archived bodies, one body in memory at a time.

Bodies are bytes and patterns are text: invalid UTF-8 is matched by way of `surrogateescape`, so that `é`
is one character to a pattern, and yet any bytes can be found. A pattern sees one line at a time without
its line end (LF or CRLF), as in grep.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ctxf.errors import InvalidPattern, ReadError

__all__ = ["Line", "Search", "compile_pattern"]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a body: `number` counts from 1 as `ctxf read --lines` does, `text` has no line end.

    `is_match` is False for context around a match; `follows` tells whether the line before it in the
    body was given too.
    """

    id: str
    number: int
    text: bytes
    is_match: bool = True
    follows: bool = False


class Search:
    """Iterate to get the lines; bodies that cannot be read are passed over and collected in `unreadable`."""

    def __init__(
        self,
        ids: Iterable[str],
        read: Callable[[str], bytes],
        pattern: re.Pattern[str],
        context: int = 0,
    ) -> None:
        self.unreadable: list[ReadError] = []
        self._ids = ids
        self._read = read
        self._pattern = pattern
        self._context = context

    def __iter__(self) -> Iterator[Line]:
        for id in self._ids:
            try:
                body = self._read(id)
            except ReadError as error:
                self.unreadable.append(error)
                continue
            yield from self._search(id, body)

    def _search(self, id: str, body: bytes) -> Iterator[Line]:
        lines = _lines(body)
        matches = [number for number, line in enumerate(lines) if self._matches(line)]
        shown = -1  # the last line that was given
        for position, match in enumerate(matches):
            following = matches[position + 1] if position + 1 < len(matches) else len(lines)
            first = max(shown + 1, match - self._context)
            for number in range(first, min(following, match + self._context + 1)):
                yield Line(id, number + 1, lines[number], number == match, 0 <= shown == number - 1)
                shown = number

    def _matches(self, line: bytes) -> bool:
        return self._pattern.search(line.decode("utf-8", "surrogateescape")) is not None


def compile_pattern(pattern: str, *, is_fixed: bool = False, ignore_case: bool = False) -> re.Pattern[str]:
    """The pattern of a search: a regular expression as of Python's `re`, or a fixed text.

    Raises InvalidPattern.
    """
    try:
        return re.compile(re.escape(pattern) if is_fixed else pattern, re.IGNORECASE if ignore_case else 0)
    except (re.error, RecursionError, OverflowError) as error:
        raise InvalidPattern(pattern, str(error)) from error


def _lines(body: bytes) -> list[bytes]:
    lines = body.split(b"\n")
    if not lines[-1]:
        lines.pop()  # what is behind the last line end is no line
    return [line.removesuffix(b"\r") for line in lines]
