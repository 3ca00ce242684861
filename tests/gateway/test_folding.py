"""Conversations through the gateway: what is due folds, all else passes."""

import contextlib
import gzip
import itertools
import json
import re
import resource
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from backports import zstd

from ctxf.archive import Archive
from ctxf.config import Settings
from ctxf.conversations.clients import CLAUDE_CODE, CODEX
from ctxf.conversations.guidance import guidance
from ctxf.conversations.scopes import session_scope
from ctxf.gateway.assemble import assemble
from ctxf.gateway.routes import Protocol
from ctxf.gateway.server import in_background, listen
from ctxf.gateway.sessions import Session, find_scope
from ctxf.requests import restore_request
from tests.kit.cli import id_of, log, marked
from tests.kit.gateway import FakeProvider, Pairs, Running, echo, provider
from tests.requests.test_reads import NUMBERED

SECRET = b"s" * 32
MESSAGES = b"/anthropic/v1/messages"
BODY = log(100)
BLOCK = "The conclusion.\n" + marked(b"log", BODY).decode() + "The end."
FOLDED = BLOCK.replace(BODY.decode(), f"[[cf:v2:{id_of(BODY)}]]\n")
SESSION: Pairs = [(b"X-Claude-Code-Session-Id", b"8a1c"), (b"session-id", b"8a1c")]


@contextlib.contextmanager
def folding_gateway(
    archive: Path, upstream: FakeProvider, settings: Settings | None = None, scope: str | None = None
) -> Iterator[Running]:
    """The gateway as the command line assembles it."""
    url = f"http://127.0.0.1:{upstream.port}"
    assembled = assemble(
        settings or Settings(),
        Archive.open(archive),
        secret=SECRET,
        recovery_command="ctxf read",
        urls={"anthropic": url, "openai": f"{url}/v1", "gemini": url},
        host="127.0.0.1",
        scope=scope,
    )
    with in_background(assembled.gateway, listen("127.0.0.1", 0)) as port:
        running = Running(port, assembled.stats, assembled.guard)
        try:
            yield running
        finally:
            running.close()


# One conversation in four wire formats: texts that the user and the model say in turn.


def anthropic_body(texts: list[str]) -> dict[str, Any]:
    roles = ("user", "assistant")
    messages = [
        {"role": roles[number % 2], "content": [{"type": "text", "text": text}]}
        for number, text in enumerate(texts)
    ]
    tools = [{"name": "Bash", "description": "Run a command", "input_schema": {"type": "object"}}]
    return {"model": "m", "system": "Be brief.", "tools": tools, "messages": messages}


def chat_body(texts: list[str]) -> dict[str, Any]:
    roles = ("user", "assistant")
    messages = [{"role": roles[number % 2], "content": text} for number, text in enumerate(texts)]
    tools = [{"type": "function", "function": {"name": "bash", "parameters": {}}}]
    return {"model": "m", "messages": [{"role": "system", "content": "Be brief."}, *messages], "tools": tools}


