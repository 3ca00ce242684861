"""What an archive's owner deals with: figures, damage, forgetting, packages. No read or fold loads it."""

from dataclasses import dataclass
from datetime import datetime

from ctxf.protocol.references import ID_DIGITS, format_reference
from ctxf.protocol.savings import estimate_tokens

__all__ = [
    "Check",
    "Damage",
    "Forgotten",
    "PackageSummary",
    "PackedFold",
    "ScopeStats",
    "Totals",
    "Verification",
]


@dataclass(frozen=True, slots=True)
class PackedFold:
    """A fold as it was in another archive, with the id that it had there."""

    id: str
    body: bytes
    digest: bytes
    label: bytes
    created: datetime


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a forget removed (or would remove): the ids, and the bytes of their bodies.

    `is_erased` is False when another process still uses the old pages: their bytes leave the disk with
    a later forget, or when the last process closes the archive.
    """

    ids: tuple[str, ...]
    size: int
    is_erased: bool = True


@dataclass(frozen=True, slots=True)
class ScopeStats:
    """A scope in figures: bytes of its bodies and as they are stored, folds there and forgotten, dates."""

    name: str
    folds: int
    size: int
    stored: int
    forgotten: int
    first: datetime | None
    last: datetime | None

    @property
    def tokens_saved(self) -> int:
        """Estimated tokens that its references save where each stands once; inner blocks count too."""
        reference_line = len(format_reference("0" * ID_DIGITS)) + 1
        return max(0, estimate_tokens(self.size) - self.folds * estimate_tokens(reference_line))


@dataclass(frozen=True, slots=True)
class Totals:
    """The whole store: different bodies, their bytes, and the bytes that they take."""

    bodies: int
    size: int
    stored: int


@dataclass(frozen=True, slots=True)
class Damage:
    """Something that is not as it was written. `scope` and `id` name a fold where it is one's body."""

    problem: str
    scope: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """How far a verification is, counted in bodies, and what it found on the last stretch."""

    done: int
    total: int
    damage: tuple[Damage, ...] = ()


@dataclass(frozen=True, slots=True)
class PackageSummary:
    """A package: its scope (for an import the one that took it), folds, bytes of bodies, folds new here."""

    scope: str
    folds: int
    size: int
    new: int = 0


@dataclass(frozen=True, slots=True)
class Verification:
    """What a verification found: how many bodies were looked at, and all that is damaged."""

    bodies: int
    damage: tuple[Damage, ...]

    @property
    def is_intact(self) -> bool:
        """Whether everything is as it was written."""
        return not self.damage
