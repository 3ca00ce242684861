"""The tool results of a request: which call each one answers, and what the user had asked before it.

One function a wire format; what has not the expected shape is left out.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from ctxf.requests.model import JsonObject
from ctxf.requests.slots import Format, Item, Path, Side, is_bound, objects_in, texts_in

__all__ = ["ToolResult", "count_replies", "tool_results"]


class ToolResult(NamedTuple):
    """The text at `path` that answers a call; `reply` is the number of the reply that called (from 1).

    `question` is the user's latest text before it.
    """

    path: Path
    text: str
    tool: str
    arguments: Mapping[str, Any]
    question: str
    reply: int


def count_replies(items: Iterable[Item]) -> int:
    """How many replies are complete (PROTOCOL.md §13.3)."""
    replies, in_reply = 0, False
    for item in items:
        if item.side is Side.INPUT:
            replies += in_reply
            in_reply = False
        elif item.side is Side.MODEL:
            in_reply = True
    return replies


class _Call(NamedTuple):
    id: str
    tool: str
    arguments: object


class _Answer(NamedTuple):
    id: str
    path: Path
    text: str


class _Seen(NamedTuple):
    """What one item of a history has for us."""

    calls: list[_Call]
    answers: list[_Answer]
    user_texts: list[str]


# What clients put into a user's message that no user wrote.
_REMINDER: Final = re.compile(
    r"<(system-reminder|environment_context)>(?:(?!<(?:system-reminder|environment_context)>).)*?</\1>",
    re.DOTALL,
)


def tool_results(body: JsonObject, protocol: str, format: Format) -> Iterator[ToolResult]:
    """The results whose call, and a user's text before it, stand in the body."""
    place, see = _FORMATS[protocol]
    holder: Any = body
    for key in place(body):
        holder = holder.get(key) if isinstance(holder, dict) else None
    root = place(body)
    calls: dict[str, _Call] = {}
    question, replies, in_reply = "", 0, False
    items = list(format.items(body)) if isinstance(holder, list) else []
    for item, (index, message) in zip(items, objects_in(holder), strict=False):
        if item.side is Side.INPUT:
            replies += in_reply
            in_reply = False
        elif item.side is Side.MODEL:
            in_reply = True
        seen = see((*root, index), message)
        calls |= {call.id: call for call in seen.calls}
        for answer in seen.answers:
            call = calls.get(answer.id)
            arguments = _object(call.arguments) if call else None
            if call and arguments is not None and question:
                yield ToolResult(answer.path, answer.text, call.tool, arguments, question, replies)
        texts = [text for one in seen.user_texts if (text := _REMINDER.sub("", one)).strip()]
        question = "\n".join(texts) or question


def _object(arguments: object) -> Mapping[str, Any] | None:
    """The arguments of a call: an object, or one spelled as JSON."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    return arguments if isinstance(arguments, dict) else None


def _only_text(path: Path, content: object, kinds: tuple[str, ...]) -> tuple[Path, str] | None:
    """A content that is one text, or an array of one part with a text; and where that is."""
    if isinstance(content, str):
        return path, content
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        part = content[0]
        if part.get("type") in kinds and isinstance(part.get("text"), str) and not is_bound(part):
            return (*path, 0, "text"), part["text"]
    return None


def _answers(id: object, path: Path, content: object, kinds: tuple[str, ...]) -> list[_Answer]:
    found = _only_text(path, content, kinds)
    return [_Answer(id, *found)] if found and isinstance(id, str) else []


def _see_anthropic(path: Path, message: JsonObject) -> _Seen:
    calls, answers = [], []
    for number, block in objects_in(message.get("content")):
        if block.get("type") == "tool_use" and isinstance(block.get("id"), str):
            calls.append(_Call(block["id"], str(block.get("name")), block.get("input")))
        elif block.get("type") == "tool_result" and not block.get("is_error"):
            place = (*path, "content", number, "content")
            answers += _answers(block.get("tool_use_id"), place, block.get("content"), ("text",))
    is_user = message.get("role") == "user"
    return _Seen(calls, answers, list(texts_in(message.get("content"))) if is_user else [])


def _see_chat(path: Path, message: JsonObject) -> _Seen:
    role = message.get("role")
    calls = []
    for _number, call in objects_in(message.get("tool_calls")):
        function = call.get("function")
        if isinstance(function, dict) and isinstance(call.get("id"), str):
            calls.append(_Call(call["id"], str(function.get("name")), function.get("arguments")))
    answers = []
    if role == "tool":
        answers = _answers(message.get("tool_call_id"), (*path, "content"), message.get("content"), ("text",))
    return _Seen(calls, answers, list(texts_in(message.get("content"))) if role == "user" else [])


def _see_responses(path: Path, item: JsonObject) -> _Seen:
    kind, id = item.get("type", "message"), item.get("call_id")
    calls, answers, texts = [], [], list[str]()
    if kind == "function_call" and isinstance(id, str):
        calls.append(_Call(id, str(item.get("name")), item.get("arguments")))
    elif kind == "local_shell_call" and isinstance(id, str):
        calls.append(_Call(id, "local_shell", item.get("action")))
    elif kind in ("function_call_output", "local_shell_call_output") and not is_bound(item):
        answers = _answers(id, (*path, "output"), item.get("output"), ("input_text",))
    elif kind == "message" and item.get("role") == "user":
        texts = list(texts_in(item.get("content")))
    return _Seen(calls, answers, texts)


_GEMINI_TEXTS: Final = ("output", "content", "result")


def _see_gemini(path: Path, content: JsonObject) -> _Seen:
    calls, answers, texts = [], [], list[str]()
    for number, part in objects_in(content.get("parts")):
        call = part.get("functionCall") or part.get("function_call")
        key = "functionResponse" if "functionResponse" in part else "function_response"
        answer = part.get(key)
        if isinstance(call, dict) and isinstance(call.get("id"), str):
            calls.append(_Call(call["id"], str(call.get("name")), call.get("args")))
        elif isinstance(answer, dict) and isinstance(answer.get("response"), dict) and not is_bound(part):
            found = [name for name in _GEMINI_TEXTS if isinstance(answer["response"].get(name), str)]
            if len(found) == 1 and isinstance(answer.get("id"), str):
                place = (*path, "parts", number, key, "response", found[0])
                answers.append(_Answer(answer["id"], place, answer["response"][found[0]]))
        elif isinstance(part.get("text"), str) and content.get("role", "user") == "user":
            texts.append(part["text"])
    return _Seen(calls, answers, texts)


def _place(key: str) -> Callable[[JsonObject], Path]:
    return lambda _body: (key,)


def _gemini_place(body: JsonObject) -> Path:
    wrapped = [
        key
        for key in ("generateContentRequest", "generate_content_request")
        if isinstance(body.get(key), dict)
    ]
    return (*wrapped[:1], "contents")


_FORMATS: Final[dict[str, tuple[Callable[[JsonObject], Path], Callable[[Path, JsonObject], _Seen]]]] = {
    "anthropic": (_place("messages"), _see_anthropic),
    "chat": (_place("messages"), _see_chat),
    "responses": (_place("input"), _see_responses),
    "gemini": (_gemini_place, _see_gemini),
}
