"""What is remembered between requests: the history of an agent comes again with every one of them.

Two kinds of knowledge are kept apart. What was found in a text depends on its bytes alone, and holds for
ever. That the archive has a body was seen, read back equal, at one state of the archive, and holds as
long as the archive says that nothing was changed since (`Archive.change_mark`).
"""

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from blake3 import blake3

from ctxf.protocol.fold import FoldRules, KeptMarker, PlannedFold, plan_block
from ctxf.protocol.markers import KEYWORD
from ctxf.protocol.model import Block, Marker, Reason
from ctxf.protocol.references import REFERENCE, REFERENCE_HEAD, body_digest
from ctxf.protocol.scan_text import scan_text
from ctxf.requests.recent import Recent

if TYPE_CHECKING:
    from ctxf.projection.planner import ProjectionPlan

__all__ = ["Memo", "TextFacts", "Verdict"]

_MANY: Final = 1 << 16


class Verdict:
    """How a block within one text would fold alone: its digest, or the reason why not.

    Neither, for a block that is a reference already.
    """

    __slots__ = ("digest", "reason", "tokens_saved")

    def __init__(self, planned: PlannedFold | KeptMarker | None) -> None:
        self.digest: bytes | None = planned.digest if isinstance(planned, PlannedFold) else None
        self.reason: Reason | None = planned.reason if isinstance(planned, KeptMarker) else None
        self.tokens_saved: int | None = None if planned is None else planned.tokens_saved


class TextFacts:
    """What is found in the bytes of one text, its offsets counted from the first of them.

    `markers` are the live ones, `quoted` the begin markers in code, `references` where each well-formed
    reference begins, whatever it stands in.
    """

    __slots__ = ("_digests", "_verdicts", "markers", "quoted", "references")

    def __init__(self, data: bytes) -> None:
        scan = scan_text(data)
        self.markers: tuple[Marker, ...] = tuple(scan.markers)
        self.quoted: tuple[Marker, ...] = tuple(scan.quoted)
        matches = REFERENCE.finditer(data) if REFERENCE_HEAD in data else ()
        self.references: tuple[int, ...] = tuple(match.start() for match in matches)
        self._verdicts: dict[tuple[int, int, int], Verdict] = {}
        self._digests: dict[tuple[int, int], bytes] = {}

    @property
    def size(self) -> int:
        """How much there is to keep, in some unit."""
        return 1 + len(self.markers) + len(self.quoted) + len(self.references)

    def verdict(self, data: bytes, block: Block, offset: int, rules: FoldRules) -> Verdict:
        """How `block`, whose offsets are those of a text that begins at `offset`, would fold alone."""
        key = (block.begin.start - offset, block.end.start - offset, rules.min_savings_tokens)
        found = self._verdicts.get(key)
        if found is None:
            found = self._verdicts[key] = Verdict(plan_block(data, block, rules, offset))
        return found

    def digest(self, data: bytes, start: int, end: int) -> bytes:
        """The SHA-256 of a part of the text."""
        found = self._digests.get((start, end))
        if found is None:
            found = self._digests[start, end] = body_digest(data[start:end])
        return found


class Memo:
    """Remembers what was found in texts that come again with every request; bounded, thread-safe.

    One may serve a whole process. It never changes a result: what it knows of texts depends on their bytes
    alone, and what it knows of an archive it forgets as soon as anybody may have changed that.
    `max_entries` bounds the texts, markers and references that it keeps.
    """

    def __init__(self, max_entries: int = _MANY) -> None:
        self._max_entries = max_entries
        self._lock = threading.Lock()
        self._texts: OrderedDict[bytes, TextFacts] = OrderedDict()
        self._entries = 0
        self._mark: object = None
        self._ids: OrderedDict[tuple[str, bytes], str] = OrderedDict()
        self.reads: Recent[ProjectionPlan | None] = Recent()

    def facts_of(self, data: bytes) -> TextFacts:
        """What is found in a text."""
        if KEYWORD not in data and REFERENCE_HEAD not in data:
            return TextFacts(b"")  # recomputing it is as fast as a look-up, so it is not kept
        key = blake3(data).digest()
        with self._lock:
            facts = self._texts.get(key)
            if facts is not None:
                self._texts.move_to_end(key)
                return facts
        facts = TextFacts(data)
        with self._lock:
            if key not in self._texts and facts.size <= self._max_entries:
                self._texts[key] = facts
                self._entries += facts.size
                while self._entries > self._max_entries:
                    self._entries -= self._texts.popitem(last=False)[1].size
        return facts

    def known_ids(self, mark: object, scope: str, digests: list[bytes]) -> dict[bytes, str]:
        """The ids of those bodies that `scope` is known to hold, as long as the archive is at `mark`."""
        with self._lock:
            if mark is None or self._mark != mark:
                return {}
            found = {digest: self._ids.get((scope, digest)) for digest in digests}
        return {digest: id for digest, id in found.items() if id is not None}

    def note_ids(self, mark: object, scope: str, ids: dict[bytes, str]) -> None:
        """The archive, at `mark`, was seen to hold these bodies, by digest, under these ids."""
        with self._lock:
            if self._mark != mark:
                self._mark = mark
                self._ids.clear()
            for digest, id in ids.items():
                self._ids[scope, digest] = id
            while len(self._ids) > self._max_entries:
                self._ids.popitem(last=False)
