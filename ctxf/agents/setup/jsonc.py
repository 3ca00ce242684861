"""Edits JSON by offset: one member or item goes in or out, and every other byte stays.

Comments and trailing commas (JSONC, as Gemini CLI and editors take it) are passed over and kept. A library
that reads and writes the whole document was rejected: it would reformat what is not ours.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["JsoncError", "append_item", "get_value", "remove_items", "remove_member", "set_member"]

_MAX_DEPTH: Final = 200
_SPACE = re.compile(r"(?:[ \t\r\n]++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+"')
_SCALAR = re.compile(r"-?[0-9][0-9.eE+-]*+|true|false|null")


class JsoncError(ValueError):
    """The text is no JSON, or something else stands where an edit has to go."""


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object (`key`) or an item of an array; `start` is where its key or itself begins."""

    start: int
    key: str
    value: "_Node"


@dataclass(frozen=True, slots=True)
class _Node:
    """A value at `start:end`; `kind` is its first character."""

    kind: str
    start: int
    end: int
    members: tuple[_Member, ...] = ()


def get_value(text: str, path: Sequence[str] = ()) -> Any:
    """The value at `path` of objects' keys; None where there is none. Raises JsoncError."""
    node: _Node | None = _parse(text)
    for key in path:
        node = _find(node, key) if node is not None and node.kind == "{" else None
    return None if node is None else _value(text, node)


def set_member(text: str, path: Sequence[str], value: Any) -> str:
    """`text` with `value` at `path`; objects that are missing on the way are made. Raises JsoncError."""
    return _edit(text, path, value, lambda _text, _node: None)


def append_item(text: str, path: Sequence[str], value: Any) -> str:
    """`text` with `value` as the last item of the array at `path`, made where missing. Raises JsoncError."""

    def append(text: str, node: _Node) -> str | None:
        if node.kind != "[":
            raise JsoncError(f"{'.'.join(path)} is no array")
        return _insert(text, node, _depth(path), lambda indent: _dump(value, indent))

    return _edit(text, path, [value], append)


def remove_member(text: str, path: Sequence[str]) -> str:
    """`text` without the member at `path`; the same text where there is none. Raises JsoncError."""
    node: _Node | None = _parse(text)
    for key in path[:-1]:
        node = _find(node, key) if node is not None and node.kind == "{" else None
    if node is None or node.kind != "{":
        return text
    for index, member in enumerate(node.members):
        if member.key == path[-1]:
            return _cut(text, node, index)
    return text


def remove_items(text: str, path: Sequence[str], is_ours: Callable[[Any], bool]) -> str:
    """`text` without the items of the array at `path` that are ours. Raises JsoncError."""
    while True:
        node: _Node | None = _parse(text)
        for key in path:
            node = _find(node, key) if node is not None and node.kind == "{" else None
        if node is None or node.kind != "[":
            return text
        for index, item in enumerate(node.members):
            if is_ours(_value(text, item.value)):
                text = _cut(text, node, index)
                break
        else:
            return text


def _edit(text: str, path: Sequence[str], value: Any, change: Callable[[str, _Node], str | None]) -> str:
    """Put `value` at `path`; where something stands there, `change` may do otherwise."""
    node = _parse(text)
    for depth, key in enumerate(path):
        if node.kind != "{":
            raise JsoncError(f"{'.'.join(path[:depth]) or 'the document'} is no object")
        below = _find(node, key)
        if below is None:
            made = value
            for name in reversed(path[depth + 1 :]):
                made = {name: made}
            return _insert(text, node, depth, lambda indent: f"{json.dumps(key)}: {_dump(made, indent)}")  # noqa: B023
        node = below
    changed = change(text, node)
    if changed is not None:
        return changed
    indent = _indent(text) * _depth(path)
    return text[: node.start] + _dump(value, (_indent(text), indent, _newline(text))) + text[node.end :]


_Indent = tuple[str, str, str]  # one step, what a line at this depth begins with, the line end


def _depth(path: Sequence[str]) -> int:
    return len(path)


def _insert(text: str, node: _Node, depth: int, write: Callable[[_Indent | None], str]) -> str:
    """`text` with one more member at the end of an object or array that is `depth` deep."""
    step, newline = _indent(text), _newline(text)
    inner, outer = step * (depth + 1), step * depth
    if node.members:
        last = node.members[-1].value.end
        is_one_line = "\n" not in text[node.start : node.members[0].start]
        behind = _SPACE.match(text, last)
        comma = behind.end() if behind and text.startswith(",", behind.end()) else None
        written = write(None if is_one_line else (step, inner, newline))
        gap = " " if is_one_line else newline + inner
        if comma is not None:
            return f"{text[: comma + 1]}{gap}{written},{text[comma + 1 :]}"
        return f"{text[:last]},{gap}{written}{text[last:]}"
    inside = text[node.start + 1 : node.end - 1]
    written = write((step, inner, newline))
    head, tail = text[: node.start + 1], text[node.end - 1 :]
    return f"{head}{inside.rstrip()}{newline}{inner}{written}{newline}{outer}{tail}"


