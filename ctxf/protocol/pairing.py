"""Pairs begin and end markers into blocks (PROTOCOL.md §5): one stack, one pass.

The pairing is fed markers in order and can be asked at any time how far the text is settled, that
is, how far no later marker can change what has been paired. A stream writes up to there.
"""

from collections import Counter, deque
from itertools import takewhile
from typing import Final

from ctxf.protocol.model import Block, CommentForm, Marker, Reason

__all__ = ["MAX_BLOCK_BYTES", "Pairing", "pair"]

# PROTOCOL.md §5.3: from the begin line's first byte to the end line's last. It bounds what a stream
# must hold back, and holds for text in memory too, so that both give the same bytes.
MAX_BLOCK_BYTES: Final = 16 << 20

_Key = tuple[bytes, CommentForm]


class Pairing:
    """Collects `blocks` (closed, by end marker) and `left` (the markers that open or close none, and why).

    A block that was closed and became void stands in `left` by its begin marker. The caller may empty
    `left`, and takes settled blocks away with `take_settled`.
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.left: list[tuple[Marker, Reason]] = []
        self._open: deque[Marker] = deque()
        self._count: Counter[_Key] = Counter()  # open begins per label and form: no end scans the stack

    def add(self, marker: Marker) -> None:
        """Take the next marker."""
        self.advance(marker.end)
        key = _key(marker)
        if marker.kind == "begin":
            self._open.append(marker)
            self._count[key] += 1
        elif not self._count[key]:
            self.left.append((marker, Reason.STRAY_END))
        elif _key(self._open[-1]) == key:
            self._drop(self._open[-1])
            self.blocks.append(Block(self._open.pop(), marker))
        else:
            self._cross(key)

    def advance(self, position: int) -> None:
        """The text has been read up to `position`: begins too far back can no longer close."""
        while self._open and position - self._open[0].start > MAX_BLOCK_BYTES:
            begin = self._open.popleft()
            self._drop(begin)
            self.left.append((begin, Reason.TOO_LARGE))

    def finish(self, position: int) -> None:
        """The text ends at `position`: what is still open stays as it is."""
        self.advance(position)
        self.left.extend((begin, Reason.UNCLOSED) for begin in self._open)
        self._open.clear()
        self._count.clear()

    def settled(self, position: int) -> int:
        """How far of the text read up to `position` is settled: to the outermost open begin."""
        return self._open[0].start if self._open else position

    def take_settled(self, position: int) -> list[Block]:
        """Take away the blocks before `position`, which must be settled."""
        taken = list(takewhile(lambda block: block.end.start < position, self.blocks))
        del self.blocks[: len(taken)]
        return taken

    def _cross(self, key: _Key) -> None:
        """Void the innermost begin of `key` and everything opened since, closed or not."""
        while True:
            begin = self._open.pop()
            self._drop(begin)
            self.left.append((begin, Reason.CROSSING))
            if _key(begin) == key:
                break
        while self.blocks and self.blocks[-1].begin.start > begin.start:
            self.left.append((self.blocks.pop().begin, Reason.CROSSING))

    def _drop(self, begin: Marker) -> None:
        key = _key(begin)
        self._count[key] -= 1
        if not self._count[key]:
            del self._count[key]  # else every label of an endless stream would be kept


def pair(markers: list[Marker], length: int) -> Pairing:
    """Pair all the markers of a text of `length` bytes."""
    pairing = Pairing()
    for marker in markers:
        pairing.add(marker)
    pairing.finish(length)
    return pairing


def _key(marker: Marker) -> _Key:
    return marker.label, marker.form
