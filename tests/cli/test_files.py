"""Files that are written back or elsewhere: whole or not at all, and nothing beside them."""

import os
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from tests.kit.cli import BODY, CTXF, FOLDED, NOBODY, NOTES, SUMMARY, TIMEOUT, Cli, folded, log, marked

MODES = [0o640, 0o400, 0o755, 0o600, 0o4711]


@pytest.mark.parametrize("mode", MODES)
def test_in_place_keeps_link_and_mode(cli: Cli, mode: int) -> None:
    cli.write("there/notes.md", NOTES, mode)
    (cli.cwd / "link.md").symlink_to("there/notes.md")
    (cli.cwd / "second.md").symlink_to("link.md")
    assert cli.run("fold", "--in-place", "second.md") == (b"", b"ctxf: second.md: " + SUMMARY[6:], 0)
    assert (cli.cwd / "second.md").readlink() == Path("link.md")
    assert (cli.cwd / "link.md").readlink() == Path("there/notes.md")
    assert (cli.cwd / "there/notes.md").read_bytes() == FOLDED
    assert (cli.cwd / "there/notes.md").stat().st_mode & 0o7777 == mode
    assert cli.files() == {"second.md", "link.md", "there", "there/notes.md"}
    assert cli.run("restore", "--in-place", "link.md") == (b"", b"", 0)
    assert (cli.cwd / "there/notes.md").read_bytes() == NOTES
    assert (cli.cwd / "there/notes.md").stat().st_mode & 0o7777 == mode


def test_in_place_leaves_the_other_name_of_a_file(cli: Cli) -> None:
    notes = cli.write("notes.md", NOTES)
    os.link(notes, cli.cwd / "other.md")
    assert cli.run("fold", "--in-place", "notes.md").status == 0
    assert notes.read_bytes() == FOLDED
    assert (cli.cwd / "other.md").read_bytes() == NOTES


@pytest.mark.parametrize("command", ["fold", "restore"])
@pytest.mark.parametrize("text", [b"", b"plain\r\n", FOLDED.replace(b"cf:v2:", b"cf:v2:00"), b"\0\xff"])
def test_in_place_does_not_write_what_does_not_change(cli: Cli, command: str, text: bytes) -> None:
    path = cli.write("plain.txt", text)
    before = path.stat()
    cli.run(command, "--in-place", "plain.txt")
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert path.read_bytes() == text


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_in_place_keeps_the_owner(cli: Cli) -> None:
    path = cli.write("notes.md", NOTES)
    os.chown(path, NOBODY, NOBODY)
    assert cli.run("fold", "--in-place", "notes.md").status == 0
    assert (path.stat().st_uid, path.stat().st_gid) == (NOBODY, NOBODY)


NAMES: list[bytes] = [
    b"n" * 250,
    "größe.md".encode(),
    b"\xff\xfe.md",
    b"with blank\nand line",
    b"--scope",
    b".hidden",
    b"list",
]


@pytest.mark.parametrize("name", NAMES)
def test_in_place_with_any_name(cli: Cli, name: bytes) -> None:
    path = Path(os.fsdecode(bytes(cli.cwd) + b"/" + name))
    path.write_bytes(NOTES)
    ran = cli.run("fold", "--in-place", "--", name)
    assert path.read_bytes() == FOLDED
    assert ran.stderr.endswith(b": " + SUMMARY[6:])
    assert ran.stderr.count(b"\n") == 1
    assert (ran.stdout, ran.status) == (b"", 0)
    assert len(cli.files()) == 1


def test_in_place_a_long_name_in_letters_of_three_bytes(cli: Cli) -> None:
    cli.write("日" * 84, NOTES)
    assert cli.run("fold", "--in-place", "日" * 84).status == 0
    assert (cli.cwd / ("日" * 84)).read_bytes() == FOLDED


