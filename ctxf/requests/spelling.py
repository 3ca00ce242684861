"""The JSON of a request as it is spelled: read with the place of every value, changed by splicing.

What is not changed keeps its bytes: numbers that Python cannot hold, escapes, blanks, the order of keys, keys
that are there twice (the last one counts, as for Python's parser).

The containers that texts stand in are walked here; everything else, and every string, is read by the
standard library's scanner, which tells where it has ended. That is as fast as `json.loads`. A library
that keeps raw documents (msgspec.Raw) was no faster, refuses lone surrogates, and forgets a doubled key.
"""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from ctxf.errors import RequestNotRead
from ctxf.requests.model import JsonObject
from ctxf.requests.slots import Edit, Path

__all__ = ["SpelledBody", "may_hold_marker", "may_hold_reference"]

# PROTOCOL.md §13.2: a string can spell any letter of the keyword as an escape.
_ESCAPED_KEYWORD: Final = re.compile(rb"\\u00(?:2[dD]|40|6[3-6cCeEfF]|7[48])")
_ESCAPED_REFERENCE: Final = re.compile(rb"\\u00(?:32|3[aA]|5[bB]|6[36]|76)")

# Where the texts and instructions of any format stand, and how many containers deep below.
_SPINE: Final = (
    *("messages", "input", "contents", "system", "systemInstruction", "system_instruction"),
    *("generateContentRequest", "generate_content_request"),
)
_DEPTH: Final = 5
_DEPTH_OF_RESULTS: Final = 7

_BLANKS: Final = " \t\n\r"
_BLANK_RUN: Final = re.compile(r"[ \t\n\r]*+")
_ESCAPED_NON_ASCII: Final = re.compile(rb"\\u(?!00[0-7])")
# Floats take any number of digits; no number is ever looked at.
_SCAN: Final[Callable[[str, int], tuple[Any, int]]] = vars(json.JSONDecoder(parse_int=float))["scan_once"]


def may_hold_marker(body: bytes) -> bool:
    """False when no string of the JSON `body` can hold the keyword of a marker; costs two searches."""
    if b"context-fold" in body:
        return True
    return b"\\u00" in body and _ESCAPED_KEYWORD.search(body) is not None


def may_hold_reference(body: bytes) -> bool:
    """False when no string of the JSON `body` can hold a reference."""
    if b"[cf:v2:" in body:
        return True
    return b"\\u00" in body and _ESCAPED_REFERENCE.search(body) is not None


