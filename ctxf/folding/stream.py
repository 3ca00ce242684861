"""Folds text as it arrives: the output of a pipe must not wait for the end of the input.

Text is settled up to the outermost open begin: no byte that is still to come can change what it folds
to. Settled text without folds goes out at once. Settled folds are gathered into a batch, and a batch is
stored in one transaction before any of it goes out. What comes out is what `ctxf.fold` gives for the
whole text, except when storing fails: then the failed batch and everything behind it go out as they came.
"""

from typing import Final

from ctxf.archive import Archive
from ctxf.folding.pieces import LinePieces, PieceScanner, Reread
from ctxf.folding.results import FoldResult
from ctxf.folding.storing import Stretch, store_and_write
from ctxf.protocol.fold import FoldRules, plan_folds
from ctxf.protocol.model import Marker, Reason
from ctxf.protocol.pairing import Pairing
from ctxf.protocol.scopes import check_scope

__all__ = ["BATCH_BYTES", "FoldStream"]

BATCH_BYTES: Final = 8 << 20
"""Bytes of text, bodies included, that a batch gathers before it is stored."""


class FoldStream:
    """Feed it chunks, write out what it gives back, and `finish` it.

    Each result is a further piece of the folded text with the folds and kept blocks in it. Holds at most
    one block, one batch and one line in memory. `reread` is for input that can be read again (see
    PieceScanner); of such, the caller may have passed on the first `passed` bytes by itself, whole lines
    without a keyword. Raises InvalidScope; an archive that fails is reported in `failure` of the result
    in which it failed.
    """

    def __init__(
        self,
        archive: Archive,
        scope: str,
        rules: FoldRules,
        *,
        capacity: int | None = None,
        reread: Reread | None = None,
        passed: int = 0,
    ) -> None:
        check_scope(scope)
        self._archive = archive
        self._scope = scope
        self._rules = rules
        self._capacity = capacity
        self._lines = LinePieces()
        self._scanner = PieceScanner(reread, passed)
        self._pairing = Pairing()
        self._held: list[bytes] = []  # scanned but not settled: the bytes from _settled to _scanned
        self._settled = passed
        self._scanned = passed
        self._left: list[tuple[Marker, Reason]] = []  # markers ruled out, as far as they are not settled
        self._misspelled: list[int] = []
        self._batch: list[Stretch] = []
        self._batch_bytes = 0
        self._failed = False

    @property
    def has_batch(self) -> bool:
        """Whether folds wait to be stored: `flush` when no more input is near."""
        return bool(self._batch)

    def feed(self, chunk: bytes) -> list[FoldResult[bytes]]:
        """Take the next bytes; give what can go out."""
        results: list[FoldResult[bytes]] = []
        for piece, is_whole_lines in self._lines.split(chunk):
            results += [FoldResult(piece)] if self._failed else self._read(piece, is_whole_lines)
        return results + self._give_up_if_failed()

    def flush(self) -> list[FoldResult[bytes]]:
        """Store the batch and give it out."""
        return self._store_batch() + self._give_up_if_failed()

    def finish(self) -> list[FoldResult[bytes]]:
        """The input has ended: give all that is left."""
        if self._failed:
            return []
        rest = self._lines.take_rest()
        results = self._read(rest, is_whole_lines=True) if rest else []
        if not self._failed:
            self._pairing.finish(self._scanned)
            results += self._settle()
            results += self._store_batch()
        return results + self._give_up_if_failed()

    def _read(self, piece: bytes, is_whole_lines: bool) -> list[FoldResult[bytes]]:
        self._scanner.read(piece, is_whole_lines)
        self._held.append(piece)
        self._scanned += len(piece)
        markers, quoted, misspelled = self._scanner.take()
        for marker in markers:
            self._pairing.add(marker)
        self._pairing.advance(self._scanned)
        self._left += ((marker, Reason.FENCED) for marker in quoted)
        self._misspelled += misspelled
        return self._settle()

    def _settle(self) -> list[FoldResult[bytes]]:
        """Plan what has become settled; give it out unless it has to wait for a batch."""
        self._left += self._pairing.left
        self._pairing.left.clear()
        settled = self._pairing.settled(self._scanned)
        if settled == self._settled:
            return []
        left = [one for one in self._left if one[0].start < settled]
        if left:
            self._left = [one for one in self._left if one[0].start >= settled]
        offset = self._settled
        text = self._take_held(settled)
        plan = plan_folds(text, self._pairing.take_settled(settled), left, self._rules, offset=offset)
        stretch = Stretch(text, offset, plan._replace(misspelled=tuple(self._misspelled)))
        self._misspelled.clear()
        if not plan.folds and not self._batch:
            return self._store([stretch])
        results = []
        if self._batch_bytes + len(text) > BATCH_BYTES:
            results = self._store_batch()
            if self._failed:
                return [*results, FoldResult(text)]
        self._batch.append(stretch)
        self._batch_bytes += len(text)
        return results

    def _take_held(self, settled: int) -> bytes:
        held = self._held[0] if len(self._held) == 1 else b"".join(self._held)
        text, rest = held[: settled - self._settled], held[settled - self._settled :]
        self._held = [rest] if rest else []
        self._settled = settled
        return text

    def _store_batch(self) -> list[FoldResult[bytes]]:
        batch, self._batch, self._batch_bytes = self._batch, [], 0
        return self._store(batch) if batch else []

    def _store(self, stretches: list[Stretch]) -> list[FoldResult[bytes]]:
        results = store_and_write(stretches, self._archive, self._scope, self._rules, self._capacity)
        self._failed = results[-1].failure is not None
        return results

    def _give_up_if_failed(self) -> list[FoldResult[bytes]]:
        """After a failure all that is held back goes out as it came, and so will all that follows."""
        if not self._failed:
            return []
        rest = b"".join((*self._held, self._lines.take_rest()))
        self._held.clear()
        return [FoldResult(rest)] if rest else []
