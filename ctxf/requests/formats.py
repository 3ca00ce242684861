"""The table of wire formats: another one is one file and one row."""

from typing import Final

from ctxf.errors import NoConversation, UnknownProtocol
from ctxf.requests.anthropic import ANTHROPIC
from ctxf.requests.body import Body
from ctxf.requests.chat import CHAT
from ctxf.requests.gemini import GEMINI
from ctxf.requests.responses import RESPONSES
from ctxf.requests.slots import Format

__all__ = ["PROTOCOLS", "check_request", "find_format"]

_FORMATS: Final = {
    "chat": CHAT,
    "responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
}

PROTOCOLS: Final = tuple(_FORMATS)
"""The names of the wire formats."""


def find_format(protocol: str) -> Format:
    """The format of this name. Raises UnknownProtocol."""
    if protocol not in _FORMATS:
        raise UnknownProtocol(protocol, PROTOCOLS)
    return _FORMATS[protocol]


def check_request(body: bytes, protocol: str) -> None:
    """Raise RequestNotRead for what is no request, NoConversation for what is one of another protocol.

    Folding and restoring let such a body pass: that it holds nothing for them is no fault. A person may have
    named the wrong protocol.
    """
    if not find_format(protocol).has_history(Body(body).tree):
        raise NoConversation(protocol)
