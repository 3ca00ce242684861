"""`ctxf setup`: what it writes, that it can be repeated, and that it takes back every byte."""

import json
import os
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ctxf.cli.extras import extra_command
from tests.kit.cli import CTXF, TIMEOUT, Cli, Ran

WORDS = ("claude", "codex", "gemini")
PROGRAM = str(Path(sys.executable).with_name("ctxf"))
FILES = {
    "claude": (".claude.json", ".claude/settings.json", ".claude/CLAUDE.md"),
    "codex": (".codex/config.toml", ".codex/hooks.json", ".codex/AGENTS.md"),
    "gemini": (".gemini/settings.json", ".gemini/GEMINI.md"),
}
PROJECT_FILES = {
    "claude": (".mcp.json", ".claude/settings.local.json", "CLAUDE.md"),
    "codex": (".codex/config.toml", ".codex/hooks.json", "AGENTS.md"),
    "gemini": (".gemini/settings.json", "GEMINI.md"),
}
OLD: dict[str, bytes] = {
    ".json": b'{ // mine\n   "theme": "dark",\n   "mcpServers": {"x": {"command": "y"}},\n   "hooks": {}\n}',
    ".toml": b"# mine\nmodel = 'x'\r\n\n[mcp_servers.x]   # kept\ncommand = \"y\"\n",
    ".md": b"Be brief.",
}


def home(cli: Cli) -> Path:
    return cli.root / "home"


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """All files but ctxf's own data, and all directories, with their modes."""
    return {
        str(path.relative_to(folder)): (
            stat.S_IMODE(path.stat().st_mode),
            path.read_bytes() if path.is_file() else b"",
        )
        for path in folder.rglob("*")
        if ".local" not in path.parts
    }


def ok(ran: Ran) -> bytes:
    assert (ran.status, ran.stderr) == (0, b"")
    return ran.stdout


def fill(folder: Path, names: tuple[str, ...]) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(OLD[path.suffix])
        path.chmod(0o640)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("is_new", [True, False])
def test_in_and_out(cli: Cli, word: str, is_new: bool) -> None:
    if not is_new:
        fill(home(cli), FILES[word])
    before = snapshot(home(cli))
    assert b"nothing is changed yet" in ok(cli.run("setup", word, "--dry-run"))
    assert snapshot(home(cli)) == before
    assert b"checked: the server and the hook answer" in ok(cli.run("setup", word))
    installed = snapshot(home(cli))
    for name in FILES[word]:
        mode, data = installed[name]
        assert mode == (0o600 if is_new else 0o640)
        assert is_new or all(
            word in data for word in (b"dark", b"mine", b"kept", b"brief") if word in OLD[Path(name).suffix]
        )
    assert b"already so" in ok(cli.run("setup", word))
    assert snapshot(home(cli)) == installed
    ok(cli.run("setup", word, "--uninstall", "--dry-run"))
    assert snapshot(home(cli)) == installed
    ok(cli.run("setup", word, "--uninstall"))
    assert snapshot(home(cli)) == before
    assert not (home(cli) / ".local/share/ctxf/setup").exists()


def test_what_clients_find(cli: Cli) -> None:
    for word in WORDS:
        ok(cli.run("setup", word))
    claude = json.loads((home(cli) / ".claude.json").read_text())["mcpServers"]["ctxf"]
    assert claude == {"type": "stdio", "command": PROGRAM, "args": ["mcp"], "alwaysLoad": True}
    hooks = json.loads((home(cli) / ".claude/settings.json").read_text())["hooks"]
    assert hooks.keys() == {"SessionStart", "SubagentStart", "PreToolUse"}
    assert hooks["PreToolUse"][0]["matcher"] == "Write|Edit|MultiEdit|NotebookEdit|Bash"
    codex = tomllib.loads((home(cli) / ".codex/config.toml").read_text())
    assert codex == {"mcp_servers": {"ctxf": {"command": PROGRAM, "args": ["mcp"]}}}
    gemini = json.loads((home(cli) / ".gemini/settings.json").read_text())
    assert gemini["hooks"]["BeforeTool"][0]["hooks"][0]["timeout"] == 10_000
    written = "".join(path.read_text() for path in home(cli).rglob("*") if path.is_file())
    assert not any(word in written for word in ("permissions", "trust", "autoApprove", "allowedTools"))


