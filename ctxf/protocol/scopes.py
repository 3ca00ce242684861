"""Scopes: names that keep one reader's bodies from another's (PROTOCOL.md §9)."""

import hashlib
import re
from typing import Final

from ctxf.errors import InvalidScope

__all__ = ["DEFAULT_SCOPE", "check_scope", "is_conversation_scope", "is_scope", "scope_fingerprint"]

DEFAULT_SCOPE: Final = "default"

_SCOPE = re.compile(r"[!-~]{1,256}")
_CONVERSATION = re.compile(r"c-[0-9a-f]{32}")


def is_scope(name: str) -> bool:
    """Whether `name` is 1 to 256 printable ASCII characters without blanks."""
    return _SCOPE.fullmatch(name) is not None


def check_scope(name: str) -> None:
    """Raise InvalidScope unless `name` is a scope."""
    if not is_scope(name):
        raise InvalidScope(name)


def is_conversation_scope(name: str) -> bool:
    """Whether the scope belongs to one conversation: `c-` and 32 hexadecimal digits."""
    return _CONVERSATION.fullmatch(name) is not None


def scope_fingerprint(name: str) -> str:
    """Eight digits to tell scopes apart by. A scope is a capability: its name is not for show."""
    return hashlib.sha256(name.encode("ascii")).hexdigest()[:8]
