"""The archive in one SQLite file: the only package that imports sqlite3 and the only one with SQL."""

from ctxf.archive.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
