"""Pipes that behave as pipes do: readers that leave, descriptors that do not block, lines that come late."""

import contextlib
import os
import random
import select
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from tests.kit.cli import BODY, CTXF, FOLDED, NOTES, TIMEOUT, Cli, folded, id_of, log, marked

LONG_BODY = log(40_000)  # more than any pipe holds
LONG = b"long\n" + marked(b"log", LONG_BODY)


@pytest.fixture
def stocked(cli: Cli) -> Cli:
    """With an archive whose bodies, and whose list, are longer than a pipe."""
    many = b"".join(marked(b"b%d/%b" % (n, b"x" * 100), log(30, f"b{n}")) for n in range(800))
    cli.write("long.md", LONG)
    cli.write("many.md", many)
    cli.write("plain.txt", LONG_BODY)
    for name in ("long", "many"):
        cli.write(f"{name}.folded", cli.run("-q", f"{name}.md").stdout)
    return cli


GONE: list[tuple[str, ...]] = [
    ("fold", "many.md"),
    ("fold", "plain.txt"),
    ("restore", "long.folded"),
    ("read", "--id", id_of(LONG_BODY), "--restore"),
    ("read", "--id", id_of(LONG_BODY), "--json"),
    ("list",),
    ("list", "--json"),
]


def test_a_reader_that_goes_away_ends_it_quietly(stocked: Cli) -> None:
    for args in GONE:
        child = stocked.start("-q", *args)
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdin.close()
        assert child.stdout.read(10) != b"", args
        child.stdout.close()
        said = child.stderr.read()
        child.stderr.close()
        assert child.wait(TIMEOUT) == 0, args
        assert said == b"", args


