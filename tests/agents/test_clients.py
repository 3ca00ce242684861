"""The real clients, each in a home of its own with a fake key, against a provider on loopback.

Run with `-m clients`. The clients are looked for in the directory CTXF_TEST_CLIENTS and in the PATH
(`npm install --prefix DIR @anthropic-ai/claude-code @openai/codex @google/gemini-cli` makes
DIR/node_modules/.bin); the tests of a client that is not there are skipped.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.kit.cli import CTXF, TIMEOUT, id_of, log, marked
from tests.kit.mock_provider import Call, MockProvider, Request, Say, Step

pytestmark = pytest.mark.clients

BODY = log(300)
ID = id_of(BODY)
REFERENCE = f"[[cf:v2:{ID}]]"
SCOPE = re.compile(r"c-[0-9a-f]{32}")
# What there was before: comments, an order and keys of the user's own.
CLAUDE_SETTINGS = b"""{
    "theme" : "dark",
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}
}"""
CODEX_CONFIG = b"""# mine
model_reasoning_effort = 'low'   # kept

[mcp_servers.other]
command = 'false'
enabled = false
"""
GEMINI_SETTINGS = b"""{\r
\t// mine\r
\t"security": { "auth": { "selectedType": "gemini-api-key" } }, /* kept */\r
\t"ui": { "theme": "GitHub" }\r
}\r
"""


def find_client(name: str) -> str:
    """The client's executable; skips the test where there is none."""
    path = os.pathsep.join([os.environ.get("CTXF_TEST_CLIENTS", ""), os.environ["PATH"]])
    found = shutil.which(name, path=path)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


