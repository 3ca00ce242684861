"""Anthropic Messages, `POST /v1/messages` and `/v1/messages/count_tokens` (PROTOCOL.md §13.8)."""

from collections.abc import Iterator
from typing import Final

from ctxf.requests.model import JsonObject
from ctxf.requests.slots import Edit, Format, Item, Side, message_items, objects_in, texts_in

__all__ = ["ANTHROPIC"]

# Messages of role `system` stand among the others too (Claude Code puts what its hooks say there).
_SIDES: Final = {"assistant": Side.MODEL, "user": Side.INPUT}


def _items(body: JsonObject) -> Iterator[Item]:
    # A client may send the same message as a text and as a block, as its cache breakpoint moves on.
    return message_items(body, _SIDES)


def _tools(body: JsonObject) -> Iterator[str]:
    for _index, tool in objects_in(body.get("tools")):
        if isinstance(tool.get("name"), str):
            yield tool["name"]


def _system_texts(body: JsonObject) -> Iterator[str]:
    yield from texts_in(body.get("system"))
    for _index, message in objects_in(body.get("messages")):
        if message.get("role") == "system":
            yield from texts_in(message.get("content"))


def _add_guidance(body: JsonObject, text: str) -> Edit | None:
    system = body.get("system")
    if isinstance(system, list):
        # Behind the last block: those before it, Claude Code's billing header and the blocks with a cache
        # breakpoint, keep their places and their bytes.
        return Edit("append", ("system",), {"type": "text", "text": text})
    if isinstance(system, str):
        return Edit("set", ("system",), f"{system}\n\n{text}" if system else text)
    return Edit("add" if "system" not in body else "set", ("system",), text) if system is None else None


def _has_history(body: JsonObject) -> bool:
    return isinstance(body.get("messages"), list)


ANTHROPIC: Final = Format(_items, _tools, _system_texts, _add_guidance, _has_history)
