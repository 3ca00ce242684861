"""Decides what folds, and writes the folded text (PROTOCOL.md §7).

Plan, then commit: `plan_text` and `plan_folds` say which bodies to store and change nothing; once the
caller has stored them, `write_folds` puts references to them into the text.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from ctxf.protocol.model import Block, Marker, Reason
from ctxf.protocol.pairing import pair
from ctxf.protocol.references import (
    ID_DIGITS,
    REFERENCE_HEAD,
    body_digest,
    parse_reference_line,
    reference_line,
)
from ctxf.protocol.restore import Kind, find_references
from ctxf.protocol.savings import DEFAULT_MIN_SAVINGS_TOKENS, CountTokens, tokens_saved
from ctxf.protocol.scan_text import scan_text

__all__ = [
    "MAX_DEPTH",
    "FoldPlan",
    "FoldRules",
    "KeptMarker",
    "PlannedFold",
    "kept_outside",
    "plan_block",
    "plan_folds",
    "plan_text",
    "write_folds",
]

# PROTOCOL.md §5.4: it bounds what is archived for one byte of text.
MAX_DEPTH: Final = 16

_SAMPLE_ID = "0" * ID_DIGITS


class FoldRules(NamedTuple):
    """What a caller may choose. `wrapped` is set for source, where the reference line is a comment."""

    min_savings_tokens: int = DEFAULT_MIN_SAVINGS_TOKENS
    count_tokens: CountTokens | None = None
    wrapped: bool = False


class PlannedFold(NamedTuple):
    """A block to fold, and the blocks inside it that are archived with it so that they can be read alone."""

    block: Block
    body: bytes
    digest: bytes
    tokens_saved: int
    inner: tuple["PlannedFold", ...] = ()


class KeptMarker(NamedTuple):
    """A marker whose block stays; `tokens_saved` is set where that decided."""

    marker: Marker
    reason: Reason
    tokens_saved: int | None = None


class FoldPlan(NamedTuple):
    """`folds` in text order, none inside another, and the markers whose blocks stay, in text order.

    `misspelled`: the numbers of lines that look like a marker and are none.
    """

    folds: tuple[PlannedFold, ...]
    kept: tuple[KeptMarker, ...]
    misspelled: tuple[int, ...] = ()


def plan_text(text: bytes, rules: FoldRules) -> FoldPlan:
    """Choose the blocks of a whole text that fold (PROTOCOL.md §4, §5, §7)."""
    scan = scan_text(text)
    pairing = pair(scan.markers, len(text))
    left = pairing.left + [(marker, Reason.FENCED) for marker in scan.quoted]
    return plan_folds(text, pairing.blocks, left, rules)._replace(misspelled=tuple(scan.misspelled))


def plan_folds(
    text: bytes,
    blocks: Sequence[Block],
    left: Iterable[tuple[Marker, Reason]],
    rules: FoldRules,
    *,
    offset: int = 0,
    folded: Sequence[int] = (),
) -> FoldPlan:
    """Choose the ones of `blocks` (closed, ordered by their ends) that fold.

    `text` are the bytes from `offset` on that hold them all; `left` are the markers that pairing has
    ruled out already; `folded` are places, in order, where an earlier plan of the same text put references.
    """
    folds: list[tuple[PlannedFold, list[PlannedFold]]] = []
    kept = [KeptMarker(marker, reason) for marker, reason in left]
    around: list[int] = []  # where the blocks around the current one begin
    for block in reversed(blocks):  # backwards, so that a block comes before those inside it
        start = block.begin.start
        while around and around[-1] > start:
            around.pop()
        around.append(start)
        inner = folds[-1][1] if folds and folds[-1][0].block.begin.start < start else None
        if len(around) > MAX_DEPTH:
            verdict: PlannedFold | KeptMarker | None = KeptMarker(block.begin, Reason.TOO_DEEP)
        elif bisect_left(folded, start) < bisect_left(folded, block.end.start):
            verdict = KeptMarker(block.begin, Reason.HOLDS_REFERENCE)
        else:
            verdict = plan_block(text, block, rules, offset)
        if isinstance(verdict, PlannedFold):
            if inner is None:
                folds.append((verdict, []))
            else:
                inner.append(verdict)
        elif verdict is not None and inner is None:
            kept.append(verdict)

    plan = tuple(
        fold._replace(inner=tuple(reversed(inner))) if inner else fold for fold, inner in reversed(folds)
    )
    return FoldPlan(plan, kept_outside(plan, kept))


def kept_outside(folds: Sequence[PlannedFold], kept: Iterable[KeptMarker]) -> tuple[KeptMarker, ...]:
    """`kept` in text order, without the markers that go away inside a fold."""
    ends = iter(fold.block for fold in folds)
    block = next(ends, None)
    outside = []
    for one in sorted(kept, key=lambda one: one.marker.start):
        while block is not None and block.end.start <= one.marker.start:
            block = next(ends, None)
        if block is None or one.marker.start < block.begin.start:
            outside.append(one)
    return tuple(outside)


def plan_block(text: bytes, block: Block, rules: FoldRules, offset: int) -> PlannedFold | KeptMarker | None:
    """How a block would fold alone, or why not (PROTOCOL.md §7.1); None for a reference block."""
    begin, end = block
    body = text[begin.end - offset : end.start - offset]
    if REFERENCE_HEAD in body:
        # With its markers, and by every rule: what is folded as text may be restored as source.
        references = find_references(text[begin.start - offset : end.end - offset], Kind.UNKNOWN)
        head = begin.end - begin.start
        if any((one.start, one.end) == (head, head + len(body)) for one in references):
            return None
        if references:
            return KeptMarker(begin, Reason.HOLDS_REFERENCE)
    line = reference_line(begin, _SAMPLE_ID, wrapped=rules.wrapped)
    saved = tokens_saved(body, line, rules.count_tokens)
    if saved < rules.min_savings_tokens or len(body) <= len(line):
        return KeptMarker(begin, Reason.TOO_SMALL, saved)
    return PlannedFold(block, body, body_digest(body), saved)


def write_folds(
    text: bytes, folds: Iterable[tuple[PlannedFold, str]], rules: FoldRules, *, offset: int = 0
) -> tuple[bytes, list[PlannedFold]]:
    """The text with a reference to its id in place of each body, and the folds that were not written.

    A fold is not written where a longer id would no longer save a byte, or where what would stand there
    could not be read back as this reference (law L1).
    """
    pieces: list[bytes] = []
    refused: list[PlannedFold] = []
    position = 0
    for fold, id in folds:
        begin = fold.block.begin
        line = reference_line(begin, id, wrapped=rules.wrapped)
        if len(line) >= len(fold.body) or parse_reference_line(begin, line, wrapped=rules.wrapped) != id:
            refused.append(fold)
            continue
        pieces += (text[position : begin.end - offset], line)
        position = fold.block.end.start - offset
    pieces.append(text[position:])
    return b"".join(pieces), refused
