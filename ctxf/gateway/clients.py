"""How each client is told, for one process only, to send its requests to a gateway."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from ctxf.gateway.wire import Provider

__all__ = ["Launch", "current_urls", "launch"]

_URL_VARIABLES: Final[Mapping[Provider, str]] = {
    "anthropic": "ANTHROPIC_BASE_URL",
    "openai": "OPENAI_BASE_URL",
    "gemini": "GOOGLE_GEMINI_BASE_URL",
}
_PATHS: Final[Mapping[Provider, str]] = {
    "anthropic": "/anthropic",
    "openai": "/openai/v1",
    "gemini": "/gemini",
}


@dataclass(frozen=True, slots=True)
class Launch:
    """A command line and its whole environment."""

    command: tuple[str, ...]
    environ: dict[str, str]


def current_urls(environ: Mapping[str, str]) -> dict[Provider, str | None]:
    """Where this environment sends a client now, and so where a gateway has to send its requests on to."""
    return {provider: environ.get(name) or None for provider, name in _URL_VARIABLES.items()}


def launch(command: Sequence[str], origin: str, environ: Mapping[str, str]) -> Launch:
    """The command with the environment, and for Codex the options, that send it to the gateway at `origin`.

    `origin` is as in `http://127.0.0.1:8788`. Nothing is written anywhere.
    """
    program, *arguments = command
    changed = dict(environ)
    for provider, name in _URL_VARIABLES.items():
        changed[name] = origin + _PATHS[provider]
    _keep_from_proxies(changed)
    if _client_of(program) == "codex":
        arguments = [*_codex_options(f"{origin}{_PATHS['openai']}", environ), *arguments]
    return Launch((program, *arguments), changed)


def _client_of(program: str) -> str:
    return PurePath(program).name.lower().removesuffix(".exe").removesuffix(".cmd")


def _codex_options(url: str, environ: Mapping[str, str]) -> list[str]:
    """Codex reads no address from the environment: a provider of its own, by options that last for this run.

    With a key in the environment that is what it sends, else whatever `codex login` left.
    """
    fields = {"name": "ctxf gateway", "base_url": url, "wire_api": "responses"}
    if environ.get("OPENAI_API_KEY"):
        fields["env_key"] = "OPENAI_API_KEY"
    table = ", ".join(f"{name} = {json.dumps(value)}" for name, value in fields.items())
    switches = "supports_websockets = false"
    if "env_key" not in fields:
        switches += ", requires_openai_auth = true"
    return ["-c", 'model_provider="ctxf"', "-c", f"model_providers.ctxf={{{table}, {switches}}}"]


def _keep_from_proxies(environ: dict[str, str]) -> None:
    """A proxy that the environment names must not be asked for this machine itself."""
    for name in ("NO_PROXY", "no_proxy"):
        if os.name == "nt" and name == "no_proxy":
            continue  # the same variable there
        hosts = [environ[name]] if environ.get(name) else []
        environ[name] = ",".join([*hosts, "127.0.0.1", "localhost"])
