"""A callback for the LiteLLM proxy that folds requests before LiteLLM sends them on.

    # config.yaml
    litellm_settings:
      callbacks: ["ctxf.integrations.litellm.handler"]

Settings come from the configuration files and CTXF_ variables of the proxy's process. The agents' shell has
to reach the same archive, so this is for a proxy on their own machine.
"""

import asyncio
import os
from pathlib import Path
from typing import Any, Final

from litellm.integrations.custom_logger import CustomLogger

from ctxf.archive import Archive
from ctxf.config import Loaded, load_settings
from ctxf.conversations.guidance import RECOVERY_COMMAND
from ctxf.conversations.scopes import install_secret, secret_path
from ctxf.gateway.conversations import agent_recovery, request_policy
from ctxf.gateway.routes import Protocol
from ctxf.gateway.sessions import find_scope_in
from ctxf.gateway.wire import Headers
from ctxf.protocol.parsers import Parsers
from ctxf.requests import Memo, fold_request

__all__ = ["CtxfHandler", "handler"]

_PROTOCOLS: Final[dict[str, Protocol]] = {
    "completion": "chat",
    "acompletion": "chat",
    "anthropic_messages": "anthropic",
    "responses": "responses",
    "aresponses": "responses",
    "generate_content": "gemini",
    "agenerate_content": "gemini",
    "generate_content_stream": "gemini",
    "agenerate_content_stream": "gemini",
}
# What a conversation is made of. All else in LiteLLM's call stays out of sight: much of it is no JSON.
_FIELDS: Final[tuple[str, ...]] = (
    *("messages", "system", "tools", "input", "instructions", "prompt", "contents"),
    *("systemInstruction", "system_instruction", "cachedContent", "cached_content"),
    *("previous_response_id", "conversation", "prompt_cache_key"),
)
_MILLISECONDS: Final = 1000


class CtxfHandler(CustomLogger):  # type: ignore[misc]  # LiteLLM is no dependency, so its types are not here
    """Folds what goes to a model. Whatever goes wrong, and whatever takes too long, goes on as it came."""

    def __init__(self, loaded: Loaded | None = None) -> None:
        super().__init__()
        loaded = loaded or load_settings(environ=os.environ, cwd=Path.cwd())
        self._settings = loaded.settings
        self._scope = None if loaded.sources["scope"] == "default" else loaded.settings.scope
        self._archive = Archive.open(loaded.settings.archive)
        self._recovery = agent_recovery(loaded.settings, RECOVERY_COMMAND)
        self._secret = install_secret(secret_path(os.environ))
        self._memo = Memo()
        self._parser = Parsers(isolate=True)

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        """LiteLLM's hook: the call's data, its conversation folded."""
        protocol = _PROTOCOLS.get(str(getattr(call_type, "value", call_type)))
        if protocol is None or not self._settings.enabled:
            return data
        work = asyncio.to_thread(self._folded, protocol, user_api_key_dict, data)
        try:
            changed = await asyncio.wait_for(work, self._settings.gateway_timeout_ms / _MILLISECONDS)
        except Exception:  # law L5: the call passes also after a failure that nobody foresaw
            return data
        return {**data, **changed}

    def _folded(self, protocol: Protocol, user: Any, data: dict[str, Any]) -> dict[str, Any]:
        """The fields that changed."""
        body = {name: data[name] for name in _FIELDS if name in data}
        scope = self._scope_of(protocol, user, data, body)
        if scope is None:
            return {}
        policy = request_policy(self._settings, self._recovery, scope)
        result = fold_request(body, protocol, self._archive, scope, policy, self._memo, self._parser)
        folded = result.body
        return {name: value for name, value in folded.items() if value is not body.get(name)}

    def _scope_of(
        self, protocol: Protocol, user: Any, data: dict[str, Any], body: dict[str, Any]
    ) -> str | None:
        if self._scope is not None:
            return self._scope
        metadata = data.get("metadata")
        tree = {**body, "metadata": metadata if isinstance(metadata, dict) else {}}
        return find_scope_in(self._secret, protocol, _headers(user, data), tree)


def _headers(user: Any, data: dict[str, Any]) -> Headers:
    """The headers of the client's request as LiteLLM keeps them, and the user's key, which it hashes."""
    request = data.get("proxy_server_request")
    headers = request.get("headers") if isinstance(request, dict) else None
    pairs = headers.items() if isinstance(headers, dict) else ()
    found = [
        (name.lower().encode("latin-1", "replace"), value.encode("latin-1", "replace"))
        for name, value in pairs
        if isinstance(name, str) and isinstance(value, str)
    ]
    if session := data.get("litellm_session_id"):
        found.append((b"x-ctxf-session", str(session).encode("utf-8", "replace")))
    key = getattr(user, "api_key", None)
    return [*found, (b"x-api-key", str(key).encode("utf-8", "replace"))] if key else found


handler = CtxfHandler()
