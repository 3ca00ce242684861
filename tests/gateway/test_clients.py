"""The real clients through `ctxf run`: three turns, a gateway of its own for each, a provider on loopback.

Run with `-m clients`; see tests/agents/test_clients.py for where the clients are looked for.
"""

import itertools
import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from tests.agents.test_clients import Home, find_client, write
from tests.kit.cli import CTXF, TIMEOUT, id_of, log, marked
from tests.kit.mock_provider import Call, MockProvider, Request, Say, Step

pytestmark = pytest.mark.clients

BODY: Final = log(100)
BLOCK: Final = f"The conclusion.\n{marked(b'log', BODY).decode()}The end."
FOLDED: Final = BLOCK.replace(BODY.decode(), f"[[cf:v2:{id_of(BODY)}]]\n")
SCOPE: Final = re.compile(r"c-[0-9a-f]{32}")
GUIDANCE: Final = "Folding finished material"
COMMAND: Final = re.compile(r"    (\S.* --id) ID --restore")
KEYS: Final = {
    "ANTHROPIC_API_KEY": "sk-fake",
    "OPENAI_API_KEY": "sk-fake",
    "GEMINI_API_KEY": "fake",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "GEMINI_CLI_TRUST_WORKSPACE": "true",
}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path)
    for folder in (made.home, made.project, tmp_path / "tmp"):
        folder.mkdir()
    return made


