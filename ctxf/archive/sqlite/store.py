"""The store of `ctxf.archive.base` on SQLite."""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ctxf.archive.base import Entry, NewBody, Refused, ScopeSummary
from ctxf.archive.codec import Encoder, Payload, is_payload_of
from ctxf.archive.sqlite.rows import ENTRY_COLUMNS, Row, body_of, entry_of, time_of
from ctxf.archive.sqlite.schema import FILE
from ctxf.archive.sqlite.writer import IDS_OF_BODY, Writer
from ctxf.errors import ArchiveDamaged, ArchiveMissing, BodyDamaged, BodyForgotten, BodyNotFound
from ctxf.storage.connections import Connect, connect_sqlite
from ctxf.storage.database import Database
from ctxf.storage.files import new_file
from ctxf.storage.schema import FileKind

if TYPE_CHECKING:
    from ctxf.archive.upkeep import Check, Forgotten, PackedFold, ScopeStats, Totals

__all__ = ["SqliteStore"]

# Fewer are encoded before a second thread has started.
_BODIES_PER_THREAD: Final = 64
_READ_BACK_ATTEMPTS: Final = 4

_Group = Sequence[NewBody]
_Admission = tuple[str, ...] | Refused

# The scope's name from its table: the index that led to it may be damaged, and lead to another's row.
_OWNER = "(SELECT owner.name FROM scopes owner WHERE owner.key = f.scope)"
_BODY = f"""
    SELECT f.sha256, f.size, f.forgotten, b.encoding, b.payload, {_OWNER}
    FROM scopes s JOIN folds f ON f.scope = s.key LEFT JOIN bodies b ON b.key = f.body
    WHERE s.name = ? AND f.id = ?
"""
_COPIES = f"""
    SELECT f.id, f.sha256, f.size, b.encoding, b.payload
    FROM scopes s JOIN folds f ON f.scope = s.key LEFT JOIN bodies b ON b.key = f.body
    WHERE s.name = :scope AND {_OWNER} = :scope AND {IDS_OF_BODY} ORDER BY f.id
"""
_ENTRY = f"SELECT {ENTRY_COLUMNS} FROM scopes s JOIN folds f ON f.scope = s.key WHERE s.name = ?"


