"""Folding requests: the way back, the guidance, failures, and what a caller gets to see."""

import copy
from pathlib import Path
from typing import Any

import pytest

import ctxf
from ctxf.archive import Archive, NewBody
from ctxf.conversations.guidance import guidance
from ctxf.protocol.references import body_digest
from ctxf.requests import (
    AGENT_RECOVERY,
    PROTOCOLS,
    Recovery,
    Refusal,
    RequestPolicy,
    fold_request,
    restore_request,
)
from tests.kit.archive import collision_pair, put
from tests.kit.cli import BODY, id_of, marked
from tests.kit.conversations import RENDER, Event

BLOCK = marked(b"log", BODY).decode()
NOW = RequestPolicy(delay_requests=0)
TALK = [Event("user", "why?", 1), Event("say", BLOCK, 0), Event("user", "go on", 1)]


def talk(protocol: str, **more: Any) -> Any:
    body = RENDER[protocol](TALK)
    for key in ("tools", "system", "systemInstruction", "instructions"):
        body.pop(key, None)
    return {**body, **more}


TOOLS: dict[str, Any] = {
    "chat": lambda name: [{"type": "function", "function": {"name": name}}],
    "responses": lambda name: [{"type": "function", "name": name}],
    "anthropic": lambda name: [{"name": name, "input_schema": {"type": "object"}}],
    "gemini": lambda name: [{"functionDeclarations": [{"name": name}]}],
}


@pytest.fixture
def archive() -> Archive:
    return Archive.memory()


# The way back


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("recovery", "offered", "folds"),
    [
        (Recovery(), "anything", True),
        (Recovery(shell_tools=("Bash",)), "Bash", True),
        (Recovery(shell_tools=("Bash",)), "bash", False),
        (Recovery("", read_tools=("context_read",)), "context_read", True),
        (Recovery("", read_tools=("context_read",)), "Bash", False),
        (Recovery("", shell_tools=("Bash",)), "Bash", False),
        (AGENT_RECOVERY, "mcp__ctxf__context_read", True),
        (AGENT_RECOVERY, "Bash", True),
        (AGENT_RECOVERY, "search", False),
    ],
)
def test_a_way_back(archive: Archive, protocol: str, recovery: Recovery, offered: str, folds: bool) -> None:
    body = talk(protocol, tools=TOOLS[protocol](offered))
    result = fold_request(body, protocol, archive, policy=RequestPolicy(0, recovery=recovery))
    assert bool(result.folds) == folds
    assert result.refusal == (None if folds else Refusal.NO_WAY_BACK)
    assert (result.body is body) == (not folds)


@pytest.mark.parametrize(
    ("protocol", "more"),
    [
        ("chat", {"tools": [{"type": "custom", "custom": {"name": "Bash"}}]}),
        ("chat", {"functions": [{"name": "Bash"}]}),
        ("responses", {"tools": [{"type": "local_shell"}]}),
        (
            "responses",
            {"tools": [{"type": "namespace", "name": "mcp__ctxf", "tools": [{"name": "context_read"}]}]},
        ),
        ("responses", {"tools": [{"type": "custom", "name": "Bash"}]}),
        ("gemini", {"tools": [{"googleSearch": {}}, {"function_declarations": [{"name": "Bash"}]}]}),
    ],
)
def test_tools_in_other_spellings(archive: Archive, protocol: str, more: Any) -> None:
    policy = RequestPolicy(0, recovery=AGENT_RECOVERY)
    assert fold_request(talk(protocol, **more), protocol, archive, policy=policy).folds


def test_tools_that_an_item_brings(archive: Archive) -> None:
    body = talk("responses")
    policy = RequestPolicy(0, recovery=AGENT_RECOVERY)
    assert not fold_request(body, "responses", archive, policy=policy).folds
    body["input"].insert(
        0, {"type": "additional_tools", "role": "developer", "tools": [{"name": "shell", "type": "function"}]}
    )
    assert fold_request(body, "responses", archive, policy=policy).folds


def _told(protocol: str, text: str) -> Any:
    """The places where a request tells the model something."""
    if protocol == "gemini":
        return [talk(protocol, systemInstruction={"parts": [{"text": text}]})]
    first = RENDER[protocol]([Event("system", text, 0), *TALK])
    first.pop("system", None)
    other = {
        "chat": [],
        "responses": [talk(protocol, instructions=text)],
        "anthropic": [talk(protocol, system=text)],
    }
    return [{**first, "tools": []}, *other[protocol]]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("recovery", [AGENT_RECOVERY, Recovery("", read_tools=("context_read",))])
