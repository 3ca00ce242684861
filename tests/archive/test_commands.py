"""The archive's commands: what goes to stdout, what to stderr, and the exit status."""

import contextlib
import json
import os
import pty
import sqlite3
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ctxf.archive import Archive
from ctxf.cli.app import run
from tests.kit.archive import new, put
from tests.kit.cli import BODY, FOLDED, NOTES, Cli, id_of

ALPHA = b"alpha one\nalpha two timeout\nalpha three\n" * 20
BETA = b"beta \xff caf\xc3\xa9\r\nbeta \x1b[31mred\n"
COMMANDS = ("grep", "list", "stats", "verify", "forget", "backup", "export", "import")


@dataclass
class Done:
    status: int
    out: bytes
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


Ctxf = Callable[..., Done]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "archive.db"


@pytest.fixture
def ctxf(path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Ctxf:
    """Run the command line in this process on the archive at `path`."""
    for name in [name for name in os.environ if name.startswith(("CTXF_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(path.parent))
    monkeypatch.setenv("CTXF_ARCHIVE", str(path))
    monkeypatch.chdir(path.parent)

    def call(*arguments: str | Path) -> Done:
        capfdbinary.readouterr()
        status = run([*map(str, arguments)])
        out, err = capfdbinary.readouterr()
        return Done(status, out, err.decode())

    return call


@pytest.fixture
def ids(path: Path) -> list[str]:
    with Archive.open(path) as archive:
        groups = [[new(ALPHA, b"alpha")], [new(BETA, "b\u00e9ta\u202e".encode())]]
        return [ids[0] for ids in archive.put("default", groups) if isinstance(ids, tuple)]


def break_bodies(path: Path, condition: str = "1") -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"UPDATE bodies SET payload = x'00' WHERE {condition}")


# All of them


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example(ctxf: Ctxf, name: str) -> None:
    done = ctxf(name, "--help")
    assert done.status == 0
    assert "Example" in done.out.decode()
    assert f"ctxf {name} " in done.out.decode()
    assert done.err == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["grep", "x"],
        ["list"],
        ["stats"],
        ["stats", "--all-scopes"],
        ["verify"],
        ["forget", "--whole-scope"],
        ["backup", "b.db"],
        ["export", "p.zip"],
    ],
)
def test_without_an_archive(ctxf: Ctxf, path: Path, arguments: Sequence[str]) -> None:
    done = ctxf(*arguments)
    assert (done.status, done.out) == (1, b"")
    assert "does not exist" in done.err
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["grep", "x"],
        ["stats"],
        ["verify"],
        ["forget", "--whole-scope", "--yes"],
        ["backup", "b"],
        ["export", "p"],
    ],
)
def test_a_foreign_file(ctxf: Ctxf, path: Path, arguments: Sequence[str]) -> None:
    path.write_bytes(b"notes\n" * 100)
    done = ctxf(*arguments)
    assert (done.status, done.out) == (75, b"")
    assert "not a ctxf archive" in done.err
    assert path.read_bytes() == b"notes\n" * 100


# grep


def test_grep(ctxf: Ctxf, ids: list[str]) -> None:
    done = ctxf("grep", "timeout|beta")
    lines = done.out.split(b"\n")
    assert lines[0] == f"{ids[0]}:2:alpha two timeout".encode()
    assert lines[20] == f"{ids[1]}:1:beta ".encode() + b"\xff caf\xc3\xa9"
    assert lines[21] == f"{ids[1]}:2:beta ".encode() + b"\x1b[31mred"  # no terminal: the bytes as they are
    assert (len(lines), done.status, done.err) == (23, 0, "")


def test_grep_options(ctxf: Ctxf, ids: list[str]) -> None:
    assert ctxf("grep", "-inF", "CAF\u00c9", "--id", ids[1]).out.startswith(f"{ids[1]}:1:".encode())
    assert ctxf("grep", "nowhere").status == 1
    assert ctxf("grep", "alpha", "--id", ids[1]).status == 1
    assert ctxf("grep", "alpha", "--scope", "other").status == 1
    assert ctxf("grep", "(").status == 2
    assert ctxf("grep").status == 2
    assert ctxf("grep", "x", "--id", "0" * 12).status == 1
    assert ctxf("grep", "--", "-x").status == 1


