"""stdin and stdout while a server serves: lines that the SDK can read, and nothing but whole messages.

The rest of the process cannot use them: what it writes to descriptor 1 goes to stderr, and descriptor 0 is
empty for it.
"""

import contextlib
import errno
import io
import os
import sys
import threading
from typing import Any, BinaryIO, Final

from ctxf.mcp.lines import refusals, too_long, without_lone_surrogates

__all__ = ["Incoming", "Outgoing", "take_over"]

LONGEST_LINE: Final = 16 << 20


class Outgoing(io.RawIOBase):
    """A descriptor to write messages to, each of which ends its line."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._waiting: list[bytes] = []
        self._is_within_line = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        """Write all of it; answers that waited for the end of a line come behind it."""
        view = memoryview(data).cast("B")
        with self._lock:
            self._write_all(view)
            if view:
                self._is_within_line = view[-1] != ord("\n")
            if not self._is_within_line:
                self._write_all(memoryview(b"".join(self._waiting)))
                self._waiting.clear()
        return len(view)

    def answer(self, line: bytes) -> None:
        """Write a line of our own between two of the SDK's."""
        with self._lock:
            if self._is_within_line:
                self._waiting.append(line)
            else:
                self._write_all(memoryview(line))

    def _write_all(self, view: memoryview) -> None:
        while view:
            view = view[os.write(self._descriptor, view) :]


class Incoming(io.RawIOBase):
    """The lines of a stream that the SDK can read; the others are answered, or passed over."""

    def __init__(self, stream: BinaryIO, outgoing: Outgoing) -> None:
        super().__init__()
        self._stream = stream
        self._outgoing = outgoing
        self._line = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fill the buffer with what is left of a line; 0 at the end."""
        if not self._line:
            self._line = memoryview(self._next_line())
        size = min(len(buffer), len(self._line))
        buffer[:size] = self._line[:size]
        self._line = self._line[size:]
        return size

    def _next_line(self) -> bytes:
        while line := self._stream.readline(LONGEST_LINE):
            if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                answers: list[bytes] | None = [too_long(line, LONGEST_LINE)]
                while line and not line.endswith(b"\n"):
                    line = self._stream.readline(LONGEST_LINE)
            else:
                line = without_lone_surrogates(line)
                answers = refusals(line)
            if answers is None:
                return line.replace(b"\r", b" ")  # a blank of JSON, but a line end to Python
            with contextlib.suppress(OSError):  # nobody reads: the SDK finds out with its next message
                for answer in answers:
                    self._outgoing.answer(answer)
        return b""


class _Printed(io.TextIOWrapper):
    """What is printed while a server serves; `buffer`, which is all that the SDK takes of it, is the wire."""

    def __init__(self, wire: Outgoing) -> None:
        printed = os.fdopen(1, "wb", closefd=False)
        super().__init__(printed, encoding="utf-8", errors="backslashreplace", line_buffering=True)
        self._wire = wire

    @property
    def buffer(self) -> Any:
        return self._wire


def take_over() -> None:
    """Let `sys.stdin` and `sys.stdout` be what to serve on, for the rest of the process. Raises OSError."""
    for stream, name in ((sys.stdin, "stdin"), (sys.stdout, "stdout")):
        if stream is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), name)
    wire_in, wire_out = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    try:
        os.dup2(2, 1)
    except OSError:  # no stderr either
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)
    outgoing = Outgoing(wire_out)
    incoming = Incoming(os.fdopen(wire_in, "rb"), outgoing)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(incoming), encoding="utf-8")
    sys.stdout = _Printed(outgoing)
