"""An archive that cannot be used: the text goes through, one line says why, nothing else changes."""

import contextlib
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kit.cli import BODY, FOLDED, NOTES, SUMMARY, TIMEOUT, Cli, folded, id_of, log, marked

GARBAGE = b"SQLite format 3 it is not\n" * 400


def under_a_file(cli: Cli) -> Path:
    return cli.write("file", b"in the way") / "archive.db"


def garbage(cli: Cli) -> Path:
    return cli.write("garbage", GARBAGE)


def text_behind_a_true_header(cli: Cli) -> Path:
    return cli.write("header", b"SQLite format 3\0" + GARBAGE)


def directory(cli: Cli) -> Path:
    path = cli.cwd / "directory"
    path.mkdir()
    return path


def link(cli: Cli) -> Path:
    """To an archive that is fine in itself."""
    cli.run(stdin=marked(b"other", log(50)))
    (cli.cwd / "link").symlink_to(cli.archive)
    return cli.cwd / "link"


def link_to_nothing(cli: Cli) -> Path:
    (cli.cwd / "link").symlink_to("nothing")
    return cli.cwd / "link"


def named_pipe(cli: Cli) -> Path:
    os.mkfifo(cli.cwd / "pipe")
    return cli.cwd / "pipe"


def device(cli: Cli) -> Path:
    return Path("/dev/null")


def in_proc(cli: Cli) -> Path:
    return Path("/proc/ctxf/archive.db")


def too_long(cli: Cli) -> Path:
    return cli.cwd / ("n" * 300)


def another_database(cli: Cli) -> Path:
    path = cli.cwd / "theirs.db"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA application_id = 42")
        connection.execute("CREATE TABLE folds (id)")
    connection.close()
    return path


def another_database_in_wal_mode(cli: Cli) -> Path:
    """As its owner's crash left it: a write-ahead log that nobody may apply but its owner."""
    path = cli.cwd / "theirs.db"
    connection = sqlite3.connect(cli.cwd / "origin.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE things (id)")
    for name in ("", "-wal"):
        shutil.copy(f"{cli.cwd}/origin.db{name}", f"{path}{name}")
    connection.close()
    (cli.cwd / "origin.db").unlink()
    return path


TROUBLES: list[Callable[[Cli], Path]] = [
    under_a_file,
    garbage,
    text_behind_a_true_header,
    directory,
    link,
    link_to_nothing,
    named_pipe,
    device,
    in_proc,
    too_long,
    another_database,
    another_database_in_wal_mode,
]


def contents(place: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in place.rglob("*")}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_fold_lets_the_text_through(cli: Cli, trouble: Callable[[Cli], Path]) -> None:
    archive = trouble(cli)
    before = contents(cli.root)
    ran = cli.run("fold", "-q", "--archive", archive, stdin=NOTES * 3)
    assert ran.stdout == NOTES * 3
    assert ran.stderr.startswith(b"ctxf: archive %b: " % bytes(archive))
    assert ran.stderr.endswith(b"; the text went through as it came\n")
    assert ran.stderr.count(b"\n") == 1
    assert ran.status == 75
    path = cli.write("notes.md", NOTES)
    assert cli.run("fold", "--in-place", "notes.md", "--archive", archive).status == 75
    assert path.read_bytes() == NOTES
    path.unlink()
    assert contents(cli.root) == before


@pytest.mark.parametrize("trouble", [under_a_file, garbage, directory, named_pipe])
def test_text_without_blocks_does_not_need_an_archive(cli: Cli, trouble: Callable[[Cli], Path]) -> None:
    archive = trouble(cli)
    assert cli.run("--archive", archive, stdin=BODY) == (BODY, b"", 0)
    assert cli.run("restore", "--archive", archive, stdin=BODY) == (BODY, b"", 0)


