"""The least that the same bytes can cost: bare hashlib, zstd and sqlite3, same tables, same durability."""

import hashlib
import os
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path

from ctxf.archive.sqlite.schema import CREATE

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdCompressor, ZstdDecompressor
else:
    from backports.zstd import ZstdCompressor, ZstdDecompressor

__all__ = ["COPY_LOOP", "FloorArchive", "random_body"]

COPY_LOOP = """
import os
while chunk := os.read(0, 1 << 20):
    view = memoryview(chunk)
    while view:
        view = view[os.write(1, view):]
"""


class FloorArchive:
    """What any archive of this design must do at least, and nothing of what makes it safe to use."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, timeout=30, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        if not self._connection.execute("PRAGMA user_version").fetchone()[0]:
            for statement in CREATE:
                self._connection.execute(statement)
            self._connection.execute("PRAGMA user_version = 1")
            self._connection.execute("INSERT INTO scopes (name) VALUES ('default')")
        self._compressor = ZstdCompressor(level=3)

    def put(self, bodies: Sequence[bytes]) -> list[str]:
        """Hash, compress, insert in one transaction, commit, read back."""
        execute = self._connection.execute
        ids = []
        execute("BEGIN IMMEDIATE")
        for body in bodies:
            digest = hashlib.sha256(body)
            payload = self._compressor.compress(body, ZstdCompressor.FLUSH_FRAME)
            key = execute(
                "INSERT INTO bodies (sha256, size, encoding, blake3, payload) VALUES (?, ?, 1, ?, ?)",
                (digest.digest(), len(body), bytes(32), payload),
            ).lastrowid
            id = digest.hexdigest()[:12]
            execute(
                "INSERT INTO folds (scope, id, body, sha256, size, label, created)"
                " VALUES (1, ?, ?, ?, ?, x'', 0)",
                (id, key, digest.digest(), len(body)),
            )
            ids.append(id)
        execute("COMMIT")
        for body, id in zip(bodies, ids, strict=True):
            if self.get(id) != body:
                raise RuntimeError("the floor lost a body")
        return ids

    def get(self, id: str) -> bytes:
        """Select, decompress, hash."""
        payload, digest = self._connection.execute(
            "SELECT b.payload, f.sha256 FROM folds f JOIN bodies b ON b.key = f.body"
            " WHERE f.scope = 1 AND f.id = ?",
            (id,),
        ).fetchone()
        body = ZstdDecompressor().decompress(payload)
        if hashlib.sha256(body).digest() != digest:
            raise RuntimeError("the floor read other bytes")
        return body

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def random_body(size: int) -> bytes:
    """Half of it random hexadecimal digits, half blanks: it compresses like a log."""
    return (os.urandom(size // 4).hex() + " " * (size // 2)).encode()
