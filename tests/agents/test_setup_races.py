"""`ctxf setup` at the same time as others: many set-ups, and a client that writes its own configuration."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ctxf.agents.setup.clients import CLIENT_NAMES, Program, client_edits
from ctxf.agents.setup.install import apply, plan_install
from ctxf.agents.setup.journal import SetupError
from tests.agents.test_setup import FILES, fill, home, ok, snapshot
from tests.kit.cli import TIMEOUT, Cli

# Started as ctxf, it first does what the client might do just then: it writes a key of its own.
CLIENT_WRITES = """#!{python}
import json, os, sys
path = {path!r}
text = open(path).read()
if '"mine"' not in text:
    with open(path + ".new", "w") as file:
        file.write(text.replace("{{", '{{"mine": 1, ', 1))
    os.replace(path + ".new", path)
if {works}:
    os.execv(sys.executable, [sys.executable, "-m", "ctxf", *sys.argv[1:]])
sys.exit(1)
"""


def at_once(cli: Cli, *commands: tuple[str, ...]) -> None:
    processes = [cli.start("setup", *command) for command in commands]
    for process in processes:
        stdout, stderr = process.communicate(timeout=TIMEOUT)
        assert (process.returncode, stderr) == (0, b"")
        assert stdout.startswith(b"Claude Code, ")


@pytest.mark.parametrize("is_new", [True, False])
def test_many_at_once(cli: Cli, is_new: bool) -> None:
    fill(home(cli), FILES["claude"][1:] if is_new else FILES["claude"])
    before = snapshot(home(cli))
    at_once(cli, *[("claude",)] * 8)
    after = snapshot(home(cli))
    assert b"ctxf" in after[".claude.json"][1]
    ok(cli.run("setup", "claude"))
    assert snapshot(home(cli)) == after
    ok(cli.run("setup", "claude", "--uninstall"))
    assert snapshot(home(cli)) == before
    assert not (home(cli) / ".local/share/ctxf/setup").exists()


def test_in_and_out_at_once(cli: Cli) -> None:
    fill(home(cli), FILES["claude"])
    before = snapshot(home(cli))
    at_once(cli, *[("claude",), ("claude", "--uninstall")] * 3)
    after = snapshot(home(cli))
    assert len({b"context_read" in data or b"ctxf" in data for _mode, data in after.values() if data}) == 1
    ok(cli.run("setup", "claude", "--uninstall"))
    assert snapshot(home(cli)) == before


@pytest.mark.parametrize("works", [True, False])
def test_a_client_writes_while_the_set_up_is_checked(cli: Cli, works: bool) -> None:
    fill(home(cli), FILES["claude"])
    before = snapshot(home(cli))
    path = home(cli) / ".claude.json"
    script = CLIENT_WRITES.format(python=sys.executable, path=str(path), works=works)
    ran = cli.run("setup", "claude", "--command", str(cli.write("ctxf", script.encode(), 0o755)))
    assert (ran.status == 0) == works
    if works:
        assert b'"mine"' in path.read_bytes()
        ok(cli.run("setup", "claude", "--uninstall"))
    else:
        assert b"could not be put back" not in ran.stderr
    after = snapshot(home(cli))
    mine = after.pop(".claude.json")[1]
    old = before.pop(".claude.json")[1]
    assert mine.replace(b'"mine": 1, ', b"") == old
    assert after == before


def test_a_client_writes_between_plan_and_apply(tmp_path: Path) -> None:
    fill(tmp_path, FILES["claude"])
    edits = client_edits(CLIENT_NAMES["claude"], Program("/opt/ctxf"), {}, tmp_path, None)
    plan = plan_install(edits, None)
    path = tmp_path / FILES["claude"][1]
    path.write_text(json.dumps({"mine": 1}))
    before = snapshot(tmp_path)
    with pytest.raises(SetupError, match="was written by somebody else meanwhile; try again"):
        apply(plan)
    assert snapshot(tmp_path) == before


def test_a_dry_run_waits_for_nobody(cli: Cli) -> None:
    locked = "import fcntl, os, sys\nfcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX)\n"
    locked += "print(flush=True)\nsys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", locked, str(home(cli))], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        holder.stdout.readline()
        ok(cli.run("setup", "claude", "--dry-run"))
        waiting = cli.start("setup", "claude", "--uninstall")
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(2)
        holder.stdin.close()
        _stdout, stderr = waiting.communicate(timeout=TIMEOUT)
        assert (waiting.returncode, stderr) == (0, b"")
