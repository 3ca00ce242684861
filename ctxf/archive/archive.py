"""The archive as callers see it, whatever store is behind it: names checked, misses explained."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from ctxf.archive.base import Entry, NewBody, Refused, ScopeSummary, Store
from ctxf.archive.location import default_archive_path
from ctxf.archive.suggestions import suggest_ids
from ctxf.errors import BodyNotFound
from ctxf.protocol.references import MAX_ID_DIGITS, parse_id
from ctxf.protocol.scopes import check_scope

__all__ = ["Archive"]

_T = TypeVar("_T")

_PAGE = 500


class Archive:
    """Bodies by scope and id.

    Thread-safe; usable in a forked child. Nothing is opened before the first call that needs it, so
    making an Archive never fails and text without markers never touches the disk.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @classmethod
    def open(cls, path: str | os.PathLike[str] | None = None) -> Self:
        """The archive in the file `path`; by default where `default_archive_path` says."""
        from ctxf.archive.sqlite import SqliteStore  # noqa: PLC0415 - sqlite3 is for who uses a file

        return cls(SqliteStore(default_archive_path(os.environ) if path is None else Path(path)))

    @classmethod
    def memory(cls) -> Self:
        """An archive that lasts as long as this object."""
        from ctxf.archive.memory import MemoryStore  # noqa: PLC0415

        return cls(MemoryStore())

    @property
    def path(self) -> str:
        """The archive's file, or `:memory:`."""
        return self._store.path

    def put(
        self, scope: str, groups: Sequence[Sequence[NewBody]], *, capacity: int | None = None
    ) -> list[tuple[str, ...] | Refused]:
        """Store groups of bodies in one transaction, durably, read back; see `Store.put`.

        Raises ArchiveError, and then nothing of this call is stored.
        """
        check_scope(scope)
        return self._store.put(scope, groups, capacity) if groups else []

    def read(self, scope: str, id: str) -> bytes:
        """The exact body of an id. Upper case and the whole `[[cf:v2:...]]` will do.

        Raises BodyNotFound with near misses, BodyForgotten, BodyDamaged; InvalidId; ArchiveError.
        """
        check_scope(scope)
        return self._explaining_misses(scope, parse_id(id), self._store.get)

    def lookup(self, scope: str, id: str) -> bytes:
        """The body of an id exactly as it stands in a reference, without a search for near misses.

        Raises BodyNotFound, BodyForgotten, BodyDamaged; ArchiveError.
        """
        check_scope(scope)
        return self._store.get(scope, id)

    def entry(self, scope: str, id: str) -> Entry:
        """What is known of a fold without its body. Raises as `read` does."""
        check_scope(scope)
        return self._explaining_misses(scope, parse_id(id), self._store.entry)

    def _explaining_misses(self, scope: str, id: str, call: Callable[[str, str], _T]) -> _T:
        """Call with an id that somebody typed: all 64 digits name the body, whatever its id here is."""
        if len(id) == MAX_ID_DIGITS:
            id = self._store.id_of(scope, bytes.fromhex(id)) or id
        try:
            return call(scope, id)
        except BodyNotFound:
            raise BodyNotFound(scope, id, suggest_ids(self._store, scope, id)) from None

    def entries(self, scope: str) -> Iterator[Entry]:
        """The folds of a scope, oldest first, page by page: others may write meanwhile."""
        check_scope(scope)
        after = 0
        while page := self._store.entries(scope, after=after, limit=_PAGE):
            yield from page
            after = page[-1].position

    def scopes(self) -> list[ScopeSummary]:
        """All scopes that have folds. A scope is a capability: show them to the archive's owner only."""
        return self._store.scopes()

    def known_ids(self, scope: str, ids: Sequence[str]) -> list[str]:
        """Those of `ids` that the scope holds, sorted."""
        check_scope(scope)
        return self._store.known(scope, ids)

    def facts(self) -> dict[str, str]:
        """The state of the store by name, as `ctxf doctor` shows it. Raises ArchiveError."""
        return self._store.facts()

    def close(self) -> None:
        """Let go of the file. A later call opens it again."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
