"""What happens inside one writing transaction of the SQLite store."""

import sqlite3
import time
from collections.abc import Mapping, Sequence

from ctxf.archive.base import NewBody, Refused, id_candidates
from ctxf.archive.codec import Encoder, Payload

__all__ = ["Writer"]


class Writer:
    """Puts bodies into `scope` over a connection that holds the write lock.

    `payloads` by digest spares it the encoding; one that is missing is made on the spot.
    """

    def __init__(self, connection: sqlite3.Connection, scope: str, payloads: Mapping[bytes, Payload]) -> None:
        self._execute = connection.execute
        self._payloads = payloads
        self._now = time.time_ns() // 1_000_000
        self._execute("INSERT INTO scopes (name) VALUES (?) ON CONFLICT DO NOTHING", (scope,))
        row = self._execute("SELECT key, size FROM scopes WHERE name = ?", (scope,)).fetchone()
        self._scope, self._size = row
        self._ids: dict[bytes, str] = {}  # of the bodies that the scope has, by digest, as far as looked up

    def put_group(self, group: Sequence[NewBody], capacity: int | None) -> tuple[str, ...] | Refused:
        """Store a group or refuse it whole; see `Store.put`."""
        absent: dict[bytes, tuple[NewBody, str, bool]] = {}
        for body in group:
            if body.digest not in self._ids:
                id, has_row, is_live = self._find(body.digest)
                if is_live:
                    self._ids[body.digest] = id
                else:
                    absent[body.digest] = (body, id, has_row)
        needed = sum(len(body.body) for body, _, _ in absent.values())
        if absent and capacity is not None and self._size + needed > capacity:
            return Refused(needed, max(0, capacity - self._size))
        for body, id, has_row in absent.values():
            self._insert(body, id, has_row)
        return tuple(self._ids[body.digest] for body in group)

    def finish(self) -> None:
        """Note how many bytes the scope holds now."""
        self._execute("UPDATE scopes SET size = ? WHERE key = ?", (self._size, self._scope))

    def replace_payloads(self) -> None:
        """Write the payloads again over those stored for the same bodies."""
        for digest, payload in self._payloads.items():
            self._execute(
                "UPDATE bodies SET encoding = ?, blake3 = ?, payload = ? WHERE sha256 = ?",
                (payload.encoding, payload.blake3, payload.data, digest),
            )

    def _find(self, digest: bytes) -> tuple[str, bool, bool]:
        """The id of a body in this scope, whether a row has it, and whether it is there (not forgotten)."""
        query = "SELECT sha256, body FROM folds WHERE scope = ? AND id = ?"
        for id in id_candidates(digest):
            row = self._execute(query, (self._scope, id)).fetchone()
            if row is None:
                return id, False, False
            if row[0] == digest:
                return id, True, row[1] is not None
        raise AssertionError("two bodies of one SHA-256")

    def _insert(self, body: NewBody, id: str, has_row: bool) -> None:
        key = self._body_key(body)
        if has_row:
            self._execute(
                "UPDATE folds SET body = ?, forgotten = NULL, label = ?, created = ?"
                " WHERE scope = ? AND id = ?",
                (key, body.label, self._now, self._scope, id),
            )
        else:
            self._execute(
                "INSERT INTO folds (scope, id, body, sha256, size, label, created)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (self._scope, id, key, body.digest, len(body.body), body.label, self._now),
            )
        self._ids[body.digest] = id
        self._size += len(body.body)

    def _body_key(self, body: NewBody) -> int:
        """The row of the body's bytes, which may be there for another scope."""
        payload = self._payloads.get(body.digest) or Encoder().encode(body.body)
        cursor = self._execute(
            "INSERT INTO bodies (sha256, size, encoding, blake3, payload) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (sha256) DO NOTHING",
            (body.digest, len(body.body), payload.encoding, payload.blake3, payload.data),
        )
        if cursor.rowcount and cursor.lastrowid is not None:
            return cursor.lastrowid
        (key,) = self._execute("SELECT key FROM bodies WHERE sha256 = ?", (body.digest,)).fetchone()
        return int(key)