def test_instructions_that_name_this_scope(archive: Archive, protocol: str, recovery: Recovery) -> None:
    policy = RequestPolicy(0, recovery=recovery)
    for body in _told(protocol, guidance("c-1", recovery)):
        assert fold_request(body, protocol, archive, "c-1", policy).folds
        assert fold_request(body, protocol, archive, "c-2", policy).refusal is Refusal.NO_WAY_BACK


def test_a_user_who_quotes_the_guidance_is_no_way_back(archive: Archive) -> None:
    body = talk("chat")
    body["messages"][0]["content"] = guidance("default")
    policy = RequestPolicy(0, recovery=AGENT_RECOVERY)
    assert fold_request(body, "chat", archive, policy=policy).refusal is Refusal.NO_WAY_BACK


@pytest.mark.parametrize("more", [{"previous_response_id": "resp_1"}, {"conversation": {"id": "c"}}])
def test_a_history_that_the_provider_keeps(archive: Archive, more: Any) -> None:
    body = talk("responses", **more)
    result = fold_request(body, "responses", archive, policy=NOW)
    assert result.body is body
    assert result.refusal is Refusal.HISTORY_ELSEWHERE


def test_without_a_block_there_is_nothing_to_refuse(archive: Archive) -> None:
    body = {"messages": [{"role": "assistant", "content": "x"}, {"role": "user", "content": "y"}]}
    result = fold_request(body, "chat", archive, policy=RequestPolicy(0, recovery=AGENT_RECOVERY))
    assert result == ctxf.RequestResult(body)


# The guidance

GUIDE = guidance("default")
GUIDED = RequestPolicy(0, append_guidance=True)
BILLING = {"type": "text", "text": "x-anthropic-billing-header: cc_version=2"}
CACHED = {"type": "text", "text": "You are an agent.", "cache_control": {"type": "ephemeral"}}


@pytest.mark.parametrize(
    ("protocol", "before", "after"),
    [
        ("anthropic", {}, {"system": GUIDE}),
        ("anthropic", {"system": None}, {"system": GUIDE}),
        ("anthropic", {"system": "Be brief."}, {"system": f"Be brief.\n\n{GUIDE}"}),
        (
            "anthropic",
            {"system": [BILLING, CACHED]},
            {"system": [BILLING, CACHED, {"type": "text", "text": GUIDE}]},
        ),
        ("responses", {}, {"instructions": GUIDE}),
        ("responses", {"instructions": "Be brief."}, {"instructions": f"Be brief.\n\n{GUIDE}"}),
        ("responses", {"prompt": {"id": "p"}}, {"prompt": {"id": "p"}}),
        ("gemini", {}, {"systemInstruction": {"parts": [{"text": GUIDE}]}}),
        (
            "gemini",
            {"system_instruction": {"parts": [{"text": "Be brief."}]}},
            {"system_instruction": {"parts": [{"text": "Be brief."}, {"text": GUIDE}]}},
        ),
        ("gemini", {"cachedContent": "c"}, {"cachedContent": "c"}),
    ],
)
def test_where_the_guidance_goes(archive: Archive, protocol: str, before: Any, after: Any) -> None:
    body = {**before, **talk(protocol)}
    result = fold_request(body, protocol, archive, policy=GUIDED)
    expected = fold_request(body, protocol, archive, policy=NOW).body
    assert result.body == {**expected, **after}
    assert result.guided == (before != after)
    again = fold_request(result.body, protocol, archive, policy=GUIDED)
    assert (again.body is result.body) or not result.guided


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([], [{"role": "system", "content": GUIDE}]),
        ([{"role": "system", "content": "x"}], [{"role": "system", "content": f"x\n\n{GUIDE}"}]),
        (
            [{"role": "developer", "content": [CACHED]}],
            [{"role": "developer", "content": [CACHED, {"type": "text", "text": GUIDE}]}],
        ),
    ],
)
def test_where_the_guidance_goes_in_chat(archive: Archive, before: Any, after: Any) -> None:
    messages = talk("chat")["messages"]
    result = fold_request({"messages": before + messages}, "chat", archive, policy=GUIDED)
    folded = fold_request({"messages": before + messages}, "chat", archive, policy=NOW).body["messages"]
    assert result.body["messages"] == after + folded[len(before) :]
    assert fold_request(result.body, "chat", archive, policy=GUIDED).body is result.body