def test_many_files_with_bad_ones_among_them(cli: Cli) -> None:
    for name in ("a.md", "c.md", "f.md"):
        cli.write(name, NOTES)
    (cli.cwd / "b.md").mkdir()
    os.mkfifo(cli.cwd / "d.md")
    (cli.cwd / "e.md").symlink_to("nowhere")
    ran = cli.run("fold", "--in-place", "-q", *(f"{name}.md" for name in "abcdef"), "gone.md", "/dev/null")
    assert [(cli.cwd / f"{name}.md").read_bytes() for name in "acf"] == [FOLDED] * 3
    assert ran.stderr.splitlines() == [
        b"ctxf: b.md: Is a directory (for all files in it: --recursive)",
        b"ctxf: d.md: is not a regular file",
        b"ctxf: e.md: No such file or directory",
        b"ctxf: gone.md: No such file or directory",
        b"ctxf: /dev/null: is not a regular file",
    ]
    assert (ran.stdout, ran.status) == (b"", 74)
    assert cli.files() == {f"{name}.md" for name in "abcdef"}


def test_in_place_in_a_directory_that_cannot_be_written(cli: Cli) -> None:
    path = cli.write("ro/notes.md", NOTES)
    path.parent.chmod(0o555)
    ran = cli.run("fold", "--in-place", "ro/notes.md", unprivileged=True)
    path.parent.chmod(0o755)
    assert path.read_bytes() == NOTES
    assert ran == (b"", b"ctxf: ro/notes.md: Permission denied\n", 74)
    assert cli.files() == {"ro", "ro/notes.md"}


def test_a_file_that_must_not_be_read(cli: Cli) -> None:
    cli.write("secret.md", NOTES, 0o000)
    for args in (("fold",), ("fold", "--in-place"), ("restore",), ("restore", "--in-place")):
        ran = cli.run(*args, "secret.md", unprivileged=True)
        assert ran == (b"", b"ctxf: secret.md: Permission denied\n", 74)


def test_a_file_that_somebody_writes_meanwhile_is_left_alone(cli: Cli) -> None:
    assert cli.run(stdin=marked(b"a", log(50))).status == 0
    path = cli.write("notes.md", NOTES)
    with sqlite3.connect(cli.archive, isolation_level=None) as lock:
        lock.execute("BEGIN IMMEDIATE")
        child = cli.start("fold", "--in-place", "notes.md")
        time.sleep(1.5)  # it has read the file and waits for the lock; were it slower, the test says less
        path.write_bytes(NOTES + b"more\n")
        lock.execute("ROLLBACK")
    lock.close()
    out, said = child.communicate(timeout=TIMEOUT)
    assert path.read_bytes() in (NOTES + b"more\n", FOLDED + b"more\n")
    if path.read_bytes() == NOTES + b"more\n":
        assert said == b"ctxf: notes.md: was written by somebody else meanwhile: it is left as it is\n"
        assert child.returncode == 74
    assert out == b""
    assert cli.files() == {"notes.md"}


def start_folding(cli: Cli, files: int, before: str = "") -> subprocess.Popen[bytes]:
    """Fold many files in place; returns when the first is done."""
    for n in range(files):
        cli.write(f"f{n:03}.md", marked(b"a", log(200, f"f{n}")))
    names = sorted(cli.files())
    child = subprocess.Popen(
        ["sh", "-c", f'{before} exec "$@"', "sh", *CTXF, "fold", "--in-place", "-q", *names],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=cli.environment(),
        cwd=cli.cwd,
    )
    while b"[[cf:" not in (cli.cwd / names[0]).read_bytes():
        assert child.poll() is None
        time.sleep(0.001)
    return child


def check_old_or_new(cli: Cli, files: int) -> int:
    """Each file is as it was or folded, and nothing else is there; how many are folded."""
    assert cli.files() == {f"f{n:03}.md" for n in range(files)}
    done = 0
    for n in range(files):
        body, text = log(200, f"f{n}"), (cli.cwd / f"f{n:03}.md").read_bytes()
        assert text in (marked(b"a", body), folded(b"a", body))
        done += text != marked(b"a", body)
    return done


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("delay", [0, 0.003, 0.011])
def test_a_signal_leaves_old_or_new_files_and_no_other(
    cli: Cli, number: signal.Signals, delay: float
) -> None:
    child = start_folding(cli, 150)
    time.sleep(delay)
    child.send_signal(number)
    out, said = child.communicate(timeout=TIMEOUT)
    assert 0 < check_old_or_new(cli, 150) < 150
    assert (out, said.strip()) == (b"", b"")
    assert child.returncode == 128 + number
    assert cli.run("fold", "--in-place", "-q", *sorted(cli.files())).status == 0  # it can go on
    assert check_old_or_new(cli, 150) == 150