def run(home: Home, provider: MockProvider, command: Sequence[str]) -> str:
    """One run of a client; what `ctxf run` said at its end."""
    urls = {
        "ANTHROPIC_BASE_URL": provider.url,
        "OPENAI_BASE_URL": f"{provider.url}/v1",
        "GOOGLE_GEMINI_BASE_URL": provider.url,
    }
    done = subprocess.run(
        [*CTXF, "run", *command],
        cwd=home.project,
        env={**home.environment(), **KEYS, **urls},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr.splitlines()[-1]


def the_scope(request: Request) -> str:
    """The one scope that a request names, in whatever words."""
    scope: str
    (scope,) = set(SCOPE.findall(request.text))
    return scope


def read_command(request: Request) -> str:
    """What the guidance in a request says to type, with the body's id."""
    (command,) = {found[1] for text in request.strings for found in COMMAND.finditer(text)}
    return f"{command} {id_of(BODY)} --restore"


def history(request: Request) -> list[str]:
    """The items of the conversation, but for what clients mark anew in each request."""
    body = request.body
    items: list[Any] = body.get("messages") or body.get("input") or body.get("contents") or []
    return [json.dumps(_plain(item), sort_keys=True) for item in items]


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    plain = {key: _plain(one) for key, one in value.items() if key != "cache_control"}
    if isinstance(plain.get("content"), str):  # Claude Code changes between the two as its breakpoint moves
        plain["content"] = [{"type": "text", "text": plain["content"]}]
    return plain


def assert_folded_once(requests: Sequence[Request], guides: int = 1) -> None:
    """In the first request of the block it is whole, in the later ones folded; all else only grows."""
    holding = [request for request in requests if "The conclusion." in request.text]
    assert [BLOCK in request.strings for request in holding] == [True] + [False] * (len(holding) - 1)
    assert all(FOLDED in request.strings for request in holding[1:])
    assert len(holding) > 2
    folded = [[_fold(item) for item in history(request)] for request in requests]
    for before, after in itertools.pairwise(folded):
        assert after[: len(before)] == before
    guided = {text for request in requests for text in request.strings if GUIDANCE in text}
    assert len({text[text.index(GUIDANCE) :] for text in guided}) == guides
    assert all(request.text.count(GUIDANCE) == guides for request in requests)
    assert len({the_scope(request) for request in requests}) == 1


def _fold(item: str) -> str:
    return item.replace(json.dumps(BLOCK)[1:-1], json.dumps(FOLDED)[1:-1])


def transcripts(folder: Path) -> str:
    return "\n".join(path.read_text(errors="replace") for path in folder.rglob("*.jsonl"))


def test_claude_code(home: Home) -> None:
    claude = find_client("claude")
    steps: list[Step] = [
        Say(BLOCK),
        Say("Nothing more."),
        lambda request: Call("Bash", {"command": read_command(request), "description": "read"}),
        Say("done"),
    ]
    with MockProvider(steps) as provider:
        said = [
            run(home, provider, [claude, "-p", "one"]),
            run(home, provider, [claude, "-p", "--continue", "two"]),
            run(home, provider, [claude, "-p", "three", "--continue", "--allowedTools", "Bash"]),
        ]
    assert_folded_once(provider.requests)
    assert BODY.decode().rstrip("\n") in "\n".join(provider.requests[-1].strings)
    assert json.dumps(BODY.decode())[1:-1] in transcripts(home.home / ".claude")
    assert "[[cf:v2:" not in transcripts(home.home / ".claude").replace("[[cf:v2:ID]]", "")
    assert re.match(r"ctxf: \d+ requests?, 1 block folded, about [1-9]", said[-1])


@pytest.mark.parametrize("model", ["gpt-5.5", "gpt-6.2-sol"])
def test_codex(home: Home, model: str) -> None:
    """With a model that gets tools the plain way, and one that calls them by writing code."""
    codex = find_client("codex")

    def read(request: Request) -> Call:
        arguments = {"cmd": read_command(request)}
        if model == "gpt-5.5":
            return Call("exec_command", arguments)
        return Call("functions/exec", f"text((await tools.exec_command({json.dumps(arguments)})).output)")

    options = ["--skip-git-repo-check", "-m", model, "-c", 'sandbox_mode="danger-full-access"']
    steps: list[Step] = [Say(BLOCK), Say("Nothing more."), read, Say("done")]
    with MockProvider(steps) as provider:
        run(home, provider, [codex, "exec", *options, "one"])
        run(home, provider, [codex, "exec", *options, "resume", "--last", "two"])
        said = run(home, provider, [codex, "exec", *options, "resume", "--last", "three"])
    assert_folded_once(provider.requests)
    (came_back,) = [text for text in provider.requests[-1].strings if BODY.decode()[:40] in text]
    assert BODY.decode() in came_back.replace("\r\n", "\n")
    assert json.dumps(BODY.decode())[1:-1] in transcripts(home.home / ".codex")
    assert re.match(r"ctxf: \d+ requests?, 1 block folded, about [1-9]", said)


GEMINI_KEY: Final = b'{"security": {"auth": {"selectedType": "gemini-api-key"}}}'
"""What its dialog writes when a key is chosen; without that it takes no address from its environment."""


def run_gemini(home: Home, provider: MockProvider, prompts: Sequence[str]) -> None:
    """A conversation in one process, as an editor has it.

    In one process since a session that is resumed has no markers: Gemini CLI writes down no HTML comments.
    """
    command = [
        *CTXF,
        "run",
        find_client("gemini"),
        "--acp",
        "--approval-mode",
        "yolo",
        "-m",
        "gemini-2.5-pro",
    ]
    environ = {**home.environment(), **KEYS, "GOOGLE_GEMINI_BASE_URL": provider.url}
    with (
        subprocess.Popen(
            command,
            cwd=home.project,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        watchdog = threading.Timer(TIMEOUT, process.terminate)
        watchdog.start()
        ask(process, "initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        session = ask(process, "session/new", {"cwd": str(home.project), "mcpServers": []})["sessionId"]
        for prompt in prompts:
            said = [{"type": "text", "text": prompt}]
            ask(process, "session/prompt", {"sessionId": session, "prompt": said})
        watchdog.cancel()
        process.terminate()  # as editors end it; the signal is passed on
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:  # in this mode it may not heed the signal
            os.killpg(process.pid, signal.SIGKILL)


def ask(process: subprocess.Popen[str], method: str, params: dict[str, Any]) -> dict[str, Any]:
    """One call of the Agent Client Protocol: JSON-RPC, a line each way, notifications in between."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(
        json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}) + "\n"
    )
    process.stdin.flush()
    for line in process.stdout:
        message = json.loads(line)
        if message.get("id") == method:
            found: dict[str, Any] = message["result"]
            return found
    raise AssertionError(f"no answer to {method}")


def test_gemini_cli(home: Home) -> None:
    find_client("gemini")
    write(home.home / ".gemini" / "settings.json", GEMINI_KEY)
    steps: list[Step] = [
        Say(BLOCK),
        Say("Nothing more."),
        lambda request: Call("run_shell_command", {"command": read_command(request)}),
        Say("done"),
    ]
    with MockProvider(steps) as provider:
        run_gemini(home, provider, ["one", "two", "three"])
    assert_folded_once(provider.requests)
    assert BODY.decode().rstrip("\n") in "\n".join(provider.requests[-1].strings)


def test_claude_code_that_is_set_up(home: Home) -> None:
    """The hook says how to fold, and the gateway says nothing of its own; both mean the same scope."""
    claude = find_client("claude")
    home.ctxf("setup", "claude")
    tool = "mcp__ctxf__context_read"
    steps: list[Step] = [
        Say(BLOCK),
        Say("Nothing more."),
        lambda request: Call(tool, {"id": id_of(BODY), "scope": the_scope(request)}),
        Say("done"),
    ]
    with MockProvider(steps) as provider:
        run(home, provider, [claude, "-p", "one"])
        run(home, provider, [claude, "-p", "--continue", "two"])
        run(home, provider, [claude, "-p", "three", "--continue", "--allowedTools", tool])
    assert_folded_once(provider.requests)
    assert BODY.decode() in provider.requests[-1].strings


@pytest.mark.parametrize("trust", [[], ["--dangerously-bypass-hook-trust"]])
def test_codex_that_is_set_up(home: Home, trust: list[str]) -> None:
    codex = find_client("codex")
    home.ctxf("setup", "codex")
    options = ["--skip-git-repo-check", "-m", "gpt-5.5", "-c", 'sandbox_mode="danger-full-access"', *trust]
    steps: list[Step] = [
        Say(BLOCK),
        Say("Nothing more."),
        # No model answers as fast as this one: Codex knows no tool before its server has started.
        Call("exec_command", {"cmd": "sleep 4"}, said="Wait."),
        lambda request: Call(
            "mcp__ctxf/context_read", {"id": id_of(BODY), "scope": the_scope(request), "lines": "1:100"}
        ),
        Say("done"),
    ]
    with MockProvider(steps) as provider:
        run(home, provider, [codex, "exec", *options, "one"])
        run(home, provider, [codex, "exec", *options, "resume", "--last", "two"])
        run(home, provider, [codex, "exec", *options, "resume", "--last", "three"])
    assert_folded_once(provider.requests)
    assert BODY.decode() in "\n".join(provider.requests[-1].strings)


def test_gemini_cli_that_is_set_up(home: Home) -> None:
    """It runs no hook in this mode, so the gateway alone gives the guidance."""
    find_client("gemini")
    write(home.home / ".gemini" / "settings.json", GEMINI_KEY)
    home.ctxf("setup", "gemini")
    tool = "mcp_ctxf_context_read"
    steps: list[Step] = [
        Say(BLOCK),
        Say("Nothing more."),
        lambda request: Call(tool, {"id": id_of(BODY), "scope": the_scope(request)}),
        Say("done"),
    ]
    with MockProvider(steps) as provider:
        run_gemini(home, provider, ["one", "two", "three"])
    assert_folded_once(provider.requests)
    assert BODY.decode() in "\n".join(provider.requests[-1].strings)


def test_gemini_cli_with_its_hook(home: Home) -> None:
    """It shows the hook's guidance with `&lt;` for `<`, so the gateway says it again, with the same scope."""
    gemini = find_client("gemini")
    write(home.home / ".gemini" / "settings.json", GEMINI_KEY)
    home.ctxf("setup", "gemini")
    shell = "run_shell_command"
    steps: list[Step] = [
        Call(shell, {"command": "true"}, said=BLOCK),
        Call(shell, {"command": "true"}, said="Nothing more."),
        lambda request: Call("mcp_ctxf_context_read", {"id": id_of(BODY), "scope": the_scope(request)}),
        Say("done"),
    ]
    with MockProvider(steps) as provider:
        said = run(home, provider, [gemini, "--approval-mode", "yolo", "-m", "gemini-2.5-pro", "-p", "one"])
    assert_folded_once(provider.requests, guides=2)
    assert BODY.decode() in "\n".join(provider.requests[-1].strings)
    assert re.match(r"ctxf: \d+ requests?, 1 block folded, about [1-9]", said)
