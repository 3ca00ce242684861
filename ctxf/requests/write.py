"""Stores what a request's plan says, and only then writes its references: laws L4 and L5."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ctxf.archive import Archive, NewBody, Refused
from ctxf.folding.results import InnerFold
from ctxf.folding.storing import LONGER_ID, why_kept, why_refused
from ctxf.protocol.fold import FoldRules
from ctxf.protocol.model import Marker, Reason
from ctxf.protocol.strings import to_str
from ctxf.requests.memo import Memo
from ctxf.requests.model import FoldedPart, RequestFold, RequestKept
from ctxf.requests.plan import KeptInRequest, PlannedPart, PlannedRequestFold, RequestPlan, part_line
from ctxf.requests.slots import Edit, pointer
from ctxf.requests.texts import History

__all__ = ["Written", "describe_failed", "describe_kept", "in_order", "store_plan", "write_plan"]

Admission = tuple[str, ...] | Refused


class Written(NamedTuple):
    """The changes to the body, and what there is to say of them."""

    edits: list[Edit]
    folds: tuple[RequestFold, ...]
    kept: list[RequestKept]


def store_plan(
    plan: RequestPlan, history: History, archive: Archive, scope: str, capacity: int | None, memo: Memo
) -> list[Admission]:
    """Store the bodies of all folds in one transaction; the ids of each fold's, parts before inner blocks.

    What the memo knows the archive to hold, at the state that it is in, is not looked up again. Raises
    ArchiveError, and then nothing new is stored.
    """
    groups = [_bodies(fold) for fold in plan.folds]
    digests = list({body.digest for group in groups for body in group})
    mark = archive.change_mark() if digests else None
    known = memo.known_ids(mark, scope, digests)
    unknown = [
        (fold, group)
        for fold, group in zip(plan.folds, groups, strict=True)
        if any(body.digest not in known for body in group)
    ]
    new = [
        [NewBody(history.slice(body.part), body.digest, fold.block.begin.label) for body in group]
        for fold, group in unknown
    ]
    admissions = iter(archive.put(scope, new, capacity=capacity))
    stored: list[Admission] = [
        tuple(known[body.digest] for body in group)
        if all(body.digest in known for body in group)
        else next(admissions)
        for group in groups
    ]
    # Only where nothing at all was written since, by us or anybody: who knows what came between.
    if mark is not None and archive.change_mark() == mark:
        memo.note_ids(mark, scope, _ids(groups, stored))
    return stored


def _bodies(fold: PlannedRequestFold) -> list[PlannedPart]:
    return [*fold.parts, *(part for inner in fold.inner for part in inner.parts)]


def _ids(groups: Sequence[Sequence[PlannedPart]], stored: Sequence[Admission]) -> dict[bytes, str]:
    return {
        body.digest: id
        for group, ids in zip(groups, stored, strict=True)
        if not isinstance(ids, Refused)
        for body, id in zip(group, ids, strict=True)
    }


def write_plan(plan: RequestPlan, history: History, admissions: Sequence[Admission]) -> Written:
    """Put references in the place of what was stored; a block whose ids got too long stays whole."""
    folds: list[RequestFold] = []
    kept: list[RequestKept] = []
    pieces: dict[int, list[bytes]] = {}  # by text: what its new version is made of, up to `written`
    written: dict[int, int] = {}
    for fold, ids in zip(plan.folds, admissions, strict=True):
        if isinstance(ids, Refused):
            kept.append(_describe(history, fold.block.begin, Reason.CAPACITY, why_refused(ids)))
            continue
        is_split = _is_split(history, fold)
        lines = [part_line(fold.block.begin, id, is_split=is_split) for id in ids[: len(fold.parts)]]
        parts = [one.part for one in fold.parts]
        if any(len(line) >= part.end - part.start for line, part in zip(lines, parts, strict=True)):
            kept.append(_describe(history, fold.block.begin, Reason.TOO_SMALL, LONGER_ID))
            continue
        for line, part in zip(lines, parts, strict=True):
            text = history.texts[part.text]
            before = text.data[written.get(part.text, 0) : part.start - text.start]
            pieces.setdefault(part.text, []).extend((before, line))
            written[part.text] = part.end - text.start
        folds.append(_describe_fold(history, fold, ids))
    edits = []
    for index, new in pieces.items():
        text = history.texts[index]
        new.append(text.data[written[index] :])
        edits.append(Edit("set", text.path, to_str(b"".join(new))))
    return Written(edits, tuple(folds), kept)


def describe_kept(history: History, kept: KeptInRequest, min_savings_tokens: int) -> RequestKept:
    """A kept block as the caller gets to see it."""
    if kept.reason is Reason.NOT_DUE:
        replies = f"{kept.figure} more {'reply' if kept.figure == 1 else 'replies'}"
        return _describe(history, kept.marker, kept.reason, f"waits for {replies}")
    detail = why_kept(kept.reason, kept.figure, FoldRules(min_savings_tokens))
    return _describe(history, kept.marker, kept.reason, detail)


def describe_failed(history: History, fold: PlannedRequestFold) -> RequestKept:
    """A block that would have folded, had the archive not failed."""
    return describe_kept(history, KeptInRequest(fold.block.begin, Reason.ARCHIVE), 0)


def in_order(kept: Iterable[RequestKept]) -> tuple[RequestKept, ...]:
    """By the order of the texts, as far as it was lost; paths are JSON pointers."""

    def place(one: RequestKept) -> tuple[list[tuple[int, str]], int]:
        return [(int(key), "") if key.isdecimal() else (-1, key) for key in one.path.split("/")], one.line

    return tuple(sorted(kept, key=place))


def _describe(history: History, marker: Marker, reason: Reason, detail: str) -> RequestKept:
    path = history.texts[history.index_at(marker.start)].path
    return RequestKept(marker.label.decode("utf-8"), pointer(path), marker.line, reason, detail)


def _describe_fold(history: History, fold: PlannedRequestFold, ids: Sequence[str]) -> RequestFold:
    begin = fold.block.begin
    home = history.index_at(begin.start)
    parts = tuple(
        FoldedPart(
            pointer(history.texts[one.part.text].path),
            begin.line + 1 if one.part.text == home else 1,
            id,
            one.part.end - one.part.start,
        )
        for one, id in zip(fold.parts, ids[: len(fold.parts)], strict=True)
    )
    inner = tuple(
        InnerFold(one.block.begin.label.decode("utf-8"), id, one.block.begin.line, part.end - part.start)
        for one, id in zip(fold.inner, ids[len(fold.parts) :], strict=True)
        for part in (one.parts[0].part,)
    )
    path = pointer(history.texts[home].path)
    return RequestFold(begin.label.decode("utf-8"), path, begin.line, parts, fold.tokens_saved, inner)


def _is_split(history: History, fold: PlannedRequestFold) -> bool:
    return history.index_at(fold.block.begin.start) != history.index_at(fold.block.end.start)