def test_nohup_is_respected(cli: Cli) -> None:
    child = start_folding(cli, 40, before='trap "" HUP;')
    child.send_signal(signal.SIGHUP)
    assert child.communicate(timeout=TIMEOUT) == (b"", b"")
    assert child.returncode == 0
    assert check_old_or_new(cli, 40) == 40


def test_output_dir_keeps_relative_paths_and_modes(cli: Cli) -> None:
    cli.write("a.md", NOTES, 0o600)
    cli.write("sub/deep/b.md", NOTES, 0o640)
    cli.write("plain.txt", b"plain", 0o755)
    ran = cli.run("fold", "-q", "--output-dir", "out/new", "a.md", "./sub/deep/b.md", "plain.txt")
    assert ran == (b"", b"", 0)
    out = cli.cwd / "out" / "new"
    assert (out / "a.md").read_bytes() == (out / "sub/deep/b.md").read_bytes() == FOLDED
    assert (out / "plain.txt").read_bytes() == b"plain"
    # A private file stays private elsewhere, too.
    assert [(out / name).stat().st_mode & 0o777 for name in ("a.md", "sub/deep/b.md", "plain.txt")] == [
        0o600,
        0o640,
        0o755,
    ]
    assert (cli.cwd / "a.md").read_bytes() == NOTES
    back = cli.run("restore", "-q", "--output-dir", "../../back", "a.md", "sub/deep/b.md", cwd=out)
    assert back == (b"", b"", 0)
    assert (cli.cwd / "back/sub/deep/b.md").read_bytes() == NOTES
    assert len(cli.files()) == 5 + 7 + 5


def test_output_dir_replaces_what_is_there(cli: Cli) -> None:
    cli.write("a.md", NOTES)
    there = cli.write("out/a.md", b"older", 0o640)
    assert cli.run("fold", "-q", "--output-dir", "out", "a.md") == (b"", b"", 0)
    assert there.read_bytes() == FOLDED
    assert there.stat().st_mode & 0o777 == 0o640


REFUSED: list[tuple[str, ...]] = [
    ("out", "../work/a.md"),
    ("out", "sub/../a.md"),
    ("out", "a.md", "/etc/hostname"),
    ("out", "a.md", "./a.md"),
    ("out", "sub/b.md", "sub//b.md"),
    (".", "a.md"),
    ("loop", "a.md"),
    ("sub", "b.md", "sub/b.md"),  # the first would be written over the second before that is read
    ("sub", "sub/b.md", "b.md"),
]


@pytest.mark.parametrize("args", REFUSED)
@pytest.mark.parametrize("command", ["fold", "restore"])
def test_output_dir_refuses_before_it_writes(cli: Cli, command: str, args: tuple[str, ...]) -> None:
    for name in ("a.md", "b.md", "sub/b.md"):
        cli.write(name, NOTES)
    (cli.cwd / "loop").symlink_to(".")
    before = cli.files()
    ran = cli.run(command, "--output-dir", *args)
    assert ran.stdout == b""
    assert ran.stderr.startswith(b"Usage: ")
    assert ran.status == 2
    assert cli.files() == before
    assert all((cli.cwd / name).read_bytes() == NOTES for name in ("a.md", "b.md", "sub/b.md"))


def test_output_dir_that_is_a_file(cli: Cli) -> None:
    cli.write("a.md", NOTES)
    cli.write("out", b"a file")
    ran = cli.run("fold", "--output-dir", "out", "a.md")
    assert ran.stderr.startswith(b"ctxf: a.md: ")
    assert ran[::2] == (b"", 74)
    assert cli.files() == {"a.md", "out"}


def test_restore_in_place_leaves_what_does_not_resolve(cli: Cli) -> None:
    path = cli.write("notes.md", FOLDED)
    assert cli.run("list").status == 1  # there is no archive at all
    ran = cli.run("restore", "--in-place", "notes.md")
    assert path.read_bytes() == FOLDED
    assert ran.stderr.startswith(b"ctxf: notes.md: line 3: log stays folded: ")
    assert ran[::2] == (b"", 1)
    other = marked(b"other", log(50))
    path.write_bytes(cli.run(stdin=other).stdout + FOLDED)
    assert cli.run("restore", "--in-place", "notes.md").status == 1
    assert path.read_bytes() == other + FOLDED
    assert cli.files() == {"notes.md"}
    assert BODY not in path.read_bytes()
