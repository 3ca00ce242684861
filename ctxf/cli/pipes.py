"""Bytes in and bytes out, through file descriptors: no text mode, no locale, no second buffer."""

import contextlib
import os
import select
import stat
import sys
from collections.abc import Callable
from typing import Final

__all__ = ["CHUNK_BYTES", "Input", "Output", "ReaderGone", "is_terminal"]

CHUNK_BYTES: Final = 1 << 20
_STDIN: Final = 0
_STDOUT: Final = 1
_PIECE_BYTES: Final = 1 << 16

# fcntl(2): makes the pipe's buffer as large as one read, instead of 64 KiB.
_F_SETPIPE_SZ: Final = 1031


class ReaderGone(Exception):
    """Nobody reads stdout any more. No OSError: click would make a status 1 of a broken pipe."""


class Input:
    """A file, or stdin for None and `-`. Raises OSError, which names the input, from every method."""

    def __init__(self, path: str | None) -> None:
        self._is_stdin = path is None or path == "-"
        self.name = "stdin" if self._is_stdin else str(path)
        if path is None or self._is_stdin:
            self._descriptor = _STDIN
            _widen_pipe(_STDIN)
        else:
            self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))

    def read_chunk(self) -> bytes:
        """What is there, up to 1 MiB; empty at the end."""
        while True:
            try:
                return os.read(self._descriptor, CHUNK_BYTES)
            except BlockingIOError:
                select.select([self._descriptor], [], [])
            except OSError as error:
                error.filename = self.name
                raise

    def read_all(self) -> bytes:
        """All of it."""
        return b"".join(iter(self.read_chunk, b""))

    def step_back(self, size: int) -> None:
        """Let the next read give the last `size` bytes once more; for what `reread` can do, too."""
        os.lseek(self._descriptor, -size, os.SEEK_CUR)

    def reread(self, back: int) -> Callable[[int, int], bytes] | None:
        """Reads bytes between two offsets once more; None where that cannot be done.

        Offsets count from `back` bytes before the place that has been read up to.
        """
        try:
            # Not from the start of the file: a shell's `read` may have taken some.
            start = os.lseek(self._descriptor, 0, os.SEEK_CUR) - back
            is_file = stat.S_ISREG(os.fstat(self._descriptor).st_mode)
        except OSError:
            return None
        descriptor = self._descriptor
        return (lambda first, last: os.pread(descriptor, last - first, start + first)) if is_file else None

    def is_waiting(self, seconds: float) -> bool:
        """Whether for `seconds` nothing more comes in; never for a file."""
        try:
            poll = select.poll()
            poll.register(self._descriptor, select.POLLIN)
            return not poll.poll(seconds * 1000)
        except (AttributeError, OSError):
            return False  # no poll here: batches are then stored when they are full

    def close(self) -> None:
        """Close the file; stdin stays open."""
        if not self._is_stdin:
            os.close(self._descriptor)


class Output:
    """stdout. Small pieces are gathered; `flush` at the end, or when a reader should see them.

    Raises OSError, ReaderGone.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, piece: bytes | memoryview) -> None:
        """Write a piece, at the latest with the next flush."""
        if len(piece) >= _PIECE_BYTES:
            self.flush()
            _write_all(piece)
            return
        self._pieces.append(bytes(piece))
        self._size += len(piece)
        if self._size >= _PIECE_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write all pieces."""
        pieces, self._pieces, self._size = self._pieces, [], 0
        if pieces:
            _write_all(b"".join(pieces))


def is_terminal(descriptor: int) -> bool:
    """Whether a standard descriptor is a terminal; a closed one is none."""
    try:
        return os.isatty(descriptor)
    except OSError:
        return False


def _write_all(data: bytes | memoryview) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(_STDOUT, view) :]
        except BlockingIOError:  # another process that shares the pipe has set it to non-blocking
            select.select([], [_STDOUT], [])
        except BrokenPipeError as error:
            raise ReaderGone from error


def _widen_pipe(descriptor: int) -> None:
    if sys.platform == "linux":
        import fcntl  # noqa: PLC0415 - Unix only

        with contextlib.suppress(OSError):  # no pipe, or more than this user may have
            fcntl.fcntl(descriptor, _F_SETPIPE_SZ, CHUNK_BYTES)
