"""References and ids: `[[cf:v2:ID]]` and the line it stands on (PROTOCOL.md §6)."""

import hashlib
import re
from typing import Final

from ctxf.errors import InvalidId
from ctxf.protocol.model import Marker

__all__ = [
    "ID_DIGITS",
    "LONGEST_REFERENCE",
    "MAX_ID_DIGITS",
    "REFERENCE",
    "REFERENCE_HEAD",
    "body_digest",
    "format_reference",
    "is_id",
    "parse_id",
    "parse_reference_line",
    "reference_line",
]

# PROTOCOL.md §6.1: an id is the first 12 digits, unless another body of the scope owns these already.
ID_DIGITS: Final = 12
MAX_ID_DIGITS: Final = 64

LONGEST_REFERENCE: Final = 100
"""Bytes that a reference line never exceeds, its indentation aside: 64 digits, the longest comment form."""

REFERENCE_HEAD = b"[[cf:v2:"
REFERENCE = re.compile(rb"\[\[cf:v2:([0-9a-f]{12,64})\]\]")

_ID = re.compile(r"[0-9a-f]{12,64}")
# From six digits on a miss can be explained: a digit may have been lost.
_TYPED_ID = re.compile(r"([0-9a-f]{6,64})|\[\[cf:v2:([0-9a-f]{6,64})\]\]", re.IGNORECASE)


def body_digest(body: bytes) -> bytes:
    """The identity of a body: SHA-256 over its bytes, 32 of them (PROTOCOL.md §5.5)."""
    return hashlib.sha256(body).digest()


def is_id(text: str) -> bool:
    """Whether `text` is an id in its one spelling: 12 to 64 lower-case hexadecimal digits."""
    return _ID.fullmatch(text) is not None


def parse_id(text: str) -> str:
    """The id in what a person or a model typed: upper case and the whole `[[cf:v2:...]]` will do.

    Only reads are this lenient; restore takes references exactly as they are written.
    Raises InvalidId.
    """
    match = _TYPED_ID.fullmatch(text.strip(" \t\r\n"))
    if match is None:
        raise InvalidId(text)
    return (match[1] or match[2]).lower()


def format_reference(id: str) -> bytes:
    """The one valid spelling of a reference."""
    return b"[[cf:v2:%b]]" % id.encode("ascii")


def reference_line(begin: Marker, id: str, *, wrapped: bool) -> bytes:
    """The line that stands for the body behind `begin`: bare in text, wrapped in source (PROTOCOL.md §6)."""
    if not wrapped:
        return format_reference(id) + begin.eol
    head, tail = _wrapping(begin)
    return head + format_reference(id) + tail + begin.eol


def parse_reference_line(begin: Marker, line: bytes, *, wrapped: bool) -> str | None:
    """The id on a line that `reference_line` could have written; the line end may have been converted."""
    if not line.endswith(b"\n") or REFERENCE_HEAD not in line:
        return None
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    if wrapped:
        head, tail = _wrapping(begin)
        if not (line.startswith(head) and line.endswith(tail)):
            return None
        line = line[len(head) : len(line) - len(tail)]
    match = REFERENCE.fullmatch(line)
    return match[1].decode("ascii") if match else None


def _wrapping(begin: Marker) -> tuple[bytes, bytes]:
    # The blank matters: `#[` would open an attribute in PHP and Rust.
    opener, closer = begin.form
    return begin.indent + opener + b" ", b" " + closer if closer else b""
