"""Request bodies that came compressed: decoded within a bound, and only when all of it makes sense."""

import sys
import zlib
from typing import Final

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["decode"]

_GZIP_WINDOW: Final = zlib.MAX_WBITS | 16


def decode(body: bytes, encoding: bytes, limit: int) -> bytes | None:
    """What `body` holds by its Content-Encoding.

    None where it is in an encoding not known here, damaged, in several pieces, or larger than `limit`
    bytes: such a body goes on as it came.
    """
    match encoding.strip().lower():
        case b"" | b"identity":
            return body if len(body) <= limit else None
        case b"gzip" | b"x-gzip":
            return _gunzip(body, limit)
        case b"zstd":
            return _unzstd(body, limit)
        case _:
            return None


def _gunzip(body: bytes, limit: int) -> bytes | None:
    decoder = zlib.decompressobj(_GZIP_WINDOW)
    try:
        # One byte more than allowed is asked for: a bomb costs no more than that.
        data = decoder.decompress(body, limit + 1)
    except zlib.error:
        return None
    return data if decoder.eof and not decoder.unused_data and len(data) <= limit else None


def _unzstd(body: bytes, limit: int) -> bytes | None:
    decoder = zstd.ZstdDecompressor()
    try:
        data = decoder.decompress(body, limit + 1)
    except zstd.ZstdError:
        return None
    return data if decoder.eof and not decoder.unused_data and len(data) <= limit else None