@dataclass(frozen=True)
class Home:
    """A user's home, with the archive, the project that the agent works in, and the installed ctxf."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "project"

    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "TMPDIR": str(self.root / "tmp"),
            "LANG": "C.UTF-8",
        }

    def ctxf(self, *args: str, stdin: bytes = b"") -> bytes:
        done = subprocess.run(
            [*CTXF, *args],
            input=stdin,
            capture_output=True,
            env=self.environment(),
            timeout=TIMEOUT,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def client(self, command: Sequence[str], environ: dict[str, str]) -> str:
        done = subprocess.run(
            command,
            cwd=self.project,
            env={**self.environment(), **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def archive_what_the_guidance_says(self, request: Request) -> str:
        """Fold the body into the scope that the session start named; the scope."""
        scope: str
        (scope,) = set(SCOPE.findall(request.text))
        self.ctxf("fold", "--scope", scope, stdin=marked(b"log", BODY))
        return scope


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    for folder in (made.home, made.project, tmp_path / "tmp"):
        folder.mkdir()
    return made


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def results(request: Request) -> str:
    """What came back from tools, as the model reads it."""
    return "\n".join(request.strings).replace("\r\n", "\n")


def assert_read_back(request: Request) -> None:
    assert BODY.decode() in results(request)
    assert "history, not instructions" in results(request)


def test_claude_code(home: Home) -> None:
    claude = find_client("claude")
    write(home.home / ".claude" / "settings.json", CLAUDE_SETTINGS)
    write(home.home / ".claude" / "CLAUDE.md", b"Be brief.")
    before = snapshot(home.home)
    home.ctxf("setup", "claude")
    target, edited, script = (home.project / name for name in ("a.txt", "b.txt", "c.txt"))
    edited.write_text("first\nsecond\n")
    scopes: list[str] = []

    def read(request: Request) -> Call:
        scopes.append(home.archive_what_the_guidance_says(request))
        return Call("mcp__ctxf__context_read", {"id": ID, "scope": scopes[0]})

    steps: list[Step] = [
        Call("Bash", {"command": "sleep 2", "description": "wait"}),
        read,
        Call("Write", {"file_path": str(target), "content": f"before\n{REFERENCE}\nafter\n"}),
        Call("Read", {"file_path": str(edited)}),
        Call("Edit", {"file_path": str(edited), "old_string": "second", "new_string": REFERENCE}),
        Call("Bash", {"command": f"cat > {script} <<'END'\n{REFERENCE}\nEND", "description": "write"}),
        Call("Write", {"file_path": str(target) + "x", "content": f"[[cf:v2:{'0' * 12}]]\n"}),
        Say("done"),
    ]
    with MockProvider(steps) as provider:
        tools = "mcp__ctxf__context_read,Write,Edit,Bash"
        home.client(
            [claude, "-p", "go", "--allowedTools", tools],
            {
                "ANTHROPIC_BASE_URL": provider.url,
                "ANTHROPIC_API_KEY": "sk-fake",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
            },
        )
    first, last = provider.requests[0], provider.requests[-1]
    # Claude Code waits 5 s for the server before the first request; a busy machine may need longer.
    offered = {name for request in provider.requests for name in request.tools}
    assert {"mcp__ctxf__context_read", "mcp__ctxf__context_grep", "mcp__ctxf__context_list"} <= offered
    assert "first write your conclusion" in first.text
    assert_read_back(provider.requests[2])
    assert target.read_bytes() == b"before\n" + BODY + b"after\n"
    assert edited.read_bytes() == b"first\n" + BODY
    assert script.read_bytes() == BODY
    assert "does not resolve" in results(last)
    assert not Path(f"{target}x").exists()
    home.ctxf("setup", "claude", "--uninstall")
    after = snapshot(home.home)
    assert {name: after[name] for name in before} == before
    assert "ctxf" not in json.loads(after[".claude.json"]).get("mcpServers", {})


def test_claude_code_takes_the_plugin(home: Home) -> None:
    claude = find_client("claude")
    folder = home.ctxf("setup", "claude", "--folder").decode().strip()
    home.client([claude, "plugin", "validate", folder], {})
    with MockProvider([Say("done")]) as provider:
        home.client(
            [claude, "-p", "go", "--plugin-dir", folder],
            {
                "ANTHROPIC_BASE_URL": provider.url,
                "ANTHROPIC_API_KEY": "sk-fake",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            },
        )
    (request,) = provider.requests
    assert SCOPE.search(request.text)
    assert any(name.endswith("context_read") for name in request.tools)


def codex_go(codex: str, provider: MockProvider) -> list[str]:
    options = {
        "model": "gpt-5.5",
        "model_provider": "mock",
        "model_providers.mock.name": "mock",
        "model_providers.mock.base_url": f"{provider.url}/v1",
        "model_providers.mock.env_key": "OPENAI_API_KEY",
        "model_providers.mock.wire_api": "responses",
    }
    given = [word for name, value in options.items() for word in ("-c", f'{name}="{value}"')]
    trusting = ("-s", "danger-full-access", "--dangerously-bypass-hook-trust")
    return [codex, "exec", "--skip-git-repo-check", *trusting, *given, "go"]


def test_codex_takes_the_plugin(home: Home) -> None:
    codex = find_client("codex")
    folder = home.ctxf("setup", "codex", "--folder").decode().strip()
    home.client([codex, "plugin", "marketplace", "add", folder], {})
    home.client([codex, "plugin", "add", "ctxf@ctxf"], {})
    steps: list[Step] = [
        Call("exec_command", {"cmd": "sleep 4"}),  # the server starts beside the first request
        lambda request: Call(
            "mcp__ctxf/context_read",
            {"id": ID, "scope": home.archive_what_the_guidance_says(request), "lines": "1:100"},
        ),
        Call("exec_command", {"cmd": f"cat > b.txt <<'END'\n{REFERENCE}\nEND"}),
        Say("done"),
    ]
    with MockProvider(steps) as provider:
        home.client(codex_go(codex, provider), {"OPENAI_API_KEY": "sk-fake"})
    assert "first write your conclusion" in provider.requests[0].text
    assert "folded-text" in provider.requests[0].text  # the skill
    assert "000000 worker: nothing" in results(provider.requests[2])
    assert (home.project / "b.txt").read_bytes() == BODY
    home.client([codex, "plugin", "remove", "ctxf@ctxf"], {})
    home.client([codex, "plugin", "marketplace", "remove", "ctxf"], {})
    assert "ctxf" not in (home.home / ".codex" / "config.toml").read_text()


def test_codex(home: Home) -> None:
    codex = find_client("codex")
    write(home.home / ".codex" / "config.toml", CODEX_CONFIG)
    before = snapshot(home.home)
    home.ctxf("setup", "codex")
    installed = snapshot(home.home)
    scopes: list[str] = []

    def read(request: Request) -> Call:
        scopes.append(home.archive_what_the_guidance_says(request))
        return Call("mcp__ctxf/context_read", {"id": ID, "scope": scopes[0], "lines": "1:100"})

    patch = f"*** Begin Patch\n*** Add File: a.txt\n+before\n+{REFERENCE}\n+after\n*** End Patch\n"
    steps: list[Step] = [
        Call("exec_command", {"cmd": "sleep 4"}),  # the server starts beside the first request
        read,
        Call("apply_patch", patch),
        Call("exec_command", {"cmd": f"cat > b.txt <<'END'\n{REFERENCE}\nEND"}),
        Call("apply_patch", patch.replace("a.txt", "c.txt").replace(ID, "0" * 12)),
        Say("done"),
    ]
    with MockProvider(steps) as provider:
        home.client(codex_go(codex, provider), {"OPENAI_API_KEY": "sk-fake"})
    assert "first write your conclusion" in provider.requests[0].text
    assert "context_read" in provider.requests[1].text
    assert "000000 worker: nothing" in results(provider.requests[2])
    assert (home.project / "a.txt").read_bytes() == b"before\n" + BODY + b"after\n"
    assert (home.project / "b.txt").read_bytes() == BODY
    assert "does not resolve" in results(provider.requests[-1])
    assert not (home.project / "c.txt").exists()
    after = snapshot(home.home)
    assert {name: after[name] for name in installed if ".codex" in name} == {
        name: data for name, data in installed.items() if ".codex" in name
    }
    home.ctxf("setup", "codex", "--uninstall")
    after = snapshot(home.home)
    assert {name: after[name] for name in before} == before
    assert not (home.home / ".codex" / "hooks.json").exists()


def test_gemini_cli(home: Home) -> None:
    gemini = find_client("gemini")
    write(home.home / ".gemini" / "settings.json", GEMINI_SETTINGS)
    write(home.home / ".gemini" / "GEMINI.md", b"Be brief.\n")
    before = snapshot(home.home)
    home.ctxf("setup", "gemini")
    target, edited, script = (home.project / name for name in ("a.txt", "b.txt", "c.txt"))
    edited.write_text("first\nsecond\n")
    scopes: list[str] = []

    def read(request: Request) -> Call:
        scopes.append(home.archive_what_the_guidance_says(request))
        return Call("mcp_ctxf_context_read", {"id": ID, "scope": scopes[0]})

    steps: list[Step] = [
        read,
        Call("write_file", {"file_path": str(target), "content": f"before\n{REFERENCE}\nafter\n"}),
        Call(
            "replace",
            {
                "file_path": str(edited),
                "old_string": "second\n",
                "new_string": f"{REFERENCE}\n",
                "instruction": "put it in",
            },
        ),
        Call("run_shell_command", {"command": f"cat > {script} <<'END'\n{REFERENCE}\nEND"}),
        Call("write_file", {"file_path": str(target) + "x", "content": f"[[cf:v2:{'0' * 12}]]\n"}),
        Say("done"),
    ]
    with MockProvider(steps) as provider:
        home.client(
            [gemini, "--approval-mode", "yolo", "-m", "gemini-2.5-pro", "-p", "go"],
            {
                "GEMINI_API_KEY": "fake",
                "GOOGLE_GEMINI_BASE_URL": provider.url,
                "GEMINI_CLI_TRUST_WORKSPACE": "true",
            },
        )
    first = provider.requests[0]
    assert {"mcp_ctxf_context_read", "mcp_ctxf_context_grep", "mcp_ctxf_context_list"} <= {*first.tools}
    assert "first write your conclusion" in first.text
    assert_read_back(provider.requests[1])
    assert target.read_bytes() == b"before\n" + BODY + b"after\n"
    assert edited.read_bytes() == b"first\n" + BODY
    assert script.read_bytes() == BODY
    assert "does not resolve" in results(provider.requests[-1])
    assert not Path(f"{target}x").exists()
    home.ctxf("setup", "gemini", "--uninstall")
    after = snapshot(home.home)
    assert {name: after[name] for name in before} == before


def test_gemini_cli_takes_the_extension(home: Home) -> None:
    gemini = find_client("gemini")
    folder = home.ctxf("setup", "gemini", "--folder").decode().strip()
    home.client([gemini, "extensions", "validate", folder], {"GEMINI_CLI_TRUST_WORKSPACE": "true"})
