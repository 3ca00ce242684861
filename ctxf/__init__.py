"""Fold long agent context into a durable archive, and give every byte back.

    with ctxf.Archive.open() as archive:
        result = ctxf.fold(text, archive, scope="default")
        assert ctxf.restore(result.text, archive, scope="default").text == text

PROTOCOL.md says what is a block and what a reference. Importing this loads no parser and no database.
"""

from ctxf.archive import (
    Archive,
    Damage,
    Entry,
    Forgotten,
    Line,
    PackageSummary,
    ScopeStats,
    ScopeSummary,
    Search,
    Totals,
    Verification,
)
from ctxf.errors import (
    ArchiveDamaged,
    ArchiveError,
    ArchiveMissing,
    ArchiveReadOnly,
    BodyDamaged,
    BodyForgotten,
    BodyNotFound,
    ConfigError,
    CtxfError,
    IdTaken,
    InvalidId,
    InvalidPattern,
    InvalidScope,
    PackageError,
    ReadError,
    TextNotUtf8,
)
from ctxf.folder import fold, restore
from ctxf.protocol.model import Reason
from ctxf.results import (
    Fold,
    FoldResult,
    InnerFold,
    Kept,
    LooseReference,
    Restored,
    RestoreResult,
    Unresolved,
)

__version__ = "0.1.0"

__all__ = [
    "Archive",
    "ArchiveDamaged",
    "ArchiveError",
    "ArchiveMissing",
    "ArchiveReadOnly",
    "BodyDamaged",
    "BodyForgotten",
    "BodyNotFound",
    "ConfigError",
    "CtxfError",
    "Damage",
    "Entry",
    "Fold",
    "FoldResult",
    "Forgotten",
    "IdTaken",
    "InnerFold",
    "InvalidId",
    "InvalidPattern",
    "InvalidScope",
    "Kept",
    "Line",
    "LooseReference",
    "PackageError",
    "PackageSummary",
    "ReadError",
    "Reason",
    "RestoreResult",
    "Restored",
    "ScopeStats",
    "ScopeSummary",
    "Search",
    "TextNotUtf8",
    "Totals",
    "Unresolved",
    "Verification",
    "__version__",
    "fold",
    "restore",
]
