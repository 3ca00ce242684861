"""The providers' side: requests out, answers back as raw bytes.

`httpcore2` rather than `httpx2`, which stands on it: a gateway wants no cookies, no redirects, no decoding,
no normalised URLs and no proxies from the environment, and here there are none to switch off.
"""

import ssl
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import httpcore2

from ctxf.errors import ConfigError
from ctxf.gateway.wire import Headers, Upstream, without

__all__ = ["DEFAULT_BASES", "UPSTREAM_ERRORS", "Answer", "Base", "Upstreams", "parse_base"]

DEFAULT_BASES: Final[Mapping[Upstream, str]] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "chatgpt": "https://chatgpt.com/backend-api/codex",
    "gemini": "https://generativelanguage.googleapis.com",
}

UPSTREAM_ERRORS: Final = (
    httpcore2.NetworkError,
    httpcore2.TimeoutException,
    httpcore2.ProtocolError,
    httpcore2.UnsupportedProtocol,
    OSError,  # ssl.SSLError is one
)
"""What can go wrong with a provider's connection."""

# Seconds. No limit for reading: a model may think for many minutes, and the client has a limit of its own.
_TIMEOUTS: Final = {"connect": 30.0, "write": 600.0, "read": None, "pool": None}
_IDLE_CONNECTIONS: Final = 64
_IDLE_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Base:
    """A provider's base URL in parts; `path` has no slash at its end."""

    scheme: bytes
    host: bytes
    port: int | None
    path: bytes

    @property
    def authority(self) -> bytes:
        """The value of the Host header."""
        host = b"[%b]" % self.host if b":" in self.host else self.host
        return host if self.port is None else b"%b:%d" % (host, self.port)

    def url(self, target: bytes) -> httpcore2.URL:
        """The URL with this path and query behind the base's path."""
        return httpcore2.URL(
            scheme=self.scheme, host=self.host, port=self.port, target=self.path + target or b"/"
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """A provider's answer; `body` yields the bytes as they arrive and raises UPSTREAM_ERRORS."""

    status: int
    headers: Headers
    body: AsyncIterable[bytes]


def parse_base(where: str, text: str) -> Base:
    """The base URL in `text`; `where` says in a message who named it. Raises ConfigError."""
    try:
        parts = urlsplit(text)
        port = parts.port
        host = (parts.hostname or "").encode("ascii")
        path = parts.path.rstrip("/").encode("ascii")
    except ValueError as error:
        raise ConfigError(where, f"{text!r} is no URL: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError(where, f"{text!r} is no URL of a provider; write it as https://host/path")
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigError(where, "a provider's URL has no user, query or fragment; the client sends the key")
    return Base(parts.scheme.encode("ascii"), host, port, path)


class Upstreams:
    """Connections to the providers, kept open for a while. Bound to the event loop that first uses it."""

    def __init__(self, bases: Mapping[Upstream, Base]) -> None:
        self._bases = dict(bases)
        encrypted = any(base.scheme == b"https" for base in self._bases.values())
        self._pool = httpcore2.AsyncConnectionPool(
            # Where nothing is encrypted, certificates need not be loaded: they take longer than all the rest.
            ssl_context=httpcore2.default_ssl_context()
            if encrypted
            else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
            max_connections=None,
            max_keepalive_connections=_IDLE_CONNECTIONS,
            keepalive_expiry=_IDLE_SECONDS,
        )

    @asynccontextmanager
    async def send(
        self,
        upstream: Upstream,
        method: str,
        target: bytes,
        headers: Headers,
        content: bytes | AsyncIterable[bytes] | None,
    ) -> AsyncIterator[Answer]:
        """Send a request and give its answer; leaving the block before its end closes the connection.

        `headers` frame the content: a Content-Length, or a Transfer-Encoding, or no content. Raises
        UPSTREAM_ERRORS.
        """
        base = self._bases[upstream]
        request = httpcore2.Request(
            method,
            base.url(target),
            headers=[(b"Host", base.authority), *without(headers, (b"host",))],
            content=content,
            extensions={"timeout": _TIMEOUTS},
        )
        response = await self._pool.handle_async_request(request)
        try:
            yield Answer(response.status, response.headers, response.aiter_stream())
        finally:
            await response.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()
