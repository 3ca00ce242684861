"""What SQLite reports, in the words of `ctxf.errors`."""

import os
import sqlite3
from typing import Final

from ctxf.errors import StorageError
from ctxf.storage.schema import FileKind

__all__ = ["BUSY_SECONDS", "DamagedIndex", "error_name", "is_about_disk", "storage_error"]

BUSY_SECONDS: Final = 30.0


class DamagedIndex(sqlite3.DatabaseError):
    """An index leads to another row than the one that was asked for: SQLite does not look, we do."""


def error_name(error: sqlite3.Error) -> str:
    """`SQLITE_BUSY_SNAPSHOT` and the like; empty for errors of Python's own wrapper, which have none."""
    return str(getattr(error, "sqlite_errorname", ""))


def is_about_disk(error: sqlite3.Error) -> bool:
    """Whether the disk or its permissions are the reason."""
    return error_name(error).startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_IOERR", "SQLITE_FULL"))


def storage_error(
    kind: FileKind, path: str, error: sqlite3.Error | OSError | UnicodeDecodeError
) -> StorageError:
    """The error that callers see."""
    if isinstance(error, UnicodeDecodeError):  # SQLite's message quotes a schema that is no UTF-8
        return kind.damaged(path, "its schema is no text any more")
    if isinstance(error, OSError):
        return kind.error(path, os.strerror(error.errno or 0), "")
    name = error_name(error)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")):
        return kind.error(path, "stays locked by another process", "try again later")
    if name.startswith("SQLITE_FULL"):
        return kind.error(path, "no space left to write", "free some disk space or raise the file size limit")
    if name.startswith("SQLITE_READONLY"):
        return kind.read_only(path, "is read-only")
    # A text column that is no UTF-8 any more is reported by Python's wrapper, and by these words only.
    is_damage = name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or isinstance(error, DamagedIndex)
    if is_damage or "Could not decode" in str(error):
        return kind.damaged(path, str(error))
    if name.startswith(("SQLITE_IOERR", "SQLITE_CANTOPEN")):
        return kind.error(
            path, f"{error} ({name})", "check the disk, its free space and the file's permissions"
        )
    return kind.error(path, f"{error} ({name or type(error).__name__})", "")
