"""The archive in one SQLite file: the only package that imports sqlite3 and the only one with SQL."""

from sqlite3 import sqlite_version as SQLITE_VERSION

from ctxf.archive.sqlite.store import SqliteStore

__all__ = ["SQLITE_VERSION", "SqliteStore"]
