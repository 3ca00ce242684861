"""OpenAI Chat Completions, `POST /v1/chat/completions` (PROTOCOL.md §13.8)."""

from collections.abc import Iterator
from typing import Final

from ctxf.requests.model import JsonObject
from ctxf.requests.slots import Edit, Format, Item, Side, message_items, objects_in, texts_in

__all__ = ["CHAT"]

_SYSTEM: Final = ("system", "developer")
_SIDES: Final = {
    "assistant": Side.MODEL,
    **dict.fromkeys(("user", "tool", "function"), Side.INPUT),
}


def _items(body: JsonObject) -> Iterator[Item]:
    # `audio` names a spoken reply that the provider keeps: its text is a transcript of it.
    return message_items(body, _SIDES, bonds=("audio",))


def _tools(body: JsonObject) -> Iterator[str]:
    for _index, tool in objects_in(body.get("tools")):
        kind = tool.get(str(tool.get("type")))
        if isinstance(kind, dict) and isinstance(kind.get("name"), str):
            yield kind["name"]
    for _index, function in objects_in(body.get("functions")):  # before there were tools
        if isinstance(function.get("name"), str):
            yield function["name"]


def _system_texts(body: JsonObject) -> Iterator[str]:
    for _index, message in objects_in(body.get("messages")):
        if message.get("role") in _SYSTEM:
            yield from texts_in(message.get("content"))


def _add_guidance(body: JsonObject, text: str) -> Edit | None:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return None
    first = messages[0]
    if not isinstance(first, dict) or first.get("role") not in _SYSTEM:
        return Edit("prepend", ("messages",), {"role": "system", "content": text})
    content = first.get("content")
    if isinstance(content, str):
        return Edit("set", ("messages", 0, "content"), f"{content}\n\n{text}")
    if isinstance(content, list):
        return Edit("append", ("messages", 0, "content"), {"type": "text", "text": text})
    return None


def _has_history(body: JsonObject) -> bool:
    return isinstance(body.get("messages"), list)


CHAT: Final = Format(_items, _tools, _system_texts, _add_guidance, _has_history)
