"""The model's own texts of a request, laid end to end, and the markers and references in them.

Every text is scanned by itself (PROTOCOL.md §4): a fence or a longer comment ends with the text it is in. All
offsets count from the first byte of the first text.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ctxf.protocol.model import Block, Marker
from ctxf.protocol.references import parse_reference_line
from ctxf.protocol.strings import to_bytes
from ctxf.requests.memo import Memo, TextFacts
from ctxf.requests.slots import Item, Path, Side

__all__ = ["History", "Part", "SplitReference", "Text"]


class Text(NamedTuple):
    """One text: `start` is its offset, `reply` the number of the reply that it is part of, from 1."""

    path: Path
    data: bytes
    start: int
    reply: int
    facts: TextFacts

    @property
    def end(self) -> int:
        """The offset behind its last byte."""
        return self.start + len(self.data)

    def markers(self) -> Iterator[Marker]:
        """Its live markers, at their offsets."""
        for marker in self.facts.markers:
            yield marker._replace(start=self.start + marker.start, end=self.start + marker.end)


class Part(NamedTuple):
    """The bytes from offset `start` to `end`, all in text number `text`: what a block has of it."""

    text: int
    start: int
    end: int


class SplitReference(NamedTuple):
    """A reference that is all that a text has of a block over several texts."""

    part: Part
    label: bytes
    id: str


class History:
    """All texts of a request, and the number of its replies that are complete (PROTOCOL.md §13.3)."""

    def __init__(self, items: Iterable[Item], memo: Memo) -> None:
        self.texts: list[Text] = []
        self.replies = 0
        offset, in_reply = 0, False
        for item in items:
            if item.side is Side.INPUT:
                self.replies += in_reply
                in_reply = False
            elif item.side is Side.MODEL:
                in_reply = True
                for slot in item.slots:
                    data = to_bytes(slot.text)
                    text = Text(slot.path, data, offset, self.replies + 1, memo.facts_of(data))
                    self.texts.append(text)
                    offset = text.end
        self._starts = [text.start for text in self.texts]

    @property
    def size(self) -> int:
        """Bytes of all texts."""
        return self.texts[-1].end if self.texts else 0

    def index_at(self, offset: int) -> int:
        """The number of the text that holds the byte at `offset`."""
        return bisect_right(self._starts, offset) - 1  # of texts with one start, all but the last are empty

    def parts(self, block: Block) -> Iterator[Part]:
        """What each text has of a block's body; empty where a marker stands at the edge of its text."""
        begin, end = block
        first, last = self.index_at(begin.start), self.index_at(end.start)
        for index in range(first, last + 1):
            text = self.texts[index]
            yield Part(
                index, begin.end if index == first else text.start, end.start if index == last else text.end
            )

    def slice(self, part: Part) -> bytes:
        """The bytes of a part."""
        text = self.texts[part.text]
        return text.data[part.start - text.start : part.end - text.start]

    def split_references(self) -> dict[int, list[SplitReference]]:
        """The references that stand for parts, by the offset of their block's begin (PROTOCOL.md §13.5).

        The two markers are in different texts, with no live marker between them.
        """
        found: dict[int, list[SplitReference]] = {}
        if not any(text.facts.references for text in self.texts):
            return found
        for begin, end in pairwise(self._markers()):
            if not (begin.kind == "begin" and end.kind == "end" and begin.label == end.label):
                continue
            if self.index_at(begin.start) == self.index_at(end.start):
                continue
            references = list(self._references_of(Block(begin, end)))
            if references:
                found[begin.start] = references
        return found

    def _markers(self) -> Iterator[Marker]:
        for text in self.texts:
            yield from text.markers()

    def _references_of(self, block: Block) -> Iterator[SplitReference]:
        for part in self.parts(block):
            if not self.texts[part.text].facts.references:
                continue
            id_ = parse_reference_line(block.begin, self.slice(part), wrapped=False)
            if id_:
                yield SplitReference(part, block.begin.label, id_)


def count_within(positions: Sequence[int], start: int, end: int) -> int:
    """How many of the ordered `positions` are from `start` on and before `end`."""
    return bisect_right(positions, end - 1) - bisect_right(positions, start - 1)
