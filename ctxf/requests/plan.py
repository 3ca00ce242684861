"""Decides what folds in a request (PROTOCOL.md §13.4). Pure: it says what to store and changes nothing.

Rule 1: a decision about a block depends on nothing after the reply that closed it. So the
set of folds only grows with the conversation: markers are paired reply by reply, and what one reply has
closed no later one makes void.
Rule 2: a block folds alone or not at all once one inside it was due earlier: that one has its reference.
"""

from bisect import insort
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from typing import Final, NamedTuple

from ctxf.protocol.fold import MAX_DEPTH, FoldRules
from ctxf.protocol.model import Block, Marker, Reason
from ctxf.protocol.pairing import Pairing
from ctxf.protocol.references import ID_DIGITS, format_reference, reference_line
from ctxf.protocol.savings import estimate_tokens
from ctxf.requests.texts import History, Part, count_within

__all__ = ["KeptInRequest", "PlannedPart", "PlannedRequestFold", "RequestPlan", "part_line", "plan_request"]

_PART_LINE: Final = len(format_reference("0" * ID_DIGITS)) + 1


class PlannedPart(NamedTuple):
    """A part to store and the SHA-256 of its bytes."""

    part: Part
    digest: bytes


class PlannedRequestFold(NamedTuple):
    """A block to fold: its parts, and the blocks inside it that are archived with it."""

    block: Block
    parts: tuple[PlannedPart, ...]
    tokens_saved: int
    inner: tuple["PlannedRequestFold", ...]


class KeptInRequest(NamedTuple):
    """A marker whose block stays; `figure` is what it would save, or the replies that it still waits for."""

    marker: Marker
    reason: Reason
    figure: int | None = None


class RequestPlan(NamedTuple):
    """`folds` do not overlap; both in the order of the texts."""

    folds: tuple[PlannedRequestFold, ...]
    kept: tuple[KeptInRequest, ...]


def plan_request(history: History, rules: FoldRules, delay_requests: int) -> RequestPlan:
    """Choose the blocks of a history that fold now."""
    planner = _Planner(history, rules)
    planner.read()
    last = history.replies - delay_requests
    folds, kept = [], planner.kept
    for candidate in planner.candidates:
        waits = candidate.reply - last
        if waits > 0:
            kept.append(KeptInRequest(candidate.block.begin, Reason.NOT_DUE, waits))
        else:
            folds.append(planner.plan(candidate))
    folds.sort(key=lambda fold: fold.block.begin.start)
    return RequestPlan(tuple(folds), _outside(folds, kept))


def part_line(begin: Marker, id: str, *, is_split: bool) -> bytes:
    """The line that stands for a part; for one of several texts it always ends with LF."""
    return format_reference(id) + b"\n" if is_split else reference_line(begin, id, wrapped=False)


class _Candidate(NamedTuple):
    """A block that folds as soon as enough replies follow the one that closed it."""

    block: Block
    reply: int
    tokens_saved: int
    inner: list["_Candidate"]


