"""Fold long agent context into a durable archive, and give every byte back.

    with ctxf.Archive.open() as archive:
        result = ctxf.fold(text, archive, scope="default")
        assert ctxf.restore(result.text, archive, scope="default").text == text

PROTOCOL.md says what is a block and what a reference. Importing this loads no parser and no database.
"""

from ctxf.archive import Archive, Entry, ScopeSummary
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
    InvalidId,
    InvalidScope,
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
    "Entry",
    "Fold",
    "FoldResult",
    "InnerFold",
    "InvalidId",
    "InvalidScope",
    "Kept",
    "LooseReference",
    "ReadError",
    "Reason",
    "RestoreResult",
    "Restored",
    "ScopeSummary",
    "TextNotUtf8",
    "Unresolved",
    "__version__",
    "fold",
    "restore",
]