class Talk:
    """A running fold whose input is written piece by piece."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        self.child = child
        self.stdin, self.stdout, self.stderr = child.stdin, child.stdout, child.stderr

    def say(self, text: bytes) -> None:
        while text:
            text = text[self.stdin.write(text) or 0 :]

    def hear(self, size: int) -> bytes:
        """The next `size` bytes; fewer only where nothing comes for a long time."""
        heard = b""
        while len(heard) < size and select.select([self.stdout], [], [], TIMEOUT)[0]:
            if not (piece := self.stdout.read(size - len(heard))):
                break
            heard += piece
        return heard

    def end(self) -> tuple[bytes, bytes, int]:
        """Close stdin; what else comes, and the exit status."""
        rest, said = self.child.communicate(timeout=TIMEOUT)
        return rest, said, self.child.returncode

    def close(self) -> None:
        for pipe in (self.stdin, self.stdout, self.stderr):
            pipe.close()


def test_lines_come_out_while_the_input_is_open(cli: Cli) -> None:
    talk = Talk(cli.start("fold"))
    for line in (b"one\n", "zwei \u2028\n".encode(), b"\xff\n", b"```\n", b"in code\n", b"```\n"):
        talk.say(line)
        assert talk.hear(len(line)) == line
    assert talk.end() == (b"", b"", 0)


def test_a_block_comes_out_and_is_archived_while_the_input_is_open(cli: Cli) -> None:
    talk = Talk(cli.start("fold"))
    talk.say(NOTES)
    assert talk.hear(len(FOLDED)) == FOLDED
    assert cli.run("read", "--id", id_of(BODY)) == (BODY, b"", 0)
    begin, rest = marked(b"b", log(50, "b")).split(b"\n", 1)
    talk.say(b"next\n" + begin + b"\n")
    assert talk.hear(5) == b"next\n"
    talk.say(rest)
    assert talk.hear(len(folded(b"b", log(50, "b")))) == folded(b"b", log(50, "b"))
    assert talk.end()[::2] == (b"", 0)


def test_a_line_and_a_block_without_end_come_out_at_the_end(cli: Cli) -> None:
    talk = Talk(cli.start("fold", "-q"))
    talk.say(b"whole\npart")
    assert talk.hear(6) == b"whole\n"
    assert talk.end() == (b"part", b"", 0)
    talk = Talk(cli.start("fold", "-q"))
    talk.say(b"whole\n" + NOTES.partition(b"<!-- @context-fold end")[0])
    assert talk.hear(22) == b"whole\nThe conclusion.\n"
    assert talk.end() == (NOTES.partition(b"<!-- @context-fold end")[0].partition(b"\n")[2], b"", 0)


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_pipes_that_do_not_block(cli: Cli, size: int) -> None:
    """Some programs set O_NONBLOCK on pipes that they share with their children."""
    text = marked(b"a", log(40)) if size == 1 else NOTES * 3 + log(4000)
    expected = folded(b"a", log(40)) if size == 1 else FOLDED * 3 + log(4000)
    their_stdin, our_stdin = os.pipe()
    our_stdout, their_stdout = os.pipe()
    os.set_blocking(their_stdin, False)
    os.set_blocking(their_stdout, False)
    child = subprocess.Popen(
        [*CTXF, "fold"],
        stdin=their_stdin,
        stdout=their_stdout,
        stderr=subprocess.PIPE,
        env=cli.environment(),
        cwd=cli.cwd,
    )
    os.close(their_stdin)
    os.close(their_stdout)
    if not os.fork():  # a writer of its own, so that both pipes can be full
        os.close(our_stdout)
        for start in range(0, len(text), size):
            os.write(our_stdin, text[start : start + size])
        os._exit(0)
    os.close(our_stdin)
    with open(our_stdout, "rb") as stdout:
        assert stdout.read() == expected
    _, said = child.communicate(timeout=TIMEOUT)
    os.wait()
    assert said.startswith(b"ctxf: ")
    assert child.returncode == 0


def random_bodies(count: int, size: int) -> list[bytes]:
    """Bodies that no compressor makes smaller."""
    source = random.Random(7)
    return [source.randbytes(size) + b"\n" for _ in range(count)]


@pytest.mark.parametrize("largest_file", [2_500_000, 10_000_000])
def test_a_later_batch_that_cannot_be_stored(cli: Cli, largest_file: int) -> None:
    bodies = random_bodies(28, 1_000_000)
    text = b"".join(b"text %d\n" % n + marked(b"b%d" % n, body) for n, body in enumerate(bodies))
    ran = cli.run("fold", stdin=text, largest_file=largest_file)
    kept = [n for n, body in enumerate(bodies) if body in ran.stdout]
    assert kept == list(range(kept[0], 28))  # from the first that failed on all is as it came
    assert (kept[0] > 0) == (largest_file > 8_000_000)
    done = b"".join(b"text %d\n" % n + folded(b"b%d" % n, bodies[n]) for n in range(kept[0]))
    assert ran.stdout == done + text[text.index(b"text %d\n" % kept[0]) :]
    assert ran.stderr.count(b"\n") == 2
    assert ran.stderr.startswith(b"ctxf: archive %b: " % bytes(cli.archive))
    assert b"the text went through as it came" in ran.stderr
    assert ran.status == 75
    assert cli.run("restore", stdin=ran.stdout) == (text, b"", 0)
    assert cli.run("fold", "-q", stdin=ran.stdout).status == 0  # with room it can go on
    assert cli.files() == set()


def test_a_block_of_more_than_16_mib_passes(cli: Cli) -> None:
    body = log(1_000) * 370  # 17 MiB
    text = marked(b"large", body) + NOTES
    assert len(body) > 16 << 20
    talk = Talk(cli.start("fold"))
    talk.say(text[: len(body)])
    assert talk.hear(1 << 20) == text[: 1 << 20]  # no longer held back, although its end is still to come
    writer = threading.Thread(target=talk.say, args=(text[len(body) :] + b"end\n",))
    writer.start()
    rest = talk.hear(len(marked(b"large", body) + FOLDED) - (1 << 20) + 4)
    writer.join()
    talk.stdin.close()
    assert text[: 1 << 20] + rest == marked(b"large", body) + FOLDED + b"end\n"
    assert talk.stderr.read().startswith(b"ctxf: 1 block folded, 2 kept (line 1: is longer than 16 MiB, ")
    assert talk.child.wait(TIMEOUT) == 0
    talk.close()


MEASURED = """
import re, sys
from ctxf.cli.app import run
status = run(["fold"])
print(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1], file=sys.stderr)
sys.exit(status)
"""


@pytest.mark.parametrize(
    "chunk",
    [
        log(21_000),
        b"x" * (1 << 20),
        b"```\n" + log(21_000),
        b"<!-- @context-fold begin a -->\n" + log(21_000),
    ],
    ids=["lines", "one line", "fences", "unclosed begins"],
)
def test_memory_stays_bounded(cli: Cli, chunk: bytes) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", MEASURED],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=cli.environment(),
        cwd=cli.cwd,
    )
    assert child.stdin is not None
    assert child.stderr is not None
    for _ in range(128):
        child.stdin.write(chunk)
    child.stdin.close()
    with child.stderr as stderr:
        peak_kb = int(stderr.read().split()[-1])
    assert child.wait(TIMEOUT) == 0
    assert peak_kb < 100_000


@pytest.mark.parametrize("is_open", [True, False])
def test_killed_behind_the_last_byte_it_has_lost_nothing(cli: Cli, is_open: bool) -> None:
    bodies = [log(60, f"b{n}") for n in range(50)]
    text = b"".join(marked(b"b", body) for body in bodies)
    expected = b"".join(folded(b"b", body) for body in bodies)
    talk = Talk(cli.start("fold"))
    talk.say(text)
    if not is_open:
        talk.stdin.close()
    heard = talk.hear(len(expected))
    talk.child.kill()
    assert heard == expected
    talk.child.wait(TIMEOUT)
    talk.close()
    assert cli.run("restore", stdin=heard) == (text, b"", 0)
    assert cli.run("read", "--id", id_of(bodies[-1]), "--restore").stdout == bodies[-1]


@pytest.mark.parametrize("redirect", ["", "2>&-"])
def test_interrupted_it_ends_quietly(cli: Cli, redirect: str) -> None:
    talk = Talk(cli.start("fold", redirect=redirect))
    talk.say(b"first\n<!-- @context-fold begin a -->\n")
    assert talk.hear(6) == b"first\n"
    talk.child.send_signal(signal.SIGINT)
    said = talk.stderr.read()
    assert talk.child.wait(TIMEOUT) == 130
    assert said.strip() == b""
    assert talk.stdout.read() == b""
    talk.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_waiting_for_a_lock_can_be_interrupted(cli: Cli, number: signal.Signals) -> None:
    cli.run("fold", stdin=NOTES)  # makes the archive
    file = cli.write("notes.md", NOTES.replace(b"worker", b"other"))
    before = file.read_bytes()
    with contextlib.closing(sqlite3.connect(cli.archive, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        process = cli.start("fold", "--in-place", "notes.md")
        time.sleep(1.5)  # until it waits; if it does not yet, the test is only weaker
        process.send_signal(number)
        # The lock is held on: who waits it out takes 30 s.
        _stdout, stderr = process.communicate(timeout=20)
    assert process.returncode in (128 + number, -number)
    assert b"Traceback" not in stderr
    assert file.read_bytes() == before
    assert cli.files() == {"notes.md"}