@pytest.mark.parametrize("word", WORDS)
def test_for_a_project(cli: Cli, word: str) -> None:
    fill(cli.cwd, PROJECT_FILES[word][:1])
    before, user = snapshot(cli.cwd), snapshot(home(cli))
    ok(cli.run("setup", word, "--project", "."))
    assert all((cli.cwd / name).is_file() for name in PROJECT_FILES[word])
    assert snapshot(home(cli)) == user
    ok(cli.run("setup", word, "--uninstall"))  # the user's own set-up is another one
    assert snapshot(cli.cwd) != before
    ok(cli.run("setup", word, "--project", str(cli.cwd), "--uninstall"))
    assert snapshot(cli.cwd) == before


@pytest.mark.parametrize("word", WORDS)
def test_what_was_written_since_stays(cli: Cli, word: str) -> None:
    fill(home(cli), FILES[word][:1])
    ok(cli.run("setup", word))
    for name in FILES[word]:
        path = home(cli) / name
        text = path.read_bytes()
        if path.suffix == ".json":
            value = json.loads(b"{" + text.partition(b"// mine")[2] if b"// mine" in text else text)
            text = json.dumps({**value, "later": {"a": 1}}, indent=3).encode()
        else:
            text += b"# later\n"
        path.write_bytes(text)
    ok(cli.run("setup", word))  # once more, over what was changed
    ok(cli.run("setup", word, "--uninstall"))
    for name in FILES[word]:
        text = (home(cli) / name).read_bytes()
        assert b"later" in text
        assert b"ctxf" not in text
    first = (home(cli) / FILES[word][0]).read_bytes()
    assert b'"x"' in first or b"[mcp_servers.x]" in first


@pytest.mark.parametrize("word", WORDS)
def test_uninstalling_without_a_journal(cli: Cli, word: str) -> None:
    fill(home(cli), FILES[word])
    ok(cli.run("setup", word))
    (home(cli) / ".local/share/ctxf/setup" / f"{word}.json").unlink()
    ok(cli.run("setup", word, "--uninstall"))
    for name in FILES[word]:
        assert b"ctxf" not in (home(cli) / name).read_bytes()
    ok(cli.run("setup", word, "--uninstall"))


def test_a_moved_installation_is_entered_anew(cli: Cli) -> None:
    other = cli.root / "bin" / "ctxf"
    other.parent.mkdir()
    other.symlink_to(PROGRAM)
    before = snapshot(home(cli))
    ok(cli.run("setup", "claude", "--command", str(other)))
    ok(cli.run("setup", "claude"))
    text = (home(cli) / ".claude/settings.json").read_text()
    assert str(other) not in text
    assert text.count("SessionStart") == 1
    ok(cli.run("setup", "claude", "--uninstall"))
    assert snapshot(home(cli)) == before


def test_options_are_entered_too(cli: Cli) -> None:
    ok(cli.run("setup", "codex", "--archive", "a.db", "--scope", "team"))
    config = tomllib.loads((home(cli) / ".codex/config.toml").read_text())
    options = ["--archive", str(cli.cwd / "a.db"), "--scope", "team"]
    assert config["mcp_servers"]["ctxf"]["args"] == ["mcp", *options]
    hooks = json.loads((home(cli) / ".codex/hooks.json").read_text())
    (hook,) = hooks["hooks"]["SessionStart"][0]["hooks"]
    event = {"hook_event_name": "SessionStart", "session_id": "1"}
    ran = subprocess.run(
        hook["command"], shell=True, input=json.dumps(event).encode(), capture_output=True, check=True
    )
    assert b"--scope team --id" in ran.stdout


def links(cli: Cli) -> None:
    real = cli.root / "dotfiles" / "settings.json"
    real.parent.mkdir()
    real.write_bytes(OLD[".json"])
    (home(cli) / ".claude").mkdir()
    (home(cli) / ".claude" / "settings.json").symlink_to(real)


def test_a_link_is_followed_and_stays(cli: Cli) -> None:
    links(cli)
    ok(cli.run("setup", "claude"))
    assert (home(cli) / ".claude/settings.json").is_symlink()
    assert b"SessionStart" in (cli.root / "dotfiles/settings.json").read_bytes()
    ok(cli.run("setup", "claude", "--uninstall"))
    assert (cli.root / "dotfiles/settings.json").read_bytes() == OLD[".json"]
    assert (home(cli) / ".claude/settings.json").is_symlink()


