"""An archive in memory: for tests, for trying things out, and the oracle for every other store."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ctxf.archive.base import Entry, NewBody, Refused, ScopeSummary, id_candidates
from ctxf.errors import BodyNotFound

__all__ = ["MemoryStore"]


@dataclass(slots=True)
class _Scope:
    entries: dict[str, Entry] = field(default_factory=dict)
    size: int = 0


class MemoryStore:
    """Keeps everything until the process ends; nothing is durable."""

    path = ":memory:"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bodies: dict[bytes, bytes] = {}
        self._scopes: dict[str, _Scope] = {}
        self._position = 0

    def put(
        self, scope: str, groups: Sequence[Sequence[NewBody]], capacity: int | None
    ) -> list[tuple[str, ...] | Refused]:
        with self._lock:
            held = self._scopes.setdefault(scope, _Scope())
            return [self._put_group(held, group, capacity) for group in groups]

    def _put_group(
        self, held: _Scope, group: Sequence[NewBody], capacity: int | None
    ) -> tuple[str, ...] | Refused:
        new = {body.digest: len(body.body) for body in group if not self._find(held, body)[1]}
        needed = sum(new.values())
        if capacity is not None and new and held.size + needed > capacity:
            return Refused(needed, max(0, capacity - held.size))
        ids = []
        for body in group:
            id, is_known = self._find(held, body)
            if not is_known:
                self._position += 1
                held.entries[id] = Entry(
                    self._position, id, body.digest, body.label, len(body.body), datetime.now(UTC)
                )
                held.size += len(body.body)
                self._bodies[body.digest] = bytes(body.body)
            ids.append(id)
        return tuple(ids)

    @staticmethod
    def _find(held: _Scope, body: NewBody) -> tuple[str, bool]:
        """The id of a body, and whether the scope has it."""
        for id in id_candidates(body.digest):
            entry = held.entries.get(id)
            if entry is None or entry.digest == body.digest:
                return id, entry is not None
        raise AssertionError("two bodies of one SHA-256")

    def get(self, scope: str, id: str) -> bytes:
        return self._bodies[self.entry(scope, id).digest]

    def entry(self, scope: str, id: str) -> Entry:
        held = self._scopes.get(scope)
        if held is None or id not in held.entries:
            raise BodyNotFound(scope, id)
        return held.entries[id]

    def entries(self, scope: str, *, after: int, limit: int) -> list[Entry]:
        held = self._scopes.get(scope, _Scope())
        with self._lock:
            return [entry for entry in held.entries.values() if entry.position > after][:limit]

    def scopes(self) -> list[ScopeSummary]:
        with self._lock:
            return [
                ScopeSummary(name, len(held.entries), held.size)
                for name, held in sorted(self._scopes.items())
                if held.entries
            ]

    def known(self, scope: str, ids: Iterable[str]) -> list[str]:
        return sorted(self._scopes.get(scope, _Scope()).entries.keys() & set(ids))

    def known_prefix(self, scope: str, prefix: str, limit: int) -> list[str]:
        with self._lock:
            ids = list(self._scopes.get(scope, _Scope()).entries)
        return sorted(id for id in ids if id.startswith(prefix))[:limit]

    def facts(self) -> dict[str, str]:
        return {}

    def close(self) -> None:
        """Nothing to let go of."""
