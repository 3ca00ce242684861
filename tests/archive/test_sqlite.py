"""The SQLite file itself: modes, foreign files, durability, damage, threads, forks and other processes."""

import hashlib
import multiprocessing
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from ctxf.archive import Archive
from ctxf.archive.sqlite import SqliteStore
from ctxf.errors import (
    ArchiveDamaged,
    ArchiveError,
    ArchiveReadOnly,
    BodyDamaged,
    BodyNotFound,
)
from ctxf.storage.connections import connect_sqlite
from tests.kit.archive import bodies, new, put, run_python

BODY = b"line of a log\n" * 100
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "archive.db"


@pytest.fixture
def archive(path: Path) -> Iterator[Archive]:
    with Archive.open(path) as archive:
        yield archive


def sql(path: Path, statement: str, *values: object) -> list[tuple[object, ...]]:
    """A plain SQLite connection, to look into the file or to damage it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(statement, values).fetchall()


def digest_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# The file, its mode, its settings


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
@pytest.mark.parametrize("without_rights", [False, True])
def test_modes_do_not_depend_on_the_umask(tmp_path: Path, umask: int, without_rights: bool) -> None:
    code = """
import os, stat, sys
from pathlib import Path
from tests.kit.archive import Archive, put
base = Path(sys.argv[1])
with Archive.open(base / "a" / "b" / "archive.db") as archive:
    (id,) = put(archive, "s", b"x")
    assert archive.read("s", id) == b"x"
    archive.backup(base / "copy.db")
    archive.export_package("s", base / "package.zip")
    for file in ("archive.db", "archive.db-wal", "archive.db-shm"):
        print(oct(stat.S_IMODE(os.stat(base / "a" / "b" / file).st_mode)))