class SpelledBody:
    """A body as JSON. `tree` is what it says: for reading texts only, no number in it is exact.

    Raises RequestNotRead for bytes that are no JSON object.
    """

    def __init__(self, body: bytes, *, with_results: bool = False) -> None:
        self._body = body
        self._depth = _DEPTH_OF_RESULTS if with_results else _DEPTH
        self._spans: dict[Path, tuple[int, int]] = {}
        try:
            self._text = body.decode("utf-8", "surrogatepass")
            start = _skip_blanks(self._text, self._text.startswith("\ufeff"))
            tree, end = self._read(start, (), 1)
            if _skip_blanks(self._text, end) != len(self._text):
                raise json.JSONDecodeError("Extra data", self._text, end)
        except UnicodeDecodeError as error:
            raise RequestNotRead(f"its body is not UTF-8 at byte {error.start}") from error
        except json.JSONDecodeError as error:
            problem = f"its body is no JSON: {error.msg} at line {error.lineno}, column {error.colno}"
            raise RequestNotRead(problem) from error
        except IndexError as error:
            raise RequestNotRead("its body is no JSON: it ends too early") from error
        except RecursionError as error:
            raise RequestNotRead("its JSON is nested too deeply") from error
        if not isinstance(tree, dict):
            raise RequestNotRead("its body is no JSON object")
        self.tree: JsonObject = tree

    def apply(self, edits: Iterable[Edit]) -> bytes:
        """The body with these changes, and nothing else changed."""
        is_ascii = self._body.isascii()
        is_escaped = is_ascii and _ESCAPED_NON_ASCII.search(self._body) is not None
        pieces: list[bytes] = []
        position = 0
        for start, end, text in sorted(self._splice(edit, is_escaped) for edit in edits):
            # Offsets count characters; where these are bytes, which is common, nothing need be encoded.
            kept = self._body[position:start] if is_ascii else _encode(self._text[position:start])
            pieces += (kept, _encode(text))
            position = end
        pieces.append(self._body[position:] if is_ascii else _encode(self._text[position:]))
        return b"".join(pieces)

    def _splice(self, edit: Edit, is_escaped: bool) -> tuple[int, int, str]:
        value = _spell(edit.value, is_escaped)
        if edit.kind == "set":
            return *self._spans[edit.path], value
        place = edit.path[:-1] if edit.kind == "add" else edit.path
        start, end = self._spans[place]
        is_empty = _skip_blanks(self._text, start + 1) == end - 1
        if edit.kind == "prepend":
            return start + 1, start + 1, value if is_empty else f"{value},"
        if edit.kind == "add":
            value = f"{json.dumps(edit.path[-1])}:{value}"
        return end - 1, end - 1, value if is_empty else f",{value}"

    def _read(self, start: int, path: Path, levels: int) -> tuple[Any, int]:
        """The value at `start` and its end; the places of what is in it, so many containers deep."""
        opener = self._text[start]
        value: Any
        if levels and opener == "{":
            value, end = self._read_object(start + 1, path, levels - 1)
        elif levels and opener == "[":
            value, end = self._read_array(start + 1, path, levels - 1)
        else:
            try:
                value, end = _SCAN(self._text, start)
            except StopIteration as error:
                raise json.JSONDecodeError("Expecting value", self._text, start) from error
        self._spans[path] = start, end
        return value, end

    def _read_object(self, position: int, path: Path, levels: int) -> tuple[JsonObject, int]:
        text, found = self._text, dict[str, Any]()
        position = _skip_blanks(text, position)
        if text[position] == "}":
            return found, position + 1
        while True:
            if text[position] != '"':
                raise json.JSONDecodeError("Expecting a key in double quotes", text, position)
            key, position = _SCAN(text, position)
            position = self._behind(":", position)
            deeper = levels if path else self._depth * (key in _SPINE)
            found[key], position = self._read(position, (*path, key), deeper)
            if text[position] in _BLANKS:
                position = _skip_blanks(text, position)
            if text[position] == "}":
                return found, position + 1
            position = self._behind(",", position)

    def _read_array(self, position: int, path: Path, levels: int) -> tuple[list[Any], int]:
        text, found = self._text, list[Any]()
        position = _skip_blanks(text, position)
        if text[position] == "]":
            return found, position + 1
        while True:
            value, position = self._read(position, (*path, len(found)), levels)
            found.append(value)
            if text[position] in _BLANKS:
                position = _skip_blanks(text, position)
            if text[position] == "]":
                return found, position + 1
            position = self._behind(",", position)

    def _behind(self, separator: str, position: int) -> int:
        """The place of what comes behind a separator, the blanks around it skipped."""
        text = self._text
        if text[position] in _BLANKS:
            position = _skip_blanks(text, position)
        if text[position] != separator:
            raise json.JSONDecodeError(f"Expecting {separator!r}", text, position)
        position += 1
        return _skip_blanks(text, position) if text[position] in _BLANKS else position


def _skip_blanks(text: str, position: int) -> int:
    match = _BLANK_RUN.match(text, position)
    assert match is not None  # it matches nothing, too
    return match.end()


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _spell(value: object, is_escaped: bool) -> str:
    """JSON as the rest of the body is written; a lone surrogate is always an escape."""
    text = json.dumps(value, ensure_ascii=is_escaped, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