def responses_body(texts: list[str]) -> dict[str, Any]:
    kinds = (("user", "input_text"), ("assistant", "output_text"))
    items = []
    for number, text in enumerate(texts):
        role, kind = kinds[number % 2]
        items.append({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
    tools = [{"type": "function", "name": "exec_command", "parameters": {}}]
    return {"model": "m", "instructions": "Be brief.", "tools": tools, "input": items, "store": False}


def gemini_body(texts: list[str]) -> dict[str, Any]:
    roles = ("user", "model")
    contents = [{"role": roles[number % 2], "parts": [{"text": text}]} for number, text in enumerate(texts)]
    tools = [{"functionDeclarations": [{"name": "run_shell_command"}]}]
    system = {"parts": [{"text": "Be brief."}]}
    return {"systemInstruction": system, "contents": contents, "tools": tools}


def _codex_body(texts: list[str]) -> dict[str, Any]:
    """As Codex 0.171 asks its newest models: tools and instructions among the items."""
    tree = responses_body(texts)
    del tree["tools"]
    system = [{"type": "input_text", "text": tree.pop("instructions")}]
    exec_tool = {"type": "custom", "name": "exec", "description": "Run JavaScript code"}
    tools = [{"type": "namespace", "name": "functions", "tools": [exec_tool]}]
    head = [
        {"type": "additional_tools", "role": "developer", "tools": tools},
        {"type": "message", "role": "developer", "content": system},
    ]
    return {**tree, "input": head + tree["input"]}


def _counted(texts: list[str]) -> dict[str, Any]:
    return {"generateContentRequest": {"model": "models/g", **gemini_body(texts)}}


Build = Callable[[list[str]], dict[str, Any]]
ENDPOINTS: list[tuple[bytes, Build]] = [
    (b"/anthropic/v1/messages?beta=true", anthropic_body),
    (b"/anthropic/v1/messages/count_tokens?beta=true", anthropic_body),
    (b"/openai/v1/chat/completions", chat_body),
    (b"/openai/v1/responses", responses_body),
    (b"/openai/v1/responses", _codex_body),
    (b"/openai/v1/responses/compact", responses_body),
    (b"/openai/v1/responses/input_tokens", responses_body),
    (b"/gemini/v1beta/models/g:generateContent", gemini_body),
    (b"/gemini/v1beta/models/g:streamGenerateContent?alt=sse", gemini_body),
    (b"/gemini/v1beta/models/g:countTokens", gemini_body),
    (b"/gemini/v1beta/models/g:countTokens", _counted),
]
TURNS = ["Look at the log.", BLOCK, "And now?", "Nothing more.", "Sure?", "Quite.", "Fine."]


def _encoded(tree: dict[str, Any]) -> bytes:
    return json.dumps(tree, ensure_ascii=False).encode()


@pytest.mark.parametrize(("target", "build"), ENDPOINTS)
def test_a_conversation_folds_once_it_is_due_and_then_stays(
    tmp_path: Path, target: bytes, build: Build
) -> None:
    """The gateway is started anew for each request: the same block, scope and guidance all the same."""
    with provider(echo) as upstream:
        for length in (1, 3, 5, 7):
            with folding_gateway(tmp_path / "archive.db", upstream) as running:
                running.send(target, _encoded(build(TURNS[:length])), SESSION)
        sent = [request.body.decode() for request in upstream.requests]
    turns = [TURNS[:1], TURNS[:3], [TURNS[0], FOLDED, *TURNS[2:5]], [TURNS[0], FOLDED, *TURNS[2:]]]
    for body, expected in zip(sent, turns, strict=True):
        assert body.count("Folding finished material") == 1
        assert [text for text in _strings(json.loads(body)) if text in expected] == expected
    # Each request begins as the one before it, up to the block that became due or to its very end.
    shared = [_shared(*pair) for pair in itertools.pairwise(sent)]
    for prefix, last in zip(shared, (TURNS[0], "The conclusion.", TURNS[4]), strict=True):
        assert "Folding finished material" in prefix
        assert last in prefix


@pytest.mark.parametrize(("target", "build"), ENDPOINTS)
def test_delay_0_folds_when_it_is_sent_again(tmp_path: Path, target: bytes, build: Build) -> None:
    settings = Settings(delay_requests=0)
    with (
        provider(echo) as upstream,
        folding_gateway(tmp_path / "archive.db", upstream, settings) as running,
    ):
        running.send(target, _encoded(build(TURNS[:3])), SESSION)
        assert BODY.decode() not in json.dumps(json.loads(upstream.requests[0].body))
        assert f"[[cf:v2:{id_of(BODY)}]]" in upstream.requests[0].body.decode()


@pytest.mark.parametrize("encoding", [b"gzip", b"zstd"])
def test_encoded_bodies_fold_too(tmp_path: Path, encoding: bytes) -> None:
    compress: Callable[[bytes], bytes] = gzip.compress if encoding == b"gzip" else zstd.compress
    headers = [*SESSION, (b"Content-Encoding", encoding)]
    target = b"/openai/v1/responses"
    plain = compress(b'{"model": "m", "input": "no tools, no markers"}')
    with provider(echo) as upstream, folding_gateway(tmp_path / "archive.db", upstream) as running:
        running.send(target, compress(_encoded(responses_body(TURNS))), headers)
        running.send(target, plain, headers)
        folded, unchanged = upstream.requests
        assert FOLDED in json.loads(folded.body)["input"][1]["content"][0]["text"]
        assert folded.all(b"content-encoding") == []
        assert unchanged.body == plain
        assert unchanged.all(b"content-encoding") == [encoding]


def _with(**more: object) -> bytes:
    return _encoded({**responses_body(TURNS), **more})


UNTOUCHED: list[tuple[bytes, bytes, Pairs]] = [
    (b"/openai/v1/responses", _with(previous_response_id="resp_1"), SESSION),
    (b"/openai/v1/responses", _with(conversation="conv_1"), SESSION),
    (b"/openai/v1/responses", _with(tools=[]), SESSION),
    (b"/openai/v1/responses", _with(tools=[{"type": "web_search"}]), SESSION),
    (b"/openai/v1/responses", _with(), [*SESSION, (b"Content-Digest", b"sha-256=:AAAA:")]),
    (b"/openai/v1/responses", _with(), [*SESSION, (b"Authorization", b"AWS4-HMAC-SHA256 Credential=x")]),
    (b"/openai/v1/responses", _with(), [*SESSION, (b"Content-Encoding", b"br")]),
    (b"/openai/v1/responses", _with()[:-1], SESSION),
    (b"/openai/v1/responses", b"[" * 100_000, SESSION),
    (b"/openai/v1/responses", b"\xff\xfe" + _with(), SESSION),
    (b"/openai/v1/responses", b'@context-fold begin "tools"', SESSION),
    (b"/openai/v1/responses", b'["@context-fold", "tools"]', []),
    (b"/openai/v1/files", _with(), SESSION),
    (b"/openai/v1/responses/resp_1/cancel", _with(), SESSION),
    (b"/openai/v1/batches", _with(), SESSION),
    (b"/anthropic/v1/messages/batches", _encoded({"requests": [{"params": anthropic_body(TURNS)}]}), SESSION),
    (b"/gemini/v1beta/models/g:embedContent", _encoded(gemini_body(TURNS)), SESSION),
    (b"/gemini/v1beta/cachedContents", _encoded(gemini_body(TURNS)), SESSION),
]


@pytest.mark.parametrize(("target", "body", "headers"), UNTOUCHED)
def test_what_is_not_to_be_touched(tmp_path: Path, target: bytes, body: bytes, headers: Pairs) -> None:
    with provider(echo) as upstream, folding_gateway(tmp_path / "archive.db", upstream) as running:
        assert running.send(target, body, headers).body == body
        assert upstream.requests[0].body == body


def test_folding_switched_off(tmp_path: Path) -> None:
    body = _encoded(anthropic_body(TURNS))
    with (
        provider(echo) as upstream,
        folding_gateway(tmp_path / "archive.db", upstream, Settings(enabled=False)) as running,
    ):
        assert running.send(b"/anthropic/v1/messages", body, SESSION).body == body
    assert running.stats.notes == {"passed: folding is switched off": 1}


@pytest.mark.parametrize("trouble", ["garbage", "directory", "locked"])
def test_an_archive_in_trouble_lets_the_original_pass(tmp_path: Path, trouble: str) -> None:
    path = tmp_path / "archive.db"
    with contextlib.ExitStack() as stack:
        if trouble == "garbage":
            path.write_bytes(b"no archive of ours" * 500)
        elif trouble == "directory":
            path.mkdir()
        else:
            path.touch()
            connection = stack.enter_context(contextlib.closing(sqlite3.connect(path)))
            connection.execute("BEGIN EXCLUSIVE")
        body = _encoded(anthropic_body(TURNS))
        settings = Settings(gateway_timeout_ms=500)
        upstream = stack.enter_context(provider(echo))
        with folding_gateway(path, upstream, settings) as running:
            assert running.send(b"/anthropic/v1/messages", body, SESSION).body == body
            if trouble == "locked":
                connection.rollback()  # lets the thread that waits for the lock come back
    assert len(running.stats.notes) == 1
    assert all(note.startswith("passed: ") for note in running.stats.notes)


def test_a_disk_that_fills_up_and_has_room_again(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    other: Pairs = [(b"X-Claude-Code-Session-Id", b"another")]
    body = _encoded(anthropic_body(TURNS))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with provider(echo) as upstream, folding_gateway(path, upstream) as running:
        running.send(MESSAGES, body, SESSION)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))  # Python has SIGXFSZ ignored: no byte fits
        try:
            assert running.send(MESSAGES, body, other).body == body
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        folded = running.send(MESSAGES, body, other).body
        assert json.loads(folded)["messages"][1]["content"][0]["text"] == FOLDED
    (trouble,) = (note for note in running.stats.notes if note != "folded")
    assert trouble.startswith("passed: ")
    assert running.stats.notes == {"folded": 2, trouble: 1}


def test_an_archive_that_becomes_garbage_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    body = _encoded(anthropic_body(TURNS))
    with provider(echo) as upstream, folding_gateway(path, upstream) as running:
        assert running.send(MESSAGES, body, SESSION).body != body
        (tmp_path / "new").write_bytes(b"no archive of ours" * 500)
        (tmp_path / "new").replace(path)
        assert running.send(MESSAGES, body, [(b"X-Claude-Code-Session-Id", b"another")]).body == body
    assert [note.startswith("passed: ") for note in running.stats.notes] == [False, True]


def test_a_full_session_keeps_its_blocks(tmp_path: Path) -> None:
    settings = Settings(max_session_bytes=100)
    with (
        provider(echo) as upstream,
        folding_gateway(tmp_path / "archive.db", upstream, settings) as running,
    ):
        running.send(b"/anthropic/v1/messages", _encoded(anthropic_body(TURNS)), SESSION)
        assert json.loads(upstream.requests[0].body)["messages"] == anthropic_body(TURNS)["messages"]


def test_each_session_has_a_scope_of_its_own(tmp_path: Path) -> None:
    with provider(echo) as upstream, folding_gateway(tmp_path / "archive.db", upstream) as running:
        for session in (b"one", b"two"):
            headers = [(b"X-Claude-Code-Session-Id", session)]
            running.send(b"/anthropic/v1/messages", _encoded(anthropic_body(TURNS)), headers)
    scopes = [session_scope(SECRET, CLAUDE_CODE, session) for session in ("one", "two")]
    for request, scope in zip(upstream.requests, scopes, strict=True):
        assert f"--scope {scope} --id" in request.body.decode()
        assert guidance(scope) in "".join(_strings(json.loads(request.body)))
    with Archive.open(tmp_path / "archive.db") as archive:
        assert {scope.name for scope in archive.scopes()} == set(scopes)
        assert archive.read(scopes[0], id_of(BODY)) == BODY
    assert running.stats.blocks == 2


def test_one_scope_for_all(tmp_path: Path) -> None:
    with (
        provider(echo) as upstream,
        folding_gateway(tmp_path / "archive.db", upstream, scope="team") as running,
    ):
        running.send(b"/anthropic/v1/messages", _encoded(anthropic_body(TURNS)), SESSION)
        assert "--scope team --id" in upstream.requests[0].body.decode()


def test_the_header_for_programs(tmp_path: Path) -> None:
    headers: Pairs = [(b"X-Ctxf-Session", b"job-7"), *SESSION]
    with provider(echo) as upstream, folding_gateway(tmp_path / "archive.db", upstream) as running:
        running.send(b"/anthropic/v1/messages", _encoded(anthropic_body(TURNS)), headers)
        (request,) = upstream.requests
        assert session_scope(SECRET, "gateway", "job-7") in request.body.decode()
        assert request.all(b"x-ctxf-session") == []


def _shared(one: str, other: str) -> str:
    """What both begin with."""
    differ = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return one[: next(differ, min(len(one), len(other)))]


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


USER_ID = "user_0a_account_0b_session_8a1c0000-0000-0000-0000-000000000000"


@pytest.mark.parametrize(
    ("protocol", "headers", "tree", "session"),
    [
        ("anthropic", [(b"x-claude-code-session-id", b"a")], {}, Session(CLAUDE_CODE, "a")),
        ("responses", [(b"session-id", b"a"), (b"thread-id", b"b")], {}, Session(CODEX, "a")),
        ("responses", [(b"session_id", b"a")], {}, Session(CODEX, "a")),
        ("anthropic", [], {"metadata": {"user_id": USER_ID}}, Session(CLAUDE_CODE, USER_ID[-36:])),
        ("anthropic", [], {"metadata": {"user_id": '{"session_id": "a"}'}}, Session(CLAUDE_CODE, "a")),
        ("responses", [], {"prompt_cache_key": "k"}, Session("gateway", "prompt_cache_key k")),
        ("chat", [], {"prompt_cache_key": "k"}, Session("gateway", "prompt_cache_key k")),
        ("anthropic", [], {}, None),
        ("anthropic", [], {"metadata": {"user_id": "me"}, "messages": "none"}, None),
        ("anthropic", [], {"metadata": {"user_id": "[" * 100_000}}, None),
        ("anthropic", [], {"metadata": [], "messages": [None, {"role": "user", "content": [1]}]}, None),
        ("responses", [], {"prompt_cache_key": 7, "input": []}, None),
        ("chat", [], [], None),
        ("chat", [], "[" * 100_000, None),
    ],
)
def test_sessions(protocol: Protocol, headers: Pairs, tree: object, session: Session | None) -> None:
    scope = session and session_scope(SECRET, session.client, session.id)
    assert find_scope(SECRET, protocol, headers, json.dumps(tree).encode()) == scope


@pytest.mark.parametrize(
    ("protocol", "build"),
    [
        ("anthropic", anthropic_body),
        ("chat", chat_body),
        ("responses", responses_body),
        ("gemini", gemini_body),
    ],
)
def test_a_session_by_its_opening(protocol: Protocol, build: Build) -> None:
    """It stays as the conversation grows; other openings and other users have others."""
    mine: Pairs = [(b"x-api-key", b"mine")]

    def found(headers: Pairs, texts: list[str]) -> str | None:
        return find_scope(SECRET, protocol, headers, _encoded(build(texts)))

    session = found(mine, TURNS[:1])
    assert session is not None
    assert found(mine, TURNS) == session
    assert found([(b"x-api-key", b"theirs")], TURNS) != session
    assert found(mine, ["Something else.", *TURNS[1:]]) != session


# A conversation in which the model reads a file, and goes on.


def _reading_body(texts: list[str]) -> dict[str, Any]:
    tree = anthropic_body(["What does Store.get return?"])
    tree["tools"].append({"name": "Read", "input_schema": {"type": "object"}})
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/p/store.py"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": NUMBERED}
    tree["messages"] += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    for number, text in enumerate(texts):
        tree["messages"].append({"role": ("assistant", "user")[number % 2], "content": text})
    return tree