print(*(oct(stat.S_IMODE(os.stat(base / name).st_mode)) for name in ("a", "a/b", "copy.db", "package.zip")))
"""
    done = run_python(code, tmp_path, without_rights=without_rights, umask=umask)
    assert done.stderr == b""
    assert done.stdout.split() == [b"0o600"] * 3 + [b"0o700", b"0o700", b"0o600", b"0o600"]


def test_an_existing_directory_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with Archive.open(tmp_path / "archive.db") as archive:
        put(archive, "s", b"x")
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_an_empty_file_is_taken_over_and_closed_to_others(path: Path) -> None:
    path.touch(0o666)
    path.chmod(0o666)
    with Archive.open(path) as archive:
        put(archive, "s", b"x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_is_in_force(archive: Archive, path: Path) -> None:
    put(archive, "s", b"x")
    database = archive._store._database  # type: ignore[attr-defined]
    with database.reading() as connection:
        pragmas = (
            "journal_mode",
            "synchronous",
            "secure_delete",
            "auto_vacuum",
            "foreign_keys",
        )
        values = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas]
    full, incremental = 2, 2
    assert values == ["wal", full, 1, incremental, 1]
    assert path.read_bytes()[68:72] == b"ctxf"
    assert archive.facts() == {"schema": "1", "journal": "wal"}


def test_a_clean_close_leaves_one_file(path: Path) -> None:
    with Archive.open(path) as archive, Archive.open(path) as other:
        put(archive, "s", *bodies(50))
        assert len(list(other.entries("s"))) == 50
    assert [file.name for file in path.parent.iterdir()] == ["archive.db"]
    assert Archive.open(path).scopes()[0].folds == 50


def test_bodies_are_compressed_and_stored_once_across_scopes(path: Path) -> None:
    incompressible = os.urandom(50_000)
    with Archive.open(path) as archive:
        for scope in ("a", "b", "c"):
            put(archive, scope, incompressible, b"the same line\n" * 100_000)
        totals = archive.totals()
    assert (totals.bodies, totals.size) == (2, 1_450_000)
    assert 50_000 <= totals.stored < 51_000
    assert path.stat().st_size < 150_000


def test_a_path_with_odd_characters(tmp_path: Path) -> None:
    for name in ("a b?c#d%20.db", "\u00e9.db", os.fsdecode(b"\xff.db"), "mode=ro&x.db"):
        with Archive.open(tmp_path / name) as archive:
            put(archive, "s", b"x")
    assert len(list(tmp_path.iterdir())) == 4


def test_a_relative_path_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    archive = Archive.open("archive.db")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    put(archive, "s", b"x")
    archive.close()
    assert (tmp_path / "archive.db").exists()


# What is not ours


def foreign_files(path: Path) -> Iterator[str]:
    """Put one thing after the other at `path`; their names."""
    for size in (*range(1, 100), 4096, 100_000):
        path.write_bytes(b"garbage "[: size % 9] + os.urandom(size)[: size - min(size, size % 9)])
        yield f"{size} bytes"
    path.write_bytes(b"SQLite format 3\0")
    yield "a header and nothing else"
    path.write_bytes(b"SQLite format 3\0" + bytes(84))
    yield "a header of zeros"
    path.write_bytes(bytes(8192))
    yield "zeros"
    path.write_bytes(b"# notes\n" * 1000)
    yield "a text"
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.commit()
    yield "a database of somebody else"
    sql(path, "PRAGMA journal_mode = WAL")
    yield "the same with a WAL"
    sql(path, "PRAGMA application_id = 1234")
    yield "a database that says whose it is"


def test_a_foreign_file_is_refused_and_left_as_it_is(path: Path) -> None:
    for what in foreign_files(path):
        before = digest_of(path)
        state = path.stat()
        with Archive.open(path) as archive:
            for call in (lambda a=archive: put(a, "s", BODY), archive.scopes, archive.facts):
                with pytest.raises(ArchiveError) as caught:
                    call()
                assert str(path) in str(caught.value), what
        assert digest_of(path) == before, what
        assert path.stat().st_mtime_ns == state.st_mtime_ns, what
        assert [file.name for file in path.parent.iterdir()] == [path.name], what


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.db"
    for make in (
        lambda path: path.mkdir(),
        lambda path: path.symlink_to(elsewhere),  # dangling: SQLite would make the file behind it
        lambda path: path.symlink_to(tmp_path),
        os.mkfifo,
    ):
        path = tmp_path / "archive.db"
        make(path)
        with Archive.open(path) as archive, pytest.raises(ArchiveError):
            put(archive, "s", BODY)
        assert not elsewhere.exists()
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


def test_a_link_to_a_good_archive_is_not_followed(path: Path, tmp_path: Path) -> None:
    with Archive.open(path) as archive:
        put(archive, "s", BODY)
    link = tmp_path / "link.db"
    link.symlink_to(path)
    with Archive.open(link) as archive, pytest.raises(ArchiveError, match="symbolic link"):
        archive.scopes()


def test_an_impossible_path_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (
        tmp_path / "file" / "archive.db",
        tmp_path / "file" / "a" / "archive.db",
        Path("/proc/none/a.db"),
    ):
        with Archive.open(path) as archive, pytest.raises(ArchiveError):
            put(archive, "s", BODY)
    assert (tmp_path / "file").read_bytes() == b""


def test_a_newer_schema_is_read_and_never_written(path: Path) -> None:
    with Archive.open(path) as archive:
        (id,) = put(archive, "s", BODY)
    sql(path, "PRAGMA user_version = 2")
    before = digest_of(path)
    with Archive.open(path) as archive:
        assert archive.read("s", id) == BODY
        assert put(archive, "s", BODY) == [id]  # nothing to write
        for call in (lambda: put(archive, "s", b"new"), lambda: archive.forget("s")):
            with pytest.raises(ArchiveReadOnly, match="newer ctxf"):
                call()
        assert archive.facts()["schema"] == "2"
    assert digest_of(path) == before


def test_a_file_that_becomes_newer_while_it_is_open_is_not_written(path: Path) -> None:
    with Archive.open(path) as archive:
        put(archive, "s", BODY)
        sql(path, "PRAGMA user_version = 2")
        with pytest.raises(ArchiveReadOnly, match="newer ctxf"):
            put(archive, "s", b"new")


# Damage


def test_a_damaged_payload_is_an_error_and_never_other_bytes(path: Path) -> None:
    with Archive.open(path) as archive:
        (id,) = put(archive, "s", BODY)
    (payload,) = sql(path, "SELECT payload FROM bodies")[0]
    assert isinstance(payload, bytes)
    flipped = [payload[:at] + bytes([payload[at] ^ 1]) + payload[at + 1 :] for at in range(len(payload))]
    for bad in (b"", payload[:-1], payload + b"\0", BODY, BODY[:-1], payload * 2, *flipped):
        for encoding in (0, 1, 2):
            sql(path, "UPDATE bodies SET payload = ?, encoding = ?", bad, encoding)
            with Archive.open(path) as archive:
                try:
                    assert archive.read("s", id) == BODY
                except BodyDamaged:
                    assert archive.verify(deep=True).damage
    assert issubclass(BodyDamaged, LookupError)


@pytest.mark.parametrize(
    "change", ["payload = x'00'", "size = 1", "encoding = 7", "blake3 = zeroblob(32), payload = x''"]
)
def test_putting_a_body_again_repairs_its_damaged_copy(path: Path, change: str) -> None:
    with Archive.open(path) as archive:
        (id,) = put(archive, "s", BODY)
        put(archive, "other", BODY)
    sql(path, f"UPDATE bodies SET {change}")
    if change.startswith("size"):
        sql(path, "UPDATE folds SET size = 1")
    with Archive.open(path) as archive:
        with pytest.raises(BodyDamaged):
            archive.read("s", id)
        assert put(archive, "s", BODY) == [id]
        assert archive.read("s", id) == archive.read("other", id) == BODY
        sql(path, f"UPDATE bodies SET {change}")
        # As a new fold of another scope: the copy that is there is no reason to trust it.
        put(archive, "third", BODY)
        assert archive.read("third", id) == BODY


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE folds SET sha256 = 'text of 32 characters, no blob..'",
        "UPDATE folds SET size = 'many'",
        "UPDATE folds SET size = -1",
        "UPDATE folds SET label = 5",
        "UPDATE folds SET created = 'yesterday'",
        "UPDATE folds SET created = 9000000000000000000",
        "UPDATE folds SET id = x'00ff'",
        "UPDATE bodies SET payload = 'text'",
        "UPDATE bodies SET payload = CAST(x'ff' AS TEXT)",
        "UPDATE bodies SET encoding = 'zstd'",
        "UPDATE bodies SET size = 1.5",
        "UPDATE bodies SET blake3 = 'text of 32 characters, no blob..'",
        "UPDATE scopes SET size = 'x'",
        "DELETE FROM bodies",
        "DELETE FROM scopes",
        "DELETE FROM folds",
    ],
)
def test_values_of_a_wrong_type_are_damage_not_a_crash(path: Path, change: str) -> None:
    with Archive.open(path) as archive:
        (id,) = put(archive, "s", BODY)
    sql(path, change)
    with Archive.open(path) as archive:
        with suppress(BodyDamaged, BodyNotFound):
            assert archive.read("s", id) == BODY
        for call in (lambda: archive.entry("s", id), lambda: list(archive.entries("s"))):
            with suppress(ArchiveDamaged, BodyNotFound):
                call()
        if "created = 9" not in change:
            assert archive.verify().damage


# Under an open archive


def test_a_file_that_goes_away_is_made_anew(archive: Archive, path: Path) -> None:
    (id,) = put(archive, "s", BODY)
    for name in ("archive.db", "archive.db-wal", "archive.db-shm"):
        (path.parent / name).unlink()
    assert put(archive, "s", BODY, b"more") == [id, new(b"more").digest.hex()[:12]]
    with Archive.open(path) as other:
        assert other.read("s", id) == BODY


def test_only_the_main_file_goes_away(archive: Archive, path: Path) -> None:
    put(archive, "s", BODY)
    path.unlink()
    (id,) = put(archive, "s", b"more")
    with Archive.open(path) as other:
        assert other.read("s", id) == b"more"
        assert other.verify(deep=True).is_intact


def test_a_file_that_is_replaced_is_used_from_then_on(archive: Archive, path: Path, tmp_path: Path) -> None:
    (old,) = put(archive, "s", BODY)
    with Archive.open(tmp_path / "other.db") as other:
        (there,) = put(other, "s", b"from elsewhere")
    os.replace(tmp_path / "other.db", path)
    assert archive.read("s", there) == b"from elsewhere"
    (id,) = put(archive, "s", b"more")
    with Archive.open(path) as again:
        assert again.read("s", id) == b"more"
        with pytest.raises(BodyNotFound):
            again.read("s", old)


# Forks, threads, processes


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_opens_its_own(archive: Archive) -> None:
    (id,) = put(archive, "s", BODY)
    context = multiprocessing.get_context("fork")

    def child(number: int) -> None:
        assert archive.read("s", id) == BODY
        put(archive, "s", *bodies(20, seed=f"child {number}"))

    children = [context.Process(target=child, args=(number,)) for number in range(4)]
    for one in children:
        one.start()
    put(archive, "s", *bodies(20, seed="parent"))
    for one in children:
        one.join()
    assert [one.exitcode for one in children] == [0] * 4
    put(archive, "s", b"after")
    assert len(list(archive.entries("s"))) == 1 + 5 * 20 + 1
    assert archive.verify(deep=True).is_intact


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_while_a_thread_holds_the_lock(archive: Archive) -> None:
    (id,) = put(archive, "s", BODY)
    database = archive._store._database  # type: ignore[attr-defined]
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with database.reading():
            entered.set()
            leave.wait(2)  # so long does the fork wait

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait(30)
    child = multiprocessing.get_context("fork").Process(target=archive.read, args=("s", id))
    child.start()
    child.join(30)
    leave.set()
    thread.join()
    assert child.exitcode == 0


def in_16_threads(work: Callable[[int], None]) -> None:
    """Do it in 16 threads that begin together; whatever one of them raises fails the test."""
    failures: list[BaseException] = []
    start = threading.Barrier(16)

    def run(number: int) -> None:
        try:
            start.wait()
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_16_threads_that_come_first(path: Path) -> None:
    archive = Archive.open(path)

    def work(number: int) -> None:
        (id,) = put(archive, "s", b"%d " % number * 50)
        assert archive.read("s", id) == b"%d " % number * 50

    in_16_threads(work)
    assert archive.scopes()[0].folds == 16


def test_16_threads_on_one_archive(archive: Archive) -> None:
    def work(number: int) -> None:
        for round_ in range(12):
            own, shared = f"{number}.{round_}".encode() * 50, f"shared {round_}".encode() * 50
            ids = put(archive, "s", own, shared)
            assert [archive.read("s", id) for id in ids] == [own, shared]

    in_16_threads(work)
    assert archive.scopes()[0].folds == 16 * 12 + 12
    assert archive.verify(deep=True).is_intact


def test_12_processes_make_the_same_archive_at_once(tmp_path: Path) -> None:
    code = """
