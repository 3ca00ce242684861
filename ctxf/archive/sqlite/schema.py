"""The tables of the SQLite archive, and how an older file is brought up to date."""

from typing import Final

from ctxf.errors import ArchiveDamaged, ArchiveError, ArchiveMissing, ArchiveReadOnly
from ctxf.storage.schema import FileKind, Schema

__all__ = ["CREATE", "FILE", "SCHEMA"]

# No STRICT tables: they need SQLite 3.37, and Python 3.11 is still found on older ones.
CREATE: Final = (
    # `size` counts the bytes of all bodies that the scope holds, for its capacity.
    """
    CREATE TABLE scopes (
        key INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        size INTEGER NOT NULL DEFAULT 0
    )
    """,
    # One row for each different body, whatever scopes have it. The payload stands last, so that the
    # other columns can be read without it.
    """
    CREATE TABLE bodies (
        key INTEGER PRIMARY KEY,
        sha256 BLOB NOT NULL UNIQUE CHECK (length(sha256) = 32),
        size INTEGER NOT NULL,
        encoding INTEGER NOT NULL,
        blake3 BLOB NOT NULL CHECK (length(blake3) = 32),
        payload BLOB NOT NULL
    )
    """,
    # One row for each id of a scope, for ever: once forgotten, `body` is NULL and `forgotten` says when.
    # The hash stays, so that the id cannot come to stand for another body. Times are milliseconds since
    # 1970 in UTC; order goes by key, since clocks are set back.
    """
    CREATE TABLE folds (
        key INTEGER PRIMARY KEY,
        scope INTEGER NOT NULL REFERENCES scopes (key),
        id TEXT NOT NULL,
        body INTEGER REFERENCES bodies (key),
        sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
        size INTEGER NOT NULL,
        label BLOB NOT NULL,
        created INTEGER NOT NULL,
        forgotten INTEGER,
        UNIQUE (scope, id),
        CHECK ((body IS NULL) = (forgotten IS NOT NULL))
    )
    """,
    "CREATE INDEX folds_by_scope ON folds (scope)",
    "CREATE INDEX folds_by_body ON folds (body)",
)

# Version 1 is what tests/data/archive-v1.db holds. A change of the tables is a new version: new CREATE
# statements, and a step from the version before.
SCHEMA: Final = Schema(version=1, create=CREATE, steps={})

FILE: Final = FileKind(
    name="archive",
    application_id=0x63747866,  # "ctxf"
    schema=SCHEMA,
    place="--archive or CTXF_ARCHIVE",
    error=ArchiveError,
    missing=ArchiveMissing,
    read_only=ArchiveReadOnly,
    damaged=ArchiveDamaged,
)
