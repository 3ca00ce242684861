"""Whole requests that broke tools of this kind: tests/cases/requests/*/, through the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.kit.cli import Cli

CASES = Path(__file__).parents[1] / "cases" / "requests"
PROTOCOL = {"anthropic": "anthropic", "openai": "chat", "gemini": "gemini", "chat": "chat"}
# Marked texts in them are a user's, a tool's, or signed: nothing in them is ours to change.
NAMES = sorted(path.name for path in CASES.iterdir())


def _as_assistant(body: Any) -> Any:
    """The same conversation with its first marked user text said by the model, and a reply after it."""
    text = json.dumps(body)
    begin = text.index("Old listing")
    role = text.rindex('"role": "user"', 0, begin)
    return json.loads(text[:role] + text[role:].replace('"role": "user"', '"role": "assistant"', 1))


@pytest.mark.parametrize("name", NAMES)
def test_a_case_stays_as_it_is(cli: Cli, name: str) -> None:
    data = (CASES / name / "input.json").read_bytes()
    protocol = PROTOCOL[name.split("-")[1]]
    for tool in (b"context_read", b"mcp__ctxf__context_read"):
        body = data.replace(b"{{RESTORE_TOOL}}", tool)
        ran = cli.run(
            "request", "fold", "--protocol", protocol, "--min-savings", "0", "--delay", "0", stdin=body
        )
        assert ran == (body, b"", 0)


@pytest.mark.parametrize("name", ["106-chat-lone-surrogate"])
def test_a_case_whose_text_the_model_wrote(cli: Cli, name: str) -> None:
    body = _as_assistant(json.loads((CASES / name / "input.json").read_bytes()))
    body["messages"].append({"role": "user", "content": "go on"})
    data = json.dumps(body).encode()
    args = ("--protocol", "chat")
    ran = cli.run("request", "fold", *args, "--min-savings", "0", "--delay", "0", stdin=data)
    assert ran.status == 0
    folded = json.loads(ran.stdout)
    assert len(ran.stdout) < len(data) / 2
    assert b"\\ud83d" in ran.stdout
    assert folded["messages"][0] == body["messages"][0]
    assert cli.run("request", "restore", *args, stdin=ran.stdout).stdout == data


def test_there_are_cases() -> None:
    assert len(NAMES) == 7
