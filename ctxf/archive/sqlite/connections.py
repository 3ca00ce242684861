"""SQLite connections and what is asked of one: no state of ours."""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from ctxf.archive.sqlite.faults import BUSY_SECONDS, error_name
from ctxf.archive.sqlite.schema import APPLICATION_ID, Schema

__all__ = ["Connect", "bring_up_to_date", "connect_sqlite", "schema_version", "switch_to_wal", "transaction"]

_RETRY_SECONDS: Final = 0.02
_SLICE_MILLISECONDS: Final = 250


def connect_sqlite(path: Path, parameters: str) -> sqlite3.Connection:
    """A connection without implicit transactions; `parameters` are those of SQLite's URI."""
    return sqlite3.connect(
        f"file:{_quoted(str(path))}?{parameters}",
        uri=True,
        timeout=BUSY_SECONDS,  # set before anything else: D01 of the bug log
        isolation_level=None,
        check_same_thread=False,  # the lock sees to it
    )


Connect = Callable[[Path, str], sqlite3.Connection]
"""What opens a connection; tests give one that fails, or that knows of a file system without WAL."""


def _quoted(path: str) -> str:
    """A path in an SQLite URI (https://sqlite.org/uri.html §3.1). urllib.parse would double our start-up."""
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
    try:
        _begin(connection, begin)  # within `try`: Ctrl-C may come right behind it
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # a failed COMMIT may have rolled back already
            connection.execute("ROLLBACK")
        raise


def _begin(connection: sqlite3.Connection, begin: str) -> None:
    """Wait for the write lock in slices: Python sees to signals only between them, and Ctrl-C should work."""
    deadline = time.monotonic() + BUSY_SECONDS
    connection.execute(f"PRAGMA busy_timeout = {_SLICE_MILLISECONDS}")
    try:
        while True:
            try:
                connection.execute(begin)
                return
            except sqlite3.OperationalError as error:
                if not error_name(error).startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                    raise
    finally:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000:.0f}")


def schema_version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def switch_to_wal(connection: sqlite3.Connection) -> str:
    """Switch to WAL; the mode that the file system allows."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            if mode != "wal":
                (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            return str(mode)
        except sqlite3.OperationalError as error:
            # The switch needs the file for itself, and SQLite does not wait for that.
            if not error_name(error).startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_SECONDS)


def bring_up_to_date(connection: sqlite3.Connection, schema: Schema) -> None:
    """Make the tables, or take the steps from an older version, unless another process was faster.

    A new file is still under the rollback journal, so its header says whose it is at once.
    """
    # An empty file takes the first statement for its page layout, so it must not be BEGIN IMMEDIATE:
    # this one lets the file shrink by what is forgotten, page by page, where VACUUM would write all
    # of it anew. It takes the lock just as well, being a write.
    with transaction(connection, "BEGIN"):
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        version = schema_version(connection)
        if version == 0:
            statements = [*schema.create, f"PRAGMA application_id = {APPLICATION_ID}"]
        else:
            steps = range(version, schema.version)
            statements = [statement for step in steps for statement in schema.steps[step]]
        if version < schema.version:
            for statement in (*statements, f"PRAGMA user_version = {schema.version}"):
                connection.execute(statement)