def _cut(text: str, node: _Node, index: int) -> str:
    """`text` without one member, its comma, and the blanks around; comments between members stay."""
    member = node.members[index]
    start, end = member.start, member.value.end
    behind = _SPACE.match(text, end)
    after = behind.end() if behind else end
    has_comma = text.startswith(",", after)
    if len(node.members) == 1:
        start = _back(text, start, node.start + 1)
        end = after + has_comma
        rest = text[end : node.end - 1]
        if not text[node.start + 1 : start] and not rest.strip():
            return text[: node.start + 1] + text[node.end - 1 :]
        return text[:start] + text[end:]
    if index and has_comma and index + 1 == len(node.members):
        comma = _skip(text, node.members[index - 1].value.end)
        if not text[comma + 1 : start].strip():
            return text[: comma + 1] + text[end:after] + text[after + 1 :]
    if has_comma:  # its own comma goes with it, so that what follows keeps its place
        rest = text[end:after] + text[after + 1 :]
        return text[:start] + (rest.lstrip(" \t\r\n") if index + 1 < len(node.members) else rest)
    before = node.members[index - 1].value.end
    comma = _skip(text, before)
    gap = text[comma + 1 : start]
    if not text[before:comma] + gap.strip():
        return text[:before] + text[end:]
    return text[:comma] + gap.rstrip() + text[end:]


def _back(text: str, position: int, limit: int) -> int:
    while position > limit and text[position - 1] in " \t\r\n":
        position -= 1
    return position


def _dump(value: Any, indent: _Indent | None) -> str:
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    step, here, newline = indent
    dumped = json.dumps(value, ensure_ascii=False, indent=step or None)
    return dumped.replace("\n", newline + here)


def _indent(text: str) -> str:
    """What the document indents by: what its first member stands behind, else two blanks."""
    match = re.search(r"[{\[][ \t]*\r?\n([ \t]+)[\"{\[]", text)
    return match[1] if match else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _find(node: _Node, key: str) -> _Node | None:
    found = [member.value for member in node.members if member.key == key]
    if len(found) > 1:
        raise JsoncError(f"{key!r} stands there twice")
    return found[0] if found else None


def _value(text: str, node: _Node) -> Any:
    if node.kind == "{":
        return {member.key: _value(text, member.value) for member in node.members}
    if node.kind == "[":
        return [_value(text, member.value) for member in node.members]
    return json.loads(text[node.start : node.end])


def _parse(text: str) -> _Node:
    node = _parse_value(text, _skip(text, 0), 0)
    end = _skip(text, node.end)
    if end != len(text):
        raise _unexpected(text, end)
    return node


def _parse_value(text: str, position: int, depth: int) -> _Node:
    if depth > _MAX_DEPTH:
        raise JsoncError("is nested too deeply")
    kind = text[position : position + 1]
    if kind in ("{", "["):
        return _parse_members(text, position, depth, "}" if kind == "{" else "]")
    match = _STRING.match(text, position) or _SCALAR.match(text, position)
    if match is None:
        raise _unexpected(text, position)
    try:
        json.loads(match[0])
    except ValueError:
        raise _unexpected(text, position) from None
    return _Node(kind, position, match.end())


def _parse_members(text: str, start: int, depth: int, closer: str) -> _Node:
    members: list[_Member] = []
    position = _skip(text, start + 1)
    while not text.startswith(closer, position):
        begin, key = position, ""
        if closer == "}":
            match = _STRING.match(text, position)
            if match is None:
                raise _unexpected(text, position)
            key = json.loads(match[0])
            colon = _skip(text, match.end())
            if not text.startswith(":", colon):
                raise _unexpected(text, colon)
            position = _skip(text, colon + 1)
        value = _parse_value(text, position, depth + 1)
        members.append(_Member(begin, key, value))
        position = _skip(text, value.end)
        if text.startswith(",", position):
            position = _skip(text, position + 1)
        elif not text.startswith(closer, position):
            raise _unexpected(text, position)
    return _Node(text[start], start, position + 1, tuple(members))


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _unexpected(text: str, position: int) -> JsoncError:
    line = text.count("\n", 0, position) + 1
    found = repr(text[position : position + 10]) if position < len(text) else "the end"
    return JsoncError(f"is no JSON: line {line} has {found} where something else must stand")
