"""Puts a gateway together from settings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import ctxf
from ctxf.archive import Archive
from ctxf.config import Settings
from ctxf.gateway.app import DEFAULT_MAX_BODY_BYTES, Gateway
from ctxf.gateway.conversations import ConversationFolder, agent_recovery
from ctxf.gateway.folding import FoldEdge
from ctxf.gateway.guard import Guard
from ctxf.gateway.pages import Pages
from ctxf.gateway.stats import Exchange, Stats
from ctxf.gateway.upstream import DEFAULT_BASES, Upstreams, parse_base
from ctxf.gateway.wire import Provider, Upstream

__all__ = ["DEFAULT_MAX_BODY_BYTES", "Assembled", "assemble"]

_MILLISECONDS: Final = 1000


@dataclass(frozen=True, slots=True)
class Assembled:
    """A gateway, what it counts, and who may use it."""

    gateway: Gateway
    stats: Stats
    guard: Guard


def assemble(
    settings: Settings,
    archive: Archive,
    *,
    secret: bytes,
    recovery_command: str,
    urls: Mapping[Provider, str | None],
    host: str,
    token: str | None = None,
    scope: str | None = None,
    max_body_bytes: int = DEFAULT_MAX_BODY_BYTES,
    on_end: Callable[[Exchange], None] | None = None,
) -> Assembled:
    """A gateway that listens on `host`; `urls` are those of the providers, None for the default.

    `scope` is for all requests, None for one for each conversation, derived under `secret`.
    `recovery_command` is what a model types to read a body, where the settings name nothing else. The
    archive is closed when the gateway stops. `on_end` is called with each request when it is over. Raises
    ConfigError.
    """
    bases = {
        upstream: parse_base(f"{upstream} URL", _named(upstream, urls) or default)
        for upstream, default in DEFAULT_BASES.items()
    }
    folder = ConversationFolder(
        archive,
        settings,
        agent_recovery(settings, recovery_command),
        scope=scope,
        secret=secret,
        limit=max_body_bytes,
    )
    stats = Stats(on_end)
    guard = Guard(token, host)
    gateway = Gateway(
        Upstreams(bases),
        FoldEdge(folder, settings.gateway_timeout_ms / _MILLISECONDS),
        guard,
        stats,
        Pages(stats, guard, folder.read, ctxf.__version__),
        on_shutdown=folder.close,
        max_body_bytes=max_body_bytes,
    )
    return Assembled(gateway, stats, guard)


def _named(upstream: Upstream, urls: Mapping[Provider, str | None]) -> str | None:
    """Who names an address for OpenAI means all of its requests."""
    return urls.get("openai" if upstream == "chatgpt" else upstream)
