"""What a fold reports. Lines count from 1, sizes are bytes, tokens are estimates."""

from dataclasses import dataclass
from typing import AnyStr, Generic

from ctxf.errors import CtxfError
from ctxf.protocol.model import Reason

__all__ = ["Fold", "FoldResult", "InnerFold", "Kept"]


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
    """`text` is the folded text.

    `failure` says why nothing (more) could be folded, if so: ArchiveError or SourceNotParsed.
    `misspelled` are the numbers of lines that look like a marker and are none: in text, an HTML comment
    that begins with the keyword.
    """

    text: AnyStr
    folds: tuple[Fold, ...] = ()
    kept: tuple[Kept, ...] = ()
    failure: CtxfError | None = None
    misspelled: tuple[int, ...] = ()

    @property
    def tokens_saved(self) -> int:
        """Estimated tokens that all folds save."""
        return sum(fold.tokens_saved for fold in self.folds)
