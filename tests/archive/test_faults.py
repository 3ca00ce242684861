"""Injected faults never lead to a reference without its body, to a wrong byte, or to a crash.

The default run takes a sample; `-m long` runs the full numbers.
"""

import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import ctxf
from ctxf.archive import Archive
from ctxf.archive.in_memory import MemoryStore
from ctxf.archive.sqlite import SqliteStore
from ctxf.errors import ArchiveError, CtxfError
from ctxf.folding.stream import FoldStream
from ctxf.protocol.fold import FoldRules
from tests.kit.archive import bodies, new, put

REFERENCE = re.compile(rb"begin ([^ ]+) -->\r?\n\[\[cf:v2:([0-9a-f]+)\]\]\r?\n<!--")


def text_of(count: int, seed: str = "", size: int = 1500) -> bytes:
    """A text with `count` blocks of different bodies, every third with a block inside."""
    blocks = []
    for number, body in enumerate(bodies(count, size, seed)):
        inner = b"<!-- @context-fold begin in -->\ninner %b<!-- @context-fold end in -->\n" % body
        label = b"block-%d" % number
        blocks.append(
            b"Conclusion %d.\n<!-- @context-fold begin %b -->\n%b\n%b<!-- @context-fold end %b -->\n"
            % (number, label, body, inner if number % 3 == 0 else b"", label)
        )
    return b"".join(blocks)


def check_references(output: bytes, original: bytes, archive: Archive) -> int:
    """Every reference that got out resolves to exactly what stood there; how many there are."""
    references = REFERENCE.findall(output)
    for label, id in references:
        pattern = rb"begin %b -->\n(.*?)<!-- @context-fold end %b -->" % (label, label)
        match = re.search(pattern, original, re.DOTALL)
        assert match is not None
        assert archive.lookup("default", id.decode()) == match[1]
    return len(references)


# The n-th call fails


class FaultyStore(MemoryStore):
    """Fails at the `at`-th call of any method, once or from then on."""

    def __init__(self, at: int, *, is_lasting: bool) -> None:
        super().__init__()
        self.at: int | None = at
        self.calls = 0
        self.is_lasting = is_lasting

    def count(self) -> None:
        self.calls += 1
        if self.at is not None and (self.calls == self.at or (self.is_lasting and self.calls > self.at)):
            raise ArchiveError(self.path, f"failure at call {self.calls}")

    def put(self, *arguments: Any, **named: Any) -> Any:
        self.count()
        return super().put(*arguments, **named)

    def get(self, *arguments: Any) -> Any:
        self.count()
        return super().get(*arguments)

    def known(self, *arguments: Any) -> Any:
        self.count()
        return super().known(*arguments)

    def known_prefix(self, *arguments: Any) -> Any:
        self.count()
        return super().known_prefix(*arguments)


def stream(text: bytes, archive: Archive, chunk: int) -> tuple[bytes, bool]:
    """Fold as a pipe does, storing after each chunk; the output, and whether anything failed."""
    folding = FoldStream(archive, "default", FoldRules(0))
    results = []
    for start in range(0, len(text), chunk):
        results += folding.feed(text[start : start + chunk])
        results += folding.flush()
    results += folding.finish()
    return b"".join(result.text for result in results), any(result.failure for result in results)


@pytest.mark.parametrize("is_lasting", [False, True])
def test_the_nth_store_call_fails(is_lasting: bool) -> None:
    text = text_of(8)
    for at in range(1, 60):
        store = FaultyStore(at, is_lasting=is_lasting)
        archive = Archive(store)
        folded, failed = stream(text, archive, 3000)
        did_fail = store.calls >= at
        assert failed == did_fail
        restored = ctxf.restore(folded, archive)
        for one in restored.unresolved:
            assert isinstance(one.error, ArchiveError)
        store.at = None
        check_references(folded, text, archive)
        assert ctxf.restore(folded, archive).text == text
        if not did_fail and not restored.unresolved:
            return
    raise AssertionError("never came to an end")


