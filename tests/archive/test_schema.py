"""Files of an older schema: brought up to date in one transaction when they are opened, or left alone."""

import hashlib
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from ctxf.archive import Archive
from ctxf.archive.sqlite import SqliteStore
from ctxf.archive.sqlite.schema import FILE, SCHEMA
from ctxf.errors import ArchiveError, ArchiveReadOnly, BodyForgotten
from ctxf.storage.schema import Schema
from tests.kit.archive import collision_pair, put, run_python

VERSION_1 = Path(__file__).parents[1] / "data" / "archive-v1.db"
CONVERSATION = "c-" + "0" * 32

# Two steps, so that they are seen to follow each other: a column, then a table filled from it.
NEXT = Schema(
    version=SCHEMA.version + 2,
    create=SCHEMA.create,
    steps={
        **SCHEMA.steps,
        SCHEMA.version: ("ALTER TABLE folds ADD COLUMN lines INTEGER NOT NULL DEFAULT 7",),
        SCHEMA.version + 1: (
            "CREATE TABLE notes (fold INTEGER PRIMARY KEY, lines INTEGER)",
            "INSERT INTO notes SELECT key, lines FROM folds",
        ),
    },
)
NEXT_FILE = FILE._replace(schema=NEXT)
BROKEN_FILE = FILE._replace(
    schema=NEXT._replace(steps={**NEXT.steps, SCHEMA.version + 1: ("CREATE TABLE folds (x)",)})
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return Path(shutil.copyfile(VERSION_1, tmp_path / "archive.db"))


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def check_content(archive: Archive) -> None:
    first, second = collision_pair()
    assert archive.read("default", hashlib.sha256(first).hexdigest()[:12]) == first
    assert archive.read("default", hashlib.sha256(second).hexdigest()[:13]) == second
    assert archive.read(CONVERSATION, hashlib.sha256(first).hexdigest()[:12]) == first
    assert [entry.label for entry in archive.entries("default")] == [b"first", b"second", b"raw"]
    with pytest.raises(BodyForgotten):
        archive.read("default", hashlib.sha256(b"to forget").hexdigest()[:12])
    assert archive.verify(deep=True).is_intact


def test_a_file_of_version_1_opens_today(path: Path) -> None:
    assert rows(path, "PRAGMA user_version") == [(1,)]
    with Archive.open(path) as archive:
        check_content(archive)
        put(archive, "default", b"more")
        assert archive.facts()["schema"] == str(SCHEMA.version)
    assert (SCHEMA.version, VERSION_1.stat().st_size) == (1, path.stat().st_size), (
        "add the next version's file"
    )


def test_it_goes_through_every_step(path: Path) -> None:
    with Archive(SqliteStore(path, NEXT_FILE)) as archive:
        check_content(archive)
        put(archive, "default", b"more")
    assert rows(path, "PRAGMA user_version") == [(NEXT.version,)]
    assert rows(path, "SELECT count(*), sum(lines) FROM notes") == [(5, 35)]
    with Archive(SqliteStore(path, NEXT_FILE)) as archive:
        check_content_after_more(archive)


def check_content_after_more(archive: Archive) -> None:
    (id,) = put(archive, "default", b"more")
    assert archive.read("default", id) == b"more"


def test_a_step_that_fails_leaves_the_file_as_it_was(path: Path) -> None:
    with Archive(SqliteStore(path, BROKEN_FILE)) as archive:
        for _ in range(2):
            with pytest.raises(ArchiveError, match="already exists"):
                archive.scopes()
    assert rows(path, "PRAGMA user_version") == [(1,)]
    assert rows(path, "SELECT count(*) FROM pragma_table_info('folds') WHERE name = 'lines'") == [(0,)]
    with Archive.open(path) as archive:
        check_content(archive)


def test_many_open_it_at_once(path: Path) -> None:
    failures: list[BaseException] = []
    start = threading.Barrier(8)

    def work() -> None:
        try:
            start.wait()
            with Archive(SqliteStore(path, NEXT_FILE)) as archive:
                check_content(archive)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert rows(path, "SELECT count(*) FROM notes") == [(5,)]


def test_an_older_ctxf_stops_writing_when_the_file_moves_on(path: Path) -> None:
    with Archive.open(path) as older:
        put(older, "default", b"before")
        with Archive(SqliteStore(path, NEXT_FILE)) as newer:
            put(newer, "default", b"by the newer one")
        with pytest.raises(ArchiveReadOnly, match="newer ctxf"):
            put(older, "default", b"after")


def test_an_older_file_that_cannot_be_written_says_so(path: Path) -> None:
    code = """
import sys
from pathlib import Path
from tests.archive.test_schema import NEXT_FILE, Archive, SqliteStore
from ctxf.errors import ArchiveReadOnly
try:
    Archive(SqliteStore(Path(sys.argv[1]), NEXT_FILE)).scopes()
except ArchiveReadOnly as error:
    print(error)
"""
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        done = run_python(code, path, without_rights=True)
    finally:
        path.parent.chmod(0o700)
    assert b"brought from schema 1 to 3" in done.stdout, done.stderr
    assert path.read_bytes() == VERSION_1.read_bytes()
