"""Stores what a plan says, and only then writes its references: laws L4 and L5."""

from collections.abc import Sequence
from typing import NamedTuple

from ctxf.archive import Archive, NewBody, Refused
from ctxf.errors import ArchiveError, CtxfError
from ctxf.folding.results import Fold, FoldResult, InnerFold, Kept
from ctxf.protocol.fold import FoldPlan, FoldRules, KeptMarker, PlannedFold, write_folds
from ctxf.protocol.model import Marker, Reason

__all__ = [
    "LONGER_ID",
    "Stretch",
    "as_it_was",
    "group_of",
    "store_and_write",
    "why_kept",
    "why_refused",
    "write_admitted",
]

Admission = tuple[str, ...] | Refused

LONGER_ID = "saves no byte: its id had to be longer"


class Stretch(NamedTuple):
    """A stretch of text that starts at byte `offset` of the whole, and what is to fold in it."""

    text: bytes
    offset: int
    plan: FoldPlan


def store_and_write(
    stretches: Sequence[Stretch], archive: Archive, scope: str, rules: FoldRules, capacity: int | None
) -> list[FoldResult[bytes]]:
    """Store the bodies of all stretches in one transaction, then write their references.

    When that fails every stretch comes back as it was, with the failure.
    """
    planned = [fold for stretch in stretches for fold in stretch.plan.folds]
    try:
        admissions = archive.put(scope, [group_of(fold) for fold in planned], capacity=capacity)
    except ArchiveError as failure:
        return [as_it_was(stretch, rules, failure) for stretch in stretches]
    admitted = iter(zip(planned, admissions, strict=True))
    return [
        write_admitted(stretch, [next(admitted) for _ in stretch.plan.folds], rules) for stretch in stretches
    ]


def group_of(fold: PlannedFold) -> list[NewBody]:
    return [NewBody(one.body, one.digest, one.block.begin.label) for one in (fold, *fold.inner)]


def write_admitted(
    stretch: Stretch, admitted: Sequence[tuple[PlannedFold, Admission]], rules: FoldRules
) -> FoldResult[bytes]:
    kept = [_kept(one, rules) for one in stretch.plan.kept]
    stored = []
    for fold, ids in admitted:
        if isinstance(ids, Refused):
            kept.append(_kept_block(fold.block.begin, Reason.CAPACITY, why_refused(ids)))
        else:
            stored.append((fold, ids))
    text, refused = write_folds(
        stretch.text, [(fold, ids[0]) for fold, ids in stored], rules, offset=stretch.offset
    )
    for fold in refused:
        kept.append(_kept_block(fold.block.begin, Reason.TOO_SMALL, LONGER_ID))
    unwritten = {fold.block.begin.start for fold in refused}
    folds = tuple(_fold(fold, ids) for fold, ids in stored if fold.block.begin.start not in unwritten)
    ordered = tuple(sorted(kept, key=lambda one: one.line))
    return FoldResult(text, folds, ordered, misspelled=stretch.plan.misspelled)


def as_it_was(stretch: Stretch, rules: FoldRules, failure: CtxfError) -> FoldResult[bytes]:
    kept = [_kept(one, rules) for one in stretch.plan.kept]
    kept += [
        _kept_block(fold.block.begin, Reason.ARCHIVE, _DETAILS[Reason.ARCHIVE]) for fold in stretch.plan.folds
    ]
    ordered = tuple(sorted(kept, key=lambda one: one.line))
    return FoldResult(stretch.text, (), ordered, failure, stretch.plan.misspelled)


def _fold(fold: PlannedFold, ids: Sequence[str]) -> Fold:
    inner = tuple(
        InnerFold(_label(one.block.begin), id, one.block.begin.line, len(one.body))
        for one, id in zip(fold.inner, ids[1:], strict=True)
    )
    begin = fold.block.begin
    return Fold(_label(begin), ids[0], begin.line, len(fold.body), fold.tokens_saved, inner)


def _kept(kept: KeptMarker, rules: FoldRules) -> Kept:
    return _kept_block(kept.marker, kept.reason, why_kept(kept.reason, kept.tokens_saved, rules))


def why_kept(reason: Reason, tokens_saved: int | None, rules: FoldRules) -> str:
    """Why a block stays, in words; `tokens_saved` where that decided."""
    if tokens_saved is None:
        return _DETAILS[reason]
    if tokens_saved >= rules.min_savings_tokens:
        return "saves no byte"
    return f"saves {tokens_saved} tokens, needs {rules.min_savings_tokens}"


def why_refused(refused: Refused) -> str:
    """Why the scope has no room for a block, in words."""
    return f"needs {refused.needed} bytes where the scope has {refused.free} left"


def _kept_block(marker: Marker, reason: Reason, detail: str) -> Kept:
    return Kept(_label(marker), marker.line, reason, detail)


def _label(marker: Marker) -> str:
    return marker.label.decode("utf-8")


_DETAILS = {
    Reason.UNCLOSED: "has no end",
    Reason.STRAY_END: "ends a block that was not begun",
    Reason.CROSSING: "crosses another block",
    Reason.FENCED: "is quoted in fenced code, a string or a longer comment",
    Reason.TOO_LARGE: "is longer than 16 MiB",
    Reason.TOO_DEEP: "is inside more than 15 other blocks",
    Reason.HOLDS_REFERENCE: "holds a reference already",
    Reason.IN_DOUBT: "may not be a comment here",
    Reason.PARSER: "could not be parsed",
    Reason.CAPACITY: "does not fit into what the scope may hold",
    Reason.ARCHIVE: "could not be stored",
    Reason.HOLDS_FOLD: "holds a block that was due earlier",
}
