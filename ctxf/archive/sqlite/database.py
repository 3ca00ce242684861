"""One SQLite file, opened with care: durability, locks, forks, foreign and read-only files.

Rule 1: a file that is not ours is not touched. Its `application_id` is read before anything that could
write, through a connection that cannot (`immutable=1`).
Rule 2: what is committed is durable: WAL with `synchronous=FULL`, or a rollback journal where the file
system cannot do WAL.
Rule 3: one connection per process, behind a lock. After a fork the child opens its own and neither
uses nor closes its parent's.
Rule 4: no file is opened here but by SQLite: closing any descriptor of a database drops the locks that
the whole process holds on it (https://sqlite.org/howtocorrupt.html §2.2).
"""

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ctxf.archive.location import create_archive_file, file_problem
from ctxf.archive.sqlite.schema import APPLICATION_ID, CREATE, SCHEMA_VERSION
from ctxf.errors import ArchiveDamaged, ArchiveError, ArchiveMissing, ArchiveReadOnly

__all__ = ["Database"]

BUSY_SECONDS: Final = 30.0
_RETRY_SECONDS: Final = 0.02

_FileIdentity = tuple[int, int]


class Database:
    """A file at `path`, opened at first use and again when the process forked or the file was replaced."""

    def __init__(self, path: Path) -> None:
        self._name = os.path.abspath(path)
        self.path = Path(self._name)
        self._start_anew()
        self._abandoned: list[sqlite3.Connection] = []  # a parent's: kept, so that nobody closes them

    def _start_anew(self) -> None:
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._identity: _FileIdentity | None = None
        self._why_read_only = ""

    def row(self, query: str, parameters: tuple[object, ...]) -> tuple[Any, ...] | None:
        """The first row of a SELECT; raises as `reading` does. For the call that everything waits for."""
        self._leave_parent()
        with self._lock:
            try:
                row: tuple[Any, ...] | None = (
                    self._connect(create=False).execute(query, parameters).fetchone()
                )
                return row
            except (sqlite3.Error, OSError) as error:
                raise self._archive_error(error) from error

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for single SELECTs. Raises ArchiveMissing when there is no file yet."""
        with self._locked(), self._translating_errors():
            yield self._connect(create=False)

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection in one immediate transaction: durable when the block ends, undone when it raises."""
        with self._locked(), self._translating_errors():
            connection = self._connect(create=True)
            if self._why_read_only:
                raise ArchiveReadOnly(str(self.path), self._why_read_only)
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):  # a failed COMMIT may have rolled back already
                    connection.execute("ROLLBACK")
                raise

    def facts(self) -> dict[str, str]:
        """What `ctxf doctor` tells of the file, without making one. Raises as `reading` does."""
        with self.reading() as connection:
            facts = {
                "schema": str(self._schema_version(connection)),
                "journal": str(connection.execute("PRAGMA journal_mode").fetchone()[0]),
            }
            if self._why_read_only:
                facts["read-only"] = self._why_read_only
            return facts

    def close(self) -> None:
        """Close the connection of this process; the last one to close leaves a single file."""
        with self._locked():
            if self._connection is not None:
                with self._translating_errors():
                    self._connection.close()
                self._connection = None

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        self._leave_parent()
        with self._lock:
            yield

    def _leave_parent(self) -> None:
        """In a forked child: start anew."""
        if os.getpid() != self._process:
            if self._connection is not None:
                self._abandoned.append(self._connection)
            self._start_anew()

    def _connect(self, *, create: bool) -> sqlite3.Connection:
        identity = self._file_identity()
        if self._connection is not None and identity == self._identity:
            return self._connection
        if self._connection is not None:
            # Somebody put another file in its place: what we wrote into the old one nobody would find.
            self._connection.close()
            self._connection = None
        if problem := file_problem(self.path):
            raise ArchiveError(str(self.path), problem, "name a regular file with --archive or CTXF_ARCHIVE")
        if identity is None:
            if not create:
                raise ArchiveMissing(str(self.path))
            create_archive_file(self.path)
        self._connection = self._open()
        self._identity = self._file_identity()
        return self._connection

    def _file_identity(self) -> _FileIdentity | None:
        try:
            status = os.lstat(self._name)
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _open(self) -> sqlite3.Connection:
        self._why_read_only = ""
        is_new = os.path.getsize(self.path) == 0
        if not is_new:
            self._refuse_foreign_file()
        connection = self._sqlite_connect("mode=rw")
        try:
            version = self._schema_version(connection)
        except sqlite3.OperationalError:
            connection.close()
            # SQLite needs the shared-memory file even to read, and cannot make it on a full or read-only
            # disk. Without a WAL the main file is all there is, and may be read as it stands.
            if is_new or self._has_wal():
                raise
            self._why_read_only = "cannot be written here: its directory takes no new files"
            return self._sqlite_connect("immutable=1")
        try:
            self._make_ready(connection, version)
        except BaseException:
            connection.close()
            raise
        return connection

    def _make_ready(self, connection: sqlite3.Connection, version: int) -> None:
        if version == 0:
            os.chmod(self.path, 0o600)  # an empty file may have been made by somebody else
            version = self._create_schema(connection)
        if version > SCHEMA_VERSION:
            self._why_read_only = (
                f"was written by a newer ctxf (schema {version}, this one writes {SCHEMA_VERSION})"
            )
            return
        mode = self._journal_mode(connection)
        # A rollback journal is only gone for good once its directory is synced: EXTRA does that.
        connection.execute(f"PRAGMA synchronous = {'FULL' if mode == 'wal' else 'EXTRA'}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA trusted_schema = OFF")

    def _sqlite_connect(self, parameters: str) -> sqlite3.Connection:
        return sqlite3.connect(
            f"file:{_quoted(self._name)}?{parameters}",
            uri=True,
            timeout=BUSY_SECONDS,  # set before anything else: D01 of the bug log
            isolation_level=None,
            check_same_thread=False,  # the lock sees to it
        )

    def _refuse_foreign_file(self) -> None:
        hint = "it was left as it is; name another file with --archive or CTXF_ARCHIVE"
        with contextlib.closing(self._sqlite_connect("immutable=1")) as connection:
            try:
                # A checkpoint that was cut short leaves a header that counts pages which only the WAL has;
                # SQLite calls that corrupt when it does not read the WAL, but not under this setting.
                connection.execute("PRAGMA writable_schema = ON")
                (application,) = connection.execute("PRAGMA application_id").fetchone()
            except sqlite3.DatabaseError as error:
                if _error_name(error) != "SQLITE_NOTADB":
                    raise
                raise ArchiveError(str(self.path), "is not a ctxf archive", hint) from error
        if application != APPLICATION_ID:
            raise ArchiveError(str(self.path), "is not a ctxf archive", hint)

    @staticmethod
    def _schema_version(connection: sqlite3.Connection) -> int:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        return int(version)

    def _create_schema(self, connection: sqlite3.Connection) -> int:
        """Make the tables unless another process was faster; the version that is there then.

        Still under the rollback journal, so that the header of the main file says whose it is at once.
        """
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = self._schema_version(connection)
            if version == 0:
                for statement in CREATE:
                    connection.execute(statement)
                version = SCHEMA_VERSION
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
        return version

    def _journal_mode(self, connection: sqlite3.Connection) -> str:
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
                if not _error_name(error).startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                    raise
                time.sleep(_RETRY_SECONDS)

    def _has_wal(self) -> bool:
        try:
            return os.path.getsize(f"{self.path}-wal") > 0
        except OSError:
            return False

    @contextlib.contextmanager
    def _translating_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise self._archive_error(error) from error

    def _archive_error(self, error: sqlite3.Error | OSError) -> ArchiveError:
        if isinstance(error, OSError):
            return ArchiveError(self._name, os.strerror(error.errno or 0))
        return _archive_error(self._name, error)


def _quoted(path: str) -> str:
    """A path in an SQLite URI (https://sqlite.org/uri.html §3.1). urllib.parse would double our start-up."""
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _error_name(error: sqlite3.Error) -> str:
    return str(getattr(error, "sqlite_errorname", ""))  # errors of Python's own wrapper have none


def _archive_error(path: str, error: sqlite3.Error) -> ArchiveError:
    name = _error_name(error)
    if name.startswith("SQLITE_BUSY"):
        return ArchiveError(path, f"is locked by another process for {BUSY_SECONDS:.0f} s", "try again later")
    if name.startswith("SQLITE_FULL"):
        return ArchiveError(
            path, "no space left to write", "free some disk space or raise the file size limit"
        )
    if name.startswith("SQLITE_READONLY"):
        return ArchiveReadOnly(path, "is read-only")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return ArchiveDamaged(path, str(error))
    if name.startswith(("SQLITE_IOERR", "SQLITE_CANTOPEN")):
        return ArchiveError(
            path, f"{error} ({name})", "check the disk, its free space and the file's permissions"
        )
    return ArchiveError(path, f"{error} ({name or type(error).__name__})")