class FaultyConnection(sqlite3.Connection):
    """Fails in place of, or right after, a statement: what `plan` says."""

    plan: Callable[[], str | None]

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        fault = self.plan()
        if fault == "before":
            raise io_error()
        cursor = super().execute(*arguments)
        if fault == "after":
            cursor.close()
            raise io_error()
        return cursor


def io_error() -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = "SQLITE_IOERR_WRITE"
    return error


class Plan:
    """Which of the statements fails, and how."""

    def __init__(self, at: int, when: str, *, is_lasting: bool) -> None:
        self.at, self.when, self.is_lasting = at, when, is_lasting
        self.calls = 0

    def __call__(self) -> str | None:
        self.calls += 1
        fails = self.calls == self.at or (self.is_lasting and self.calls > self.at)
        return self.when if fails else None

    def connect(self, path: Path, parameters: str) -> sqlite3.Connection:
        kind = type("Planned", (FaultyConnection,), {"plan": staticmethod(self)})
        uri = f"file:{path}?{parameters}"
        return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, factory=kind)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("is_lasting", [False, True])
@pytest.mark.parametrize("is_new", [True, False])
def test_the_nth_statement_fails(tmp_path: Path, when: str, is_lasting: bool, is_new: bool) -> None:
    text = text_of(3, size=300)
    before = text_of(2, "before", 300)
    for at in range(1, 400):
        directory = tmp_path / str(at)
        directory.mkdir()
        path = directory / "archive.db"
        if not is_new:
            with Archive.open(path) as archive:
                old = ctxf.fold(before, archive, min_savings_tokens=0).text
        plan = Plan(at, when, is_lasting=is_lasting)
        with suppress(ArchiveError), Archive(SqliteStore(path, connect=plan.connect)) as archive:
            result = ctxf.fold(text, archive, min_savings_tokens=0)
            assert result.failure is not None or REFERENCE.search(result.text)
            if result.failure is not None:
                assert result.text == text
            again = ctxf.fold(text, archive, min_savings_tokens=0)  # on the same connection
            with suppress(CtxfError):
                archive.forget("default", [result.folds[0].id] if result.folds else None, dry_run=True)
        with Archive.open(path) as archive:
            for folded in (result.text, again.text):
                check_references(folded, text, archive)
            if not is_new:
                assert ctxf.restore(old, archive).text == before
            final = ctxf.fold(text, archive, min_savings_tokens=0)
            assert final.failure is None
            assert ctxf.restore(final.text, archive).text == text
            assert archive.verify(deep=True).is_intact
        shutil.rmtree(directory)
        if plan.calls < at:
            return
    raise AssertionError("never came to an end")


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_nth_statement_of_a_forget_fails(tmp_path: Path, when: str) -> None:
    contents = bodies(6)
    for at in range(1, 200):
        path = tmp_path / f"{at}.db"
        with Archive.open(path) as archive:
            ids = put(archive, "s", *contents)
        plan = Plan(at, when, is_lasting=False)
        with suppress(ArchiveError), Archive(SqliteStore(path, connect=plan.connect)) as archive:
            archive.forget("s", ids[:3])
        with Archive.open(path) as archive:
            left = [entry.id for entry in archive.entries("s")]
            assert left in (ids, ids[3:])
            assert [archive.read("s", id) for id in left] == contents[-len(left) :]
            assert archive.verify(deep=True).is_intact
        if plan.calls < at:
            return
    raise AssertionError("never came to an end")


# kill -9


