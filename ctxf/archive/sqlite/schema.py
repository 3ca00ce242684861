"""The tables of the SQLite archive, and how an older file is brought up to date."""

from collections.abc import Mapping
from typing import Final, NamedTuple

__all__ = ["APPLICATION_ID", "CREATE", "SCHEMA", "Schema"]

APPLICATION_ID: Final = 0x63747866  # "ctxf"


class Schema(NamedTuple):
    """What a file of `version` looks like, and the way there.

    `create` makes the tables in an empty file. `steps[n]` takes a file of version n to n + 1; all steps
    that a file needs run in one immediate transaction when it is opened, so that another process sees
    the old file or the new one. A step never touches a payload: what was archived stays as it is.
    """

    version: int
    create: tuple[str, ...]
    steps: Mapping[int, tuple[str, ...]]


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
