"""Tables for a person at a terminal: columns that fit it, sizes, ages, bars. A pipe never sees one."""

import os
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from ctxf.cli.pipes import is_terminal

__all__ = ["Column", "Screen", "age", "bar", "fit", "screen"]

_STDOUT: Final = 1
_MOST_COLUMNS: Final = 100
_BOLD, _GREEN, _RESET = "\x1b[1m", "\x1b[32m", "\x1b[0m"
# What an age is told in: the unit's name and its length; each is used below two of the next.
_UNITS: Final = (
    ("s", timedelta(seconds=1)),
    ("min", timedelta(minutes=1)),
    ("h", timedelta(hours=1)),
    ("d", timedelta(days=1)),
    ("months", timedelta(days=30.4375)),
    ("years", timedelta(days=365.25)),
)


class Column(NamedTuple):
    """A column's heading, its width (0: what the others leave), its side, and whether it is never cut."""

    heading: str
    width: int
    is_right: bool = False
    is_whole: bool = False


Cell = str | float
"""A text, or a share of 0 to 1 that is drawn as a bar."""


class Screen(NamedTuple):
    """What stdout shows: how many columns, and whether colours."""

    columns: int
    has_colour: bool

    def rows(self, columns: Sequence[Column], cells: Iterable[Sequence[Cell]]) -> Iterable[bytes]:
        """The heading, then the cells, each line ended and none wider than the screen."""
        taken = sum(column.width for column in columns) + 2 * (len(columns) - 1)
        free = max(8, self.columns - 1 - taken)
        widths = [column.width or free for column in columns]
        heading = "  ".join(map(self._cell, columns, widths, (column.heading for column in columns)))
        yield (f"{_BOLD}{heading.rstrip()}{_RESET}" if self.has_colour else heading.rstrip()).encode() + b"\n"
        for row in cells:
            yield "  ".join(map(self._cell, columns, widths, row)).rstrip(" ").encode() + b"\n"

    def _cell(self, column: Column, width: int, cell: Cell) -> str:
        if isinstance(cell, float):
            drawn = bar(cell, width)
            return f"{_GREEN}{drawn}{_RESET}" if self.has_colour and drawn else drawn
        shown = cell if column.is_whole else fit(cell, width)
        pad = " " * (width - _width(shown))
        return pad + shown if column.is_right else shown + pad


def screen() -> Screen | None:
    """The terminal that stdout is, None where it is a file or a pipe."""
    if not is_terminal(_STDOUT):
        return None
    try:
        columns = os.get_terminal_size(_STDOUT).columns or 80
    except OSError:
        columns = 80
    has_colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
    return Screen(min(columns, _MOST_COLUMNS), has_colour)


def age(when: datetime, now: datetime | None = None) -> str:
    """`40 s`, `3 h`, `12 d`: how long ago, in the largest unit of which two are full, else in seconds."""
    past = max(timedelta(0), (now or datetime.now(UTC)) - when)
    name, length = next((unit for unit in reversed(_UNITS) if past >= 2 * unit[1]), _UNITS[0])
    return f"{past // length} {name}"


def bar(share: float, width: int) -> str:
    """A share of 0 to 1 as so many of `width` columns; one at least for what is not nothing."""
    return "#" * max(share > 0, round(width * share))


def fit(text: str, width: int) -> str:
    """`text` on at most so many columns of a terminal; three dots say that there is more."""
    if _width(text) <= width:
        return text
    kept, used = [], 3
    for character in text:
        used += _width(character)
        if used > width:
            break
        kept.append(character)
    return "".join(kept) + "..."


def _width(text: str) -> int:
    """Columns: two for a wide character of East Asia, none for a mark on the one before."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )
