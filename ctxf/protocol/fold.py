"""Decides what folds, and writes the folded text (PROTOCOL.md §7).

Plan, then commit: `plan_folds` says which bodies to store and changes nothing; once the caller has
stored them, `write_folds` puts references to them into the text.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ctxf.protocol.model import Block, Marker, Reason
from ctxf.protocol.references import (
    ID_DIGITS,
    LONGEST_REFERENCE,
    body_digest,
    parse_reference_line,
    reference_line,
)
from ctxf.protocol.savings import DEFAULT_MIN_SAVINGS_TOKENS, CountTokens, tokens_saved

__all__ = ["MAX_DEPTH", "FoldPlan", "FoldRules", "KeptMarker", "PlannedFold", "plan_folds", "write_folds"]

# PROTOCOL.md §5.4: it bounds what is archived for one byte of text.
MAX_DEPTH: Final = 16

_SAMPLE_ID = "0" * ID_DIGITS


@dataclass(frozen=True, slots=True)
class FoldRules:
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


@dataclass(frozen=True, slots=True)
class FoldPlan:
    """`folds` in text order, none inside another, and the blocks that stay."""

    folds: tuple[PlannedFold, ...]
    kept: tuple[KeptMarker, ...]


def plan_folds(
    text: bytes,
    blocks: Sequence[Block],
    void: Iterable[Block],
    rules: FoldRules,
    *,
    offset: int = 0,
    references: Sequence[int] | None = None,
) -> FoldPlan:
    """Choose the blocks that fold.

    `text` are the bytes from `offset` on that hold all `blocks` (closed, ordered by their ends) and
    all `void` ones, which fold never but may be references. `references` are the places of all references,
    in order, for a caller who finds them otherwise: in source they count by their lines alone, whether or
    not the grammar takes these for comments.
    """

    def body_of(block: Block) -> bytes:
        return text[block.begin.end - offset : block.end.start - offset]

    def is_reference(block: Block) -> bool:
        if block.size > len(block.begin.indent) + LONGEST_REFERENCE:
            return False  # without a look at the body: most are long
        return parse_reference_line(block.begin, body_of(block), wrapped=rules.wrapped) is not None

    if references is None:
        references = sorted(block.begin.start for block in (*blocks, *void) if is_reference(block))

    def references_in(block: Block) -> int:
        return bisect_left(references, block.end.start) - bisect_left(references, block.begin.start)

    folds: list[tuple[PlannedFold, list[PlannedFold]]] = []
    kept: list[KeptMarker] = []
    around: list[int] = []  # where the blocks around the current one begin
    for block in reversed(blocks):  # backwards, so that a block comes before those inside it
        start = block.begin.start
        while around and around[-1] > start:
            around.pop()
        around.append(start)
        inner = folds[-1][1] if folds and folds[-1][0].block.begin.start < start else None

        reason = saved = None
        if inside := references_in(block):
            if inside == 1 and is_reference(block):
                continue
            reason = Reason.HOLDS_REFERENCE
        elif len(around) > MAX_DEPTH:
            reason = Reason.TOO_DEEP
        else:
            body = body_of(block)
            line = reference_line(block.begin, _SAMPLE_ID, wrapped=rules.wrapped)
            saved = tokens_saved(body, line, rules.count_tokens)
            if saved < rules.min_savings_tokens or len(body) <= len(line):
                reason = Reason.TOO_SMALL
            else:
                fold = PlannedFold(block, body, body_digest(body), saved)
                if inner is None:
                    folds.append((fold, []))
                else:
                    inner.append(fold)
        if reason and inner is None:
            kept.append(KeptMarker(block.begin, reason, saved))

    return FoldPlan(
        folds=tuple(fold._replace(inner=tuple(reversed(inner))) for fold, inner in reversed(folds)),
        kept=tuple(reversed(kept)),
    )


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
