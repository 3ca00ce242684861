"""Which conversation a request belongs to, and so in which scope its blocks are.

A client's own session id comes first, since hooks and `ctxf mcp` derive the scope from it too. A client
that has none is known by the opening words of the conversation, which every later request repeats. Gemini
CLI has none with a key; where our hook named a scope in these opening words, that one it is.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ctxf.conversations.clients import CLAUDE_CODE, CODEX
from ctxf.conversations.scopes import session_scope
from ctxf.gateway.guard import SESSION_HEADER
from ctxf.gateway.routes import Protocol
from ctxf.gateway.wire import Headers, first

__all__ = ["find_scope", "find_scope_in"]

# For sessions that only a gateway sees; never a client's name.
_GATEWAY: Final = "gateway"

_HEADERS: Final[tuple[tuple[bytes, str], ...]] = (
    (SESSION_HEADER, _GATEWAY),  # whoever calls a provider from a program of his own
    (b"x-claude-code-session-id", CLAUDE_CODE),
    (b"session-id", CODEX),
    (b"session_id", CODEX),
)
_CREDENTIALS: Final = (b"authorization", b"x-api-key", b"x-goog-api-key")
_CLAUDE_USER_ID: Final = re.compile(r"_session_([0-9a-f-]{36})\Z")
# How Gemini CLI shows what a hook says, and how our guidance names the scope.
_HOOK_CONTEXT: Final = "<hook_context>"
_NAMED_SCOPE: Final = re.compile(r" --scope (c-[0-9a-f]{32}) --id ")


@dataclass(frozen=True, slots=True)
class Session:
    """A session as its scope is derived: the client's name and its id for the session."""

    client: str
    id: str


def find_scope(secret: bytes, protocol: Protocol, headers: Headers, body: bytes) -> str | None:
    """The scope of a request's session; None for a body that is no request, or says nothing at all."""
    if session := _by_header(headers):
        return session_scope(secret, session.client, session.id)
    try:
        tree = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return find_scope_in(secret, protocol, headers, tree) if isinstance(tree, dict) else None


def find_scope_in(secret: bytes, protocol: Protocol, headers: Headers, tree: dict[str, Any]) -> str | None:
    """The same for a body that is parsed already."""
    session = _by_header(headers) or _by_key(protocol, tree)
    if session is None and (scope := _named_by_hook(protocol, tree)):
        return scope
    session = session or _by_opening(protocol, headers, tree)
    return None if session is None else session_scope(secret, session.client, session.id)


def _by_header(headers: Headers) -> Session | None:
    for name, client in _HEADERS:
        if value := first(headers, name):
            return Session(client, value.decode("latin-1"))
    return None


def _by_key(protocol: Protocol, tree: dict[str, Any]) -> Session | None:
    """The session by a key that the request's body holds for the provider."""
    if protocol == "anthropic":
        metadata = tree.get("metadata")
        user_id = metadata.get("user_id") if isinstance(metadata, dict) else None
        session_id = _claude_session(user_id) if isinstance(user_id, str) else None
        return None if session_id is None else Session(CLAUDE_CODE, session_id)
    key = tree.get("prompt_cache_key") if protocol in ("chat", "responses") else None
    return Session(_GATEWAY, f"prompt_cache_key {key}") if isinstance(key, str) and key else None


def _claude_session(user_id: str) -> str | None:
    """Claude Code's session id in its `metadata.user_id`: JSON of late, `..._session_UUID` before."""
    if found := _CLAUDE_USER_ID.search(user_id):
        return found[1]
    try:
        fields = json.loads(user_id)
    except (ValueError, RecursionError):
        return None
    id = fields.get("session_id") if isinstance(fields, dict) else None
    return id if isinstance(id, str) and id else None


def _named_by_hook(protocol: Protocol, tree: dict[str, Any]) -> str | None:
    """The scope that our hook named when the session began.

    Whoever writes the first message could name another's as well, but only one that he knows.
    """
    if protocol != "gemini":
        return None
    for text in next(_user_texts(protocol, tree), ()):
        if text.startswith(_HOOK_CONTEXT) and (found := _NAMED_SCOPE.search(text)):
            return found[1]
    return None


def _by_opening(protocol: Protocol, headers: Headers, tree: dict[str, Any]) -> Session | None:
    """The session by its first user message, apart for each user: two may well begin with the same words."""
    texts = next(_user_texts(protocol, tree), None)
    if not texts:
        return None
    seen = hashlib.sha256()
    for name in _CREDENTIALS:
        seen.update(hashlib.sha256(first(headers, name) or b"").digest())
    for text in texts:
        seen.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    return Session(_GATEWAY, f"opening {seen.hexdigest()}")


def _user_texts(protocol: Protocol, tree: dict[str, Any]) -> Iterator[list[str]]:
    """The texts of each message of the user, where there are any."""
    inner = tree.get("generateContentRequest")
    if protocol == "gemini" and isinstance(inner, dict):
        tree = inner
    items = tree.get({"gemini": "contents", "responses": "input"}.get(protocol, "messages"))
    if protocol == "responses" and isinstance(items, str):
        yield [items]
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and item.get("role", "user") == "user":
            content = item.get("parts" if protocol == "gemini" else "content")
            parts = [{"text": content}] if isinstance(content, str) else content
            if isinstance(parts, list):
                texts = [part.get("text") for part in parts if isinstance(part, dict)]
                if found := [text for text in texts if isinstance(text, str)]:
                    yield found
