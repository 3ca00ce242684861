"""What goes into and comes out of folding a request. Sizes are bytes of UTF-8, tokens are estimates.

A *path* is a JSON pointer (RFC 6901) to the text it speaks of, as `/messages/3/content/0/text`; lines
count from 1 within that text.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypeVar

from ctxf.conversations.guidance import Recovery
from ctxf.errors import CtxfError
from ctxf.folding.results import InnerFold
from ctxf.protocol.model import Reason
from ctxf.protocol.savings import DEFAULT_MIN_SAVINGS_TOKENS
from ctxf.requests.readers import READERS

__all__ = [
    "BodyT",
    "FoldedPart",
    "JsonObject",
    "ProjectedRead",
    "Refusal",
    "RequestFold",
    "RequestKept",
    "RequestPolicy",
    "RequestRestoreResult",
    "RequestResult",
    "RestoredReference",
    "UnresolvedReference",
]

JsonObject = dict[str, Any]

BodyT = TypeVar("BodyT", bound=bytes | JsonObject)
"""A body as it came: its raw JSON, or what a JSON parser made of it."""


@dataclass(frozen=True, slots=True)
class RequestPolicy:
    """What a caller may choose.

    `delay_requests` is how many further replies of the model follow before a block folds (PROTOCOL.md §13.4);
    `capacity` limits the bytes that the scope may hold in all. With `append_guidance` the instruction for
    the agent is put behind the system prompt, unless it stands there already. With `project_reads` the
    results of tools that read a source file are projected, too (PROTOCOL.md §14.6); `readers` are these
    tools beside the shells, with the arguments that may name the file.
    """

    delay_requests: int = 1
    min_savings_tokens: int = DEFAULT_MIN_SAVINGS_TOKENS
    recovery: Recovery = field(default_factory=Recovery)
    append_guidance: bool = False
    capacity: int | None = None
    project_reads: bool = False
    readers: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: READERS, hash=False)

    def __post_init__(self) -> None:
        if self.delay_requests < 0 or self.min_savings_tokens < 0:
            raise ValueError("delay_requests and min_savings_tokens are 0 or more")


class Refusal(StrEnum):
    """Why nothing at all was folded in a request that is in order."""

    NO_WAY_BACK = "no-way-back"  # it offers none of the tools that could read a body back
    HISTORY_ELSEWHERE = "history-elsewhere"  # the provider keeps the conversation: it never sees our text


@dataclass(frozen=True, slots=True)
class FoldedPart:
    """One text's share of a folded block: `size` bytes at `line` of `path` that `id` stands for now."""

    path: str
    line: int
    id: str
    size: int


@dataclass(frozen=True, slots=True)
class RequestFold:
    """A block that was folded. One within a single text has one part; else each text has its own."""

    label: str
    path: str
    line: int
    parts: tuple[FoldedPart, ...]
    tokens_saved: int
    inner: tuple[InnerFold, ...] = ()

    @property
    def id(self) -> str:
        """The id of the (first) part."""
        return self.parts[0].id

    @property
    def size(self) -> int:
        """Bytes that were folded, in all parts."""
        return sum(part.size for part in self.parts)


@dataclass(frozen=True, slots=True)
class RequestKept:
    """A marked block, or a lone marker, that stays as it is; `detail` is for a person."""

    label: str
    path: str
    line: int
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class ProjectedRead:
    """A source read that was projected: the functions that stay, the ids of what was left out."""

    path: str
    file: str
    definitions: tuple[str, ...]
    ids: tuple[str, ...]
    size: int
    size_after: int


@dataclass(frozen=True, slots=True)
class RequestResult(Generic[BodyT]):
    """`body` is the folded body: the very same object where nothing was changed.

    `refusal` says why nothing could be folded, and `failure` what went wrong: RequestNotRead or
    ArchiveError; then the body is as it was. `guided` tells that the guidance was put in, `reads` are the
    source reads that were projected.
    """

    body: BodyT
    folds: tuple[RequestFold, ...] = ()
    kept: tuple[RequestKept, ...] = ()
    refusal: Refusal | None = None
    failure: CtxfError | None = None
    guided: bool = False
    reads: tuple[ProjectedRead, ...] = ()

    @property
    def tokens_saved(self) -> int:
        """Estimated tokens that all folds save."""
        return sum(fold.tokens_saved for fold in self.folds)


@dataclass(frozen=True, slots=True)
class RestoredReference:
    """A reference that was replaced by its body of `size` bytes."""

    label: str
    path: str
    line: int
    id: str
    size: int


@dataclass(frozen=True, slots=True)
class UnresolvedReference:
    """A reference that stays where it is, and the error that says why."""

    label: str
    path: str
    line: int
    id: str
    error: CtxfError


@dataclass(frozen=True, slots=True)
class RequestRestoreResult(Generic[BodyT]):
    """`body` with every reference that resolves replaced by its exact body.

    `failure` is RequestNotRead for a body that is none; then it is as it was.
    """

    body: BodyT
    restored: tuple[RestoredReference, ...] = ()
    unresolved: tuple[UnresolvedReference, ...] = ()
    failure: CtxfError | None = None
