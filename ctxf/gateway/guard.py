"""Decides who may use the gateway: this machine, or whoever has the token."""

import hmac
import ipaddress
import secrets
from dataclasses import dataclass
from typing import Final

from ctxf.errors import ConfigError
from ctxf.gateway.wire import Headers, first, without

__all__ = ["KEY_HEADER", "SESSION_HEADER", "TOKEN_HEADER", "Guard", "Refusal", "check_listen", "is_loopback"]

TOKEN_HEADER: Final = b"x-ctxf-token"
KEY_HEADER: Final = b"x-ctxf-key"
SESSION_HEADER: Final = b"x-ctxf-session"

_LOCAL_NAMES: Final = (b"localhost", b"127.0.0.1", b"[::1]")
_LEAST_TOKEN: Final = 16
# They hold no user's data; the page sends the token when it asks for the figures.
_OPEN: Final = frozenset((b"/-/", b"/-/health", b"/-/page.css", b"/-/page.js"))


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not served."""

    status: int
    message: str


def is_loopback(host: str) -> bool:
    """Whether a host to listen on is this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_listen(host: str, token: str | None) -> None:
    """Raises ConfigError where others could use the gateway without a token, or with one easily guessed."""
    if token is None and not is_loopback(host):
        raise ConfigError(
            "option --listen",
            f"{host} can be reached from other machines; set CTXF_GATEWAY_TOKEN, which clients then send as "
            f"{TOKEN_HEADER.decode()}",
        )
    if token is not None and (len(token) < _LEAST_TOKEN or not token.isascii() or not token.isprintable()):
        raise ConfigError(
            "CTXF_GATEWAY_TOKEN", f"must be at least {_LEAST_TOKEN} printable ASCII characters, better 32"
        )


class Guard:
    """Refuses what comes from elsewhere.

    Without a token the Host header must name this machine: a web page whose name was rebound to 127.0.0.1
    sends its own. `key` opens what the status page shows of bodies: other users of the machine reach the
    port too, and a scope is a capability.
    """

    def __init__(self, token: str | None, host: str) -> None:
        self._token = None if token is None else token.encode("ascii")
        shown = f"[{host}]" if ":" in host else host
        self._hosts = frozenset((*_LOCAL_NAMES, shown.lower().encode("ascii", "replace")))
        self.key: Final = token or secrets.token_urlsafe(24)

    def refuse(self, headers: Headers, path: bytes) -> Refusal | None:
        """Why a request is refused; None where it is not."""
        if self._token is None:
            host = first(headers, b"host") or b""
            name = host.lower() if host.endswith(b"]") else host.lower().rpartition(b":")[0] or host.lower()
            if name not in self._hosts:
                return Refusal(421, "the Host header names another machine")
        elif path not in _OPEN:
            given = first(headers, TOKEN_HEADER) or first(headers, KEY_HEADER) or b""
            if not hmac.compare_digest(given, self._token):
                return Refusal(401, f"send the token as {TOKEN_HEADER.decode()}")
        return None

    def opens(self, headers: Headers) -> bool:
        """Whether a request for the status page may see bodies."""
        return hmac.compare_digest(first(headers, KEY_HEADER) or b"", self.key.encode("ascii"))

    @staticmethod
    def cleaned(headers: Headers) -> Headers:
        """The headers without those that are for the gateway and no provider's business."""
        return without(headers, (TOKEN_HEADER, KEY_HEADER))