def test_guidance_goes_only_where_there_is_a_way_back(archive: Archive) -> None:
    policy = RequestPolicy(0, recovery=AGENT_RECOVERY, append_guidance=True)
    body = talk("anthropic")
    assert fold_request(body, "anthropic", archive, policy=policy).body is body
    result = fold_request({**body, "tools": TOOLS["anthropic"]("Bash")}, "anthropic", archive, policy=policy)
    assert result.body["system"] == GUIDE
    result = fold_request(
        {**body, "tools": TOOLS["anthropic"]("mcp__ctxf__context_read")}, "anthropic", archive, policy=policy
    )
    assert result.body["system"] == guidance("default", Recovery("", read_tools=("mcp__ctxf__context_read",)))


def test_guidance_goes_in_without_a_block(archive: Archive) -> None:
    raw = b'{ "messages": [ {"role":"user","content":"hello"} ] , "n": 1.0 }'
    result = fold_request(raw, "anthropic", archive, policy=GUIDED)
    assert result.body.startswith(raw[:-2])
    assert result.body.endswith(b'never write one into a file:\\nctxf alone makes them.\\n"}')
    assert result.guided


# What comes back


def test_a_fold_says_what_and_where(archive: Archive) -> None:
    body = talk("anthropic", tools=[])
    result = fold_request(body, "anthropic", archive, policy=NOW)
    (fold,) = result.folds
    assert (fold.label, fold.path, fold.line, fold.size) == (
        "log",
        "/messages/1/content/0/text",
        1,
        len(BODY),
    )
    assert fold.id == id_of(BODY)
    assert result.tokens_saved == fold.tokens_saved == -(-len(BODY) // 4) - 6
    assert archive.read("default", fold.id) == BODY


def test_a_dict_is_never_changed_and_shares_what_stays(archive: Archive) -> None:
    body = talk("gemini")
    before = copy.deepcopy(body)
    result = fold_request(body, "gemini", archive, policy=NOW)
    assert body == before
    assert result.body["contents"][0] is body["contents"][0]
    assert result.body["contents"][1] is not body["contents"][1]


def test_a_wrapped_request_is_counted_folded(archive: Archive) -> None:
    inner = talk("gemini")
    result = fold_request({"generateContentRequest": inner}, "gemini", archive, policy=GUIDED)
    assert result.body["generateContentRequest"] == fold_request(inner, "gemini", archive, policy=GUIDED).body
    assert result.folds[0].path == "/generateContentRequest/contents/1/parts/0/text"


def test_names_that_are_none() -> None:
    with pytest.raises(ctxf.UnknownProtocol, match="'claude' is no known protocol; use chat, responses"):
        fold_request({}, "claude", Archive.memory())
    with pytest.raises(ctxf.InvalidScope):
        fold_request({}, "chat", Archive.memory(), "no scope")
    with pytest.raises(ctxf.UnknownProtocol):
        restore_request({}, "claude", Archive.memory())
    with pytest.raises(ValueError, match="0 or more"):
        RequestPolicy(delay_requests=-1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": None, "input": 7, "contents": {}},
        {"messages": "x", "input": "x", "contents": "x", "system": 7, "tools": 7, "instructions": []},
        {"messages": [None, 7, "x", [], {}], "input": [None, {}], "contents": [None, {}]},
        {
            "messages": [{"role": []}],
            "input": [{"role": {}, "type": []}],
            "contents": [{"role": 7, "parts": 7}],
        },
        {
            "messages": [{"role": "assistant", "content": [7, {"type": "text", "text": None}, {"type": []}]}],
            "input": [{"role": "assistant", "content": [7, {"type": "output_text", "text": {}}]}],
            "contents": [{"role": "model", "parts": [7, {"text": 7}]}],
            "tools": [
                {"type": "function", "function": 7},
                {"name": 7},
                {"type": "namespace", "name": "n"},
                7,
            ],
        },
    ],
)
@pytest.mark.parametrize("append_guidance", [False, True])
def test_a_body_of_any_shape(archive: Archive, protocol: str, body: Any, append_guidance: bool) -> None:
    policy = RequestPolicy(0, 0, AGENT_RECOVERY, append_guidance=append_guidance)
    assert fold_request(body, protocol, archive, policy=policy).body is body
    policy = RequestPolicy(0, 0, append_guidance=append_guidance)
    result = fold_request(body, protocol, archive, policy=policy)
    assert result.failure is None
    assert result.guided or result.body is body
    assert restore_request(body, protocol, archive).body is body


