"""What a fold and a restore report. Lines count from 1, sizes are bytes, tokens are estimates."""

from dataclasses import dataclass
from typing import AnyStr, Generic

from ctxf.errors import CtxfError
from ctxf.protocol.model import Reason

__all__ = [
    "Fold",
    "FoldResult",
    "InnerFold",
    "Kept",
    "LooseReference",
    "RestoreResult",
    "Restored",
    "Unresolved",
]


@dataclass(frozen=True, slots=True)
class InnerFold:
    """A block inside a folded one, archived so that it can be read alone."""

    label: str
    id: str
    line: int
    size: int


@dataclass(frozen=True, slots=True)
class Fold:
    """A block that was folded: `line` is its begin marker's, `size` its body's."""

    label: str
    id: str
    line: int
    size: int
    tokens_saved: int
    inner: tuple[InnerFold, ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """A marked block, or a lone marker, that stays as it is; `detail` is for a person."""

    label: str
    line: int
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class FoldResult(Generic[AnyStr]):
    """`text` is the folded text. `failure` says why nothing (more) could be folded, if so: ArchiveError or
    SourceNotParsed."""

    text: AnyStr
    folds: tuple[Fold, ...] = ()
    kept: tuple[Kept, ...] = ()
    failure: CtxfError | None = None

    @property
    def tokens_saved(self) -> int:
        """Estimated tokens that all folds save."""
        return sum(fold.tokens_saved for fold in self.folds)


@dataclass(frozen=True, slots=True)
class Restored:
    """A reference that was replaced by its body of `size` bytes."""

    label: str
    id: str
    line: int
    size: int


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A reference that stays where it is, and the error that says why."""

    label: str
    id: str
    line: int
    error: CtxfError


@dataclass(frozen=True, slots=True)
class LooseReference:
    """A well-formed reference outside any block: it is text and was left alone."""

    id: str
    line: int


@dataclass(frozen=True, slots=True)
class RestoreResult(Generic[AnyStr]):
    """`text` with every reference that resolves replaced by its exact body."""

    text: AnyStr
    restored: tuple[Restored, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    loose: tuple[LooseReference, ...] = ()
