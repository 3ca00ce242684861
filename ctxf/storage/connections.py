"""Functions over SQLite connections; nothing here keeps state."""

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from ctxf.storage.faults import BUSY_SECONDS, error_name
from ctxf.storage.schema import FileKind

__all__ = [
    "Connect",
    "bring_up_to_date",
    "connect_sqlite",
    "copy_into",
    "give_back_space",
    "schema_version",
    "switch_to_wal",
    "transaction",
]

_RETRY_SECONDS: Final = 0.02
_SLICE_SECONDS: Final = 0.25
_PAGES_AT_ONCE: Final = 1024


class _PatientConnection(sqlite3.Connection):
    """Waits for a lock up to its patience, in slices: Python sees to signals only between them.

    The alternative, a busy_timeout that a PRAGMA shortens before each BEGIN and restores behind it, cost
    30 us of a put.
    """

    patience: float | None = None  # seconds; None: BUSY_SECONDS

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        try:
            return super().execute(sql, parameters)
        except sqlite3.OperationalError as error:
            # Within a transaction this process holds a lock that others may wait for: it must not wait.
            if not _is_busy(error) or self.in_transaction:
                raise
        return self._insist(partial(super().execute, sql, parameters))

    def executescript(self, sql_script: str, /) -> sqlite3.Cursor:
        return self._insist(partial(super().executescript, sql_script))

    def _insist(self, call: Callable[[], sqlite3.Cursor]) -> sqlite3.Cursor:
        deadline = time.monotonic() + _patience(self)
        while True:
            try:
                return call()
            except sqlite3.OperationalError as error:
                if not _is_busy(error) or time.monotonic() > deadline:
                    raise


def connect_sqlite(path: Path, parameters: str, patience: float | None = None) -> sqlite3.Connection:
    """A connection without implicit transactions; `parameters` are those of SQLite's URI.

    `patience`: the seconds that it waits for a lock, by default BUSY_SECONDS.
    """
    connection = sqlite3.connect(
        f"file:{_quoted(str(path))}?{parameters}",
        uri=True,
        timeout=_SLICE_SECONDS,  # set first, so that the first statement already waits
        isolation_level=None,
        check_same_thread=False,  # our own lock keeps threads apart
        factory=_PatientConnection,
    )
    connection.patience = patience
    return connection


def _patience(connection: sqlite3.Connection) -> float:
    patience = connection.patience if isinstance(connection, _PatientConnection) else None
    return BUSY_SECONDS if patience is None else patience


Connect = Callable[[Path, str], sqlite3.Connection]
"""What opens a connection; tests give one that fails, or that knows of a file system without WAL."""


def _quoted(path: str) -> str:
    """A path in an SQLite URI (https://sqlite.org/uri.html §3.1)."""
    return quote(os.fsencode(path))


def _is_busy(error: sqlite3.Error) -> bool:
    return error_name(error).startswith("SQLITE_BUSY")


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
    """A transaction that is committed when the block ends, undone when it raises."""
    try:
        connection.execute(begin)  # within `try`: Ctrl-C may come right behind it
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # a failed COMMIT may have rolled back already
            connection.execute("ROLLBACK")
        raise


def give_back_space(connection: sqlite3.Connection) -> bool:
    """After deletions: shrink the file, empty the write-ahead log; whether no reader was in the way."""
    # It frees a page with each step; `execute` takes but one, as the rows have no columns.
    connection.executescript("PRAGMA incremental_vacuum")
    deadline = time.monotonic() + _patience(connection)
    while True:
        (is_busy, _frames, _done) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if not is_busy or time.monotonic() > deadline:
            return not is_busy


def copy_into(
    connection: sqlite3.Connection,
    copy: sqlite3.Connection,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Copy all, as it is at one moment, whoever writes meanwhile; `progress` gets pages done and in all."""

    def tell(_status: int, remaining: int, total: int) -> None:
        if progress is not None:
            progress(total - remaining, total)

    # The open transaction pins the moment: without it the copy starts anew at every commit.
    connection.execute("BEGIN")
    schema_version(connection)
    try:
        connection.backup(copy, pages=_PAGES_AT_ONCE, progress=tell)
    finally:
        connection.execute("COMMIT")


def schema_version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def switch_to_wal(connection: sqlite3.Connection) -> str:
    """Switch to WAL; the mode that the file system allows."""
    deadline = time.monotonic() + _patience(connection)
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            if mode != "wal":
                (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            return str(mode)
        except sqlite3.OperationalError as error:
            # The switch needs the file for itself, and SQLite does not wait for that.
            if not _is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_SECONDS)


def bring_up_to_date(connection: sqlite3.Connection, kind: FileKind) -> None:
    """Make the tables, or take the steps from an older version, unless another process was faster.

    A new file is still under the rollback journal, so its header says whose it is at once.
    """
    # An empty file takes the first statement for its page layout, so it must not be BEGIN IMMEDIATE:
    # this one lets the file shrink by what is forgotten, page by page, where VACUUM would write all
    # of it anew. It takes the lock just as well, being a write.
    # Here the wait is within a transaction.
    connection.execute(f"PRAGMA busy_timeout = {_patience(connection) * 1000:.0f}")
    with transaction(connection, "BEGIN"):
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        schema, version = kind.schema, schema_version(connection)
        if version == 0:
            statements = [*schema.create, f"PRAGMA application_id = {kind.application_id}"]
        else:
            steps = range(version, schema.version)
            statements = [statement for step in steps for statement in schema.steps[step]]
        if version < schema.version:
            for statement in (*statements, f"PRAGMA user_version = {schema.version}"):
                connection.execute(statement)
    connection.execute(f"PRAGMA busy_timeout = {_SLICE_SECONDS * 1000:.0f}")
