"""Gemini, `models/M:generateContent`, `:streamGenerateContent` and `:countTokens` (PROTOCOL.md §13.8).

JSON keys may be spelled in camelCase or in snake_case. What is counted may stand in an inner request.
"""

from collections.abc import Iterator
from typing import Any, Final

from ctxf.requests.model import JsonObject
from ctxf.requests.slots import Edit, Format, Item, Path, Side, Slot, is_bound, objects_in, texts_in

__all__ = ["GEMINI"]

# Contents without a role are the user's.
_SIDES: Final = {"model": Side.MODEL, **dict.fromkeys(("user", "function", "None"), Side.INPUT)}


def _request(body: JsonObject) -> tuple[Path, JsonObject]:
    """Where the request stands in the body: `countTokens` may wrap it."""
    key, inner = _spelled(body, "generateContentRequest", "generate_content_request")
    return ((key,), inner) if isinstance(inner, dict) else ((), body)


def _spelled(holder: JsonObject, *spellings: str) -> tuple[str, Any]:
    """The spelling of a key that is there, else the first, and its value."""
    return next(((key, holder[key]) for key in spellings if key in holder), (spellings[0], None))


def _items(body: JsonObject) -> Iterator[Item]:
    root, request = _request(body)
    for index, content in objects_in(request.get("contents")):
        side = _SIDES.get(str(content.get("role")), Side.OTHER)
        place = (*root, "contents", index, "parts")
        yield Item(side, tuple(_slots(place, content)) if side is Side.MODEL else ())


def _slots(place: Path, content: JsonObject) -> Iterator[Slot]:
    if is_bound(content):
        return
    for number, part in objects_in(content.get("parts")):
        if isinstance(part.get("text"), str) and not part.get("thought") and not is_bound(part):
            yield Slot((*place, number, "text"), part["text"])


def _tools(body: JsonObject) -> Iterator[str]:
    for _index, tool in objects_in(_request(body)[1].get("tools")):
        for _number, function in objects_in(
            _spelled(tool, "functionDeclarations", "function_declarations")[1]
        ):
            if isinstance(function.get("name"), str):
                yield function["name"]


def _system_texts(body: JsonObject) -> Iterator[str]:
    system = _spelled(_request(body)[1], "systemInstruction", "system_instruction")[1]
    if isinstance(system, dict):
        yield from texts_in(system.get("parts"))


def _add_guidance(body: JsonObject, text: str) -> Edit | None:
    root, request = _request(body)
    if _spelled(request, "cachedContent", "cached_content")[1]:
        return None  # the instruction is part of what is cached, and may not be given again
    key, system = _spelled(request, "systemInstruction", "system_instruction")
    part = {"text": text}
    if system is None:
        return Edit("set" if key in request else "add", (*root, key), {"parts": [part]})
    if isinstance(system, dict) and isinstance(system.get("parts"), list):
        return Edit("append", (*root, key, "parts"), part)
    return None


def _has_history(body: JsonObject) -> bool:
    return isinstance(_request(body)[1].get("contents"), list)


GEMINI: Final = Format(_items, _tools, _system_texts, _add_guidance, _has_history)
