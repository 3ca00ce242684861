"""Forgetting, verifying, figures and backups: what a store's owner does with it."""

import hashlib
import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ctxf.archive import Archive, Refused, ScopeSummary
from ctxf.archive.upkeep import Damage, Forgotten, Totals
from ctxf.errors import ArchiveError, ArchiveMissing, BodyForgotten, BodyNotFound, InvalidId
from tests.kit.archive import STORES, bodies, collision_pair, new, put

SECRET = b"the secret that must go: 5d41402abc4b2a76b9719d911017c592"


@pytest.fixture(params=STORES)
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Archive]:
    with Archive(STORES[request.param](tmp_path)) as archive:
        yield archive


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "archive.db"


def damage_sql(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


# Forget


def test_a_dry_run_changes_nothing(archive: Archive) -> None:
    one, two = put(archive, "s", b"one", b"two!")
    assert archive.forget("s", [two], dry_run=True) == Forgotten((two,), 4)
    assert archive.forget("s", dry_run=True) == Forgotten((one, two), 7)
    assert archive.read("s", two) == b"two!"


def test_a_read_says_when_it_was_forgotten(archive: Archive) -> None:
    one, two = put(archive, "s", b"one", b"two!")
    assert archive.forget("s", [one.upper(), f"[[cf:v2:{one}]]"]) == Forgotten((one,), 3)
    for call in (archive.read, archive.lookup, archive.entry):
        with pytest.raises(BodyForgotten) as caught:
            call("s", one)
        assert abs(caught.value.when - datetime.now(UTC)) < timedelta(minutes=1)
        assert f"{caught.value.when:%Y-%m-%d}" in str(caught.value)
    assert archive.read("s", two) == b"two!"
    assert [entry.id for entry in archive.entries("s")] == [two]
    assert archive.known_ids("s", [one, two]) == [two]
    assert archive.scopes() == [ScopeSummary("s", 1, 4)]


def test_all_64_digits_of_a_forgotten_body(archive: Archive) -> None:
    (id,) = put(archive, "s", b"one")
    archive.forget("s")
    with pytest.raises(BodyForgotten):
        archive.read("s", hashlib.sha256(b"one").hexdigest())
    # What is forgotten is no near miss.
    with pytest.raises(BodyNotFound) as caught:
        archive.read("s", id[:-1])
    assert caught.value.suggestions == ()


def test_folding_again_takes_the_id_back(archive: Archive) -> None:
    first, second = collision_pair()
    ids = put(archive, "s", first, second)
    archive.forget("s")
    # In the other order: each still owns its id.
    assert put(archive, "s", second, first) == [ids[1], ids[0]]
    assert [archive.read("s", id) for id in ids] == [first, second]


def test_an_id_never_changes_its_meaning(archive: Archive) -> None:
    first, second = collision_pair()
    (id,) = put(archive, "s", first)
    archive.forget("s")
    assert put(archive, "s", second) == [hashlib.sha256(second).hexdigest()[:13]]
    with pytest.raises(BodyForgotten):
        archive.read("s", id)


def test_capacity_is_given_back(archive: Archive) -> None:
    (id,) = put(archive, "s", b"a" * 60)
    assert archive.put("s", [[new(b"b" * 60)]], capacity=100) == [Refused(60, 40)]
    archive.forget("s", [id])
    assert isinstance(archive.put("s", [[new(b"b" * 60)]], capacity=100)[0], tuple)
    assert archive.put("s", [[new(b"a" * 60)]], capacity=100) == [Refused(60, 40)]
    assert archive.put("s", [[new(b"a" * 60)]], capacity=120) == [(id,)]


def test_another_scope_keeps_its_body(archive: Archive) -> None:
    (id,) = put(archive, "a", b"shared")
    put(archive, "b", b"shared")
    archive.forget("a")
    assert archive.read("b", id) == b"shared"
    archive.forget("b")
    assert archive.totals() == Totals(0, 0, 0)


def test_all_or_nothing(archive: Archive) -> None:
    one, two = put(archive, "s", b"one", b"two")
    archive.forget("s", [two])
    for ids, error in (([one, "0" * 12], BodyNotFound), ([one, two], BodyForgotten), ([one, "?"], InvalidId)):
        with pytest.raises(error):
            archive.forget("s", ids)
        assert archive.read("s", one) == b"one"


def test_nothing_to_forget(archive: Archive) -> None:
    put(archive, "s", b"x")
    assert archive.forget("unused") == Forgotten((), 0)
    assert archive.forget("s", []) == Forgotten((), 0)
    assert archive.scopes() == [ScopeSummary("s", 1, 1)]


def test_forgetting_makes_no_archive(path: Path) -> None:
    with Archive.open(path) as archive, pytest.raises(ArchiveMissing):
        archive.forget("s")
    assert not path.exists()


def test_bytes_and_labels_leave_the_disk(path: Path) -> None:
    with Archive.open(path) as archive:
        archive.put("s", [[new(SECRET + os.urandom(50_000), b"secret-label"), new(SECRET, b"other-label")]])
        put(archive, "s", *bodies(20))
        kept = put(archive, "t", b"kept")
        put(archive, "s", SECRET + b"\n" * 3)
        (stats,) = archive.stats("s")
        assert archive.forget("s").is_erased
        files = list(path.parent.iterdir())
        for content in (file.read_bytes() for file in files):
            assert SECRET not in content
            assert b"-label" not in content
        assert archive.read("t", kept[0]) == b"kept"
        assert archive.verify(deep=True).is_intact
        assert (stats.folds, archive.stats("s")[0].forgotten) == (23, 23)


def test_space_is_given_back(path: Path) -> None:
    with Archive.open(path) as archive:
        put(archive, "big", *(os.urandom(60_000) for _ in range(50)))
        put(archive, "small", b"kept")
    before = path.stat().st_size
    with Archive.open(path) as archive:
        archive.forget("big")
        assert path.stat().st_size < before / 20
        assert archive.verify(deep=True).is_intact


def test_a_reader_in_the_way_is_told_of(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxf.storage.connections.BUSY_SECONDS", 0.3)
    with Archive.open(path) as archive:
        put(archive, "s", SECRET)
        archive.close()
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM folds").fetchall()
            assert not archive.forget("s").is_erased
        with pytest.raises(BodyForgotten):
            archive.read("s", new(SECRET).digest.hex()[:12])
    assert SECRET not in path.read_bytes()  # the last one to close has tidied up


# Verify


def test_nothing_is_damaged(archive: Archive) -> None:
    put(archive, "s", *bodies(450), b"")
    seen = []
    result = archive.verify(progress=lambda done, total: seen.append((done, total)))
    assert (result.bodies, result.is_intact) == (451, True)
    assert seen[-1] == (451, 451)
    assert seen == sorted(seen)
    assert archive.verify(deep=True).is_intact


def test_a_damaged_body_is_named_in_each_scope(path: Path) -> None:
    with Archive.open(path) as archive:
        id, other = put(archive, "a", b"x" * 5000, b"other")
        put(archive, "b", b"x" * 5000)
    damage_sql(path, "UPDATE bodies SET payload = zeroblob(length(payload)) WHERE key = 1")
    with Archive.open(path) as archive:
        for deep in (False, True):
            found = archive.verify(deep=deep).damage
            assert {(one.scope, one.id) for one in found} == {("a", id), ("b", id)}
        assert archive.read("a", other) == b"other"


@pytest.mark.parametrize(
    ("statement", "scope", "has_id", "words"),
    [
        ("UPDATE scopes SET size = size + 1", "s", False, "size counter says"),
        ("UPDATE bodies SET size = size + 1", "s", True, "size"),
        ("UPDATE folds SET size = size + 1", "s", True, "wrong size"),
        ("UPDATE folds SET id = '0123456789ab'", "s", True, "not the beginning of its hash"),
        ("UPDATE folds SET sha256 = zeroblob(32)", "s", True, "another body"),
        ("DELETE FROM bodies", "s", True, "gone"),
        ("DELETE FROM folds", None, False, "belongs to no fold"),
        ("UPDATE bodies SET blake3 = zeroblob(32)", "s", True, "BLAKE3 is damaged, its body is not"),
        ("UPDATE bodies SET encoding = 3", "s", True, "encoding"),
    ],
)
def test_rows_that_disagree(path: Path, statement: str, scope: str | None, has_id: bool, words: str) -> None:
    with Archive.open(path) as archive:
        put(archive, "s", b"text\n" * 100)
    damage_sql(path, "PRAGMA foreign_keys = OFF", statement)
    with Archive.open(path) as archive:
        found = archive.verify().damage
        assert any(
            one.scope == scope and (one.id is not None) == has_id and words in one.problem for one in found
        ), found


def test_a_forged_payload_is_found_by_the_deep_check(path: Path) -> None:
    with Archive.open(path) as archive:
        (id,) = put(archive, "s", b"text\n" * 100)
        (other,) = put(archive, "s", b"TEXT\n" * 100)
    other_row = "(SELECT blake3, payload FROM bodies WHERE key = 2)"
    damage_sql(path, f"UPDATE bodies SET (blake3, payload) = {other_row} WHERE key = 1")
    with Archive.open(path) as archive:
        assert archive.verify().is_intact  # as quick as it is
        assert archive.verify(deep=True).damage == (Damage("its SHA-256 does not match", "s", id),)
        assert archive.read("s", other) == b"TEXT\n" * 100


def test_verifying_while_others_write(path: Path) -> None:
    stop = threading.Event()

    def write() -> None:
        with Archive.open(path) as archive:
            number = 0
            while not stop.is_set():
                put(archive, "s", f"body {number} ".encode() * 20)
                if number % 5 == 4:
                    archive.forget("s")
                number += 1

    with Archive.open(path) as archive:
        put(archive, "t", *bodies(300))
        writer = threading.Thread(target=write)
        writer.start()
        try:
            assert [archive.verify(deep=True).damage for _ in range(5)] == [()] * 5
        finally:
            stop.set()
            writer.join()


# Figures


def test_figures_of_a_scope_and_of_all(archive: Archive) -> None:
    start = datetime.now(UTC) - timedelta(seconds=1)
    put(archive, "a", b"x" * 4000, b"y" * 100)
    put(archive, "b", b"x" * 4000)
    archive.forget("a", [new(b"y" * 100).digest.hex()[:12]])
    a, b = archive.stats()
    assert (a.name, a.folds, a.size, a.forgotten) == ("a", 1, 4000, 1)
    assert (b.name, b.folds, b.size, b.forgotten) == ("b", 1, 4000, 0)
    assert a.tokens_saved == 1000 - 6
    assert a.first is not None
    assert start < a.first == a.last
    assert archive.stats("b") == [b]
    assert archive.stats("c") == []
    totals = archive.totals()
    assert (totals.bodies, totals.size) == (1, 4000)
    assert 0 < totals.stored <= 4000


def test_tokens_saved_are_never_less_than_nothing(archive: Archive) -> None:
    put(archive, "s", b"x")
    (stats,) = archive.stats("s")
    assert stats.tokens_saved == 0
    assert replace(stats, folds=0).tokens_saved == 1


# Backup


def test_a_backup_is_an_archive(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "backup.db"
    with Archive.open(path) as archive:
        ids = put(archive, "s", *bodies(50))
        archive.backup(target)
        put(archive, "s", b"later")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == ["archive.db", "backup.db"]
    with Archive.open(target) as backup:
        assert [entry.id for entry in backup.entries("s")] == ids
        assert [backup.read("s", id) for id in ids] == bodies(50)
        assert backup.verify(deep=True).is_intact
        put(backup, "s", b"goes on")


def test_a_backup_overwrites_nothing(path: Path, tmp_path: Path) -> None:
    with Archive.open(path) as archive:
        put(archive, "s", b"x")
        (tmp_path / "file").write_bytes(b"mine")
        (tmp_path / "link").symlink_to(tmp_path / "nowhere")
        for name in ("file", "link", "archive.db", "."):
            with pytest.raises(FileExistsError):
                archive.backup(tmp_path / name)
        with pytest.raises(OSError, match="No such file"):
            archive.backup(tmp_path / "none" / "backup.db")
    assert (tmp_path / "file").read_bytes() == b"mine"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["archive.db", "file", "link"]


def test_a_backup_of_nothing(path: Path, tmp_path: Path) -> None:
    with Archive.open(path) as archive, pytest.raises(ArchiveMissing):
        archive.backup(tmp_path / "backup.db")
    with Archive.memory() as archive, pytest.raises(ArchiveError):
        archive.backup(tmp_path / "backup.db")
    assert list(tmp_path.iterdir()) == []


def test_backups_while_others_write(path: Path, tmp_path: Path) -> None:
    stop = threading.Event()
    stored: list[str] = []

    def write() -> None:
        with Archive.open(path) as archive:
            while not stop.is_set():
                # Pairs in one transaction: a backup has both or none.
                pair = [[new(os.urandom(3000), b"a")], [new(os.urandom(3000), b"b")]]
                stored.extend(ids[0] for ids in archive.put("s", pair) if isinstance(ids, tuple))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with Archive.open(path) as archive:
            while len(stored) < 20:
                pass
            for number in range(5):
                before = list(stored)
                archive.backup(tmp_path / f"{number}.db")
                with Archive.open(tmp_path / f"{number}.db") as backup:
                    ids = [entry.id for entry in backup.entries("s")]
                    assert ids[: len(before)] == before
                    assert len(ids) % 2 == 0
                    assert backup.verify(deep=True).is_intact
    finally:
        stop.set()
        writer.join()
