"""HTTP as it is on the wire: header lists that pass from one side to the other, and errors of our own."""

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from typing import Any, Final, Literal

__all__ = [
    "ClientGone",
    "Headers",
    "Message",
    "Provider",
    "Receive",
    "Scope",
    "Send",
    "Upstream",
    "error_body",
    "first",
    "forwarded",
    "has",
    "without",
]

Headers = list[tuple[bytes, bytes]]
"""As they came, in their order, repeated ones repeated."""

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

Provider = Literal["anthropic", "openai", "gemini"]
Upstream = Literal[Provider, "chatgpt"]
"""A provider by its address: OpenAI has another one for who signed in with ChatGPT instead of a key."""

# RFC 9110 §7.6.1: they are about one connection. `trailer` among them, since neither h11's client nor ASGI
# servers hand trailers on; `expect`, since the answer 100 comes from this end.
_HOP_BY_HOP: Final = frozenset(
    (
        b"connection",
        b"expect",
        b"keep-alive",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    )
)


class ClientGone(Exception):
    """The client closed its connection; nobody waits for an answer."""


def forwarded(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers that are for the other end, byte for byte.

    A Content-Length beside a Transfer-Encoding means nothing (RFC 9112 §6.3), so it stays behind with it.
    """
    headers = list(headers)
    dropped = set(_HOP_BY_HOP)
    for value in _values(headers, b"connection"):
        dropped |= {token.strip().lower() for token in value.split(b",")} - {b"content-length"}
    if has(headers, b"transfer-encoding"):
        dropped.add(b"content-length")
    return without(headers, dropped)


def without(headers: Iterable[tuple[bytes, bytes]], names: Iterable[bytes]) -> Headers:
    """The headers but those of these lower-case names."""
    names = frozenset(names)
    return [(name, value) for name, value in headers if name.lower() not in names]


def has(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bool:
    """Whether there is a header of this lower-case name."""
    return any(True for _ in _values(headers, name))


def first(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes | None:
    """The value of the first header of this lower-case name."""
    return next(_values(headers, name), None)


def _values(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> Iterator[bytes]:
    return (value for key, value in headers if key.lower() == name)


def error_body(provider: Provider | None, status: int, message: str) -> bytes:
    """An error of the gateway in the shape of the provider's own, so that a client can show it."""
    message = f"ctxf gateway: {message}"
    shown: dict[str, Any]
    if provider == "anthropic":
        shown = {"type": "error", "error": {"type": "api_error", "message": message}}
    elif provider == "gemini":
        shown = {"error": {"code": status, "message": message, "status": "UNAVAILABLE"}}
    else:
        shown = {"error": {"message": message, "type": "gateway_error", "param": None, "code": None}}
    return json.dumps(shown).encode("ascii") + b"\n"