class SqliteStore:
    """Bodies in one file. Opening it is put off to the first call that needs it."""

    def __init__(
        self,
        path: Path,
        kind: FileKind = FILE,
        connect: Connect = connect_sqlite,
        patience: float | None = None,
    ) -> None:
        """`patience`: the seconds that a call waits for a lock, where it is not the usual time."""
        self._database = Database(
            path, kind, connect if patience is None else partial(connect_sqlite, patience=patience)
        )

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
                        if (id := _intact_id(connection, scope, body)) is not None:
                            intact[body.digest] = id
        except ArchiveMissing:
            pass
        return intact

    def _read_back(self, scope: str, groups: Sequence[_Group], admissions: Sequence[_Admission]) -> None:
        """Law L4: what was admitted must come back equal; a damaged older copy of a body is replaced.

        Repeated if another process forgets it meanwhile, but only a few times.
        """
        for _attempt in range(_READ_BACK_ATTEMPTS):
            damaged = list(self._not_equal(scope, groups, admissions))
            if not damaged:
                return
            payloads = _encode(damaged)
            with self._database.writing() as connection:
                writer = Writer(connection, scope, payloads)
                for body in damaged:
                    writer.put_group([body], None)  # if forgotten meanwhile, it gets its id back
                    writer.replace(body)
                writer.finish()
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
                    if row is None or row[5] != scope or not _gives_back(body, *row[:2], *row[3:5]):
                        yield body

    def get(self, scope: str, id: str) -> bytes:
        try:
            row = self._database.row(_BODY, (scope, id))
        except ArchiveDamaged as error:
            raise BodyDamaged(scope, id, error.problem) from error
        return body_of(scope, id, row)

    def entry(self, scope: str, id: str) -> Entry:
        row = self._database.row(f"{_ENTRY} AND f.id = ?", (scope, id))
        if row is None:
            raise BodyNotFound(scope, id)
        if type(row[-1]) is int:
            raise BodyForgotten(scope, id, time_of(row[-1]))
        return entry_of(self.path, row)

    def entries(self, scope: str, *, after: int, limit: int) -> list[Entry]:
        query = f"{_ENTRY} AND f.key > ? AND f.body IS NOT NULL ORDER BY f.key LIMIT ?"
        return [entry_of(self.path, row) for row in self._select(query, (scope, after, limit))]

    def scopes(self) -> list[ScopeSummary]:
        query = """
            SELECT s.name, count(*), s.size FROM scopes s JOIN folds f ON f.scope = s.key
            WHERE f.body IS NOT NULL GROUP BY s.key ORDER BY s.name
        """
        return [ScopeSummary(*row) for row in self._select(query)]

    def known(self, scope: str, ids: Iterable[str]) -> list[str]:
        query = """
            SELECT 1 FROM scopes s JOIN folds f ON f.scope = s.key
            WHERE s.name = ? AND f.id = ? AND f.body IS NOT NULL
        """
        with self._database.reading() as connection:
            return sorted(id for id in set(ids) if connection.execute(query, (scope, id)).fetchone())

    def known_prefix(self, scope: str, prefix: str, limit: int) -> list[str]:
        query = """
            SELECT f.id FROM scopes s JOIN folds f ON f.scope = s.key
            WHERE s.name = ? AND f.id >= ? AND f.id < ? AND f.body IS NOT NULL ORDER BY f.id LIMIT ?
        """
        # "g" comes behind every hexadecimal digit.
        return [id for (id,) in self._select(query, (scope, prefix, prefix + "g", limit))]

    def id_of(self, scope: str, digest: bytes) -> str | None:
        query = f"""
            SELECT f.id FROM scopes s JOIN folds f ON f.scope = s.key
            WHERE s.name = :scope AND {IDS_OF_BODY} AND f.sha256 = :digest ORDER BY f.id LIMIT 1
        """
        rows = self._select(query, {"scope": scope, "digits": digest.hex(), "digest": digest})
        return rows[0][0] if rows else None

    def change_mark(self) -> object:
        return self._database.change_mark()

    def adopt(self, scope: str, folds: "Iterable[PackedFold]") -> int:
        with self._database.writing() as connection:
            writer = Writer(connection, scope, {})
            new = sum(writer.adopt(fold) for fold in folds)
            writer.finish()
        return new

    def forget(self, scope: str, ids: Sequence[str] | None) -> "Forgotten":
        from ctxf.archive.upkeep import Forgotten  # noqa: PLC0415 - see ctxf.archive.Archive

        with self._database.writing(create=False) as connection:
            writer = Writer(connection, scope, {})
            gone = writer.forget(ids)
            writer.finish()
        is_erased = self._database.give_back_space()
        return Forgotten(tuple(id for id, _size in gone), sum(size for _id, size in gone), is_erased)

    def stats(self, scope: str | None) -> "list[ScopeStats]":
        from ctxf.archive.sqlite.figures import scope_stats  # noqa: PLC0415

        return scope_stats(self._database, scope)

    def totals(self) -> "Totals":
        from ctxf.archive.sqlite.figures import totals  # noqa: PLC0415

        return totals(self._database)

    def verify(self, *, deep: bool) -> "Iterator[Check]":
        from ctxf.archive.sqlite.checks import Checker  # noqa: PLC0415

        return Checker(self._database, deep=deep).run()

    def backup(self, target: Path, progress: Callable[[int, int], None] | None = None) -> None:
        with new_file(target) as temporary:
            self._database.copy_to(temporary, progress)

    def facts(self) -> dict[str, str]:
        return self._database.facts()

    def close(self) -> None:
        self._database.close()

    def _select(self, query: str, values: Sequence[object] | dict[str, object] = ()) -> list[Row]:
        with self._database.reading() as connection:
            return connection.execute(query, values).fetchall()


def _intact_id(connection: sqlite3.Connection, scope: str, body: NewBody) -> str | None:
    """The shortest id under which the scope gives the body back."""
    rows = connection.execute(_COPIES, {"scope": scope, "digits": body.digest.hex()})
    return next((id for id, *row in rows if _gives_back(body, *row)), None)


def _gives_back(body: NewBody, digest: object, size: object, encoding: object, data: object) -> bool:
    return (
        digest == body.digest
        and size == len(body.body)
        and isinstance(encoding, int)
        and isinstance(data, bytes)
        and is_payload_of(body.body, encoding, data)
    )


def _encode(bodies: Iterable[NewBody]) -> dict[bytes, Payload]:
    """The payloads by digest; of many bodies on all cores, since zstd and BLAKE3 work without the GIL."""
    bodies = list({body.digest: body for body in bodies}.values())
    workers = len(bodies) // _BODIES_PER_THREAD
    if workers >= 2:
        workers = min(os.cpu_count() or 1, workers)
    if workers < 2:
        return _encode_alone(bodies)
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - `ctxf read`: 52 ms, not 46 ms

    with ThreadPoolExecutor(workers) as pool:
        shares = pool.map(_encode_alone, (bodies[first::workers] for first in range(workers)))
        return {digest: payload for share in shares for digest, payload in share.items()}


def _encode_alone(bodies: Iterable[NewBody]) -> dict[bytes, Payload]:
    encoder = Encoder()
    return {body.digest: encoder.encode(body.body) for body in bodies}
