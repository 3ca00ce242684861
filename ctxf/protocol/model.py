"""The values that the protocol is made of. All offsets and sizes count bytes, all lines count from 1.

They are NamedTuples, here and in all modules that `ctxf` in a pipe, `ctxf read` and hooks import: to define
a frozen dataclass takes 0.5 ms, four times as long, and to import `dataclasses` 9 ms. `ctxf` without them
takes 38 ms for text without markers.
"""

from enum import StrEnum
from typing import Literal, NamedTuple

__all__ = ["Block", "CommentForm", "Marker", "Reason", "Reference"]


class CommentForm(NamedTuple):
    """How one kind of comment opens and closes; `closer` is empty where the line end closes it."""

    opener: bytes
    closer: bytes = b""


class Marker(NamedTuple):
    """One marker line (PROTOCOL.md §3).

    `start` is the first byte of its line (after a byte order mark), `end` the first byte behind its
    line end, `indent` the blanks before the comment, `eol` its line end (empty at the end of the input).
    """

    kind: Literal["begin", "end"]
    label: bytes
    form: CommentForm
    start: int
    end: int
    line: int
    indent: bytes
    eol: bytes


class Block(NamedTuple):
    """A begin marker and the end marker that closes it (PROTOCOL.md §5)."""

    begin: Marker
    end: Marker

    @property
    def size(self) -> int:
        """Bytes of the body: the whole lines between the two marker lines."""
        return self.end.start - self.begin.end


class Reason(StrEnum):
    """Why a marked block stays as it is (PROTOCOL.md §7)."""

    UNCLOSED = "unclosed"  # a begin whose end never comes
    STRAY_END = "stray-end"  # an end whose begin is not open
    CROSSING = "crossing"  # it overlaps another block, neither inside the other
    FENCED = "fenced"  # inside fenced code or a longer comment: quoted, not used
    TOO_SMALL = "too-small"  # folding would save less than asked for
    TOO_LARGE = "too-large"  # more than MAX_BLOCK_BYTES from begin to end
    TOO_DEEP = "too-deep"  # more than MAX_DEPTH blocks around and including it
    HOLDS_REFERENCE = "holds-reference"  # the body holds a reference already
    IN_DOUBT = "in-doubt"  # the grammar does not say for certain what is a comment
    PARSER = "parser"  # the parser crashed or took too long
    CAPACITY = "capacity"  # the scope has no room left
    ARCHIVE = "archive"  # the archive could not store it
    NOT_DUE = "not-due"  # in a chat request: too few replies of the model follow it as yet
    HOLDS_FOLD = "holds-fold"  # in a chat request: a block inside it was due before it was closed


class Reference(NamedTuple):
    """A reference that stands for a body: restore replaces bytes `start` to `end` by it (PROTOCOL.md §6).

    For a reference block these are the reference line, for an omission line the whole line.
    """

    id: str
    label: bytes
    start: int
    end: int
    line: int
