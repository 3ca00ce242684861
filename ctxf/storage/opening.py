"""How a SQLite file of ours is opened: a foreign one is left alone, an older one brought up to date.

Rule 1: a file that is not ours is not touched. Its `application_id` is read before anything that could
write, through a connection that cannot (`immutable=1`).
Rule 2: what is committed is durable: WAL with `synchronous=FULL`, or a rollback journal where the file
system cannot do WAL.
"""

import contextlib
import os
import sqlite3
from pathlib import Path
from typing import NamedTuple

from ctxf.errors import StorageError
from ctxf.storage.connections import Connect, bring_up_to_date, schema_version, switch_to_wal
from ctxf.storage.faults import error_name, is_about_disk
from ctxf.storage.schema import FileKind

__all__ = ["Opened", "has_wal", "newer_schema", "open_file"]


class Opened(NamedTuple):
    """A connection, whether SQLite was told that the file never changes, why it takes no writes, if so."""

    connection: sqlite3.Connection
    is_immutable: bool
    why_read_only: str


def open_file(path: Path, kind: FileKind, connect: Connect) -> Opened:
    """Open the file at `path`, which may be empty. Raises the kind's errors, sqlite3.Error, OSError."""
    is_new = os.path.getsize(path) == 0
    if not is_new:
        _refuse_foreign_file(path, kind, connect)
    connection = connect(path, "mode=rw")
    try:
        return Opened(connection, False, _make_ready(connection, path, kind))
    except sqlite3.OperationalError as error:
        connection.close()
        # SQLite needs the shared-memory file even to read, and cannot make it on a full or read-only
        # disk. Without a WAL the main file is all there is, and may be read as it stands; but not
        # when the reason is another one, like somebody's lock on it.
        if is_new or has_wal(path) or not is_about_disk(error):
            raise
        return _open_as_it_stands(path, kind, connect)
    except BaseException:
        connection.close()
        raise


def has_wal(path: Path) -> bool:
    """Whether a write-ahead log with anything in it stands beside the file."""
    try:
        return os.path.getsize(f"{path}-wal") > 0
    except OSError:
        return False


def newer_schema(kind: FileKind, version: int) -> str:
    """Why a file of schema `version` is not written, in words."""
    return f"was written by a newer ctxf (schema {version}, this one writes {kind.schema.version})"


def _open_as_it_stands(path: Path, kind: FileKind, connect: Connect) -> Opened:
    connection = connect(path, "immutable=1")
    version, goal = schema_version(connection), kind.schema.version
    if version < goal:
        connection.close()
        raise kind.read_only(str(path), f"has to be brought from schema {version} to {goal} first")
    return Opened(connection, True, "cannot be written here: its directory takes no new files")


def _make_ready(connection: sqlite3.Connection, path: Path, kind: FileKind) -> str:
    """Set up a connection, make or update the tables; why nothing may be written, if so."""
    version = schema_version(connection)
    connection.execute("PRAGMA trusted_schema = OFF")
    if version > kind.schema.version:
        connection.execute("PRAGMA query_only = ON")
        return newer_schema(kind, version)
    if version == 0:
        os.chmod(path, 0o600)  # an empty file may have been made by somebody else
    if version < kind.schema.version:
        bring_up_to_date(connection, kind)
    mode = switch_to_wal(connection)
    # A rollback journal is only gone for good once its directory is synced: EXTRA does that.
    connection.execute(f"PRAGMA synchronous = {'FULL' if mode == 'wal' else 'EXTRA'}")
    connection.execute("PRAGMA secure_delete = ON")  # what is forgotten is overwritten
    # Not before the steps of a migration: they may have to take tables apart.
    connection.execute("PRAGMA foreign_keys = ON")
    return ""


def _refuse_foreign_file(path: Path, kind: FileKind, connect: Connect) -> None:
    with contextlib.closing(connect(path, "immutable=1")) as connection:
        # A checkpoint in progress, or one that a full disk stopped, leaves a header ahead of the
        # file's length, which SQLite takes for damage where it cannot see the log; but not with this.
        connection.execute("PRAGMA writable_schema = ON")
        try:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
        except sqlite3.DatabaseError as error:
            if error_name(error) != "SQLITE_NOTADB":
                raise
            raise _foreign(path, kind) from error
    if application != kind.application_id:
        raise _foreign(path, kind)


def _foreign(path: Path, kind: FileKind) -> StorageError:
    hint = f"it was left as it is; name another file with {kind.place}"
    return kind.error(str(path), f"is not a ctxf {kind.name}", hint)
