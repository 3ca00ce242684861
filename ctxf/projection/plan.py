"""Cuts a source into lines that stay and stretches that are left out, and writes it (PROTOCOL.md §14.4).

Plan, then commit: `plan_stretches` says what to store, `write_projection` puts the references in place.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

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


class Stretch(NamedTuple):
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
    starts = line_starts(data)
    keep = sorted([*rows, *_reference_rows(data, starts)])
    stretches, row = [], 0
    for first, last in [*keep, Rows(len(starts) - 1, len(starts) - 1)]:
        if first > row:
            stretches.append(_stretch(data, starts, row, first - 1, form, numbered_from))
        row = max(row, last + 1)
    if only is not None:
        wanted = {one.row for one in only}
        return [one for one in stretches if one.row in wanted]
    return [one for one in stretches if len(one.body) > len(one.line(_SAMPLE_ID))]


def line_starts(data: bytes) -> list[int]:
    """Where each line begins, behind a byte order mark; at the end, where one more would."""
    starts = list(accumulate(map(len, re.findall(rb"[^\n]*\n|[^\n]+", data)), initial=0))
    starts[0] = len(BOM) if data.startswith(BOM) else 0
    return starts


def _stretch(
    data: bytes, starts: Sequence[int], first: int, last: int, form: CommentForm, numbered_from: int | None
) -> Stretch:
    start, end = starts[first], starts[last + 1]
    body = data[start:end]
    indent = _INDENT.match(body) if numbered_from is None else None
    first_line = 1 if numbered_from is None else numbered_from
    eol = b"\r\n" if data[start : starts[first + 1]].endswith(b"\r\n") else b"\n"
    numbers = first + first_line, last + first_line
    label = label_of(*numbers).encode("ascii")
    head = b"%b%b @context-fold omit %b " % (indent[1] if indent else b"", form.opener, label)
    tail = (b" " + form.closer if form.closer else b"") + eol
    return Stretch(start, end, first, *numbers, body, body_digest(body), head, tail)


def _reference_rows(data: bytes, starts: Sequence[int]) -> list[Rows]:
    rows = []
    for one in find_references(data, Kind.UNKNOWN):
        row = one.line - 1
        is_block = not _is_omission(data, one)
        rows.append(Rows(max(0, row - is_block), min(row + is_block, len(starts) - 2)))
    return rows


def _is_omission(data: bytes, reference: Reference) -> bool:
    return b"@context-fold" in data[reference.start : reference.end]


class Written(NamedTuple):
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
