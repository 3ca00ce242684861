"""An archive in memory: for tests, for trying things out, and the oracle for every other store."""

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from ctxf.archive.base import Entry, NewBody, Refused, ScopeSummary, free_id, id_candidates
from ctxf.archive.upkeep import Check, Damage, Forgotten, PackedFold, ScopeStats, Totals
from ctxf.errors import ArchiveError, BodyForgotten, BodyNotFound, IdTaken

__all__ = ["MemoryStore"]


@dataclass(slots=True)
class _Scope:
    entries: dict[str, Entry] = field(default_factory=dict)
    forgotten: dict[str, datetime] = field(default_factory=dict)
    size: int = 0

    def live(self) -> list[Entry]:
        """Entries that are not forgotten, oldest first."""
        return [entry for entry in self.entries.values() if entry.id not in self.forgotten]


class MemoryStore:
    """Keeps everything until the process ends; nothing is durable."""

    path = ":memory:"

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._bodies: dict[bytes, bytes] = {}
        self._scopes: dict[str, _Scope] = {}
        self._position = 0
        self._changes = 0
        self._identity = object()  # so that marks of two stores never compare equal

    def put(
        self, scope: str, groups: Sequence[Sequence[NewBody]], capacity: int | None
    ) -> list[tuple[str, ...] | Refused]:
        with self._lock:
            held = self._scopes.setdefault(scope, _Scope())
            return [self._put_group(held, group, capacity) for group in groups]

    def _put_group(
        self, held: _Scope, group: Sequence[NewBody], capacity: int | None
    ) -> tuple[str, ...] | Refused:
        new = {body.digest: len(body.body) for body in group if self._live_id(held, body.digest) is None}
        needed = sum(new.values())
        if capacity is not None and new and held.size + needed > capacity:
            return Refused(needed, max(0, capacity - held.size))
        ids = []
        for body in group:
            id = self._live_id(held, body.digest)
            if id is None:
                id = next(_ids_of(held, body.digest), None) or free_id(body.digest, held.entries)
                self._insert(held, PackedFold(id, body.body, body.digest, body.label, datetime.now(UTC)))
            ids.append(id)
        return tuple(ids)

    @staticmethod
    def _live_id(held: _Scope, digest: bytes) -> str | None:
        return next((id for id in _ids_of(held, digest) if id not in held.forgotten), None)

    def _insert(self, held: _Scope, fold: PackedFold) -> None:
        """Add an entry, or restore a forgotten one at its old position."""
        self._changes += 1
        known = held.entries.get(fold.id)
        if known is None:
            self._position += 1
        position = self._position if known is None else known.position
        held.entries[fold.id] = Entry(
            position, fold.id, fold.digest, fold.label, len(fold.body), fold.created
        )
        held.forgotten.pop(fold.id, None)
        held.size += len(fold.body)
        self._bodies[fold.digest] = bytes(fold.body)

    def get(self, scope: str, id: str) -> bytes:
        with self._lock:
            return self._bodies[self.entry(scope, id).digest]

    def entry(self, scope: str, id: str) -> Entry:
        with self._lock:
            held = self._scopes.get(scope, _Scope())
            if id in held.forgotten:
                raise BodyForgotten(scope, id, held.forgotten[id])
            if id not in held.entries:
                raise BodyNotFound(scope, id)
            return held.entries[id]

    def entries(self, scope: str, *, after: int, limit: int) -> list[Entry]:
        with self._lock:
            live = self._scopes.get(scope, _Scope()).live()
        return [entry for entry in live if entry.position > after][:limit]

    def scopes(self) -> list[ScopeSummary]:
        with self._lock:
            return [
                ScopeSummary(name, len(held.live()), held.size)
                for name, held in sorted(self._scopes.items())
                if held.live()
            ]

    def known(self, scope: str, ids: Iterable[str]) -> list[str]:
        with self._lock:
            live = {entry.id for entry in self._scopes.get(scope, _Scope()).live()}
        return sorted(live & set(ids))

    def known_prefix(self, scope: str, prefix: str, limit: int) -> list[str]:
        with self._lock:
            ids = [entry.id for entry in self._scopes.get(scope, _Scope()).live()]
        return sorted(id for id in ids if id.startswith(prefix))[:limit]

    def id_of(self, scope: str, digest: bytes) -> str | None:
        with self._lock:
            return next(_ids_of(self._scopes.get(scope, _Scope()), digest), None)

    def change_mark(self) -> object:
        with self._lock:
            return self._identity, self._changes

    def adopt(self, scope: str, folds: Iterable[PackedFold]) -> int:
        with self._lock:
            arriving = list(folds)
            held = self._scopes.setdefault(scope, _Scope())
            for fold in arriving:
                known = held.entries.get(fold.id)
                if known is not None and known.digest != fold.digest:
                    raise IdTaken(scope, fold.id)
            new = [fold for fold in arriving if fold.id not in held.entries or fold.id in held.forgotten]
            for fold in new:
                self._insert(held, fold)
            return len(new)

    def forget(self, scope: str, ids: Sequence[str] | None) -> Forgotten:
        with self._lock:
            self._changes += 1
            held = self._scopes.get(scope, _Scope())
            going = held.live() if ids is None else [self.entry(scope, id) for id in dict.fromkeys(ids)]
            for entry in going:
                held.forgotten[entry.id] = datetime.now(UTC)
                held.entries[entry.id] = entry._replace(label=b"")
                held.size -= entry.size
            needed = {entry.digest for one in self._scopes.values() for entry in one.live()}
            self._bodies = {digest: body for digest, body in self._bodies.items() if digest in needed}
            return Forgotten(tuple(entry.id for entry in going), sum(entry.size for entry in going))

    def stats(self, scope: str | None) -> list[ScopeStats]:
        with self._lock:
            names = sorted(self._scopes) if scope is None else [scope]
            return [
                _stats(name, self._scopes[name])
                for name in names
                if name in self._scopes and self._scopes[name].entries
            ]

    def totals(self) -> Totals:
        with self._lock:
            size = sum(map(len, self._bodies.values()))
            return Totals(len(self._bodies), size, size)

    def verify(self, *, deep: bool) -> Iterator[Check]:
        del deep
        with self._lock:
            bodies = list(self._bodies.items())
        damage = tuple(
            Damage(f"the body {digest.hex()} does not match its SHA-256")
            for digest, body in bodies
            if hashlib.sha256(body).digest() != digest
        )
        yield Check(len(bodies), len(bodies), damage)

    def backup(self, target: Path, progress: Callable[[int, int], None] | None = None) -> None:
        raise ArchiveError(self.path, f"cannot be backed up to {target}", "use an archive in a file")

    def facts(self) -> dict[str, str]:
        return {}

    def close(self) -> None:
        """There is nothing to close."""


def _ids_of(held: _Scope, digest: bytes) -> Iterator[str]:
    """The ids that the scope ever gave to a body, shortest first."""
    for id in id_candidates(digest):
        entry = held.entries.get(id)
        if entry is not None and entry.digest == digest:
            yield id


def _stats(name: str, held: _Scope) -> ScopeStats:
    live = held.live()
    dates = [entry.created for entry in live]
    return ScopeStats(
        name,
        len(live),
        held.size,
        held.size,
        len(held.forgotten),
        min(dates, default=None),
        max(dates, default=None),
    )
