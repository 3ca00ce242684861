"""OpenAI Responses, `POST /v1/responses`, also `.../compact` and `.../input_tokens` (PROTOCOL.md §13.8)."""

from collections.abc import Iterator
from typing import Final

from ctxf.requests.model import JsonObject
from ctxf.requests.slots import Edit, Format, Item, Side, Slot, is_bound, objects_in, texts_in

__all__ = ["RESPONSES"]

_ROLES: Final = {"assistant": Side.MODEL, "user": Side.INPUT}
# What the model made, and what the client answered. The results of tools that run at the provider's are part
# of the one response that they stand in, and so are neither.
_SIDES: Final = {
    **dict.fromkeys(
        (
            *("reasoning", "function_call", "custom_tool_call", "tool_search_call", "program"),
            *("local_shell_call", "shell_call", "apply_patch_call", "computer_call", "mcp_call"),
            *("mcp_approval_request", "file_search_call", "web_search_call", "code_interpreter_call"),
            "image_generation_call",
        ),
        Side.MODEL,
    ),
    **dict.fromkeys(
        (
            *("function_call_output", "custom_tool_call_output", "local_shell_call_output"),
            *("shell_call_output", "apply_patch_call_output", "computer_call_output"),
            "mcp_approval_response",
        ),
        Side.INPUT,
    ),
}
_SYSTEM: Final = ("system", "developer")
_TEXT_PARTS: Final = ("output_text", "input_text", "text")


def _items(body: JsonObject) -> Iterator[Item]:
    conversation = body.get("input")
    if isinstance(conversation, str):
        yield Item(Side.INPUT)
    for index, item in objects_in(conversation):
        if not _is_message(item):
            yield Item(_side_of(item))
            continue
        side = _ROLES.get(str(item.get("role")), Side.OTHER)
        yield Item(side, tuple(_slots(index, item)) if side is Side.MODEL else ())


def _is_message(item: JsonObject) -> bool:
    return bool(item.get("type", "message") == "message")


def _side_of(item: JsonObject) -> Side:
    kind = item.get("type")
    if kind == "tool_search_output" and item.get("execution") == "client":
        return Side.INPUT
    return _SIDES.get(str(kind), Side.OTHER)


def _slots(index: int, message: JsonObject) -> Iterator[Slot]:
    content = message.get("content")
    if is_bound(message):
        return
    if isinstance(content, str):
        yield Slot(("input", index, "content"), content)
    for number, part in objects_in(content):
        if part.get("type") in _TEXT_PARTS and isinstance(part.get("text"), str) and not is_bound(part):
            yield Slot(("input", index, "content", number, "text"), part["text"])


def _tools(body: JsonObject) -> Iterator[str]:
    yield from _names(body.get("tools"))
    for _index, item in objects_in(body.get("input")):
        if item.get("type") in ("additional_tools", "tool_search_output"):
            yield from _names(item.get("tools"))


def _names(tools: object) -> Iterator[str]:
    """The names of tools; a tool without one, as the shell of the API itself, goes by its type."""
    for _index, tool in objects_in(tools):
        name = tool.get("name", tool.get("type"))
        if not isinstance(name, str):
            continue
        if tool.get("type") != "namespace":
            yield name
            continue
        for inner in _names(tool.get("tools")):
            yield from (inner, name + inner, f"{name}__{inner}")


def _system_texts(body: JsonObject) -> Iterator[str]:
    yield from texts_in(body.get("instructions"))
    for _index, item in objects_in(body.get("input")):
        if _is_message(item) and item.get("role") in _SYSTEM:
            yield from texts_in(item.get("content"))


def _add_guidance(body: JsonObject, text: str) -> Edit | None:
    instructions = body.get("instructions")
    if isinstance(instructions, str):
        return Edit("set", ("instructions",), f"{instructions}\n\n{text}" if instructions else text)
    if instructions is not None or body.get("prompt"):
        return None  # a stored prompt has instructions of its own, which ours would replace
    for index, item in objects_in(body.get("input")):
        if _is_message(item):
            # Codex gives its instructions as a message: then ours belong there too.
            if item.get("role") in _SYSTEM and isinstance(item.get("content"), list):
                return Edit("append", ("input", index, "content"), {"type": "input_text", "text": text})
            break
    return Edit("set" if "instructions" in body else "add", ("instructions",), text)


def _is_elsewhere(body: JsonObject) -> bool:
    return bool(body.get("previous_response_id") or body.get("conversation"))


def _has_history(body: JsonObject) -> bool:
    # A stored prompt, and a conversation that the provider keeps, may go on without an input.
    return isinstance(body.get("input"), list | str) or bool(body.get("prompt")) or _is_elsewhere(body)


RESPONSES: Final = Format(_items, _tools, _system_texts, _add_guidance, _has_history, _is_elsewhere)