PROJECTING = Settings(project_reads=True, min_savings_tokens=0)


def test_source_reads_are_projected_where_that_is_wanted(tmp_path: Path) -> None:
    """The gateway is started anew for each request: what was sent once is sent again, byte for byte."""
    archive = tmp_path / "archive.db"
    sent = []
    with provider(echo) as upstream:
        for texts in (
            [],
            ["It gives the limit.", "Sure?"],
            ["It gives the limit.", "Sure?", "Yes.", "Fine."],
        ):
            with folding_gateway(archive, upstream, PROJECTING) as running:
                running.send(MESSAGES, _encoded(_reading_body(texts)), SESSION)
            stats = running.stats.snapshot(with_blocks=True)  # all is counted when it has ended
            sent.append(json.loads(upstream.requests[-1].body))
    whole, *projected = [tree["messages"][2]["content"][0]["content"] for tree in sent]
    assert whole == NUMBERED
    assert projected[0] == projected[1]
    assert "return LIMIT" in projected[0]
    assert len(projected[0]) < len(NUMBERED) // 2
    assert sent[2]["messages"][: len(sent[1]["messages"])] == sent[1]["messages"]
    assert stats["latest"][0]["label"] == "/p/store.py: Store.get"
    with Archive.open(archive) as reopened:
        (scope,) = reopened.scopes()
        assert (
            restore_request(sent[2], "anthropic", reopened, scope.name).body["messages"]
            == _reading_body(["It gives the limit.", "Sure?", "Yes.", "Fine."])["messages"]
        )


