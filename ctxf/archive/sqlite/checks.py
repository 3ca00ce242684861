"""Verification of the SQLite store: the file, the payloads, and whether its rows agree with each other."""

from collections.abc import Iterator
from typing import Final

from blake3 import blake3

from ctxf.archive.codec import RAW, ZSTD, DamagedPayload, decode
from ctxf.archive.sqlite.rows import Row
from ctxf.archive.upkeep import Check, Damage
from ctxf.errors import ArchiveDamaged
from ctxf.storage.database import Database

__all__ = ["Checker"]

_KEYS_A_STRETCH: Final = 200
_MOST_FILE_FAULTS: Final = 20

# Each is one statement, so it sees one moment. It gives (scope or NULL, id or NULL, problem).
_ROW_CHECKS: Final = (
    """
    SELECT s.name, NULL, 'its size counter says ' || s.size || ' where its bodies have ' || f.size
    FROM scopes s JOIN (SELECT scope, total(size) AS size FROM folds WHERE body IS NOT NULL GROUP BY scope) f
        ON f.scope = s.key
    WHERE s.size <> f.size
    """,
    """
    SELECT s.name, f.id, CASE
        WHEN f.body IS NULL THEN 'its row says neither body nor date of forgetting'
        WHEN s.key IS NULL THEN 'a fold of a scope that is gone'
        WHEN b.key IS NULL AND f.body IS NOT NULL THEN 'its body is gone'
        WHEN typeof(f.created) <> 'integer' OR typeof(f.label) <> 'blob' OR typeof(f.id) <> 'text'
            THEN 'its row holds values of a wrong type'
        WHEN b.sha256 <> f.sha256 THEN 'it points to another body'
        WHEN b.size <> f.size THEN 'its row has a wrong size'
        ELSE 'its id is not the beginning of its hash' END
    FROM folds f LEFT JOIN scopes s ON s.key = f.scope LEFT JOIN bodies b ON b.key = f.body
    WHERE (f.body IS NULL AND f.forgotten IS NULL)
        OR (f.body IS NOT NULL AND (b.key IS NULL OR b.sha256 <> f.sha256 OR b.size <> f.size))
        OR s.key IS NULL OR typeof(f.created) <> 'integer' OR typeof(f.label) <> 'blob'
        OR typeof(f.id) <> 'text' OR substr(lower(hex(f.sha256)), 1, length(f.id)) <> f.id
    """,
    """
    SELECT NULL, NULL, 'a body of ' || b.size || ' bytes belongs to no fold'
    FROM bodies b WHERE NOT EXISTS (SELECT 1 FROM folds f WHERE f.body = b.key)
    """,
)


class Checker:
    """Checks in stretches: between two of them others may write, and nothing is held in memory."""

    def __init__(self, database: Database, *, deep: bool) -> None:
        self._database = database
        self._deep = deep

    def run(self) -> Iterator[Check]:
        """See `Store.verify`."""
        with self._database.reading() as connection:
            (total,) = connection.execute("SELECT count(*) FROM bodies").fetchone()
        yield Check(0, total, tuple(self._check_file()))
        done = after = 0
        while keys := self._keys(after):
            damage = tuple(one for key in keys for one in self._check_body(key))
            done, after = done + len(keys), keys[-1]
            yield Check(min(done, total), total, damage)
        yield Check(total, total, tuple(self._check_rows()))

    def _check_file(self) -> Iterator[Damage]:
        """SQLite's own check of its pages; the deep one compares the indexes with the tables too."""
        name = "integrity_check" if self._deep else "quick_check"
        try:
            with self._database.reading() as connection:
                rows = connection.execute(f"PRAGMA {name}({_MOST_FILE_FAULTS})").fetchall()
        except ArchiveDamaged as error:
            rows = [(error.problem,)]
        # SQLite's own words may hold line ends.
        return (Damage(f"file: {' '.join(str(text).split())}") for (text,) in rows if text != "ok")

    def _keys(self, after: int) -> list[int]:
        query = "SELECT key FROM bodies WHERE key > ? ORDER BY key LIMIT ?"
        try:
            with self._database.reading() as connection:
                keys = [key for (key,) in connection.execute(query, (after, _KEYS_A_STRETCH))]
        except ArchiveDamaged:
            return []  # already reported by the check of the file
        # Damaged pages give keys out of order: continue behind the highest, or the loop might not end.
        return sorted(key for key in set(keys) if type(key) is int and key > after)

    def _check_body(self, key: int) -> Iterator[Damage]:
        query = "SELECT sha256, size, encoding, blake3, payload FROM bodies WHERE key = ?"
        try:
            with self._database.reading() as connection:
                row = connection.execute(query, (key,)).fetchone()
            # None: forgotten meanwhile.
            problem = None if row is None else self._problem_of(row)
        except ArchiveDamaged as error:
            problem = error.problem
        if problem is None:
            return
        folds = list(self._folds_of(key))
        yield from (Damage(problem, scope, id) for scope, id in folds)
        if not folds:
            yield Damage(f"a body that belongs to no fold: {problem}")

    def _problem_of(self, row: Row) -> str | None:
        digest, size, encoding, checksum, data = row
        if not (isinstance(digest, bytes) and isinstance(data, bytes) and type(size) is int and size >= 0):
            return "its row holds values of a wrong type"
        is_plausible = encoding == ZSTD or (encoding == RAW and len(data) == size)
        is_intact = is_plausible and blake3(data).digest() == checksum
        if is_intact and not self._deep:
            return None
        try:
            decode(encoding, data, size=size, digest=digest)
        except DamagedPayload as error:
            return str(error)
        return None if is_intact else "its BLAKE3 is damaged, its body is not"

    def _folds_of(self, key: int) -> Iterator[tuple[str, str]]:
        query = "SELECT s.name, f.id FROM folds f JOIN scopes s ON s.key = f.scope WHERE f.body = ?"
        try:
            with self._database.reading() as connection:
                yield from connection.execute(query, (key,)).fetchall()
        except ArchiveDamaged:
            return

    def _check_rows(self) -> Iterator[Damage]:
        for query in _ROW_CHECKS:
            try:
                with self._database.reading() as connection:
                    rows = connection.execute(query).fetchall()
            except ArchiveDamaged as error:
                rows = [(None, None, f"file: {error.problem}")]
            for scope, id, problem in rows:
                yield Damage(str(problem), scope, id if isinstance(id, str) else None)