@pytest.mark.parametrize("trouble", [under_a_file, garbage, directory, link, too_long, another_database])
def test_the_other_commands_say_why(cli: Cli, trouble: Callable[[Cli], Path]) -> None:
    archive = trouble(cli)
    before = contents(cli.root)
    for args in (("read", "--id", id_of(BODY)), ("list",), ("list", "--all-scopes")):
        ran = cli.run(*args, "--archive", archive)
        assert ran.stdout == b""
        assert ran.stderr.startswith(b"ctxf: archive %b: " % bytes(archive))
        assert ran.stderr.count(b"\n") == 1
        assert ran.status in (1, 65, 75)
    ran = cli.run("restore", "--archive", archive, stdin=FOLDED * 3)
    assert ran.stdout == FOLDED * 3
    assert ran.stderr.count(b"\n") == 1
    assert ran.status in (1, 65, 75)
    ran = cli.run("doctor", "--archive", archive)
    assert b"    -> " in ran.stdout
    assert (ran.stderr, ran.status) == (b"", 1)
    assert contents(cli.root) == before


def test_a_directory_that_cannot_be_written(cli: Cli) -> None:
    closed = cli.root / "closed"
    closed.mkdir()
    closed.chmod(0o555)
    ran = cli.run("-q", "--archive", closed / "a.db", stdin=NOTES, unprivileged=True)
    assert ran[::2] == (NOTES, 75)
    assert ran.stderr.startswith(
        b"ctxf: archive %b/a.db: cannot be created: Permission denied" % bytes(closed)
    )
    assert list(closed.iterdir()) == []


def test_an_archive_in_a_directory_that_became_read_only_still_reads(cli: Cli) -> None:
    place = cli.root / "closed"
    archive = place / "a.db"
    assert cli.run("--archive", archive, stdin=NOTES).status == 0
    archive.chmod(0o400)
    place.chmod(0o555)
    before = contents(cli.root)
    assert cli.run("read", "--id", id_of(BODY), "--archive", archive, unprivileged=True) == (BODY, b"", 0)
    assert cli.run("restore", "--archive", archive, stdin=FOLDED, unprivileged=True) == (NOTES, b"", 0)
    # What is archived already needs no write; what is new goes through.
    assert cli.run("--archive", archive, stdin=NOTES, unprivileged=True) == (FOLDED, SUMMARY, 0)
    new = marked(b"new", log(70))
    assert cli.run("-q", "--archive", archive, stdin=new, unprivileged=True)[::2] == (new, 75)
    assert contents(cli.root) == before


def test_an_archive_that_may_not_be_read(cli: Cli) -> None:
    assert cli.run(stdin=NOTES).status == 0
    cli.archive.chmod(0o000)
    ran = cli.run("-q", stdin=NOTES, unprivileged=True)
    assert ran[::2] == (NOTES, 75)
    assert ran.stderr.count(b"\n") == 1
    assert cli.run("restore", stdin=FOLDED, unprivileged=True)[::2] == (FOLDED, 75)


def test_an_empty_file_becomes_an_archive(cli: Cli) -> None:
    cli.archive.touch(mode=0o644)
    assert cli.run(stdin=NOTES) == (FOLDED, SUMMARY, 0)
    assert cli.archive.stat().st_mode & 0o777 == 0o600


