"""What comes in on stdin, so that the SDK can read every line of it.

Its parser refuses a lone surrogate (`"\\ud800"`), and it drops a line that it cannot parse: the client would
wait for ever. Nothing archived holds one, so it becomes U+FFFD here, and the tools say what they do not find.
"""

import io
import re
from typing import BinaryIO, Final

__all__ = ["Readable", "without_lone_surrogates"]

_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


def without_lone_surrogates(line: bytes) -> bytes:
    """A line of JSON with the escapes of lone surrogates replaced; all others stay."""
    return _ESCAPE.sub(lambda match: rb"\ufffd" if match[1] else match[0], line)


class Readable(io.RawIOBase):
    """A stream of lines of JSON, as `without_lone_surrogates` gives them."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream = stream
        self._line = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview[int]", /) -> int:  # type: ignore[override]
        """Fill the buffer with what is left of a line; 0 at the end."""
        if not self._line:
            self._line = without_lone_surrogates(self._stream.readline())
        size = min(len(buffer), len(self._line))
        buffer[:size] = self._line[:size]
        self._line = self._line[size:]
        return size