def test_grep_context(ctxf: Ctxf, ids: list[str]) -> None:
    lines = ctxf("grep", "-C", "1", "beta .*red|two", "--id", ids[1]).out.split(b"\n")
    assert [line[12:15] for line in lines] == [b"-1-", b":2:", b""]
    lines = ctxf("grep", "-C1", "two timeout").out.splitlines()
    assert lines.count(b"--") == 0  # 20 groups that touch
    lines = ctxf("grep", "-C1", "^alpha (three|two timeou)t?$|red").out.splitlines()
    assert lines.count(b"--") == 1  # between two bodies


def test_grep_json(ctxf: Ctxf, ids: list[str]) -> None:
    done = ctxf("grep", "--json", "-C1", "red")
    assert done.objects == [
        {"id": ids[1], "line": 1, "match": False, "base64": "YmV0YSD/IGNhZsOp"},
        {"id": ids[1], "line": 2, "match": True, "text": "beta \x1b[31mred"},
    ]
    assert b"\x1b" not in done.out


def test_grep_goes_on_after_a_damaged_body(ctxf: Ctxf, ids: list[str], path: Path) -> None:
    break_bodies(path, "key = 1")
    done = ctxf("grep", "alpha|red")
    assert (done.status, len(done.out.splitlines())) == (65, 1)
    assert ids[0] in done.err


def test_grep_escapes_on_a_terminal(path: Path, ids: list[str]) -> None:
    master, slave = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "ctxf", "grep", "red", "--archive", str(path)],
        stdout=slave,
        check=False,
        env={"PYTHONIOENCODING": "ascii", "HOME": "/nonexistent"},
    )
    os.close(slave)
    assert os.read(master, 1000).decode() == f"{ids[1]}:2:beta \\x1b[31mred\r\n"
    os.close(master)
    assert done.returncode == 0


# stats, list


