"""Finds the live marker lines of text and Markdown (PROTOCOL.md §4).

Text has two states besides live: inside fenced code, and inside a longer HTML comment. Both open and
close by whole lines without any container context, so taking a body out of the text can never change
how the lines behind it are read: a block can only close in the state in which it began.

The scanner is fed pieces of whole lines and keeps its state between them, so a pipe and a file in
memory are read by the same code. Lines that hold none of three byte sequences are never looked at:
they are skipped by `bytes.find`, at the speed of C.
"""

import re
from typing import Final

from ctxf.protocol.markers import BOM, HTML_COMMENT, KEYWORD, parse_marker, parse_omission
from ctxf.protocol.model import Marker

__all__ = ["MAX_LINE_BYTES", "TextScanner", "find_sequence", "scan_text"]

# PROTOCOL.md §2: a longer line is plain text. The limit is what lets a stream pass a line on
# before its end has arrived.
MAX_LINE_BYTES: Final = 1 << 20

# PROTOCOL.md §4.1: blanks, any number of `>`, then at most one list bullet.
_PREFIX = rb"[ \t>]*+(?:(?:[-*+]|[0-9]{1,9}+[.)])[ \t]++)?+"
_FENCE_OPEN = re.compile(_PREFIX + rb"(`{3,}+(?=[^`]*+\Z)|~{3,}+)")
_FENCE_CLOSE = re.compile(_PREFIX + rb"(`{3,}+|~{3,}+)[ \t]*+\r?\n?\Z")
_COMMENT_OPEN = re.compile(rb"[ \t]*+<!--")

_COMMENT_HEAD, _COMMENT_TAIL = HTML_COMMENT


class TextScanner:
    """Scans text in pieces of whole lines; only the last piece may end without a line end.

    `markers` collects the live ones. Worth a word to whoever wonders are `quoted`, the begin markers in
    fenced code or in a longer comment, and `misspelled`, the numbers of live lines that begin a comment
    with the keyword and are no marker. The caller may empty all three.
    """

    def __init__(self) -> None:
        self.markers: list[Marker] = []
        self.quoted: list[Marker] = []
        self.misspelled: list[int] = []
        self._offset = 0  # of the piece's first byte in the whole text
        self._line = 1  # of the byte at _counted
        self._counted = 0  # in the piece: line ends before it are in _line
        self._fence = b""  # the run that opened the fence we are in
        self._in_comment = False

    def skip(self, piece: bytes) -> None:
        """Pass over a piece of a line longer than MAX_LINE_BYTES: it is plain text."""
        self._offset += len(piece)
        self._line += piece.count(b"\n")

    def scan(self, piece: bytes) -> None:
        """Read the next piece."""
        self._counted = 0
        self._scan_lines(piece)
        self._line += piece.count(b"\n", self._counted)
        self._offset += len(piece)

    def _scan_lines(self, piece: bytes) -> None:
        position = len(BOM) if self._offset == 0 and piece.startswith(BOM) else 0
        length = len(piece)
        # Where each sequence stands next: each is searched for once per byte, however they mix.
        comment = backticks = tildes = -1
        while position < length:
            if self._fence or self._in_comment:
                position = self._skip_quoted(piece, position)
                continue
            if comment < position:
                comment = find_sequence(piece, _COMMENT_HEAD, position)
            if backticks < position:
                backticks = find_sequence(piece, b"```", position)
            if tildes < position:
                tildes = find_sequence(piece, b"~~~", position)
            hit = min(comment, backticks, tildes)
            if hit == length:
                return
            start = piece.rfind(b"\n", position, hit) + 1 or position
            position = piece.find(b"\n", hit) + 1 or length
            if position - start > MAX_LINE_BYTES:
                continue
            # The prefix of neither holds the other's first character, so the first hit says what it may be.
            if hit == comment:
                self._read_comment_line(piece, start, position)
            elif fence := _FENCE_OPEN.match(piece, start, position):
                self._fence = fence[1]

    def _read_comment_line(self, piece: bytes, start: int, end: int) -> None:
        """Note the marker that this live line is, or the longer comment that it opens."""
        head = _COMMENT_OPEN.match(piece, start, end)
        if head is None:
            return
        # From the opener's own hyphens on: `<!-->` is a whole comment (HTML, comment start state).
        if piece.find(_COMMENT_TAIL, head.end() - 2, end) < 0:
            self._in_comment = True
        elif piece.find(KEYWORD, start, end) >= 0:
            if marker := self._parse_marker(piece, start, end):
                self.markers.append(marker)
            elif parse_omission(piece, start, end) is None:
                self.misspelled.append(self._line)

    def _skip_quoted(self, piece: bytes, position: int) -> int:
        """The start of the line behind the fenced code or longer comment we are in, or the piece's end."""
        resume = (
            self._leave_comment(piece, position) if self._in_comment else self._leave_fence(piece, position)
        )
        start = position
        while (keyword := piece.find(KEYWORD, start, resume)) >= 0:
            line_start = piece.rfind(b"\n", start, keyword) + 1 or start
            start = piece.find(b"\n", keyword) + 1 or len(piece)
            if start - line_start > MAX_LINE_BYTES:
                continue
            marker = self._parse_marker(piece, line_start, start)
            if marker and marker.kind == "begin":
                self.quoted.append(marker)
        return resume

    def _leave_comment(self, piece: bytes, position: int) -> int:
        while (tail := piece.find(_COMMENT_TAIL, position)) >= 0:
            start = piece.rfind(b"\n", position, tail) + 1 or position
            position = piece.find(b"\n", tail) + 1 or len(piece)
            if position - start <= MAX_LINE_BYTES:
                self._in_comment = False
                return position
        return len(piece)

    def _leave_fence(self, piece: bytes, position: int) -> int:
        while (run := piece.find(self._fence, position)) >= 0:
            start = piece.rfind(b"\n", position, run) + 1 or position
            position = piece.find(b"\n", run) + 1 or len(piece)
            close = _FENCE_CLOSE.match(piece, start, position)
            if close and close[1].startswith(self._fence) and position - start <= MAX_LINE_BYTES:
                self._fence = b""
                return position
        return len(piece)

    def _parse_marker(self, piece: bytes, start: int, end: int) -> Marker | None:
        self._line += piece.count(b"\n", self._counted, start)
        self._counted = start
        marker = parse_marker(piece, start, end, offset=self._offset, line=self._line)
        return marker if marker is not None and marker.form == HTML_COMMENT else None


def scan_text(data: bytes) -> TextScanner:
    """Scan a whole text at once."""
    scanner = TextScanner()
    if KEYWORD in data:
        scanner.scan(data)
    return scanner


def find_sequence(piece: bytes, sequence: bytes, position: int = 0) -> int:
    """Where `sequence` stands next; the piece's end if nowhere.

    By its first byte first: where that is nowhere, which is common, memchr tells some 30 times faster.
    """
    first = piece.find(sequence[:1], position)
    found = piece.find(sequence, first) if first >= 0 else -1
    return len(piece) if found < 0 else found