def test_files_and_modes_of_a_new_archive(cli: Cli) -> None:
    archive = cli.root / "new" / "deep" / "a.db"
    script = f'umask 000; exec "$@" --archive {archive}'
    command = ["sh", "-c", script, "sh", sys.executable, "-m", "ctxf"]
    done = subprocess.run(
        command,
        input=NOTES,
        capture_output=True,
        env=cli.environment(),
        cwd=cli.cwd,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.stdout == FOLDED
    assert [path.stat().st_mode & 0o777 for path in (archive, *archive.parents[:2])] == [0o600, 0o700, 0o700]
    assert list(archive.parent.iterdir()) == [archive]  # one file after a clean end


@pytest.mark.parametrize("cut", [1, 100, 4096, 5000, 20_000])
def test_a_cut_archive_never_gives_other_bytes(cli: Cli, cut: int) -> None:
    body = random.Random(3).randbytes(30_000) + b"\n"
    text = marked(b"a", body)
    short = cli.run(stdin=text).stdout
    whole = cli.archive.read_bytes()
    cli.archive.write_bytes(whole[:cut])
    ran = cli.run("restore", stdin=short)
    assert ran.stdout == short
    assert ran.stderr.count(b"\n") == 1
    assert ran.status in (65, 75)
    assert cli.archive.read_bytes() == whole[:cut]
    again = cli.run("-q", stdin=marked(b"b", log(60)))
    assert again[::2] == (marked(b"b", log(60)), 75)


def test_an_archive_that_goes_away_while_folding(cli: Cli) -> None:
    child = cli.start("fold", "-q")
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(NOTES)
    assert child.stdout.read(len(FOLDED)) == FOLDED
    cli.archive.rename(cli.root / "moved.db")
    for name in ("-wal", "-shm"):
        Path(f"{cli.archive}{name}").unlink(missing_ok=True)
    new = marked(b"new", log(70))
    rest, _said = child.communicate(new, timeout=TIMEOUT)
    assert child.returncode in (0, 75)
    if child.returncode == 0:  # then it is in the archive that has the name now
        assert cli.run("restore", stdin=rest)[::2] == (new, 0)
    else:
        assert rest == new


@pytest.mark.parametrize("mode", ["IMMEDIATE", "EXCLUSIVE"])
def test_an_archive_that_is_locked_for_a_while_is_waited_for(cli: Cli, mode: str) -> None:
    cli.run(stdin=marked(b"other", log(50)))
    lock = sqlite3.connect(cli.archive, isolation_level=None, check_same_thread=False)
    lock.execute(f"BEGIN {mode}")
    timer = threading.Timer(2, lock.execute, ["ROLLBACK"])
    timer.start()
    if mode == "IMMEDIATE":  # a reader does not wait for a writer
        other = marked(b"other", log(50))
        assert cli.run("restore", stdin=folded(b"other", log(50))) == (other, b"", 0)
    assert cli.run(stdin=NOTES) == (FOLDED, SUMMARY, 0)
    timer.join()
    lock.close()


@pytest.mark.long
def test_an_archive_that_stays_locked(cli: Cli) -> None:
    cli.run(stdin=marked(b"other", log(50)))
    lock = sqlite3.connect(cli.archive, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    ran = cli.run("-q", stdin=NOTES * 2)
    lock.close()
    assert ran.stdout == NOTES * 2
    assert b"is locked by another process" in ran.stderr
    assert ran.stderr.count(b"\n") == 1
    assert ran.status == 75


@pytest.mark.parametrize("size", [0, 100, 4096, 8192, 30_000, 60_000])
def test_a_limit_on_file_size(cli: Cli, size: int) -> None:
    body = random.Random(5).randbytes(100_000) + b"\n"
    text = marked(b"a", body)
    ran = cli.run("-q", stdin=text, largest_file=size)
    assert ran.stdout == text
    assert ran.stderr.startswith(b"ctxf: archive ")
    assert ran.stderr.count(b"\n") == 1
    assert ran.status == 75
    ran = cli.run("-q", stdin=text)  # with room it works, whatever the failure has left behind
    assert ran[::2] == (text.replace(body, b"[[cf:v2:%b]]\n" % id_of(body).encode()), 0)
    assert cli.run("restore", stdin=ran.stdout) == (text, b"", 0)


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 100)


def test_a_full_disk(cli: Cli) -> None:
    """On a file system of 200 kB of its own; only root may mount one."""
    disk = cli.root / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "none", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        assert os.geteuid() or b"permission denied" in mounted.stderr  # a container may refuse even root
        pytest.skip("only root may mount a file system")
    try:
        archive = disk / "archive.db"
        ran = cli.run("-q", "--archive", archive, stdin=NOTES)
        assert ran == (FOLDED, b"", 0)
        large = marked(b"large", random.Random(5).randbytes(300_000) + b"\n")
        ran = cli.run("-q", "--archive", archive, stdin=large + NOTES)
        assert ran[::2] == (large + NOTES, 75)
        assert ran.stderr.startswith(b"ctxf: archive %b: " % bytes(archive))
        assert ran.stderr.count(b"\n") == 1
        fill(disk / "filler")
        assert cli.run("restore", "--archive", archive, stdin=FOLDED) == (NOTES, b"", 0)
        path = disk / "notes.md"
        (disk / "filler").unlink()
        path.write_bytes(NOTES)
        fill(disk / "filler")
        ran = cli.run("restore", "--in-place", path, "--archive", archive)
        assert ran == (b"", b"", 0)
        ran = cli.run("fold", "--in-place", path)
        assert path.read_bytes() == NOTES
        assert ran == (b"", b"ctxf: %b: No space left on device\n" % bytes(path), 74)
        names = {file.name for file in disk.iterdir()}
        # SQLite has tried to make these two, and leaves them when it cannot fill them.
        assert names - {"archive.db-shm", "archive.db-wal"} == {"archive.db", "filler", "notes.md"}
    finally:
        subprocess.run(["umount", disk], check=True)


def test_many_first_folds_at_once(cli: Cli) -> None:
    """All make the archive, and none is told that it is locked."""
    bodies = [log(60, f"p{n}") for n in range(12)]
    children = [cli.start("fold", "-q") for _ in bodies]
    results = []
    for child, body in zip(children, bodies, strict=True):
        assert child.stdin is not None
        child.stdin.write(marked(b"a", body))
    for child in children:
        results.append(child.communicate(timeout=TIMEOUT))
    assert results == [(folded(b"a", body), b"") for body in bodies]
    assert [child.returncode for child in children] == [0] * 12
    everything = b"".join(out for out, _ in results)
    assert cli.run("restore", stdin=everything).stdout == b"".join(marked(b"a", body) for body in bodies)
    assert cli.run("list").stdout.count(b"\n") == 12
    assert list(cli.root.glob("archive.db*")) == [cli.archive]


def test_a_checkpoint_that_was_cut_short(cli: Cli) -> None:
    """The main file's first page counts pages that only the write-ahead log has; nothing is lost."""
    bodies = [random.Random(n).randbytes(50_000) + b"\n" for n in range(3)]
    text = b"".join(marked(b"a", body) for body in bodies)
    child = cli.start("fold", "-q")
    assert child.stdin is not None
    assert child.stdout is not None
    expected = b"".join(folded(b"a", body) for body in bodies)
    child.stdin.write(text)
    assert child.stdout.read(len(expected)) == expected
    child.kill()
    child.communicate(timeout=TIMEOUT)
    log_size = Path(f"{cli.archive}-wal").stat().st_size
    assert log_size > 150_000
    page_1 = sqlite_page_1(Path(f"{cli.archive}-wal"))
    whole = cli.archive.read_bytes()
    cli.archive.write_bytes(page_1 + whole[len(page_1) :])
    assert cli.run("restore", stdin=expected) == (text, b"", 0)
    assert cli.run("-q", stdin=NOTES) == (FOLDED, b"", 0)


def sqlite_page_1(wal: Path) -> bytes:
    """The newest page 1 in a write-ahead log (https://sqlite.org/fileformat2.html#the_write_ahead_log)."""
    data = wal.read_bytes()
    size = int.from_bytes(data[8:12], "big")
    frames = [data[start : start + 24 + size] for start in range(32, len(data), 24 + size)]
    return [frame[24:] for frame in frames if int.from_bytes(frame[:4], "big") == 1][-1]
