"""Text for people: messages on stderr, sizes, and escapes for what a terminal would interpret."""

import contextlib
import errno
import os
import sys
import unicodedata
from collections.abc import Callable

from ctxf.protocol.scopes import is_conversation_scope, scope_fingerprint

__all__ = ["Say", "count", "escape", "give_up", "problem_of", "say", "shown_scope", "size"]

_UNITS = ("B", "kB", "MB", "GB", "TB")


Say = Callable[[str], None]
"""A function that prints a message."""


def say(message: str) -> None:
    """One line on stderr; characters that its encoding lacks are escaped."""
    try:
        print(f"ctxf: {message}", file=sys.stderr)
    except OSError:  # stderr is closed, so this failure cannot be reported either
        give_up(2)


def give_up(descriptor: int) -> None:
    """Redirect a standard descriptor to the null device, so that Python does not fail to flush it at exit."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


def problem_of(error: OSError) -> str:
    """What happened to a file, and the next step where there is one."""
    if error.errno == errno.EBADF:
        return "is closed"
    hint = " (for all files in it: --recursive)" if isinstance(error, IsADirectoryError) else ""
    return (error.strerror or str(error)) + hint


def escape(text: str) -> str:
    """`text` with control, format, surrogate and separator characters as `\\u....`, harmless on a terminal.

    Format characters include the bidirectional overrides, which show other text than is there.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c == " " or unicodedata.category(c)[0] not in "CZ" else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    point = ord(character)
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def size(bytes_: int) -> str:
    """`18.4 kB`: decimal units, one digit behind the point above bytes."""
    value = float(bytes_)
    for unit in _UNITS:
        if value < 999.95 or unit == _UNITS[-1]:
            break
        value /= 1000
    return f"{bytes_} B" if unit == "B" else f"{value:.1f} {unit}"


def count(number: int, noun: str) -> str:
    """`1 block`, `2 blocks`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def shown_scope(name: str) -> str:
    """A scope's name in a listing; only a fingerprint of a conversation's, since its name gives access."""
    return f"conversation {scope_fingerprint(name)}" if is_conversation_scope(name) else name