import sys, time
from tests.kit.archive import Archive, new, put
number, start = int(sys.argv[2]), float(sys.argv[3])
time.sleep(max(0, start - time.time()))
with Archive.open(sys.argv[1]) as archive:
    own = b"body of %d " % number * 100
    ids = put(archive, "s", own, b"shared" * 100)
    assert [archive.read("s", id) for id in ids] == [own, b"shared" * 100]
"""
    path = tmp_path / "deep" / "archive.db"
    start = str(time.time() + 2)
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path), str(number), start],
            env={"PYTHONPATH": str(Path(__file__).parents[2])},
            stderr=subprocess.PIPE,
        )
        for number in range(12)
    ]
    assert [run.communicate()[1] for run in runs] == [b""] * 12
    with Archive.open(path) as archive:
        assert archive.scopes()[0].folds == 13
        assert archive.verify(deep=True).is_intact


@pytest.mark.parametrize("lock", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_writer_waits_for_a_lock(archive: Archive, path: Path, lock: str) -> None:
    (id,) = put(archive, "s", BODY)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute(lock)
    release = threading.Timer(2.5, lambda: other.execute("COMMIT"))
    release.start()
    assert archive.read("s", id) == BODY  # readers do not wait
    assert release.is_alive()
    put(archive, "s", b"waits")
    release.join()
    other.close()
    assert archive.scopes()[0].folds == 2


def test_opening_waits_for_a_lock(path: Path) -> None:
    with Archive.open(path) as archive:
        (id,) = put(archive, "s", BODY)
    sql(path, "PRAGMA journal_mode = DELETE")
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")  # now nobody can even read
    release = threading.Timer(2.5, lambda: other.execute("COMMIT"))
    release.start()
    with Archive.open(path) as archive:
        assert archive.read("s", id) == BODY
        put(archive, "s", b"more")
    other.close()


def test_a_lock_that_never_ends_is_an_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Archive.open(path) as archive:
        (id,) = put(archive, "s", BODY)
    sql(path, "PRAGMA journal_mode = DELETE")
    monkeypatch.setattr("ctxf.storage.connections.BUSY_SECONDS", 0.3)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with Archive.open(path) as archive:
            # Not a look at a file that somebody is writing.
            for call in (lambda: archive.read("s", id), lambda: put(archive, "s", b"new")):
                with pytest.raises(ArchiveError, match="locked"):
                    call()


def test_an_archive_waits_as_long_as_its_patience(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Archive.open(path) as archive:
        (id,) = put(archive, "s", BODY)
    sql(path, "PRAGMA journal_mode = DELETE")
    monkeypatch.setattr("ctxf.storage.connections.BUSY_SECONDS", 3600.0)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with Archive.open(path, patience=0.3) as archive, pytest.raises(ArchiveError, match="stays locked"):
            archive.lookup("s", id)
        other.execute("ROLLBACK")
        with Archive.open(path, patience=0.3) as archive:
            assert archive.lookup("s", id) == BODY


# Where nothing can be written


def test_a_read_only_file_and_directory_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    with Archive.open(path) as archive:
        (id,) = put(archive, "s", BODY)
    path.chmod(0o400)
    before = digest_of(path)
    code = """
