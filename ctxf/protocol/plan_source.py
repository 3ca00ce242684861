"""The whole plan for a source text: which blocks fold, and why the others stay (PROTOCOL.md §11.5).

    plan = plan_source(data, language, rules, parser)
    ids = archive.put(...)                    # the bodies of plan.folds, inner ones included
    write_folds(data, zip(plan.folds, ids), plan.rules)

Folding a block removes text, and that can repair or break the parse of the text after it. So the folded text
is planned again until nothing changes (law L2). Ids have no influence on a parse, as they stand in comments;
sample ids are used for it, and nothing need be stored. A block whose reference
would be no comment in the folded text (with half a function gone, the parser may misread the rest) stays.
"""

from bisect import bisect_right
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ctxf.protocol.comments import Span
from ctxf.protocol.fold import (
    FoldPlan,
    FoldRules,
    KeptMarker,
    PlannedFold,
    kept_outside,
    plan_folds,
    write_folds,
)
from ctxf.protocol.languages import Language
from ctxf.protocol.model import Block, Marker, Reason
from ctxf.protocol.pairing import pair
from ctxf.protocol.parsers import Failure, Problem, SourceParser
from ctxf.protocol.references import ID_DIGITS, reference_line
from ctxf.protocol.scan_source import SourceScan, find_marker_lines, scan_source

__all__ = ["MAX_ROUNDS", "SourcePlan", "plan_source"]

MAX_ROUNDS: Final = 4
"""A text that is not settled after so many rounds stays as it is."""


@dataclass(frozen=True, slots=True)
class SourcePlan:
    """The folds in text order, none inside another, and the markers whose blocks stay.

    With a `failure` nothing could be parsed and nothing folds. `rules` are those for `write_folds`.
    """

    folds: tuple[PlannedFold, ...]
    kept: tuple[KeptMarker, ...]
    rules: FoldRules
    failure: Failure | None = None


def plan_source(
    data: bytes,
    language: Language,
    rules: FoldRules,
    parser: SourceParser,
    *,
    refused: Container[bytes] = (),
) -> SourcePlan:
    """Plan the folds of a whole source. Pure but for the time limit of `parser`; never raises for `data`.

    `refused` holds digests of bodies that must not fold: when the archive has no room for one, plan again
    with it, since later folds may have been certain only because of it.
    """
    planner = _Planner(data, language, rules._replace(wrapped=True), parser, refused)
    return planner.plan()


