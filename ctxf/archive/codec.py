"""How a body is stored: raw or as one zstd frame, with the BLAKE3 hash of the stored bytes.

BLAKE3 makes a check of the whole archive fast, SHA-256 over the body makes each read sure.
"""

import hashlib
import sys
from typing import Final, NamedTuple

from blake3 import blake3

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdCompressor, ZstdDecompressor, ZstdError
else:
    from backports.zstd import ZstdCompressor, ZstdDecompressor, ZstdError

__all__ = ["RAW", "ZSTD", "DamagedPayload", "Encoder", "Payload", "decode", "is_payload_of"]

RAW: Final = 0
ZSTD: Final = 1

_LEVEL: Final = 3


class DamagedPayload(Exception):
    """A payload that does not give the body that it was made from; the text says why."""


class Payload(NamedTuple):
    """What is stored for a body: `encoding` is RAW or ZSTD, `blake3` 32 bytes over `data`."""

    encoding: int
    data: bytes
    blake3: bytes


class Encoder:
    """Encodes many bodies with one compressor: setting one up costs more than a small body does."""

    def __init__(self) -> None:
        self._compressor = ZstdCompressor(level=_LEVEL)

    def encode(self, body: bytes) -> Payload:
        """The smaller of the body itself and its zstd frame."""
        frame = self._compressor.compress(body, ZstdCompressor.FLUSH_FRAME)
        if len(frame) < len(body):
            return Payload(ZSTD, frame, blake3(frame).digest())
        return Payload(RAW, body, blake3(body).digest())


def is_payload_of(body: bytes, encoding: int, data: bytes | None) -> bool:
    """Whether a payload decodes to `body`; compares bytes, so it needs no hash."""
    if data is None:
        return False
    try:
        return _expand(encoding, data, len(body)) == body
    except DamagedPayload:
        return False


def decode(encoding: int, data: bytes, *, size: int, digest: bytes) -> bytes:
    """The body of a payload, checked against its size and SHA-256.

    Never makes more than `size` bytes (and one), whatever the payload says. Raises DamagedPayload.
    """
    body = _expand(encoding, data, size)
    if len(body) != size:
        raise DamagedPayload(
            f"it gives {'more' if len(body) > size else 'less'} than the {size} bytes stored"
        )
    if hashlib.sha256(body).digest() != digest:
        raise DamagedPayload("its SHA-256 does not match")
    return body


def _expand(encoding: int, data: bytes, size: int) -> bytes:
    if encoding == RAW:
        return data
    if encoding != ZSTD:
        raise DamagedPayload(f"its encoding {encoding!r} is unknown")
    try:
        # One byte more than the recorded size is enough to detect a wrong size.
        return ZstdDecompressor().decompress(data, size + 1)
    except (ZstdError, OverflowError) as error:
        raise DamagedPayload(f"its zstd frame cannot be read: {error}") from error
