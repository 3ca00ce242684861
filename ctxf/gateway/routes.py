"""Which requests go where, and which of them carry a conversation."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from ctxf.gateway.wire import Provider

__all__ = ["Protocol", "Route", "find_route"]

Protocol = Literal["anthropic", "chat", "responses", "gemini"]


@dataclass(frozen=True, slots=True)
class Route:
    """Where a request goes.

    `target` is the path, and the query if there is one, to put behind the provider's base URL.
    `protocol` is the wire format of the conversation in the body; None where there is none to fold.
    """

    provider: Provider
    target: bytes
    protocol: Protocol | None


_PREFIXES: Final[tuple[tuple[bytes, Provider], ...]] = (
    (b"/anthropic", "anthropic"),
    (b"/openai/v1", "openai"),
    (b"/gemini", "gemini"),
)

# A counting or compacting endpoint takes what its sending twin takes: what it says must fit that one.
_CONVERSATIONS: Final[dict[Provider, tuple[tuple[re.Pattern[bytes], Protocol], ...]]] = {
    "anthropic": ((re.compile(rb"/v1/messages(?:/count_tokens)?"), "anthropic"),),
    "openai": (
        (re.compile(rb"/responses(?:/compact|/input_tokens)?"), "responses"),
        (re.compile(rb"/chat/completions"), "chat"),
    ),
    "gemini": ((re.compile(rb"/.+:(?:generateContent|streamGenerateContent|countTokens)"), "gemini"),),
}


def find_route(method: str, raw_path: bytes, query: bytes) -> Route | None:
    """The route of a request by its path as it came, percent-encoding and all; None where there is none."""
    for prefix, provider in _PREFIXES:
        path = raw_path.removeprefix(prefix)
        if path != raw_path and (path == b"" or path.startswith(b"/")):
            protocol = _protocol(provider, path) if method == "POST" else None
            return Route(provider, path + b"?" + query if query else path, protocol)
    return None


def _protocol(provider: Provider, path: bytes) -> Protocol | None:
    return next((name for shape, name in _CONVERSATIONS[provider] if shape.fullmatch(path)), None)
