"""Answers of a bounded size: a body page by page, in whole lines as far as that goes.

An answer is text, and a body is bytes. What is no UTF-8, and NUL, which some clients refuse, is shown as
`\\xNN`, and the note before the text says how often; the resource of the same body gives its exact bytes.
Rejected: base64 in a tool's answer, which no model reads, and U+FFFD, which hides what was there.
"""

from dataclasses import dataclass
from typing import Final

from ctxf.archive.lines import LineRange, count_lines

__all__ = ["PAGE_BYTES", "Page", "page", "readable"]

PAGE_BYTES: Final = 16_000
"""Codex cuts a tool's result at 10,000 tokens and Claude Code at 25,000; a page stays below both."""

_MOST_FOR_A_BYTE: Final = 4  # `\\xNN`


@dataclass(frozen=True, slots=True)
class Page:
    """A stretch of a body: `text` as shown, of lines `first` to `last` of `total`.

    `escaped` counts the bytes that stand as `\\xNN` in it. `next_lines` and `next_byte` are the arguments
    that continue behind it; None and 0 at the end of what was asked for.
    """

    text: str
    first: int
    last: int
    total: int
    escaped: int
    next_lines: str | None = None
    next_byte: int = 0

    @property
    def is_all(self) -> bool:
        """Whether it is the whole body."""
        return self.first == 1 and self.last == self.total and self.next_lines is None


def page(body: bytes, lines: LineRange, from_byte: int, limit: int = PAGE_BYTES) -> Page | None:
    """As much of these lines as fits into `limit` bytes of UTF-8; None where the body has no such place.

    `from_byte` skips bytes of the first line, for lines that do not fit into one page.
    """
    total = count_lines(body)
    last = min(lines.last or total, total)
    window = LineRange(lines.first, last).cut(body)
    if lines.first > total or from_byte >= len(window):
        return None
    window = window[from_byte:]
    piece = _head(window, limit)
    text, escaped = readable(piece)
    ended = piece.count(b"\n")
    if len(piece) == len(window):
        return Page(text, lines.first, last, total, escaped)
    is_inside = not piece.endswith(b"\n")
    reached = lines.first + ended - (not is_inside)
    skip = len(piece) - (piece.rfind(b"\n") + 1) if is_inside else 0
    if is_inside and not ended:
        skip += from_byte
    return Page(text, lines.first, reached, total, escaped, f"{lines.first + ended}:{last}", skip)


def readable(data: bytes) -> tuple[str, int]:
    """`data` as text, and how many of its bytes had to be shown as `\\xNN`."""
    text = data.decode("utf-8", "surrogateescape")
    if "\0" not in text and text.isascii():
        return text, 0
    odd = sum(1 for character in text if character == "\0" or "\udc80" <= character <= "\udcff")
    if not odd:
        return text, 0
    return data.decode("utf-8", "backslashreplace").replace("\0", "\\x00"), odd


def _head(window: bytes, limit: int) -> bytes:
    """What of `window` is shown in at most `limit` bytes: whole lines, or a part of the first."""
    for size in (limit, limit // _MOST_FOR_A_BYTE):
        piece = window[:size]
        if len(piece) < len(window):
            piece = piece[: piece.rfind(b"\n") + 1] or piece[: _boundary(piece)]
        if len(readable(piece)[0].encode("utf-8")) <= limit:
            break
    return piece


def _boundary(piece: bytes) -> int:
    """Where to cut so that no character is cut: before the last one, if that may go on."""
    for back in range(1, min(4, len(piece))):
        if piece[-back] & 0xC0 == 0xC0:
            return len(piece) - back
        if piece[-back] & 0xC0 != 0x80:
            break
    return len(piece)
