"""The JSON of a request as it is spelled: read with the place of every value, changed by splicing.

What is not changed keeps its bytes: numbers that Python cannot hold, escapes, blanks, the order of keys, keys
that are there twice (the last one counts, as for Python's parser).

The body and the arrays in it are walked here; every message and whatever else is in them is read by the
standard library's scanner, which tells where it has ended, at the speed of `json.loads`. A message is walked
only if a text in it changes, or is likely to.

A library that keeps raw documents (msgspec.Raw) knows no places in the whole, refuses lone surrogates, and
forgets a doubled key.
"""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from ctxf.errors import RequestNotRead
from ctxf.protocol.markers import KEYWORD
from ctxf.protocol.scan_text import find_sequence
from ctxf.requests.model import JsonObject
from ctxf.requests.slots import Edit, Path

__all__ = ["SpelledBody", "may_hold_marker", "may_hold_reference"]

# PROTOCOL.md §13.2: a string can spell any letter of the keyword as an escape.
_ESCAPED_KEYWORD: Final = re.compile(rb"\\u00(?:2[dD]|40|6[3-6cCeEfF]|7[48])")
_ESCAPED_REFERENCE: Final = re.compile(rb"\\u00(?:32|3[aA]|5[bB]|6[36]|76)")

# A message that begins with the model's role is likely to change: walked at once, its text is read only once.
_OWN: Final = re.compile(r'\{[^{}\[\]]{0,80}"(?:assistant|model)"')

_BLANKS: Final = " \t\n\r"
_BLANK_RUN: Final = re.compile(r"[ \t\n\r]*+")
_ESCAPED_NON_ASCII: Final = re.compile(rb"\\u(?!00[0-7])")
# Floats take any number of digits; no number is ever looked at.
_SCAN: Final[Callable[[str, int], tuple[Any, int]]] = vars(json.JSONDecoder(parse_int=float))["scan_once"]


def may_hold_marker(body: bytes) -> bool:
    """False when no string of the JSON `body` can hold the keyword of a marker; costs two searches."""
    if find_sequence(body, KEYWORD) < len(body):
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

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._spans: dict[Path, tuple[int, int]] = {}
        try:
            self._text = body.decode("utf-8", "surrogatepass")
            start = _skip_blanks(self._text, self._text.startswith("\ufeff"))
            tree, end = self._read(start, (), 2)
            if _skip_blanks(self._text, end) != len(self._text):
                raise json.JSONDecodeError("Extra data", self._text, end)
        except UnicodeDecodeError as error:
            raise RequestNotRead(f"its body is not UTF-8 at byte {error.start}") from error
        except json.JSONDecodeError as error:
            problem = f"its body is no JSON: {error.msg} at line {error.lineno}, column {error.colno}"
            raise RequestNotRead(problem) from error
        except StopIteration as error:  # so does the scanner say that no value begins here
            raise RequestNotRead(
                f"its body is no JSON: a value is missing at character {error.value}"
            ) from error
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
            return *self._span(edit.path), value
        place = edit.path[:-1] if edit.kind == "add" else edit.path
        start, end = self._span(place)
        is_empty = _skip_blanks(self._text, start + 1) == end - 1
        if edit.kind == "prepend":
            return start + 1, start + 1, value if is_empty else f"{value},"
        if edit.kind == "add":
            value = f"{json.dumps(edit.path[-1])}:{value}"
        return end - 1, end - 1, value if is_empty else f",{value}"

    def _span(self, path: Path) -> tuple[int, int]:
        """Where the value at `path` begins and ends; its containers are walked when they are asked for."""
        known = len(path)
        while path[:known] not in self._spans:
            known -= 1
        if known < len(path):
            self._read(self._spans[path[:known]][0], path[:known], len(path) - known)
        return self._spans[path]

    def _read(self, start: int, path: Path, levels: int) -> tuple[Any, int]:
        """The value at `start` and its end; the places of what is in it, so many containers deep."""
        opener = self._text[start]
        value: Any
        if levels and opener == "{":
            value, end = self._read_object(start + 1, path, levels - 1)
        elif levels and opener == "[":
            value, end = self._read_array(start + 1, path, levels - 1)
        else:
            value, end = _SCAN(self._text, start)
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
            found[key], position = self._read(position, (*path, key), levels)
            closer = text[position]
            if closer in _BLANKS:
                position = _skip_blanks(text, position)
                closer = text[position]
            if closer == "}":
                return found, position + 1
            position = self._behind(",", position)

    def _read_array(self, position: int, path: Path, levels: int) -> tuple[list[Any], int]:
        text, found = self._text, list[Any]()
        position = _skip_blanks(text, position)
        if text[position] == "]":
            return found, position + 1
        while True:
            deeper = levels or 3 * (_OWN.match(text, position) is not None)
            value, position = self._read(position, (*path, len(found)), deeper)
            found.append(value)
            closer = text[position]
            if closer in _BLANKS:
                position = _skip_blanks(text, position)
                closer = text[position]
            if closer == "]":
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