def test_a_body_that_is_no_object(archive: Archive) -> None:
    body: Any = ["messages"]
    result = fold_request(body, "chat", archive)
    assert result.body is body
    assert "no JSON object but a list" in str(result.failure)


# Capacity, collisions, restoring


def test_a_scope_without_room_keeps_the_block(archive: Archive) -> None:
    body = talk("chat")
    result = fold_request(body, "chat", archive, policy=RequestPolicy(0, capacity=10))
    assert result.body is body
    assert [kept.reason for kept in result.kept] == [ctxf.Reason.CAPACITY]
    assert result.kept[0].detail == f"needs {len(BODY)} bytes where the scope has 10 left"


def test_ids_that_collide(archive: Archive) -> None:
    first, second = (body.decode() for body in collision_pair())
    messages = [
        {"role": role, "content": content}
        for body in (first, second)
        for role, content in (("assistant", marked(b"x", body.encode()).decode()), ("user", "ok"))
    ]
    result = fold_request({"messages": messages}, "chat", archive, policy=NOW)
    assert [len(fold.id) for fold in result.folds] == [12, 13]
    assert restore_request(result.body, "chat", archive).body == {"messages": messages}


def test_a_longer_id_that_saves_no_byte_keeps_all_parts(archive: Archive) -> None:
    """The line of a part that is 24 bytes long would have 24 bytes with an id of 13 digits."""
    part = b"just long enough (24 B)\n"
    digest = body_digest(part)
    assert archive.put("default", [[NewBody(b"another", digest[:6] + bytes(26), b"x")]]) == [
        (digest.hex()[:12],)
    ]
    messages = [
        {"role": "assistant", "content": "<!-- @context-fold begin a -->\n" + BODY.decode()},
        {"role": "user", "content": "ok"},
        {"role": "assistant", "content": part.decode() + "<!-- @context-fold end a -->\n"},
        {"role": "user", "content": "ok"},
    ]
    body = {"messages": messages}
    result = fold_request(body, "chat", archive, policy=NOW)
    assert result.body is body
    assert [kept.detail for kept in result.kept] == ["saves no byte: its id had to be longer"]


def test_a_reference_that_does_not_resolve(archive: Archive) -> None:
    result = fold_request(talk("chat"), "chat", archive, policy=NOW)
    put(archive, "other", BODY)
    restored = restore_request(result.body, "chat", archive, "other-scope")
    assert restored.body is result.body
    (one,) = restored.unresolved
    assert (one.path, one.line, one.id) == ("/messages/1/content", 2, id_of(BODY))
    assert isinstance(one.error, ctxf.BodyNotFound)


def test_a_restore_that_would_become_too_much(archive: Archive) -> None:
    result = fold_request(talk("chat"), "chat", archive, policy=NOW)
    assert restore_request(result.body, "chat", archive, max_output=len(BODY)).restored
    restored = restore_request(result.body, "chat", archive, max_output=len(BODY) - 1)
    assert restored.body is result.body
    assert "more than" in str(restored.failure)


def test_a_body_that_is_no_text_stays_in_the_archive(archive: Archive) -> None:
    (id,) = put(archive, "default", b"\xff" * 50 + b"\n")
    text = marked(b"x", b"[[cf:v2:%b]]\n" % id.encode()).decode()
    restored = restore_request({"messages": [{"role": "assistant", "content": text}]}, "chat", archive)
    assert [type(one.error) for one in restored.unresolved] == [ctxf.TextNotUtf8]


def test_an_archive_that_cannot_be_opened_is_asked_once(tmp_path: Path) -> None:
    archive = Archive.open(tmp_path / "file" / "a.db")
    (tmp_path / "file").write_bytes(b"")
    line = marked(b"x", b"[[cf:v2:0123456789ab]]\n") + marked(b"x", b"[[cf:v2:0123456789ac]]\n")
    body = {"messages": [{"role": "assistant", "content": line.decode()}]}
    restored = restore_request(body, "chat", archive)
    assert restored.body is body
    assert len({id(one.error) for one in restored.unresolved}) == 1
