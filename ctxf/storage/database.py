"""One SQLite file, opened with care: durability, locks, forks, foreign and read-only files.

Rules 1 and 2, on foreign files and on durability, are in `opening`.
Rule 3: one connection per process, behind a lock, and none at a fork (see `forks`).
Rule 4: no file is opened here but by SQLite: closing any descriptor of a database drops the locks that
the whole process holds on it (https://sqlite.org/howtocorrupt.html §2.2).
"""

import contextlib
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from ctxf.storage.connections import (
    Connect,
    connect_sqlite,
    copy_into,
    give_back_space,
    schema_version,
    transaction,
)
from ctxf.storage.faults import storage_error
from ctxf.storage.files import create_private_file, file_problem
from ctxf.storage.forks import close_at_forks
from ctxf.storage.opening import has_wal, newer_schema, open_file
from ctxf.storage.schema import FileKind

__all__ = ["Database"]

# How long one read after the other goes without a look whether the path names another file now: the look
# takes a fifth of a read. What is read meanwhile is exact all the same; a write always looks.
_LOOK_AGAIN_SECONDS: Final = 0.01


class _Handle:
    """What one process holds of the file. `state` tells whether the path still names the same thing."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.connection: sqlite3.Connection | None = None
        self.state: tuple[int, ...] | None = None
        self.looked_at = 0.0
        self.is_immutable = False
        self.why_read_only = ""
        self.writes = 0  # transactions that were begun, whatever became of them


class Database:
    """A file at `path`, opened at first use and again when the process forked or the file was replaced."""

    def __init__(self, path: Path, kind: FileKind, connect: Connect = connect_sqlite) -> None:
        # POSIX lets two leading slashes mean something else, and a URI takes what follows for a host.
        self._name = re.sub(r"\A/+", "/", os.path.abspath(path))
        self.path = Path(self._name)
        self._kind = kind
        self._connect_sqlite = connect
        # By process: should a fork come from elsewhere than Python, the parent's stays here unused.
        self._handles: dict[int, _Handle] = {}
        close_at_forks(self)

    def row(self, query: str, parameters: tuple[object, ...]) -> tuple[Any, ...] | None:
        """The first row of a SELECT; raises as `reading` does. For reads, whose speed matters most."""
        handle = self._handle()
        with handle.lock:
            try:
                connection, now = handle.connection, time.monotonic()
                if connection is None or handle.is_immutable or now > handle.looked_at + _LOOK_AGAIN_SECONDS:
                    connection, handle.looked_at = self._connect(handle, create=False), now
                row: tuple[Any, ...] | None = connection.execute(query, parameters).fetchone()
                return row
            except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
                raise storage_error(self._kind, self._name, error) from error

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for single SELECTs. Raises the kind's `missing` when there is no file yet."""
        with self._locked() as handle:
            yield self._connect(handle, create=False)

    @contextlib.contextmanager
    def writing(self, *, create: bool = True) -> Iterator[sqlite3.Connection]:
        """A connection in one immediate transaction: durable when the block ends, undone when it raises."""
        with self._locked() as handle:
            if handle.is_immutable:
                self._disconnect(handle)  # the disk may be writable again
            connection = self._connect(handle, create=create)
            if handle.why_read_only:
                raise self._kind.read_only(str(self.path), handle.why_read_only)
            with transaction(connection):
                version = schema_version(connection)
                if version != self._kind.schema.version:
                    raise self._kind.read_only(str(self.path), newer_schema(self._kind, version))
                handle.writes += 1
                yield connection

    def change_mark(self) -> tuple[object, ...]:
        """Equals an earlier one only if nothing was committed in between; raises as `reading` does.

        SQLite's `data_version` tells what other connections did, and says nothing about our own.
        """
        with self._locked() as handle, self.reading() as connection:
            (version,) = connection.execute("PRAGMA data_version").fetchone()
            return handle, connection, handle.state, handle.writes, version

    def give_back_space(self) -> bool:
        """After deletions: shrink the file, empty the write-ahead log; whether nobody was in the way."""
        with self._locked() as handle:
            return give_back_space(self._connect(handle, create=False))

    def copy_to(self, target: Path, progress: Callable[[int, int], None] | None = None) -> None:
        """Copy the database as it is at one moment into the empty file `target`, durably.

        Through connections of its own, so that other threads go on meanwhile. `progress`: see `copy_into`.
        """
        source = Database(self.path, self._kind, self._connect_sqlite)
        with source.reading() as connection:
            try:
                with contextlib.closing(self._connect_sqlite(target, "mode=rw")) as copy:
                    copy_into(connection, copy, progress)
            except sqlite3.Error as error:
                raise storage_error(self._kind, str(target), error) from error
        source.close()

    def facts(self) -> dict[str, str]:
        """What `ctxf doctor` tells of the file, without making one. Raises as `reading` does."""
        with self._locked() as handle, self.reading() as connection:
            facts = {
                "schema": str(schema_version(connection)),
                "journal": str(connection.execute("PRAGMA journal_mode").fetchone()[0]),
            }
            if handle.why_read_only:
                facts["read-only"] = handle.why_read_only
            return facts

    def close(self) -> None:
        """Close the connection of this process; the last one to close leaves a single file."""
        with self._locked() as handle:
            self._disconnect(handle)

    def let_go_for_fork(self) -> None:
        """Close the connection, and hold the lock until `go_on_after_fork`: see `forks`."""
        handle = self._handle()
        handle.lock.acquire()
        if handle.connection is not None and not handle.connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                self._disconnect(handle)

    def go_on_after_fork(self) -> None:
        """In the parent: the next call opens the file again."""
        self._handle().lock.release()

    def _handle(self) -> _Handle:
        process = os.getpid()
        # setdefault is atomic: two threads of a forked child get the same new handle.
        return self._handles.get(process) or self._handles.setdefault(process, _Handle())

    @contextlib.contextmanager
    def _locked(self) -> Iterator[_Handle]:
        """The handle of this process, for one thread; errors in the words of `ctxf.errors`."""
        handle = self._handle()
        with handle.lock:
            try:
                yield handle
            except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
                raise storage_error(self._kind, self._name, error) from error

    def _connect(self, handle: _Handle, *, create: bool) -> sqlite3.Connection:
        state = self._file_state(handle)
        if handle.connection is not None and state == handle.state:
            return handle.connection
        if handle.connection is not None:
            self._leave_behind(handle)
        if problem := file_problem(self.path):
            raise self._kind.error(str(self.path), problem, f"name a regular file with {self._kind.place}")
        if state is None:
            if not create:
                raise self._kind.missing(str(self.path))
            self._create()
        opened = open_file(self.path, self._kind, self._connect_sqlite)
        handle.connection = opened.connection
        handle.is_immutable, handle.why_read_only = opened.is_immutable, opened.why_read_only
        handle.state = self._file_state(handle)
        return handle.connection

    def _create(self) -> None:
        try:
            create_private_file(self.path)
        except OSError as error:
            problem = f"cannot be created: {os.strerror(error.errno or 0)}"
            raise self._kind.error(
                str(self.path), problem, f"name another place with {self._kind.place}"
            ) from error

    def _leave_behind(self, handle: _Handle) -> None:
        """Somebody moved, deleted or replaced the file: what we would write into it nobody would find.

        Its write-ahead log still stands beside the path, and SQLite would take it for the new file's.
        So it is emptied into the old file first, wherever that is now.
        """
        if handle.connection is not None and not handle.is_immutable:
            with contextlib.suppress(sqlite3.Error):
                handle.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._disconnect(handle)

    @staticmethod
    def _disconnect(handle: _Handle) -> None:
        connection, handle.connection = handle.connection, None
        handle.is_immutable = False
        if connection is not None:
            connection.close()

    def _file_state(self, handle: _Handle) -> tuple[int, ...] | None:
        """Which file it is; where SQLite was told that nothing changes, whether anything did."""
        try:
            status = os.lstat(self._name)
        except OSError:
            return None
        if not handle.is_immutable:
            return status.st_dev, status.st_ino
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, has_wal(self.path)