class _Planner:
    """Reads the history once: `candidates`, and what is `kept` whatever comes."""

    def __init__(self, history: History, rules: FoldRules) -> None:
        self.candidates: list[_Candidate] = []
        self.kept: list[KeptInRequest] = []
        self._history = history
        self._rules = rules
        self._folded: list[int] = []  # where the candidates of earlier replies begin, in order
        self._own = history.split_references()
        self._references = [
            text.start + position for text in history.texts for position in text.facts.references
        ]
        # What all texts before a given one would save, each as a part of a block around it.
        self._saved = list(accumulate((_saved(len(text.data)) for text in history.texts), initial=0))

    def read(self) -> None:
        pairing = Pairing()
        for reply, texts in groupby(self._history.texts, key=lambda text: text.reply):
            for text in texts:
                for marker in text.markers():
                    pairing.add(marker)
                for quoted in text.facts.quoted:
                    place = quoted._replace(start=text.start + quoted.start, end=text.start + quoted.end)
                    self.kept.append(KeptInRequest(place, Reason.FENCED))
                pairing.advance(text.end)
            if pairing.blocks:
                self._judge_reply(reply, pairing.blocks)
                pairing.blocks = []  # rule 1: from here on nothing can make them void
        pairing.finish(self._history.size)
        self.kept += (KeptInRequest(marker, reason) for marker, reason in pairing.left)

    def plan(self, candidate: _Candidate) -> PlannedRequestFold:
        """Name the bodies of a block that folds, and of those inside it."""
        is_split = self._is_split(candidate.block)
        parts = [
            part
            for part in self._history.parts(candidate.block)
            if not is_split or part.end - part.start > _PART_LINE
        ]
        return PlannedRequestFold(
            candidate.block,
            tuple(PlannedPart(part, self._digest(part)) for part in parts),
            candidate.tokens_saved,
            tuple(self.plan(inner) for inner in reversed(candidate.inner)),
        )

    def _judge_reply(self, reply: int, blocks: Sequence[Block]) -> None:
        """Judge the blocks that one reply closed, from the last to the first: outer before inner ones."""
        found: list[_Candidate] = []
        around: list[int] = []  # where the blocks around the current one begin, of this reply's
        for block in reversed(blocks):
            start = block.begin.start
            while around and around[-1] > start:
                around.pop()
            around.append(start)
            outer = found[-1] if found and found[-1].block.begin.start < start else None
            if len(around) > MAX_DEPTH:
                verdict: int | KeptInRequest | None = KeptInRequest(block.begin, Reason.TOO_DEEP)
            elif count_within(self._folded, start, block.end.start):
                verdict = KeptInRequest(block.begin, Reason.HOLDS_FOLD)
            else:
                verdict = self._judge_split(block) if self._is_split(block) else self._judge(block)
            if isinstance(verdict, int):
                if outer is None:
                    found.append(_Candidate(block, reply, verdict, []))
                elif not self._is_split(block):
                    outer.inner.append(_Candidate(block, reply, verdict, []))
            elif verdict is not None and outer is None:
                self.kept.append(verdict)
        for candidate in found:
            insort(self._folded, candidate.block.begin.start)
        self.candidates += found

    def _judge(self, block: Block) -> int | KeptInRequest | None:
        """The tokens that a block within one text saves, or why it stays; None for a reference."""
        text = self._history.texts[self._history.index_at(block.begin.start)]
        verdict = text.facts.verdict(text.data, block, text.start, self._rules)
        if verdict.reason is not None:
            return KeptInRequest(block.begin, verdict.reason, verdict.tokens_saved)
        return verdict.tokens_saved

    def _judge_split(self, block: Block) -> int | KeptInRequest | None:
        """The same for a block over several texts (PROTOCOL.md §13.5)."""
        begin, end = block
        references = count_within(self._references, begin.end, end.start)
        if references:
            if references == len(self._own.get(begin.start, ())):
                return None
            return KeptInRequest(begin, Reason.HOLDS_REFERENCE)
        first, last = self._history.index_at(begin.start), self._history.index_at(end.start)
        saved = (
            _saved(self._history.texts[first].end - begin.end)
            + (self._saved[last] - self._saved[first + 1])
            + _saved(end.start - self._history.texts[last].start)
        )
        if saved == 0 or saved < self._rules.min_savings_tokens:
            return KeptInRequest(begin, Reason.TOO_SMALL, saved)
        return saved

    def _is_split(self, block: Block) -> bool:
        return self._history.index_at(block.begin.start) != self._history.index_at(block.end.start)

    def _digest(self, part: Part) -> bytes:
        text = self._history.texts[part.text]
        return text.facts.digest(text.data, part.start - text.start, part.end - text.start)


def _saved(size: int) -> int:
    """Estimated tokens that a reference saves in place of a part of `size` bytes; else the part stays."""
    return estimate_tokens(size) - estimate_tokens(_PART_LINE) if size > _PART_LINE else 0


def _outside(folds: Sequence[PlannedRequestFold], kept: Sequence[KeptInRequest]) -> tuple[KeptInRequest, ...]:
    """`kept` in the order of the texts, without the markers that go away inside a fold."""
    return tuple(_walk_outside(folds, sorted(kept, key=lambda one: one.marker.start)))


def _walk_outside(
    folds: Sequence[PlannedRequestFold], kept: Sequence[KeptInRequest]
) -> Iterator[KeptInRequest]:
    blocks = iter(fold.block for fold in folds)
    block = next(blocks, None)
    for one in kept:
        while block is not None and block.end.start <= one.marker.start:
            block = next(blocks, None)
        if block is None or one.marker.start < block.begin.start:
            yield one
