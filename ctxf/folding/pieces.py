"""Cuts a stream into pieces of whole lines and scans them, as late as it may.

Whether a marker is live depends on every fence and comment before it, but where no marker comes the
fences do not matter. Input that can be read again (a file) is therefore only searched for the marker
keyword; what was passed over is read again and scanned when the keyword turns up. That is 10 times
faster on Markdown. A pipe cannot be read again and is scanned as it arrives.
"""

from collections.abc import Callable
from typing import Final

from ctxf.protocol.markers import BOM, KEYWORD
from ctxf.protocol.model import Marker
from ctxf.protocol.scan_text import MAX_LINE_BYTES, TextScanner, find_sequence

__all__ = ["LinePieces", "PieceScanner", "Reread"]

Reread = Callable[[int, int], bytes]
"""The bytes from one offset of the input to another; fewer where the input has become shorter."""

_REREAD_BYTES: Final = 1 << 20


class PieceScanner:
    """A TextScanner that puts off pieces without a keyword where it can come back to them."""

    def __init__(self, reread: Reread | None, seen: int = 0) -> None:
        self._scanner = TextScanner()
        self._reread = reread
        self._seen = seen  # bytes that have come
        self._scanned = 0  # bytes that the scanner has read; always the start of a line when put off

    def read(self, piece: bytes, is_whole_lines: bool) -> None:
        """Take the next piece: whole lines, or a piece of a line longer than MAX_LINE_BYTES."""
        if is_whole_lines:
            waits = self._reread is not None and find_sequence(piece, KEYWORD) == len(piece)
        else:
            waits = self._scanned < self._seen  # a long line is plain text; only its place must be kept
        if not waits:
            self._catch_up()
            self._scan(piece, is_whole_lines)
        self._seen += len(piece)

    def take(self) -> tuple[list[Marker], list[Marker], list[int]]:
        """Take away what the scanner has found so far: `markers`, `quoted` and `misspelled`."""
        scanner = self._scanner
        found = scanner.markers, scanner.quoted, scanner.misspelled
        scanner.markers, scanner.quoted, scanner.misspelled = [], [], []
        return found

    def _scan(self, piece: bytes, is_whole_lines: bool) -> None:
        if is_whole_lines:
            self._scanner.scan(piece)
        else:
            self._scanner.skip(piece)
        self._scanned += len(piece)

    def _catch_up(self) -> None:
        if self._reread is None:
            return
        lines = LinePieces()
        position = self._scanned
        while position < self._seen:
            end = min(position + _REREAD_BYTES, self._seen)
            # Should the file have become shorter, what is gone counts as blanks.
            chunk = self._reread(position, end).ljust(end - position)
            position = end
            for piece, is_whole_lines in lines.split(chunk):
                self._scan(piece, is_whole_lines)
        self._scan(lines.take_rest(), is_whole_lines=False)  # empty, unless the file was changed


class LinePieces:
    """Cuts chunks into pieces of whole lines, and pieces of lines too long to wait for (PROTOCOL.md §2)."""

    def __init__(self) -> None:
        self._tail: list[bytes] = []  # the beginning of a line whose end has not come
        self._tail_size = 0
        self._in_long_line = False

    def split(self, chunk: bytes) -> list[tuple[bytes, bool]]:
        """Pieces, each with whether it is whole lines (else part of a long one)."""
        pieces = []
        if self._in_long_line:
            end = chunk.find(b"\n") + 1
            if not end:
                return [(chunk, False)]
            pieces.append((chunk[:end], False))
            chunk = chunk[end:]
            self._in_long_line = False
        cut = chunk.rfind(b"\n") + 1
        if cut:
            pieces.append((b"".join((self.take_rest(), chunk[:cut])), True))
            chunk = chunk[cut:]
        if chunk:
            self._tail.append(chunk)
            self._tail_size += len(chunk)
        if self._tail_size > MAX_LINE_BYTES + len(BOM):  # a mark before the first line is not part of it
            pieces.append((self.take_rest(), False))
            self._in_long_line = True
        return pieces

    def take_rest(self) -> bytes:
        """Take away what is there of a line whose end has not come."""
        rest = b"".join(self._tail)
        self._tail.clear()
        self._tail_size = 0
        return rest
