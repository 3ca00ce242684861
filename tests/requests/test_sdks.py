"""Folded requests as the vendors' own libraries see them: what they accept unfolded they accept folded.

One conversation in each format holds every kind of item that its API knows.
"""

import copy
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from anthropic.types import MessageParam
from google.genai.types import Content
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputParam
from pydantic import TypeAdapter, ValidationError

from ctxf.archive import Archive
from ctxf.requests import RequestPolicy, fold_request, restore_request

BODY = "what was looked at, and found to be of no interest\n" * 30
BLOCK = f"It is the upstream.\n<!-- @context-fold begin log -->\n{BODY}<!-- @context-fold end log -->\n"
OPEN = f"<!-- @context-fold begin long -->\n{BODY}"
CLOSE = f"{BODY}<!-- @context-fold end long -->\nDone."

CHAT: Any = {
    "model": "m",
    "messages": [
        {"role": "system", "content": BLOCK},
        {"role": "developer", "content": [{"type": "text", "text": BLOCK}]},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": BLOCK},
                {"type": "image_url", "image_url": {"url": "data:,"}},
            ],
        },
        {"role": "assistant", "content": BLOCK},
        {"role": "user", "content": BLOCK},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": OPEN}],
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "run", "arguments": BLOCK}},
                {"id": "c2", "type": "custom", "custom": {"name": "patch", "input": BLOCK}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": BLOCK},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": BLOCK}]},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": BLOCK}]},
        {"role": "assistant", "content": CLOSE},
        {"role": "function", "name": "old", "content": BLOCK},
        {"role": "assistant", "content": None, "function_call": {"name": "old", "arguments": BLOCK}},
        {"role": "user", "content": "go on"},
    ],
}

