"""`--lines A:B`: some lines of a body, counted from 1, both ends included."""

import re
from typing import Final, NamedTuple

__all__ = ["LineRange", "count_lines", "parse_lines"]

_RANGE: Final = re.compile(r"(?P<first>[0-9]{1,18})?(?:(?P<colon>:)(?P<last>[0-9]{1,18})?)?(?<!^)")


class LineRange(NamedTuple):
    """First and last line; a `last` of None is the end."""

    first: int
    last: int | None

    def cut(self, text: bytes) -> bytes:
        """These lines of `text`, as far as it has them."""
        start = _line_start(text, 0, self.first - 1)
        if self.last is None:
            return text[start:]
        return text[start : _line_start(text, start, self.last - self.first + 1)]


def parse_lines(text: str) -> LineRange | None:
    """The range that `A:B`, `A:`, `:B` or `A` means; None where it means none."""
    match = _RANGE.fullmatch(text)
    if match is None:
        return None
    first = int(match["first"] or 1)
    last = int(match["last"]) if match["last"] else None if match["colon"] else first
    return LineRange(first, last) if first >= 1 and (last is None or last >= first) else None


def count_lines(text: bytes) -> int:
    """How many lines `text` has; the last may have no line end."""
    return text.count(b"\n") + (not text.endswith(b"\n"))


def _line_start(text: bytes, position: int, lines: int) -> int:
    """The start of the line that is `lines` lines behind the one that starts at `position`."""
    for _ in range(lines):
        position = text.find(b"\n", position) + 1
        if not position:
            return len(text)
    return position