def test_stats(ctxf: Ctxf, ids: list[str], path: Path) -> None:
    with Archive.open(path) as archive:
        put(archive, "c-" + "0" * 32, ALPHA)
        archive.forget("default", [ids[1]])
    (one,) = ctxf("stats", "--json").objects
    assert {key: one[key] for key in ("scope", "folds", "forgotten", "size")} == {
        "scope": "default",
        "folds": 1,
        "forgotten": 1,
        "size": len(ALPHA),
    }
    assert 0 < one["stored"] < one["size"]
    assert one["tokens_saved"] == -(-len(ALPHA) // 4) - 6
    *scopes, whole = ctxf("stats", "--json", "--all-scopes").objects
    assert [scope["scope"] for scope in scopes] == ["conversation 7aa622a5", "default"]
    assert (whole["bodies"], whole["size"], whole["size_in_scopes"]) == (1, len(ALPHA), 2 * len(ALPHA))
    text = ctxf("stats", "--all-scopes").out
    assert b"c-000" not in text
    assert b"deduplication 2.0 x" in text
    assert b"#" not in text  # bars are for terminals
    assert b"1 forgotten" in ctxf("stats").out
    assert ctxf("stats", "--scope", "unused", "--json").objects[0]["folds"] == 0
    assert ctxf("stats", "--scope", "unused").status == 0


def test_list_shows_no_control_characters(ctxf: Ctxf, ids: list[str]) -> None:
    lines = ctxf("list").out.decode().splitlines()
    assert [line.split()[0] for line in lines] == ids
    assert lines[1].endswith("b\u00e9ta\\u202e")
    assert [one["id"] for one in ctxf("list", "--json").objects] == ids


# verify


def test_verify(ctxf: Ctxf, ids: list[str], path: Path) -> None:
    for options in ([], ["--deep"]):
        done = ctxf("verify", *options)
        assert (done.status, done.out) == (0, b"")
        assert "2 bodies checked, nothing is damaged" in done.err
    assert ctxf("verify", "-q").err == ""
    assert ctxf("verify", "--json", "--deep").objects == [{"bodies": 2, "damaged": 0, "deep": True}]
    with Archive.open(path) as archive:
        (elsewhere,) = put(archive, "elsewhere", b"elsewhere" * 10)
    break_bodies(path, "key > 1")
    done = ctxf("verify")
    assert (done.status, done.out.split(b":")[0]) == (65, ids[1].encode())
    assert len(done.out.splitlines()) == 1
    assert "2 faults, 1 of them in other scopes" in done.err
    done = ctxf("verify", "--all-scopes")
    assert f"{elsewhere} (scope elsewhere): " in done.out.decode()
    *damaged, summary = ctxf("verify", "--json", "--all-scopes").objects
    assert [one["id"] for one in damaged] == [ids[1], elsewhere]
    assert (summary["damaged"], summary["bodies"]) == (2, 3)


# forget


def test_forget_is_a_dry_run_without_yes(ctxf: Ctxf, ids: list[str]) -> None:
    done = ctxf("forget", "--id", ids[0])
    assert (done.status, done.out.split()[0]) == (0, ids[0].encode())
    assert "nothing was removed without --yes" in done.err
    assert [line.split()[0].decode() for line in ctxf("forget", "--whole-scope").out.splitlines()] == ids
    assert len(ctxf("list").out.splitlines()) == 2


def test_forget(ctxf: Ctxf, ids: list[str]) -> None:
    done = ctxf("forget", "--id", ids[0], "--yes", "--json")
    assert done.objects == [{"forgotten": True, "ids": [ids[0]], "size": len(ALPHA)}]
    assert "1 fold, 800 B forgotten" in done.err
    done = ctxf("read", "--id", ids[0])
    assert (done.status, done.out) == (1, b"")
    assert "forgotten on " in done.err
    assert ctxf("forget", "--id", ids[1], "--id", ids[0], "--yes").status == 1
    assert ctxf("read", "--id", ids[1], "--restore").out == BETA
    assert ctxf("forget", "--whole-scope", "--yes").status == 0
    assert ctxf("list").out == b""


def test_forget_wants_to_know_what(ctxf: Ctxf, ids: list[str]) -> None:
    for arguments in (["--yes"], ["--id", ids[0], "--whole-scope", "--yes"]):
        done = ctxf("forget", *arguments)
        assert (done.status, done.out) == (2, b"")
    assert len(ctxf("list").out.splitlines()) == 2


# backup, export, import


def test_backup(ctxf: Ctxf, ids: list[str], path: Path) -> None:
    done = ctxf("backup", "backup.db", "--json")
    (fields,) = done.objects
    assert fields == {"path": "backup.db", "size": (path.parent / "backup.db").stat().st_size}
    assert "written" in done.err
    assert ctxf("--archive", "backup.db", "read", "--id", ids[0], "--restore").out == ALPHA
    # Last, since an OSError may be stdout's, and run() gives up this process's stdout over it.
    again = ctxf("backup", "backup.db")
    assert (again.status, again.out) == (74, b"")
    assert "not overwritten" in again.err
    assert ctxf("backup", "none/backup.db").status == 74


def test_export_and_import(ctxf: Ctxf, ids: list[str]) -> None:
    done = ctxf("export", "p.zip", "--json")
    assert done.objects == [{"path": "p.zip", "scope": "default", "folds": 2, "size": len(ALPHA + BETA)}]
    assert ctxf("export", "one.zip", "--id", "[[cf:v2:" + ids[1] + "]]").status == 0
    done = ctxf("--archive", "new.db", "import", "p.zip", "--scope", "mine", "--json")
    assert done.objects == [{"scope": "mine", "folds": 2, "new": 2, "size": len(ALPHA + BETA)}]
    assert ctxf("--archive", "new.db", "import", "--keep-scope", "one.zip").status == 0
    assert ctxf("--archive", "new.db", "read", "--id", ids[1], "--restore").out == BETA
    assert ctxf("import", "--keep-scope", "--scope", "s", "p.zip").status == 2
    assert ctxf("export", "p.zip").status == 74
    assert ctxf("import", "none.zip").status == 74


def test_import_refuses_what_is_no_package(ctxf: Ctxf, path: Path) -> None:
    (path.parent / "p.zip").write_bytes(b"PK no")
    done = ctxf("import", "p.zip")
    assert (done.status, done.out) == (65, b"")
    assert "nothing was imported" in done.err
    assert not path.exists()


def test_a_scope_without_folds_is_not_exported(cli: Cli) -> None:
    """After a mistyped scope an empty package would look like a copy, and `ctxf forget` might follow."""
    cli.run("fold", "--scope", "run-7", stdin=NOTES)
    ran = cli.run("export", "--scope", "run-8", "run.zip")
    assert ran == (b"", b"ctxf: scope run-8 holds nothing in this archive; nothing was exported\n", 1)
    assert cli.files() == set()


@pytest.mark.parametrize("command", ["backup", "export"])
def test_a_target_that_cannot_be_made_is_named(cli: Cli, command: str) -> None:
    cli.run("fold", stdin=NOTES)
    ran = cli.run(command, "no/dir/x")
    assert ran == (b"", b"ctxf: no/dir/x: No such file or directory\n", 74)


def test_a_schema_that_is_no_text_keeps_the_text(cli: Cli) -> None:
    cli.run("fold", stdin=NOTES)
    data = bytearray(cli.archive.read_bytes())
    data[data.index(b"folds_by_body") + 3] = 0xE0
    data[data.index(b"CREATE TABLE folds") + 5] = 0xE0
    cli.archive.write_bytes(data)
    other = NOTES.replace(b"worker", b"another")
    ran = cli.run("fold", stdin=other)
    assert (ran.stdout, ran.status) == (other, 75)
    assert b"is damaged" in ran.stderr
    assert cli.run("verify").status == 65


def test_pages_out_of_order_do_not_keep_verify_for_ever(cli: Cli) -> None:
    texts = b"".join(NOTES.replace(b"worker", b"w%d" % number) for number in range(60))
    cli.run("fold", stdin=texts)
    with contextlib.closing(sqlite3.connect(cli.archive, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        # The tree of one table read as that of another: its keys are in no order that was promised.
        roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_schema WHERE type = 'table'"))
        connection.execute("UPDATE sqlite_schema SET rootpage = ? WHERE name = 'folds'", (roots["bodies"],))
    assert cli.run("verify").status == 65


@pytest.mark.parametrize(
    ("damage", "command", "status"),
    [
        ("UPDATE folds SET size = 9223372036854775807", ("read", "--restore", "--id", "ID"), 65),
        ("UPDATE folds SET size = 4611686018427387904", ("verify", "--deep"), 65),
        ("UPDATE bodies SET size = 9223372036854775807", ("verify", "--deep"), 65),
        ("UPDATE scopes SET size = 'abc'", ("stats",), 0),
        ("UPDATE scopes SET size = 'abc'", ("forget", "--id", "ID", "--yes"), 0),
    ],
)
def test_damaged_numbers(cli: Cli, damage: str, command: tuple[str, ...], status: int) -> None:
    cli.run("fold", stdin=NOTES)
    with contextlib.closing(sqlite3.connect(cli.archive)) as connection, connection:
        connection.execute(damage)
    ran = cli.run(*(id_of(BODY) if word == "ID" else word for word in command))
    assert ran.status == status
    assert b"internal error" not in ran.stderr


@pytest.mark.parametrize("command", ["backup", "export"])
def test_a_copy_that_is_stopped_leaves_nothing(cli: Cli, command: str) -> None:
    blocks = b"".join(NOTES.replace(b"worker", os.urandom(2000).hex().encode()) for _ in range(40))
    cli.run("fold", stdin=blocks)
    for delay in (0.2, 0.3, 0.4, 0.5):
        process = cli.start(command, "copy")
        time.sleep(delay)
        process.terminate()
        process.communicate()
        assert {name for name in cli.files() if name != "copy"} == set()
        (cli.cwd / "copy").unlink(missing_ok=True)


def test_two_leading_slashes(cli: Cli) -> None:
    path = f"/{cli.root}/second.db"
    assert path.startswith("//")
    ran = cli.run("fold", "--archive", path, stdin=NOTES)
    assert (ran.stdout, ran.status) == (FOLDED, 0)
    assert (cli.root / "second.db").stat().st_size > 0


def test_a_pattern_that_python_warns_of(cli: Cli) -> None:
    cli.run("fold", stdin=NOTES)
    assert cli.run("grep", "[[x]") == (b"", b"", 1)


def test_a_manifest_of_nothings_is_refused_before_it_is_parsed(cli: Cli) -> None:
    manifest = b'{"format":"ctxf-package","version":1,"scope":"s","folds":[' + b"{}," * 1_000_000 + b"{}]}"
    with zipfile.ZipFile(cli.cwd / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("manifest.json", manifest)
    ran = cli.run("import", "bomb.zip")
    assert ran.status == 65
    assert b"lists no folds" in ran.stderr