_MESSAGE = {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed"}
_TEXT = {"type": "output_text", "annotations": []}
_CITED = {"type": "file_citation", "file_id": "f", "filename": "f", "index": 0}
_SUMMARY = [{"type": "summary_text", "text": BLOCK}]
RESPONSES: Any = [
    {"role": "developer", "content": BLOCK},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": BLOCK}]},
    {"type": "reasoning", "id": "r", "summary": _SUMMARY, "encrypted_content": "b3BhcXVl"},
    {**_MESSAGE, "content": [{**_TEXT, "text": BLOCK}], "phase": "commentary"},
    {**_MESSAGE, "content": [{**_TEXT, "text": BLOCK, "annotations": [_CITED]}]},
    {"type": "function_call", "call_id": "c", "name": "run", "arguments": BLOCK},
    {"type": "function_call_output", "call_id": "c", "output": BLOCK},
    {"role": "assistant", "content": OPEN},
    {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": BLOCK},
    {"type": "custom_tool_call_output", "call_id": "c", "output": BLOCK},
    {**_MESSAGE, "content": [{**_TEXT, "text": CLOSE}, {"type": "refusal", "refusal": BLOCK}]},
    {"type": "shell_call", "call_id": "c", "action": {"commands": [BLOCK]}},
    {
        "type": "shell_call_output",
        "call_id": "c",
        "output": [{"stdout": BLOCK, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
    },
    {"type": "compaction", "encrypted_content": "b3BhcXVl"},
    {"type": "item_reference", "id": "i"},
    {"type": "program", "id": "p", "call_id": "c", "code": BLOCK, "fingerprint": "f"},
    {"type": "program_output", "id": "p", "call_id": "c", "result": BLOCK, "status": "completed"},
    {"type": "mcp_call", "id": "m", "name": "n", "arguments": BLOCK, "server_label": "s", "output": BLOCK},
    {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "q"}},
    {"role": "user", "content": "go on"},
]

_LOCATION = {"type": "char_location", "cited_text": "x", "document_index": 0, "document_title": None}
ANTHROPIC: Any = [
    {"role": "user", "content": BLOCK},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": BLOCK, "signature": "c2lnbmVk"},
            {"type": "redacted_thinking", "data": "b3BhcXVl"},
            {"type": "text", "text": BLOCK, "cache_control": {"type": "ephemeral"}},
            {
                "type": "text",
                "text": BLOCK,
                "citations": [{**_LOCATION, "start_char_index": 0, "end_char_index": 1}],
            },
            {"type": "tool_use", "id": "t1", "name": "Write", "input": {"content": BLOCK}},
            {"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": BLOCK}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": BLOCK, "is_error": True},
            {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": BLOCK}]},
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": BLOCK}},
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": OPEN},
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": BLOCK}},
            {
                "type": "web_search_tool_result",
                "tool_use_id": "s",
                "content": [
                    {"type": "web_search_result", "encrypted_content": BLOCK, "title": "t", "url": "u"}
                ],
            },
            {"type": "text", "text": CLOSE},
        ],
    },
    {"role": "user", "content": "go on"},
]

GEMINI: Any = [
    {"role": "user", "parts": [{"text": BLOCK}, {"inlineData": {"mimeType": "text/plain", "data": "eA=="}}]},
    {
        "role": "model",
        "parts": [
            {"text": BLOCK, "thought": True},
            {"text": BLOCK},
            {"text": BLOCK, "thoughtSignature": "c2lnbmVk"},
            {"functionCall": {"name": "run", "args": {"content": BLOCK}}, "thoughtSignature": "c2lnbmVk"},
        ],
    },
    {"role": "user", "parts": [{"functionResponse": {"name": "run", "response": {"output": BLOCK}}}]},
    {
        "role": "model",
        "parts": [
            {"text": OPEN},
            {"executableCode": {"language": "PYTHON", "code": BLOCK}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": BLOCK}},
            {"text": CLOSE},
        ],
    },
    {"role": "user", "parts": [{"text": "go on"}]},
]


def _check(kind: Any, value: Any) -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(kind)  # kept alive: pydantic needs it while it reads on
    _read_all(adapter.validate_python(value))


def _read_all(value: Any) -> None:
    """What is typed as an Iterable is validated only as it is read."""
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, Iterable) and not isinstance(value, str):
        for one in value:
            _read_all(one)


def _check_chat(body: Any) -> None:
    _check(list[ChatCompletionMessageParam], body["messages"])


def _check_responses(body: Any) -> None:
    _check(ResponseInputParam, body["input"])


def _check_anthropic(body: Any) -> None:
    _check(list[MessageParam], body["messages"])


def _check_gemini(body: Any) -> None:
    _check(list[Content], body["contents"])


CONVERSATIONS: list[tuple[str, Any, Callable[[Any], None], int]] = [
    ("chat", CHAT, _check_chat, 2),
    ("responses", {"model": "m", "input": RESPONSES}, _check_responses, 2),
    ("anthropic", {"model": "m", "max_tokens": 9, "messages": ANTHROPIC}, _check_anthropic, 2),
    ("gemini", {"contents": GEMINI}, _check_gemini, 2),
]


@pytest.mark.parametrize(
    ("protocol", "body", "check", "folds"), [pytest.param(*one, id=one[0]) for one in CONVERSATIONS]
)
@pytest.mark.parametrize("append_guidance", [False, True])
def test_the_vendors_types_accept_what_was_folded(
    protocol: str, body: Any, check: Callable[[Any], None], folds: int, append_guidance: bool
) -> None:
    body = copy.deepcopy(body)
    check(body)
    archive = Archive.memory()
    policy = RequestPolicy(delay_requests=0, append_guidance=append_guidance)
    result = fold_request(body, protocol, archive, policy=policy)
    check(result.body)
    assert len(result.folds) == folds
    assert [len(fold.parts) for fold in result.folds] == [1, 2]
    assert result.guided == append_guidance
    if not append_guidance:
        assert restore_request(result.body, protocol, archive).body == body


@pytest.mark.parametrize(
    ("protocol", "check", "path"),
    [
        ("chat", _check_chat, ("messages", 5, "content", 0)),
        ("responses", _check_responses, ("input", 3, "content", 0)),
        ("anthropic", _check_anthropic, ("messages", 1, "content", 2)),
        ("gemini", _check_gemini, ("contents", 1, "parts", 1)),
    ],
)
def test_the_types_would_see_a_wrong_text(
    protocol: str, check: Callable[[Any], None], path: tuple[str | int, ...]
) -> None:
    (body,) = [copy.deepcopy(body) for name, body, _check, _folds in CONVERSATIONS if name == protocol]
    holder = body
    for key in path:
        holder = holder[key]
    holder["text"] = [7]
    with pytest.raises(ValidationError):
        check(body)