import sys
from tests.kit.archive import Archive, put
from ctxf.errors import ArchiveReadOnly
with Archive.open(sys.argv[1]) as archive:
    sys.stdout.buffer.write(archive.read("s", sys.argv[2]))
    assert put(archive, "s", archive.read("s", sys.argv[2])) == [sys.argv[2]]
    try:
        put(archive, "s", b"new")
    except ArchiveReadOnly as error:
        print(error, file=sys.stderr)
"""
    for mode in (0o700, 0o500):
        tmp_path.chmod(mode)
        done = run_python(code, path, id, without_rights=True)
        assert done.stdout == BODY
        assert b"archive.db" in done.stderr
        assert b"Traceback" not in done.stderr
    assert digest_of(path) == before
    tmp_path.chmod(0o700)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MB."""
    directory = tmp_path / "disk"
    directory.mkdir()
    mounted = os.geteuid() == 0 and mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", str(directory))
    if not mounted:
        pytest.skip("needs root and a system that mounts")
    yield directory
    subprocess.run(["umount", "-l", str(directory)], check=True)


def mount(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0


def test_a_read_only_disk_can_be_read(small_disk: Path) -> None:
    path = small_disk / "archive.db"
    with Archive.open(path) as archive:
        (id,) = put(archive, "s", BODY)
    assert mount("-o", "remount,ro", str(small_disk))
    with Archive.open(path) as archive:
        assert archive.read("s", id) == BODY
        assert "read-only" in archive.facts()
        with pytest.raises(ArchiveReadOnly):
            put(archive, "s", b"new")
        # And once it can be written, the same object writes.
        assert mount("-o", "remount,rw", str(small_disk))
        (other,) = put(archive, "s", b"new")
        assert archive.read("s", other) == b"new"
    with Archive.open(path) as archive:
        assert archive.read("s", other) == b"new"


def test_a_full_disk_refuses_new_bodies_and_gives_back_old_ones(small_disk: Path) -> None:
    path = small_disk / "archive.db"
    stored = {}
    with Archive.open(path) as archive, suppress(ArchiveError):
        for number in range(200):
            body = f"{number} ".encode() + os.urandom(20_000)
            (id,) = put(archive, "s", body)
            stored[id] = body
    assert 5 < len(stored) < 100
    fill(small_disk / "filler")
    with Archive.open(path) as archive:
        assert [archive.read("s", id) for id in stored] == list(stored.values())
        with pytest.raises(ArchiveError):
            put(archive, "s", os.urandom(20_000))
    (small_disk / "filler").unlink()
    with Archive.open(path) as archive:
        put(archive, "s", b"again")
        assert archive.verify(deep=True).is_intact


def fill(path: Path) -> None:
    with path.open("ab", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return


def test_a_first_fold_on_a_full_disk_leaves_no_half_archive(small_disk: Path) -> None:
    fill(small_disk / "filler")
    path = small_disk / "archive.db"
    with Archive.open(path) as archive, pytest.raises(ArchiveError):
        put(archive, "s", BODY)
    (small_disk / "filler").unlink()
    with Archive.open(path) as archive:
        (id,) = put(archive, "s", BODY)
        assert archive.read("s", id) == BODY


@pytest.mark.parametrize("limit", [1, 512, 4096, 5000, 20_000, 40_000, 60_000, 120_000])
def test_a_limit_on_file_sizes(tmp_path: Path, limit: int) -> None:
    code = """
import os, resource, sys
from tests.kit.archive import Archive, put
from ctxf.errors import ArchiveError
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
with Archive.open(sys.argv[1]) as archive:
    try:
        for number in range(40):
            (id,) = put(archive, "s", b"%d " % number + bytes(range(256)) * 20)
            print(id, flush=True)
    except ArchiveError as error:
        assert "Traceback" not in str(error)
        sys.exit(7)
"""
    path = tmp_path / "archive.db"
    done = run_python(code, path, str(limit))
    assert (done.returncode, done.stderr) == (7, b"")
    with Archive.open(path) as archive:
        for id in done.stdout.decode().split():
            assert archive.read("s", id).endswith(bytes(range(256)))
        put(archive, "s", b"again")
        assert archive.verify(deep=True).is_intact


# Where WAL is not possible


def test_without_wal_a_rollback_journal_does_it(path: Path) -> None:
    def connect(path: Path, parameters: str) -> sqlite3.Connection:
        # As on a file system like NFS: this VFS locks by other files and has no shared memory.
        return connect_sqlite(path, f"{parameters}&vfs=unix-dotfile")

    with Archive(SqliteStore(path, connect=connect)) as archive:
        (id,) = put(archive, "s", BODY)
        assert archive.read("s", id) == BODY
        assert archive.facts()["journal"] == "delete"
        with archive._store._database.reading() as connection:  # type: ignore[attr-defined]
            assert connection.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA
    with Archive.open(path) as archive:
        assert archive.read("s", id) == BODY
        assert archive.facts()["journal"] == "wal"