def kill_while_folding(directory: Path, rounds: int, seed: int) -> int:
    """Kill folds of 200 blocks at random moments, all on one archive; how many references got out."""
    chance = random.Random(seed)
    path = directory / "archive.db"
    found = 0
    for number in range(rounds):
        text = text_of(200, f"round {seed}.{number}", 800)
        source = directory / "text.md"
        source.write_bytes(text)
        # From a file all is one batch; through a slow pipe there are many.
        pace = chance.choice([None, 20_000, 60_000])
        process = subprocess.Popen(
            [sys.executable, "-m", "ctxf", "--archive", str(path), "--min-savings", "0"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        pid = os.fork()  # feeds the pipe, so that this process can look at the clock
        if pid == 0:
            with suppress(BaseException):
                for start in range(0, len(text), pace or len(text)):
                    process.stdin.write(text[start : start + (pace or len(text))])
                    process.stdin.flush()
                    time.sleep(0.06 if pace else 0)
            os._exit(0)
        process.stdin.close()
        time.sleep(chance.uniform(0.1, 1.0))
        os.kill(process.pid, signal.SIGKILL)
        output = process.stdout.read()
        process.stdout.close()
        process.wait()
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        if not path.exists():
            assert b"[[cf:" not in output
            continue
        with Archive.open(path) as archive:
            count = check_references(output, text, archive)
            assert count == output.count(b"]]\n<!--")
            found += count
            assert archive.verify().is_intact
    return found


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_kill_9(tmp_path: Path) -> None:
    assert kill_while_folding(tmp_path, 25, seed=1) > 0


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_kill_9_at_300_moments(tmp_path: Path) -> None:
    assert kill_while_folding(tmp_path, 300, seed=2) > 300


# Flipped bytes, missing pieces


def filled_archive(path: Path) -> dict[str, bytes]:
    """A new archive; its bodies by id. Small ones share pages, large ones have pages of their own."""
    contents = [*bodies(25), *(os.urandom(size) for size in (10, 300, 3000, 9000, 20_000)), b""]
    with Archive.open(path) as archive:
        put(archive, "other", *contents[::3])
        return dict(zip(put(archive, "s", *contents), contents, strict=True))


def check_exact_or_error(path: Path, contents: dict[str, bytes]) -> int:
    """No wrong byte comes out, nothing but errors of ctxf is raised; how many bodies are still there."""
    intact = 0
    with Archive.open(path) as archive:
        for id, body in contents.items():
            try:
                assert archive.read("s", id) == body
                intact += 1
            except CtxfError:
                pass
        calls: Iterable[Callable[[], object]] = (
            lambda: list(archive.entries("s")),
            archive.scopes,
            archive.stats,
            archive.totals,
            archive.facts,
            lambda: list(archive.search("s", "body 3")),
            lambda: archive.verify(deep=True),
            lambda: archive.forget("s", dry_run=True),
            lambda: put_and_check(archive),
            archive.close,
        )
        for call in calls:
            with suppress(CtxfError):
                call()
    return intact


def put_and_check(archive: Archive) -> None:
    """A reference that is given out in a damaged archive must resolve all the same."""
    (id,) = put(archive, "s", b"put into a damaged archive\n" * 20)
    assert archive.lookup("s", id) == b"put into a damaged archive\n" * 20


def flip_bytes(directory: Path, count: int, seed: int) -> None:
    good = directory / "good.db"
    contents = filled_archive(good)
    data = good.read_bytes()
    chance = random.Random(seed)
    path = directory / "archive.db"
    for _ in range(count):
        offset = chance.randrange(len(data))
        flipped = (
            data[offset] ^ (1 << chance.randrange(8)) if chance.random() < 0.5 else chance.randrange(256)
        )
        path.write_bytes(data[:offset] + bytes([flipped]) + data[offset + 1 :])
        for name in ("archive.db-wal", "archive.db-shm", "archive.db-journal"):
            (directory / name).unlink(missing_ok=True)
        check_exact_or_error(path, contents)


def test_flipped_bytes(tmp_path: Path) -> None:
    flip_bytes(tmp_path, 200, seed=1)


@pytest.mark.long
def test_flipped_bytes_for_long(tmp_path: Path) -> None:
    flip_bytes(tmp_path, 5000, seed=2)


@pytest.mark.parametrize("table", ["scopes", "folds"])
def test_an_index_that_leads_to_another_row(tmp_path: Path, table: str) -> None:
    """With a damaged index a look-up may end at a sound row of another body or another scope."""
    contents = {"s": bodies(4, seed="s"), "other": bodies(4, seed="other")}
    path = tmp_path / "archive.db"
    with Archive.open(path) as archive:
        ids = {scope: put(archive, scope, *contents[scope]) for scope in contents}
    with sqlite3.connect(path) as connection:
        query = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
        (page,) = connection.execute(query, (f"sqlite_autoindex_{table}_1",)).fetchone()
        (page_size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    good = path.read_bytes()
    refused = 0
    for offset in range((page - 1) * page_size, page * page_size):
        for bit in (1, 2) if good[offset] else ():
            path.write_bytes(good[:offset] + bytes([good[offset] ^ bit]) + good[offset + 1 :])
            with Archive.open(path) as archive:
                for scope, other in (("s", "other"), ("other", "s")):
                    for id, body in zip(ids[scope], contents[scope], strict=True):
                        try:
                            assert archive.lookup(scope, id) == body
                        except CtxfError:
                            refused += 1
                        with pytest.raises(CtxfError):
                            archive.lookup(other, id)
                with suppress(CtxfError):
                    (new_id,) = put(archive, "s", b"new\n" * 50)
                    assert archive.lookup("s", new_id) == b"new\n" * 50
                    with pytest.raises(CtxfError):
                        archive.lookup("other", new_id)
    assert refused > 100


def test_flipped_bytes_in_the_log(tmp_path: Path) -> None:
    contents, main, log = crashed_archive(tmp_path / "crash")
    chance = random.Random(3)
    path = tmp_path / "archive.db"
    for _ in range(25):
        offset = chance.randrange(len(log))
        path.write_bytes(main)
        (tmp_path / "archive.db-wal").write_bytes(
            log[:offset] + bytes([log[offset] ^ (1 << chance.randrange(8))]) + log[offset + 1 :]
        )
        (tmp_path / "archive.db-shm").unlink(missing_ok=True)
        check_exact_or_error(path, contents)


def test_a_truncated_file(tmp_path: Path) -> None:
    contents = filled_archive(tmp_path / "good.db")
    data = (tmp_path / "good.db").read_bytes()
    chance = random.Random(4)
    path = tmp_path / "archive.db"
    for length in (0, 1, 15, 99, 100, 4095, 4096, *(chance.randrange(len(data)) for _ in range(20))):
        path.write_bytes(data[:length])
        check_exact_or_error(path, contents)
        for name in ("archive.db-wal", "archive.db-shm"):
            (tmp_path / name).unlink(missing_ok=True)


def test_a_page_of_zeros(tmp_path: Path) -> None:
    contents = filled_archive(tmp_path / "good.db")
    data = (tmp_path / "good.db").read_bytes()
    path = tmp_path / "archive.db"
    for start in range(0, len(data), 4096):
        path.write_bytes(data[:start] + bytes(4096) + data[start + 4096 :])
        check_exact_or_error(path, contents)
        for name in ("archive.db-wal", "archive.db-shm"):
            (tmp_path / name).unlink(missing_ok=True)


def crashed_archive(directory: Path) -> tuple[dict[str, bytes], bytes, bytes]:
    """Bodies by id, and the main file and the log of a process that died before it could tidy up."""
    directory.mkdir()
    path = directory / "archive.db"
    code = """
import os, sys
from tests.kit.archive import Archive, bodies, put
archive = Archive.open(sys.argv[1])
put(archive, "other", b"first")
put(archive, "s", *bodies(25))
os.kill(os.getpid(), 9)
"""
    subprocess.run(
        [sys.executable, "-c", code, path], env={"PYTHONPATH": str(Path(__file__).parents[2])}, check=False
    )
    contents = {new(body).digest.hex()[:12]: body for body in bodies(25)}
    main, log = path.read_bytes(), (directory / "archive.db-wal").read_bytes()
    assert len(log) > 4096
    return contents, main, log


def test_a_crash_loses_nothing(tmp_path: Path) -> None:
    contents, _main, _log = crashed_archive(tmp_path / "crash")
    assert check_exact_or_error(tmp_path / "crash" / "archive.db", contents) == len(contents)
    assert [file.name for file in (tmp_path / "crash").iterdir()] == ["archive.db"]


def test_a_missing_log(tmp_path: Path) -> None:
    """As after `cp` of the file while it was in use: what is missing is missing, nothing is wrong."""
    contents, main, _log = crashed_archive(tmp_path / "crash")
    path = tmp_path / "archive.db"
    path.write_bytes(main)
    assert check_exact_or_error(path, contents) == 0
    with Archive.open(path) as archive:
        assert archive.verify(deep=True).is_intact


def test_a_stale_log(tmp_path: Path) -> None:
    """A write-ahead log that belongs to an older state of the file, or to another archive."""
    contents, _main, log = crashed_archive(tmp_path / "crash")
    good = tmp_path / "good.db"
    newer = filled_archive(good)
    path = tmp_path / "archive.db"
    path.write_bytes(good.read_bytes())
    (tmp_path / "archive.db-wal").write_bytes(log)
    check_exact_or_error(path, newer | contents)


def test_a_copy_of_a_file_in_use_is_whole_or_an_error(tmp_path: Path) -> None:
    contents: dict[str, bytes] = {}
    with Archive.open(tmp_path / "archive.db") as archive:
        for number in range(15):
            body = f"{number} ".encode() + os.urandom(3000)
            (id,) = put(archive, "s", body)
            contents[id] = body
            shutil.copyfile(tmp_path / "archive.db", tmp_path / "copy.db")
            check_exact_or_error(tmp_path / "copy.db", contents)


# The clock, the disk


def test_a_clock_that_is_set_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Archive.open(tmp_path / "archive.db") as archive:
        (first,) = put(archive, "s", b"first")
        for seconds in (-10.0, 0, 4e9, -5e12, 5e12):
            monkeypatch.setattr("time.time_ns", lambda seconds=seconds: int(seconds * 1e9))
            put(archive, "s", f"at {seconds}".encode())
        monkeypatch.undo()
        (last,) = put(archive, "s", b"last")
        ids = [entry.id for entry in archive.entries("s")]
        assert (ids[0], ids[-1], len(ids)) == (first, last, 7)  # in the order of writing
        assert archive.read("s", first) == b"first"
        assert archive.verify().is_intact
        assert archive.stats("s")[0].folds == 7
        archive.export_package("s", tmp_path / "p.zip")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 500 kB."""
    directory = tmp_path / "disk"
    directory.mkdir()
    command: Sequence[str] = ["mount", "-t", "tmpfs", "-o", "size=500k", "tmpfs", str(directory)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs root and a system that mounts")
    yield directory
    subprocess.run(["umount", "-l", str(directory)], check=True)


def test_a_disk_that_fills_up_under_a_fold(small_disk: Path) -> None:
    path = small_disk / "archive.db"
    for number in range(12):
        text = text_of(10, f"{number} {os.urandom(3).hex()}", 6000).replace(
            b"log", os.urandom(300).hex().encode()
        )
        done = subprocess.run(
            [sys.executable, "-m", "ctxf", "--archive", str(path), "--min-savings", "0"],
            input=text,
            capture_output=True,
            check=False,
        )
        assert done.returncode in (0, 75)
        assert done.returncode == 0 or (b"went through as it came" in done.stderr and done.stdout == text)
        with Archive.open(path) as archive:
            if check_references(done.stdout, text, archive):
                assert ctxf.restore(done.stdout, archive).text == text


@pytest.mark.parametrize("limit", [4096, 30_000, 60_000, 100_000])
def test_a_limit_on_file_sizes_under_a_fold(tmp_path: Path, limit: int) -> None:
    text = b"".join(text_of(8, str(number)) + os.urandom(10).hex().encode() + b"\n" for number in range(8))
    path = tmp_path / "archive.db"
    code = """
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
runpy.run_module("ctxf", run_name="__main__")
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(limit), "--archive", str(path), "--min-savings", "0"],
        input=text,
        capture_output=True,
        check=False,
    )
    assert done.returncode in (0, 75)
    assert b"Traceback" not in done.stderr
    with Archive.open(path) as archive:
        if done.returncode:
            assert done.stdout == text
        else:
            assert ctxf.restore(done.stdout, archive).text == text
