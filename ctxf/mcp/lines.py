"""One line of what a client writes: made readable for the SDK, or answered where it cannot be read.

The SDK drops a line that is no message of JSON-RPC, and the client would wait for ever. So such a line is
answered here, as JSON-RPC 2.0 §5 has it. The SDK's parser also refuses a lone surrogate (`"\\ud800"`).
Nothing archived holds one, so it becomes U+FFFD, and the tools say what they do not find.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from mcp_types import INVALID_REQUEST, PARSE_ERROR, JSONRPCNotification, jsonrpc_message_adapter
from pydantic import ValidationError

__all__ = ["refusals", "too_long", "without_lone_surrogates"]

_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"|[{}\[\]]')
_ID: Final = re.compile(rb'[ \t\r]*+:[ \t\r]*+(-?[0-9]{1,100}+(?![.eE])|"(?:[^"\\]|\\.)*+")')


def without_lone_surrogates(line: bytes) -> bytes:
    """A line of JSON with the escapes of lone surrogates replaced; all others stay."""
    return _ESCAPE.sub(lambda match: rb"\ufffd" if match[1] else match[0], line)


def refusals(line: bytes) -> list[bytes] | None:
    """None where the SDK takes the line. Else what to answer: lines, none to a notification or a response."""
    if not line.strip():
        return []
    # As the SDK decodes it. Nothing that it takes becomes another message by that: only strings change.
    text = line.rstrip().decode("utf-8", "replace")
    try:
        read = jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
    else:
        if not isinstance(read, JSONRPCNotification) or b'"id"' not in line:
            return None
        message = json.loads(text)
        if "id" not in message:
            return None
        return list(_refused(message, "an id is a string or an integer"))
    if problem["type"] == "json_invalid":
        return [_error(PARSE_ERROR, problem["msg"], _id_in(line))]
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):  # a number too long for Python
        return [_error(INVALID_REQUEST, "no message of JSON-RPC 2.0", _id_in(line))]
    if not isinstance(message, list):
        return list(_refused(message, "no message of JSON-RPC 2.0"))
    words = "batches are not supported" if message else "an empty batch"
    return [answer for one in message for answer in _refused(one, words)] or [
        _error(INVALID_REQUEST, words, None)
    ]


def too_long(head: bytes, limit: int) -> bytes:
    """The answer to a line of more than `limit` bytes that starts like this."""
    return _error(PARSE_ERROR, f"a line of more than {limit:,} bytes", _id_in(head))


def _refused(message: object, words: str) -> Iterator[bytes]:
    if not isinstance(message, dict):
        yield _error(INVALID_REQUEST, words, None)
        return
    if "id" not in message and isinstance(message.get("method"), str):
        return  # a notification
    if "method" not in message and ("result" in message or "error" in message):
        return  # a response
    id = message.get("id")
    is_id = isinstance(id, str | int) and not isinstance(id, bool)
    yield _error(INVALID_REQUEST, words, id if is_id else None)


def _error(code: int, words: str, id: Any) -> bytes:
    answer = {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": words}}
    return json.dumps(answer).encode("ascii") + b"\n"


def _id_in(line: bytes) -> str | int | None:
    """The id of a request in what is no JSON, or too deep for a parser: the first at the outermost level."""
    depth = 0
    for token in _TOKEN.finditer(line):
        first = token[0]
        if first in (b"{", b"["):
            depth += 1
        elif first in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and first == b'"id"' and (match := _ID.match(line, token.end())):
            try:
                id = json.loads(match[1])
            except ValueError:  # control characters, no UTF-8
                return None
            assert isinstance(id, str | int)
            return id
    return None
