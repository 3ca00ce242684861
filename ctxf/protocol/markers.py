"""The grammar of one marker line, `<!-- @context-fold begin LABEL -->` (PROTOCOL.md §3).

One grammar serves all comment forms. Which of them count in a given text is for the scanners to say.
"""

import re
import unicodedata
from typing import Final, Literal

from ctxf.protocol.model import CommentForm, Marker, Reference

__all__ = ["BOM", "HTML_COMMENT", "KEYWORD", "MAX_LABEL_BYTES", "is_label", "parse_marker", "parse_omission"]

KEYWORD = b"@context-fold"
BOM = b"\xef\xbb\xbf"
HTML_COMMENT: Final = CommentForm(b"<!--", b"-->")
MAX_LABEL_BYTES: Final = 128

# PROTOCOL.md §3.1: what closes a comment that opens so; a line comment is closed by the line end.
_CLOSERS: Final = {b"/*": b"*/", b"<!--": b"-->", b"(*": b"*)", b"{-": b"-}", b"{/*": b"*/}"}

# Possessive throughout: a line is read once, however it is made. No `\s` and no `$`: they know more
# blanks and line ends than the protocol does.
_OPEN = rb"([ \t]*+)(#++|//|--|;++|%++|/\*|<!--|\(\*|\{-|\{/\*)[ \t]*+@context-fold[ \t]++"
_LABEL = rb"([0-9A-Za-z_\x80-\xff]++(?:[-./][0-9A-Za-z_\x80-\xff]++)*+)"
_CLOSE = rb"[ \t]*+(\*/\}?+|-->|\*\)|-\}|)[ \t]*+(\r?\n|\Z)"

_MARKER = re.compile(_OPEN + rb"(begin|end)[ \t]++" + _LABEL + _CLOSE)
_OMISSION = re.compile(_OPEN + rb"omit[ \t]++" + _LABEL + rb"[ \t]++\[\[cf:v2:([0-9a-f]{12,64})\]\]" + _CLOSE)


def parse_marker(text: bytes, start: int, end: int, *, offset: int = 0, line: int = 0) -> Marker | None:
    """The marker that the line `text[start:end]` is, its line end included.

    `offset` is added to the positions in the marker; `line` is its line number.
    """
    match = _MARKER.fullmatch(text, start, end)
    if match is None:
        return None
    indent, opener, word, label, closer, eol = match.groups()
    if _CLOSERS.get(opener, b"") != closer or not is_label(label):
        return None
    kind: Literal["begin", "end"] = "begin" if word == b"begin" else "end"
    return Marker(kind, label, CommentForm(opener, closer), offset + start, offset + end, line, indent, eol)


def parse_omission(text: bytes, start: int, end: int, *, line: int = 0) -> Reference | None:
    """The omission line that the line `text[start:end]` is: a reference that stands for whole lines."""
    match = _OMISSION.fullmatch(text, start, end)
    if match is None:
        return None
    _indent, opener, label, id_digits, closer, _eol = match.groups()
    if _CLOSERS.get(opener, b"") != closer or not is_label(label):
        return None
    return Reference(id_digits.decode("ascii"), label, start, end, line)


def is_label(text: bytes) -> bool:
    """Whether bytes of a label's shape are a label: its length, its encoding, its letters (PROTOCOL.md §3.2).

    Beyond ASCII only letters and marks count, by the running Python's Unicode data: no blank, control
    or format character gets into a message by way of a label.
    """
    if len(text) > MAX_LABEL_BYTES:
        return False
    if text.isascii():
        return True
    try:
        characters = text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return all(c.isascii() or unicodedata.category(c)[0] in "LM" for c in characters)