class _Planner:
    """Plans one text, round after round. All blocks and markers are those of the text as it came."""

    def __init__(
        self,
        data: bytes,
        language: Language,
        rules: FoldRules,
        parser: SourceParser,
        refused: Container[bytes],
    ) -> None:
        self._data = data
        self._language = language
        self._rules = rules
        self._parser = parser
        self._refused = refused
        self._markers = find_marker_lines(data, language)
        self._doubted: set[Block] = set()  # certain, but not when folded

    def plan(self) -> SourcePlan:
        if not self._markers:
            return SourcePlan((), (), self._rules)
        folds: list[PlannedFold] = []
        for _round in range(MAX_ROUNDS):
            scan = self._scan_folded(folds)
            if scan.failure:
                reason = Reason.TOO_LARGE if scan.failure.problem is Problem.TOO_LARGE else Reason.PARSER
                return self._keep_all(reason, scan.failure)
            if not all(scan.extra):
                # What would stand for some blocks is no comment there: try without these.
                stands = list(map(all, zip(scan.extra[: len(folds)], scan.extra[len(folds) :], strict=True)))
                self._doubted.update(fold.block for fold, ok in zip(folds, stands, strict=True) if not ok)
                folds = [fold for fold, ok in zip(folds, stands, strict=True) if ok]
                continue
            plan = self._plan_round(scan, folds)
            if not plan.folds:
                return SourcePlan(tuple(folds), kept_outside(folds, plan.kept), self._rules)
            folds = sorted([*folds, *plan.folds], key=lambda fold: fold.block.begin.start)
        return self._keep_all(Reason.IN_DOUBT)

    def _keep_all(self, reason: Reason, failure: Failure | None = None) -> SourcePlan:
        kept = tuple(KeptMarker(marker, reason) for marker in self._markers if marker.kind == "begin")
        return SourcePlan((), kept, self._rules, failure)

    def _scan_folded(self, folds: Sequence[PlannedFold]) -> SourceScan:
        """Scan the text as it looks after `folds`.

        `extra` in the result tells of each line of the folded blocks whether it would be a comment.
        """
        if not folds:
            return scan_source(self._data, self._language, self._parser)
        text, _refused = write_folds(self._data, [(fold, _sample_id(fold)) for fold in folds], self._rules)
        scan = scan_source(text, self._language, self._parser, _reference_spans(folds))
        if scan.failure:
            return scan

        # Reference lines are no marker lines, so the n-th marker of the folded text is the n-th of the
        # original one that is in no folded body.
        places = [marker.start for marker in find_marker_lines(text, self._language)]
        outside = _outside(self._markers, [fold.block for fold in folds])
        original = dict(zip(places, outside, strict=True))

        def originals(markers: Iterable[Marker]) -> tuple[Marker, ...]:
            return tuple(original[marker.start] for marker in markers)

        live, doubtful = originals(scan.live), originals(scan.doubtful)
        comments = {*live, *doubtful}
        stand = (fold.block.begin in comments and fold.block.end in comments for fold in folds)
        return SourceScan(live, doubtful, originals(scan.quoted), (*scan.extra, *stand))

    def _plan_round(self, scan: SourceScan, folds: Sequence[PlannedFold]) -> FoldPlan:
        """What folds in addition to `folds`, and all that is kept."""
        length = len(self._data)
        pairing = pair(sorted([*scan.live, *scan.doubtful], key=lambda marker: marker.start), length)
        # A block is certain when it is one whether or not the doubtful markers are comments.
        certain = set(pair(list(scan.live), length).blocks) - self._doubted
        folded = {fold.block for fold in folds}
        blocks = [block for block in pairing.blocks if block in certain and block not in folded]
        places = [fold.block.begin.end for fold in folds]

        plan = plan_folds(self._data, blocks, (), self._rules, folded=places)
        new = [fold for fold in plan.folds if fold.digest not in self._refused]
        kept = [
            *plan.kept,
            *(
                KeptMarker(fold.block.begin, Reason.CAPACITY)
                for fold in plan.folds
                if fold.digest in self._refused
            ),
            *(KeptMarker(marker, reason) for marker, reason in pairing.left),
            *(
                KeptMarker(block.begin, Reason.IN_DOUBT)
                for block in pairing.blocks
                if block not in certain and block not in folded
            ),
            *(KeptMarker(marker, Reason.FENCED) for marker in scan.quoted if marker.kind == "begin"),
        ]
        return FoldPlan(tuple(new), tuple(kept))


def _reference_spans(folds: Sequence[PlannedFold]) -> list[Span]:
    """Where the references' comments are in the text with `folds` written."""
    spans = []
    saved = 0
    for fold in folds:
        begin = fold.block.begin
        line = reference_line(begin, _sample_id(fold), wrapped=True)
        start = begin.end - saved
        spans.append(Span(start + len(begin.indent), start + len(line.rstrip(b"\r\n"))))
        saved += len(fold.body) - len(line)
    return spans


def _outside(markers: Iterable[Marker], blocks: Sequence[Block]) -> list[Marker]:
    """The markers that stand in no body of `blocks`, which are in order and do not overlap."""
    starts = [block.begin.end for block in blocks]
    ends = [block.end.start for block in blocks]

    def is_outside(marker: Marker) -> bool:
        index = bisect_right(starts, marker.start) - 1
        return index < 0 or marker.start >= ends[index]

    return [marker for marker in markers if is_outside(marker)]


def _sample_id(fold: PlannedFold) -> str:
    return fold.digest.hex()[:ID_DIGITS]
