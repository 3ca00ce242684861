"""The LiteLLM callback, under a stand-in for LiteLLM's base class: LiteLLM itself is 130 MB."""

import asyncio
import importlib
import json
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxf.archive import Archive
from tests.gateway.test_folding import TURNS, anthropic_body, chat_body, gemini_body, responses_body
from tests.kit.cli import BODY, id_of

Build = Callable[[list[str]], dict[str, Any]]
CALLS: list[tuple[str, Build]] = [
    ("acompletion", chat_body),
    ("anthropic_messages", anthropic_body),
    ("aresponses", responses_body),
    ("agenerate_content", gemini_body),
    ("agenerate_content_stream", gemini_body),
]


class User:
    """As much of LiteLLM's UserAPIKeyAuth as there is to see."""

    api_key = "hashed"


@pytest.fixture
def handler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    base = types.ModuleType("litellm.integrations.custom_logger")
    vars(base)["CustomLogger"] = type("CustomLogger", (), {})
    for name in ("litellm", "litellm.integrations"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, base.__name__, base)
    monkeypatch.delitem(sys.modules, "ctxf.integrations.litellm", raising=False)
    monkeypatch.setenv("CTXF_HOME", str(tmp_path))
    monkeypatch.delenv("CTXF_ARCHIVE", raising=False)
    monkeypatch.chdir(tmp_path)
    yield importlib.import_module("ctxf.integrations.litellm").handler
    sys.modules.pop("ctxf.integrations.litellm", None)


def call(handler: Any, data: dict[str, Any], call_type: object) -> dict[str, Any]:
    found: dict[str, Any] = asyncio.run(handler.async_pre_call_hook(User(), object(), data, call_type))
    return found


@pytest.mark.parametrize(("call_type", "build"), CALLS)
def test_a_call_is_folded(handler: Any, tmp_path: Path, call_type: str, build: Build) -> None:
    secret_object = object()
    data = {**build(TURNS), "litellm_logging_obj": secret_object, "metadata": {"user_api_key": "k"}}
    before = json.dumps(build(TURNS))
    changed = call(handler, data, call_type)
    assert changed["litellm_logging_obj"] is secret_object
    text = json.dumps({name: value for name, value in changed.items() if name != "litellm_logging_obj"})
    assert f"[[cf:v2:{id_of(BODY)}]]" in text
    assert "Folding finished material" in text
    assert "nothing that anybody needs again" not in text
    assert json.dumps({name: data[name] for name in build(TURNS)}) == before
    with Archive.open(tmp_path / "archive.db") as archive:
        (scope,) = archive.scopes()
        assert archive.read(scope.name, id_of(BODY)) == BODY


def test_sessions_come_from_the_client_or_from_litellm(handler: Any, tmp_path: Path) -> None:
    request = {"headers": {"x-claude-code-session-id": "8a1c", "user-agent": 7}}
    call(handler, {**anthropic_body(TURNS), "proxy_server_request": request}, "anthropic_messages")
    call(handler, {**anthropic_body(TURNS), "litellm_session_id": "8a1c"}, "anthropic_messages")
    call(handler, anthropic_body(TURNS), "anthropic_messages")
    with Archive.open(tmp_path / "archive.db") as archive:
        assert len(archive.scopes()) == 3


@pytest.mark.parametrize(
    ("call_type", "data"),
    [
        ("aembedding", {"input": TURNS}),
        ("acompletion", {"messages": "none"}),
        ("acompletion", {}),
        ("acompletion", {"messages": [object()]}),
        ("aresponses", {**responses_body(TURNS), "previous_response_id": "resp_1"}),
        (None, chat_body(TURNS)),
    ],
)
def test_what_is_not_to_be_touched(handler: Any, call_type: object, data: dict[str, Any]) -> None:
    assert call(handler, data, call_type) == data


def test_an_archive_in_trouble(handler: Any, tmp_path: Path) -> None:
    (tmp_path / "archive.db").write_bytes(b"no archive of ours" * 500)
    data = chat_body(TURNS)
    assert call(handler, data, "acompletion") == data
