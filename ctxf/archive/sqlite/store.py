"""The store of `ctxf.archive.base` on SQLite."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ctxf.archive.base import Entry, NewBody, Refused, ScopeSummary, id_candidates
from ctxf.archive.codec import DamagedPayload, Encoder, Payload, decode, is_payload_of
from ctxf.archive.sqlite.database import Database
from ctxf.archive.sqlite.writer import Writer
from ctxf.errors import ArchiveDamaged, ArchiveMissing, BodyDamaged, BodyForgotten, BodyNotFound

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["SqliteStore"]

# Fewer are encoded before a second thread has started.
_BODIES_PER_THREAD: Final = 64

_Group = Sequence[NewBody]
_Admission = tuple[str, ...] | Refused

_BODY = """
    SELECT f.sha256, f.size, f.forgotten, b.encoding, b.payload
    FROM scopes s JOIN folds f ON f.scope = s.key LEFT JOIN bodies b ON b.key = f.body
    WHERE s.name = ? AND f.id = ?
"""
_ENTRY = """
    SELECT f.key, f.id, f.sha256, f.label, f.size, f.created, f.forgotten
    FROM scopes s JOIN folds f ON f.scope = s.key
    WHERE s.name = ?
"""


class SqliteStore:
    """Bodies in one file. Opening it is put off to the first call that needs it."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path)

    @property
    def path(self) -> str:
        return str(self._database.path)

    def put(self, scope: str, groups: Sequence[_Group], capacity: int | None) -> list[_Admission]:
        intact = self._intact_ids(scope, groups)
        if all(body.digest in intact for group in groups for body in group):
            # Nothing new: no lock, no write, no fsync. An agent's history is folded again and again.
            return [tuple(intact[body.digest] for body in group) for group in groups]
        # Before the lock: compressing is most of the work, and other writers need not wait for it.
        payloads = _encode(body for group in groups for body in group if body.digest not in intact)
        with self._database.writing() as connection:
            writer = Writer(connection, scope, payloads)
            admissions = [writer.put_group(group, capacity) for group in groups]
            writer.finish()
        self._read_back(scope, groups, admissions)
        return admissions

    def _intact_ids(self, scope: str, groups: Sequence[_Group]) -> dict[bytes, str]:
        """The ids of the bodies, by digest, that the scope has and that read back equal."""
        intact: dict[bytes, str] = {}
        try:
            with self._database.reading() as connection:
                for group in groups:
                    for body in group:
                        for id in id_candidates(body.digest):
                            row = connection.execute(_BODY, (scope, id)).fetchone()
                            if row is None:
                                break
                            digest, _size, forgotten, encoding, data = row
                            if digest == body.digest:
                                if forgotten is None and is_payload_of(body.body, encoding, data):
                                    intact[digest] = id
                                break
        except ArchiveMissing:
            pass
        return intact

    def _read_back(self, scope: str, groups: Sequence[_Group], admissions: Sequence[_Admission]) -> None:
        """Law L4: what was admitted must come back equal; a damaged older copy of a body is replaced."""
        damaged = list(self._not_equal(scope, groups, admissions))
        if not damaged:
            return
        payloads = _encode(damaged)
        with self._database.writing() as connection:
            Writer(connection, scope, payloads).replace_payloads()
        if any(self._not_equal(scope, groups, admissions)):
            raise ArchiveDamaged(self.path, "a body does not come back as it was written")

    def _not_equal(
        self, scope: str, groups: Sequence[_Group], admissions: Sequence[_Admission]
    ) -> Iterator[NewBody]:
        with self._database.reading() as connection:
            for group, ids in zip(groups, admissions, strict=True):
                if isinstance(ids, Refused):
                    continue
                for body, id in zip(group, ids, strict=True):
                    row = connection.execute(_BODY, (scope, id)).fetchone()
                    if row is None or row[0] != body.digest or not is_payload_of(body.body, row[3], row[4]):
                        yield body

    def get(self, scope: str, id: str) -> bytes:
        try:
            row = self._database.row(_BODY, (scope, id))
        except ArchiveDamaged as error:
            raise BodyDamaged(scope, id, error.problem) from error
        if row is None:
            raise BodyNotFound(scope, id)
        digest, size, forgotten, encoding, data = row
        if forgotten is not None:
            raise BodyForgotten(scope, id, _time(forgotten))
        if data is None:
            raise BodyDamaged(scope, id, "its row is gone")
        try:
            return decode(encoding, data, size=size, digest=digest)
        except DamagedPayload as error:
            raise BodyDamaged(scope, id, str(error)) from error

    def entry(self, scope: str, id: str) -> Entry:
        row = self._database.row(f"{_ENTRY} AND f.id = ?", (scope, id))
        if row is None:
            raise BodyNotFound(scope, id)
        if row[-1] is not None:
            raise BodyForgotten(scope, id, _time(row[-1]))
        return _entry(row)

    def entries(self, scope: str, *, after: int, limit: int) -> list[Entry]:
        query = f"{_ENTRY} AND f.key > ? AND f.forgotten IS NULL ORDER BY f.key LIMIT ?"
        with self._database.reading() as connection:
            return [_entry(row) for row in connection.execute(query, (scope, after, limit))]

    def scopes(self) -> list[ScopeSummary]:
        query = """
            SELECT s.name, count(*), s.size FROM scopes s JOIN folds f ON f.scope = s.key
            WHERE f.forgotten IS NULL GROUP BY s.key ORDER BY s.name
        """
        with self._database.reading() as connection:
            return [ScopeSummary(*row) for row in connection.execute(query)]

    def known(self, scope: str, ids: Iterable[str]) -> list[str]:
        query = """
            SELECT 1 FROM scopes s JOIN folds f ON f.scope = s.key
            WHERE s.name = ? AND f.id = ? AND f.forgotten IS NULL
        """
        with self._database.reading() as connection:
            return sorted(id for id in set(ids) if connection.execute(query, (scope, id)).fetchone())

    def known_prefix(self, scope: str, prefix: str, limit: int) -> list[str]:
        query = """
            SELECT f.id FROM scopes s JOIN folds f ON f.scope = s.key
            WHERE s.name = ? AND f.id >= ? AND f.id < ? AND f.forgotten IS NULL ORDER BY f.id LIMIT ?
        """
        # "g" comes behind every hexadecimal digit.
        with self._database.reading() as connection:
            return [id for (id,) in connection.execute(query, (scope, prefix, prefix + "g", limit))]

    def facts(self) -> dict[str, str]:
        return self._database.facts()

    def close(self) -> None:
        self._database.close()


def _encode(bodies: Iterable[NewBody]) -> dict[bytes, Payload]:
    """The payloads by digest; of many bodies on all cores, since zstd and BLAKE3 work without the GIL."""
    bodies = list({body.digest: body for body in bodies}.values())
    workers = min(os.cpu_count() or 1, len(bodies) // _BODIES_PER_THREAD)
    if workers < 2:
        return _encode_alone(bodies)
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - not for who reads or stores little

    with ThreadPoolExecutor(workers) as pool:
        shares = pool.map(_encode_alone, (bodies[first::workers] for first in range(workers)))
        return {digest: payload for share in shares for digest, payload in share.items()}


def _encode_alone(bodies: Iterable[NewBody]) -> dict[bytes, Payload]:
    encoder = Encoder()
    return {body.digest: encoder.encode(body.body) for body in bodies}


def _entry(row: tuple[int, str, bytes, bytes, int, int, int | None]) -> Entry:
    position, id, digest, label, size, created, _forgotten = row
    return Entry(position, id, digest, label, size, _time(created))


def _time(milliseconds: int) -> "datetime":
    from datetime import UTC, datetime  # noqa: PLC0415 - a plain read needs no dates

    return datetime.fromtimestamp(milliseconds / 1000, UTC)
