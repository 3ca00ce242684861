"""What happens inside one writing transaction of the SQLite store."""

import sqlite3
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ctxf.archive.base import NewBody, Refused, free_id
from ctxf.archive.codec import Encoder, Payload, is_payload_of
from ctxf.archive.sqlite.rows import time_of
from ctxf.errors import BodyForgotten, BodyNotFound, IdTaken
from ctxf.storage.faults import DamagedIndex

if TYPE_CHECKING:
    from ctxf.archive.upkeep import PackedFold

__all__ = ["IDS_OF_BODY", "Writer"]

IDS_OF_BODY = "f.id >= substr(:digits, 1, 12) AND f.id <= :digits"
"""Finds the ids of a scope that begin with the first 12 digits of a hash: all that its body can have,
shortest first in the order of ids, and those of bodies that collide with it."""

_SCOPE = """
    SELECT s.key, s.size, (SELECT owner.name FROM scopes owner WHERE owner.key = s.key)
    FROM scopes s WHERE s.name = ?
"""
_FIND = f"SELECT f.id, f.sha256, f.body FROM folds f WHERE f.scope = :scope AND {IDS_OF_BODY} ORDER BY f.id"


class Writer:
    """Changes `scope` over a connection that holds the write lock; `finish` when all is done.

    `payloads` holds bodies already encoded, by digest; missing ones are encoded here.
    """

    def __init__(self, connection: sqlite3.Connection, scope: str, payloads: Mapping[bytes, Payload]) -> None:
        self._execute = connection.execute
        self._payloads = payloads
        self._now = time.time_ns() // 1_000_000
        self._name = scope
        row = self._execute(_SCOPE, (scope,)).fetchone()
        if row is None:
            self._execute("INSERT INTO scopes (name) VALUES (?)", (scope,))
            row = self._execute(_SCOPE, (scope,)).fetchone()
        self._scope, self._size, owner = row
        # The index may be damaged and lead to another scope, which must neither get nor lose a body.
        if owner != scope:
            raise DamagedIndex("the index of its scopes leads to another scope")
        if type(self._size) is not int:  # damaged: count again
            query = "SELECT coalesce(sum(size), 0) FROM folds WHERE scope = ? AND body IS NOT NULL"
            (self._size,) = self._execute(query, (self._scope,)).fetchone()
        self._ids: dict[bytes, str] = {}  # of the bodies that the scope has, by digest, as far as looked up

    def finish(self) -> None:
        """Note how many bytes the scope holds now."""
        self._execute("UPDATE scopes SET size = ? WHERE key = ?", (self._size, self._scope))

    def put_group(self, group: Sequence[NewBody], capacity: int | None) -> tuple[str, ...] | Refused:
        """Store a group or refuse it whole; see `Store.put`."""
        absent: dict[bytes, tuple[NewBody, str]] = {}
        for body in group:
            if body.digest not in self._ids and body.digest not in absent:
                id, is_live = self._find(body.digest)
                if is_live:
                    self._ids[body.digest] = id
                else:
                    absent[body.digest] = (body, id)
        needed = sum(len(body.body) for body, _id in absent.values())
        if absent and capacity is not None and self._size + needed > capacity:
            return Refused(needed, max(0, capacity - self._size))
        for body, id in absent.values():
            if len(absent) > 1:
                id, _is_live = self._find(body.digest)  # two of one group may collide
            self._insert(id, body.body, body.digest, body.label, self._now)
            self._ids[body.digest] = id
        return tuple(self._ids[body.digest] for body in group)

    def _find(self, digest: bytes) -> tuple[str, bool]:
        """The id that a body has or is to get in this scope, and whether it is there (not forgotten)."""
        rows = self._execute(_FIND, {"scope": self._scope, "digits": digest.hex()}).fetchall()
        own = [(id, body is not None) for id, sha256, body in rows if sha256 == digest]
        if own:
            return next((one for one in own if one[1]), own[0])
        return free_id(digest, [id for id, _sha256, _body in rows]), False

    def adopt(self, fold: "PackedFold") -> bool:
        """Take over a fold under its own id; whether it is new here. Raises IdTaken."""
        row = self._execute(
            "SELECT sha256, body FROM folds WHERE scope = ? AND id = ?", (self._scope, fold.id)
        ).fetchone()
        if row is not None and row[0] != fold.digest:
            raise IdTaken(self._name, fold.id)
        if row is None or row[1] is None:
            self._insert(fold.id, fold.body, fold.digest, fold.label, round(fold.created.timestamp() * 1000))
        self._repair(fold)
        return row is None or row[1] is None

    def _repair(self, fold: "PackedFold") -> None:
        """Store the body again if its stored copy does not decode to it."""
        query = "SELECT encoding, payload FROM bodies WHERE sha256 = ?"
        row = self._execute(query, (fold.digest,)).fetchone()
        if not is_payload_of(fold.body, *row):
            self.replace(NewBody(fold.body, fold.digest, fold.label))

    def replace(self, body: NewBody) -> None:
        """Write a body again over the damaged copy that is stored, and the sizes that belong to it."""
        payload = self._encoded(body.body, body.digest)
        size = len(body.body)
        self._execute(
            "UPDATE bodies SET size = ?, encoding = ?, blake3 = ?, payload = ? WHERE sha256 = ?",
            (size, payload.encoding, payload.blake3, payload.data, body.digest),
        )
        self._execute(
            "UPDATE folds SET size = ? WHERE size <> ? AND body = (SELECT key FROM bodies WHERE sha256 = ?)",
            (size, size, body.digest),
        )

    def _insert(self, id: str, body: bytes, digest: bytes, label: bytes, created: int) -> None:
        """Add a fold, or restore a forgotten one at its old position."""
        self._execute(
            "INSERT INTO folds (scope, id, body, sha256, size, label, created) VALUES (?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (scope, id) DO UPDATE SET body = excluded.body, forgotten = NULL,"
            " size = excluded.size, label = excluded.label, created = excluded.created",
            (self._scope, id, self._body_key(body, digest), digest, len(body), label, created),
        )
        self._size += len(body)

    def _body_key(self, body: bytes, digest: bytes) -> int:
        """The row of the body's bytes, which may be there for another scope."""
        payload = self._encoded(body, digest)
        cursor = self._execute(
            "INSERT INTO bodies (sha256, size, encoding, blake3, payload) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (sha256) DO NOTHING",
            (digest, len(body), payload.encoding, payload.blake3, payload.data),
        )
        if cursor.rowcount and cursor.lastrowid is not None:
            return cursor.lastrowid
        (key,) = self._execute("SELECT key FROM bodies WHERE sha256 = ?", (digest,)).fetchone()
        return int(key)

    def _encoded(self, body: bytes, digest: bytes) -> Payload:
        return self._payloads.get(digest) or Encoder().encode(body)

    def forget(self, ids: Sequence[str] | None) -> list[tuple[str, int]]:
        """Turn folds into tombstones and delete what no other fold needs; their ids and sizes.

        Raises BodyNotFound, BodyForgotten; see `Store.forget`.
        """
        going = self._all_live() if ids is None else [self._live(id) for id in dict.fromkeys(ids)]
        for id, body, _size in going:
            # The label goes too: it was written by whoever wrote the body.
            self._execute(
                "UPDATE folds SET body = NULL, forgotten = ?, label = x'' WHERE scope = ? AND id = ?",
                (self._now, self._scope, id),
            )
            self._execute(
                "DELETE FROM bodies WHERE key = ? AND NOT EXISTS (SELECT 1 FROM folds WHERE body = ?)",
                (body, body),
            )
        self._size -= sum(size for _id, _body, size in going)
        return [(id, size) for id, _body, size in going]

    def _all_live(self) -> list[tuple[str, int, int]]:
        query = "SELECT id, body, size FROM folds WHERE scope = ? AND body IS NOT NULL ORDER BY key"
        return self._execute(query, (self._scope,)).fetchall()

    def _live(self, id: str) -> tuple[str, int, int]:
        query = "SELECT body, size, forgotten FROM folds WHERE scope = ? AND id = ?"
        row = self._execute(query, (self._scope, id)).fetchone()
        if row is None:
            raise BodyNotFound(self._name, id)
        if row[0] is None:
            raise BodyForgotten(self._name, id, time_of(row[2]))
        return id, row[0], row[1]
