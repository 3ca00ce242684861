"""Cuts a source into lines that stay and stretches that are left out, and writes it (PROTOCOL.md §14.4).

Plan, then commit: `plan_stretches` says what to store, `write_projection` puts the references in place.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ctxf.projection.check import Place
from ctxf.projection.extent import Rows
from ctxf.projection.find import Found
from ctxf.protocol.comments import Span
from ctxf.protocol.markers import BOM
from ctxf.protocol.model import CommentForm, Reference
from ctxf.protocol.references import ID_DIGITS, body_digest, format_reference
from ctxf.protocol.restore import Kind, find_references

__all__ = ["Stretch", "Written", "plan_stretches", "write_projection"]

_SAMPLE_ID: Final = "0" * ID_DIGITS
_INDENT: Final = re.compile(rb"(?:[ \t\f]*\r?\n)*([ \t]*)")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Whole lines that are left out: bytes `start` to `end`, from `row` on, shown as `first` to `last`."""

    start: int
    end: int
    row: int
    first: int
    last: int
    body: bytes
    digest: bytes
    head: bytes  # of the omission line: indentation, opener, keyword, label
    tail: bytes  # closer and line end

    @property
    def label(self) -> str:
        """What an omission line says of it."""
        return label_of(self.first, self.last)

    def line(self, id: str) -> bytes:
        """The omission line."""
        return self.head + format_reference(id) + self.tail


def label_of(first: int, last: int) -> str:
    """The label for lines `first` to `last`."""
    return f"line-{first}" if first == last else f"lines-{first}-{last}"


def plan_stretches(
    data: bytes,
    rows: Iterable[Rows],
    form: CommentForm,
    *,
    numbered_from: int | None = None,
    only: Sequence["Stretch"] | None = None,
) -> list[Stretch]:
    """What is left out when `rows` stay: every stretch that is longer than its omission line.

    References that count, with the markers around them, stay: a stored body holds none. `numbered_from` is
    the number of the first line where lines have theirs before them; with `only` just those stretches that
    have the same places among all.
    """
    count = _line_count(data)
    keep = sorted([*rows, *_reference_rows(data, count), Rows(count, count)])
    gaps, row = [], 0
    for first, last in keep:
        if first > row:
            gaps.append(Rows(row, first - 1))
        row = max(row, last + 1)
    starts = _line_starts(data, [row for gap in gaps for row in (gap.first, gap.last + 1)])
    stretches = [_stretch(data, starts, gap, form, numbered_from) for gap in gaps]
    if only is not None:
        wanted = {one.row for one in only}
        return [one for one in stretches if one.row in wanted]
    return [one for one in stretches if len(one.body) > len(one.line(_SAMPLE_ID))]


def _line_count(data: bytes) -> int:
    return data.count(b"\n") + (not data.endswith(b"\n") and len(data) > 0)


def _line_starts(data: bytes, rows: Iterable[int]) -> dict[int, int]:
    """Where some rows begin, behind a byte order mark; rows ascend, the last may be one more than there are.

    Not where all of them do: the numbers of 3,000 lines cost as much as a thirtieth of the parse.
    """
    lines = data.split(b"\n")
    starts, row, start = {}, 0, 0
    for wanted in rows:
        start += sum(map(len, lines[row:wanted])) + wanted - row
        row = wanted
        starts[row] = min(start, len(data))  # the last line may have no line end
    if data.startswith(BOM) and 0 in starts:
        starts[0] = len(BOM)
    return starts


def _stretch(
    data: bytes, starts: Mapping[int, int], rows: Rows, form: CommentForm, numbered_from: int | None
) -> Stretch:
    start, end = starts[rows.first], starts[rows.last + 1]
    body = data[start:end]
    indent = _INDENT.match(body) if numbered_from is None else None
    first_line = 1 if numbered_from is None else numbered_from
    eol = b"\r\n" if data[: data.find(b"\n", start)].endswith(b"\r") else b"\n"
    numbers = rows.first + first_line, rows.last + first_line
    label = label_of(*numbers).encode("ascii")
    head = b"%b%b @context-fold omit %b " % (indent[1] if indent else b"", form.opener, label)
    tail = (b" " + form.closer if form.closer else b"") + eol
    return Stretch(start, end, rows.first, *numbers, body, body_digest(body), head, tail)


def _reference_rows(data: bytes, line_count: int) -> list[Rows]:
    rows = []
    for one in find_references(data, Kind.UNKNOWN):
        row = one.line - 1
        is_block = not _is_omission(data, one)
        rows.append(Rows(max(0, row - is_block), min(row + is_block, line_count - 1)))
    return rows


def _is_omission(data: bytes, reference: Reference) -> bool:
    return b"@context-fold" in data[reference.start : reference.end]


@dataclass(frozen=True, slots=True)
class Written:
    """A projected source; where its omission lines are comments, and where the definitions are now."""

    text: bytes
    spans: list[Span]
    places: list[Place]


def write_projection(
    data: bytes, stretches: Sequence[tuple[Stretch, str]], definitions: Sequence[Found]
) -> Written:
    """The source with an omission line for each stretch, under the id that the archive gave."""
    pieces: list[bytes] = []
    spans: list[Span] = []
    moves: list[tuple[int, int]] = []  # from this byte on, so many bytes have gone
    position = length = 0
    for stretch, id in stretches:
        line = stretch.line(id)
        pieces += (data[position : stretch.start], line)
        length += stretch.start - position
        bare = line.lstrip(b" \t")
        spans.append(Span(length + len(line) - len(bare), length + len(line.rstrip(b"\r\n"))))
        length += len(line)
        position = stretch.end
        moves.append((stretch.end, position - length))
    pieces.append(data[position:])
    places = []
    for one in definitions:
        gone = max((move for end, move in moves if end <= one.start), default=0)
        places.append(Place(one.start - gone, one.end - gone, one.kind))
    return Written(b"".join(pieces), spans, places)