BAD: list[tuple[str, bytes]] = [
    (".claude/settings.json", b"{"),
    (".claude/settings.json", b"\xff"),
    (".claude/settings.json", b"[]"),
    (".claude/settings.json", b'{"hooks": []}'),
    (".claude/settings.json", b'{"hooks": {"PreToolUse": {}}}'),
    (".claude.json", b'{"mcpServers": 1}'),
    (".claude.json", b"[" * 100_000),
]


@pytest.mark.parametrize(("name", "data"), BAD)
def test_a_file_that_cannot_be_edited(cli: Cli, name: str, data: bytes) -> None:
    path = home(cli) / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    before = snapshot(home(cli))
    ran = cli.run("setup", "claude")
    assert ran.status != 0
    assert b"Traceback" not in ran.stderr
    assert str(path).encode() in ran.stderr
    assert snapshot(home(cli)) == before


@pytest.mark.parametrize(
    "program", ["#!/bin/sh\nexit 3\n", "#!/bin/sh\necho no server\n", "#!/no/such/shell\n"]
)
@pytest.mark.parametrize("word", WORDS)
def test_all_is_taken_back_when_it_does_not_work(cli: Cli, program: str, word: str) -> None:
    fill(home(cli), FILES[word][:1])
    broken = cli.write("ctxf", program.encode(), 0o755)
    before = snapshot(home(cli))
    ran = cli.run("setup", word, "--command", str(broken))
    assert ran.status != 0
    assert b"Traceback" not in ran.stderr
    assert snapshot(home(cli)) == before
    assert not (home(cli) / ".local/share/ctxf/setup").exists()


def test_all_is_taken_back_when_a_file_cannot_be_written(cli: Cli) -> None:
    fill(home(cli), FILES["claude"])
    os.chmod(home(cli) / ".claude", 0o500)
    before = snapshot(home(cli))
    ran = cli.run("setup", "claude", unprivileged=True)
    assert ran.status != 0
    assert snapshot(home(cli)) == before


def test_an_end_half_way_can_be_undone(cli: Cli) -> None:
    fill(home(cli), FILES["claude"])
    before = snapshot(home(cli))
    hangs = cli.write("ctxf", b"#!/bin/sh\nsleep 60\n", 0o755)
    process = cli.start("setup", "claude", "--command", str(hangs))
    assert process.stdout is not None
    journal = home(cli) / ".local/share/ctxf/setup/claude.json"
    while b"ctxf setup: begin" not in (home(cli) / ".claude/CLAUDE.md").read_bytes():
        assert process.poll() is None
    process.kill()
    process.communicate(timeout=TIMEOUT)
    assert journal.exists()
    assert snapshot(home(cli)) != before
    ok(cli.run("setup", "claude", "--uninstall"))
    assert snapshot(home(cli)) == before


KILLED = """
import os, signal, sys
calls, last = 0, int(sys.argv[1])
def killing(call):
    def called(*args, **named):
        global calls
        calls += 1
        if calls == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **named)
    return called
os.replace, os.link = killing(os.replace), killing(os.link)
sys.argv = ["ctxf", *sys.argv[2:]]
from ctxf.__main__ import main
main()
"""


@pytest.mark.parametrize("call", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("is_new", [True, False])
def test_a_kill_leaves_no_copies(cli: Cli, call: int, is_new: bool) -> None:
    fill(home(cli), FILES["claude"][1:] if is_new else FILES["claude"])
    before = snapshot(home(cli))
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(call), "setup", "claude"],
        env=cli.environment(),
        cwd=cli.cwd,
        capture_output=True,
        check=False,
    )
    assert killed.returncode == -9
    left = list(home(cli).rglob(".ctxf-*"))
    assert left or call == 2  # then it is the new journal, under its next name
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o137 == 0 for path in left)
    ok(cli.run("setup", "claude", "--uninstall"))
    assert snapshot(home(cli)) == before
    assert not list(home(cli).rglob(".ctxf-*"))
    assert not (home(cli) / ".local/share/ctxf/setup").exists()


def test_what_a_kill_left_goes_with_the_next_set_up(cli: Cli) -> None:
    fill(home(cli), FILES["claude"])
    subprocess.run(
        [sys.executable, "-c", KILLED, "4", "setup", "claude"],
        env=cli.environment(),
        cwd=cli.cwd,
        capture_output=True,
        check=False,
    )
    assert list(home(cli).rglob(".ctxf-*"))
    ok(cli.run("setup", "claude"))
    assert not list(home(cli).rglob(".ctxf-*"))


