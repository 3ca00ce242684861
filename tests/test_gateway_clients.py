"""The real clients through `ctxf run`: three turns, a gateway of its own for each, a provider on loopback.

Run with `-m clients`; see tests/test_clients.py for where the clients are looked for.
"""

import itertools
import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cli import CTXF, TIMEOUT, id_of, log, marked
from tests.mock_provider import Call, MockProvider, Request, Say, Step
from tests.test_clients import Home, find_client, write

pytestmark = pytest.mark.clients

BODY: Final = log(100)
BLOCK: Final = f"The conclusion.\n{marked(b'log', BODY).decode()}The end."
FOLDED: Final = BLOCK.replace(BODY.decode(), f"[[cf:v2:{id_of(BODY)}]]\n")
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


def assert_folded_once(requests: Sequence[Request]) -> None:
    """In the first request of the block it is whole, in the later ones folded; all else only grows."""
    holding = [request for request in requests if "The conclusion." in request.text]
    assert [BLOCK in request.strings for request in holding] == [True] + [False] * (len(holding) - 1)
    assert all(FOLDED in request.strings for request in holding[1:])
    assert len(holding) > 2
    folded = [[_fold(item) for item in history(request)] for request in requests]
    for before, after in itertools.pairwise(folded):
        assert after[: len(before)] == before
    guides = {text for request in requests for text in request.strings if "Folding finished material" in text}
    assert len({text[text.index("Folding finished material") :] for text in guides}) == 1
    assert all(request.text.count("Folding finished material") == 1 for request in requests)


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


def test_gemini_cli(home: Home) -> None:
    """In one process: a session that is resumed has no markers, Gemini CLI writes down no HTML comments."""
    gemini = find_client("gemini")
    # What its dialog writes when a key is chosen; without that it takes no address from its environment.
    write(
        home.home / ".gemini" / "settings.json", b'{"security": {"auth": {"selectedType": "gemini-api-key"}}}'
    )
    shell = "run_shell_command"
    steps: list[Step] = [
        Call(shell, {"command": "true"}, said=BLOCK),
        Call(shell, {"command": "true"}, said="Nothing more."),
        lambda request: Call(shell, {"command": read_command(request)}),
        Say("done"),
    ]
    with MockProvider(steps) as provider:
        options = ["--approval-mode", "yolo", "-m", "gemini-2.5-pro"]
        said = run(home, provider, [gemini, *options, "-p", "one"])
    assert_folded_once(provider.requests)
    assert BODY.decode().rstrip("\n") in "\n".join(provider.requests[-1].strings)
    assert re.match(r"ctxf: \d+ requests?, 1 block folded, about [1-9]", said)