def test_source_reads_stay_otherwise(tmp_path: Path) -> None:
    settings = Settings(min_savings_tokens=0)
    with provider(echo) as upstream, folding_gateway(tmp_path / "archive.db", upstream, settings) as running:
        running.send(MESSAGES, _encoded(_reading_body(["Yes.", "Fine."])), SESSION)
        assert NUMBERED in json.loads(upstream.requests[-1].body)["messages"][2]["content"][0]["content"]


def test_projecting_that_takes_too_long_lets_the_original_pass(tmp_path: Path) -> None:
    """A millisecond is not enough to start the process that parses."""
    settings = PROJECTING._replace(gateway_timeout_ms=1)
    body = _encoded(_reading_body(["Yes.", "Fine."]))
    with provider(echo) as upstream, folding_gateway(tmp_path / "archive.db", upstream, settings) as running:
        running.send(MESSAGES, body, SESSION)
        assert upstream.requests[-1].body == body
    assert running.stats.notes == {"passed: folding took too long": 1}


def test_gemini_cli_with_the_hook_has_the_scope_that_the_hook_named(tmp_path: Path) -> None:
    named = "c-" + "5" * 32
    opening = {"text": f"<hook_context>{guidance(named)}</hook_context>"}
    tree = gemini_body(TURNS)
    tree["contents"][0]["parts"].append(opening)
    with provider(echo) as upstream, folding_gateway(tmp_path / "archive.db", upstream) as running:
        running.send(b"/gemini/v1beta/models/g:generateContent", _encoded(tree))
    assert set(re.findall("c-[0-9a-f]{32}", upstream.requests[0].body.decode())) == {named}
    with Archive.open(tmp_path / "archive.db") as archive:
        assert [scope.name for scope in archive.scopes()] == [named]