def test_a_file_of_a_byte_order_mark_alone_is_empty(cli: Cli) -> None:
    for name in (".claude/settings.json", ".claude.json"):
        path = home(cli) / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"\xef\xbb\xbf")
    before = snapshot(home(cli))
    ok(cli.run("setup", "claude"))
    assert json.loads(path.read_text("utf-8-sig"))["mcpServers"]
    assert path.read_bytes().startswith(b"\xef\xbb\xbf{")
    ok(cli.run("setup", "claude", "--uninstall"))
    assert snapshot(home(cli)) == before


def test_a_temporary_installation_is_refused(cli: Cli) -> None:
    ran = cli.run("setup", "claude", env={"TMPDIR": str(Path(sys.prefix).parent)})
    assert ran.status != 0
    assert b"temporary place" in ran.stderr
    assert snapshot(home(cli)) == {}


def test_a_dry_run_of_a_temporary_installation_shows_the_plan(cli: Cli) -> None:
    ran = cli.run("setup", "claude", "--dry-run", env={"TMPDIR": str(Path(sys.prefix).parent)})
    assert ran.stdout == cli.run("setup", "claude", "--dry-run", "--command", PROGRAM).stdout
    assert ran.stdout.startswith(b"Claude Code, adding (nothing is changed yet):\n  ~/.claude.json: ")
    assert ran.stderr.startswith(b"ctxf: warning: without --dry-run this would stop: ")
    assert b"a virtual environment outside temporary directories" in ran.stderr
    assert ran.status == 0
    assert snapshot(home(cli)) == {}


@pytest.mark.parametrize("command", [("setup", "codex"), ("mcp",)])
def test_without_the_extra(cli: Cli, command: tuple[str, ...]) -> None:
    cli.write("sitecustomize.py", b"import sys\nsys.modules['mcp'] = None\n")
    ran = cli.run(*command, env={"PYTHONPATH": str(cli.cwd)})
    assert ran.stderr.startswith(b"ctxf: the MCP server, which agents read back with, needs the package mcp")
    assert ran.stderr.endswith(f", which is not installed (run: {extra_command('mcp')})\n".encode())
    assert (ran.stdout, ran.status) == (b"", 78)


def test_a_journal_that_is_damaged(cli: Cli) -> None:
    ok(cli.run("setup", "codex"))
    journal = home(cli) / ".local/share/ctxf/setup/codex.json"
    assert stat.S_IMODE(journal.stat().st_mode) == 0o600
    journal.write_bytes(b"{")
    for option in ((), ("--uninstall",)):
        ran = cli.run("setup", "codex", *option)
        assert ran.status != 0
        assert b"remove it" in ran.stderr


@pytest.mark.parametrize("word", WORDS)
def test_the_folder_for_a_client(cli: Cli, word: str) -> None:
    folder = Path(ok(cli.run("setup", word, "--folder")).decode().rstrip())
    manifests: dict[str, Any] = {path.name: json.loads(path.read_text()) for path in folder.rglob("*.json")}
    import ctxf  # noqa: PLC0415

    versions = {value["version"] for value in manifests.values() if "version" in value}
    assert versions == {ctxf.__version__}
    ok(cli.run("setup", word))
    entered = json.loads(
        (home(cli) / next(n for n in FILES[word] if "settings" in n or "hooks" in n)).read_text()
    )
    shipped = json.dumps(manifests["hooks.json"]["hooks"])
    assert json.loads(shipped) == json.loads(json.dumps(entered["hooks"]).replace(PROGRAM, "ctxf"))


@pytest.mark.parametrize("args", [(), ("no-such-client",), ("claude", "--project", "/no/such/folder")])
def test_wrong_usage(cli: Cli, args: tuple[str, ...]) -> None:
    ran = cli.run("setup", *args)
    assert (ran.stdout, ran.status) == (b"", 2)


def test_no_home(cli: Cli) -> None:
    done = subprocess.run(
        [*CTXF, "setup", "claude"],
        capture_output=True,
        env={"PATH": os.environ["PATH"], "HOME": ""},
        check=False,
    )
    assert b"Traceback" not in done.stderr
