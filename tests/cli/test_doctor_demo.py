"""`ctxf doctor`, `ctxf demo` and `ctxf guide`: what they say, and that they leave nothing behind."""

import json
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from ctxf.cli.extras import extra_command
from tests.kit.cli import NOTES, SUMMARY, TIMEOUT, Cli

BARE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}


def everything(cli: Cli) -> set[Path]:
    return set(cli.root.rglob("*"))


def test_doctor_of_a_new_home(cli: Cli) -> None:
    before = everything(cli)
    ran = cli.run("doctor")
    assert all(line.startswith(b"ok  ") for line in ran.stdout.splitlines())
    assert b"not there yet; the first fold makes it" in ran.stdout
    assert (ran.stderr, ran.status) == (b"", 0)
    assert everything(cli) == before


def test_doctor_of_an_archive(cli: Cli) -> None:
    cli.run(stdin=NOTES)
    before = everything(cli)
    ran = cli.run("doctor", "--json")
    found = {one["name"]: one for one in map(json.loads, ran.stdout.splitlines())}
    assert all(one["ok"] for one in found.values())
    assert {"ctxf", "Python", "SQLite", "free disk", "size", "configuration"} < found.keys()
    assert found["archive"]["value"] == str(cli.archive)
    assert [found[name]["value"] for name in ("file mode", "schema", "journal")] == ["600", "1", "wal"]
    assert (ran.stderr, ran.status) == (b"", 0)
    assert everything(cli) == before


def test_doctor_of_the_extras(cli: Cli) -> None:
    found = {one["name"]: one for one in map(json.loads, cli.run("doctor", "--json").stdout.splitlines())}
    assert [found[extra]["value"] for extra in ("gateway", "mcp", "languages")] == ["installed"] * 3
    absent = ("uvicorn", "mcp", "tree_sitter_lua")
    cli.write("sitecustomize.py", f"import sys\nsys.modules |= dict.fromkeys({absent!r})\n".encode())
    ran = cli.run("doctor", env={"PYTHONPATH": str(cli.cwd)})
    assert b"ok  gateway        lacks uvicorn (run: %b)\n" % extra_command("gateway").encode() in ran.stdout
    assert b"ok  mcp            lacks mcp (run: %b)\n" % extra_command("mcp").encode() in ran.stdout
    assert b"ok  languages      lacks 1 of " in ran.stdout
    assert (ran.stderr, ran.status) == (b"", 0)


def widen(cli: Cli) -> None:
    cli.archive.chmod(0o644)


def overwrite(cli: Cli) -> None:
    cli.archive.write_bytes(b"garbage\n" * 1000)


def make_newer(cli: Cli) -> None:
    with sqlite3.connect(cli.archive) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def misconfigure(cli: Cli) -> None:
    cli.write(".context-folding.toml", b"version = 1\n[folding]\nenabled = 'no'\n")


def switch_off(cli: Cli) -> None:
    cli.write(".context-folding.toml", b"version = 1\n[folding]\nenabled = false\n")


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (widen, b"!!  file mode      644\n    -> run: chmod 600 "),
        (overwrite, b"!!  archive state  is not a ctxf archive\n    -> "),
        (make_newer, b"!!  writable       was written by a newer ctxf"),
        (misconfigure, b":3: enabled must be true or false"),
        (switch_off, b"!!  folding        switched off by the configuration\n    -> "),
    ],
)
def test_doctor_names_what_is_wrong_and_the_next_step(cli: Cli, spoil: object, found: bytes) -> None:
    cli.run(stdin=NOTES)
    assert callable(spoil)
    spoil(cli)
    ran = cli.run("doctor")
    assert found in ran.stdout
    assert ran.stdout.count(b"    -> ") == 1
    assert (ran.stderr, ran.status) == (b"", 1)


@pytest.mark.parametrize(
    "archive", ["/", ".", "/dev/null", "/proc/x/y", "n" * 300, "n" * 300 + "/a.db", "\x1b[31m"]
)
def test_doctor_of_strange_places(cli: Cli, archive: str) -> None:
    before = everything(cli)
    ran = cli.run("doctor", "--archive", archive)
    assert ran.stdout.startswith(b"ok  ctxf ")
    assert b"\x1b" not in ran.stdout
    assert ran.stderr == b""
    assert ran.status in (0, 1)
    assert everything(cli) == before


@pytest.mark.parametrize("env", [{}, BARE], ids=["UTF-8", "ASCII"])
def test_demo(cli: Cli, env: dict[str, str]) -> None:
    before = everything(cli)
    ran = cli.run("demo", env=env)
    assert b"3 blocks folded, 2 kept; " in ran.stdout
    assert b"\nEvery byte is back.\n" in ran.stdout
    assert (ran.stderr, ran.status) == (b"", 0)
    assert everything(cli) == before
    assert cli.run("demo") == ran


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_demo_stopped_by_a_signal_leaves_nothing(cli: Cli, number: signal.Signals) -> None:
    child = cli.start("demo")
    while child.poll() is None and not list(cli.root.glob("tmp/*/archive.db")):
        time.sleep(0.001)
    child.send_signal(number)
    _, said = child.communicate(timeout=TIMEOUT)
    assert said.strip() == b""
    assert child.returncode in (0, 128 + number)
    assert list((cli.root / "tmp").iterdir()) == []


def test_demo_does_not_need_what_the_user_has_set(cli: Cli) -> None:
    ran = cli.run("demo", "--archive", "/dev/null/x", "--scope", "other", env={"CTXF_ENABLED": "false"})
    assert ran.status == 0


@pytest.mark.parametrize("redirect", [">&-", ">/dev/full"])
@pytest.mark.parametrize("command", ["demo", "doctor", "guide"])
def test_output_that_cannot_be_written(cli: Cli, command: str, redirect: str) -> None:
    before = everything(cli)
    ran = cli.run(command, redirect=redirect)
    assert ran.stderr.startswith(b"ctxf: output: ")
    assert ran.status == 74
    assert everything(cli) == before


def test_guide(cli: Cli) -> None:
    ran = cli.run("guide", "--scope", "it's")
    assert b"ctxf read --scope 'it'\"'\"'s' --id ID --restore" in ran.stdout
    assert (ran.stderr, ran.status) == (b"", 0)
    assert cli.run("--min-savings", "0", stdin=ran.stdout)[::2] == (ran.stdout, 0)  # its example is quoted


def test_the_summary_is_one_line(cli: Cli) -> None:
    assert cli.run(stdin=NOTES).stderr == SUMMARY


def test_doctor_of_a_client(cli: Cli) -> None:
    ran = cli.run("doctor", "codex")
    assert b"    -> run: ctxf setup codex" in ran.stdout
    assert ran.status == 1
    program = cli.root / "bin" / "codex"  # found, never started
    program.parent.mkdir()
    program.write_bytes(b"")
    program.chmod(0o755)
    environ = {"PATH": f"{program.parent}:/usr/bin:/bin"}
    assert cli.run("setup", "codex", env=environ).status == 0
    ran = cli.run("doctor", "codex", env=environ)
    assert all(line.startswith(b"ok  ") for line in ran.stdout.splitlines())
    assert (ran.stderr, ran.status) == (b"", 0)
    (cli.root / "home/.codex/hooks.json").unlink()
    ran = cli.run("doctor", "codex", "--json", env=environ)
    assert [one["name"] for one in map(json.loads, ran.stdout.splitlines()) if not one["ok"]] == [
        "hooks.json"
    ]
