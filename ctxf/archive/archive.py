"""The archive as callers see it, whatever store is behind it: names checked, misses explained."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from ctxf.archive.base import Entry, NewBody, Refused, ScopeSummary, Store
from ctxf.archive.location import default_archive_path
from ctxf.archive.suggestions import suggest_ids
from ctxf.errors import ArchiveDamaged, ArchiveError, ArchiveMissing, BodyNotFound, CtxfError
from ctxf.protocol.references import MAX_ID_DIGITS, parse_id
from ctxf.protocol.scopes import check_scope

if TYPE_CHECKING:
    from ctxf.archive.search import Search
    from ctxf.archive.upkeep import (
        Damage,
        Forgotten,
        PackageSummary,
        ScopeStats,
        Totals,
        Verification,
    )

__all__ = ["Archive"]

_T = TypeVar("_T")

_PAGE = 500

Progress = Callable[[int, int], None]
"""What takes how much is done and how much there is."""


class Archive:
    """Bodies by scope and id.

    Thread-safe; usable in a forked child. Nothing is opened before the first call that needs it, so
    making an Archive never fails and text without markers never touches the disk.

    Methods that only an owner calls (forget, verify, search, export, import) import what they need when they
    are called: with all of it imported `ctxf read` takes 65 ms, not 46 ms.
    """

    def __init__(self, store: Store | Path, *, patience: float | None = None) -> None:
        """An archive over a store, or over the SQLite store in a file; for `patience` see `open`."""
        # A relative path is resolved now: the working directory may be another one at the first call.
        self._store_or_file = Path(os.path.abspath(store)) if isinstance(store, Path) else store
        self._patience = patience

    @property
    def _store(self) -> Store:
        store = self._store_or_file
        if isinstance(store, Path):
            # Imported here because text without markers needs no archive: with sqlite3 and zstd imported,
            # `ctxf` takes 47 ms for it, not 37 ms.
            from ctxf.archive.sqlite import SqliteStore  # noqa: PLC0415

            # Two threads at once may each make a store; later calls use the last one. A lock would prevent
            # that, but a child that is forked while it is held could never acquire it.
            store = self._store_or_file = SqliteStore(store, patience=self._patience)
        return store

    @classmethod
    def open(cls, path: str | os.PathLike[str] | None = None, *, patience: float | None = None) -> Self:
        """The archive in the file `path`; by default where `default_archive_path` says.

        `patience`: the seconds that a call waits for another process's lock, by default 30.
        """
        return cls(default_archive_path(os.environ) if path is None else Path(path), patience=patience)

    @classmethod
    def memory(cls) -> Self:
        """An archive that lasts as long as this object."""
        # Imported here because no file needs it: `ctxf read` would take 57 ms, not 46 ms.
        from ctxf.archive.in_memory import MemoryStore  # noqa: PLC0415

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
        try:
            return self._store.put(scope, groups, capacity) if groups else []
        except CtxfError:
            raise
        except Exception as error:
            # Law L5: the text must pass even if a damaged file raises an exception that nobody foresaw.
            problem = f"cannot be used: {type(error).__name__}: {error}"
            raise ArchiveError(self.path, problem, "please report it") from error

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
            if page[-1].position <= after:  # without this check, pages out of order would repeat for ever
                raise ArchiveDamaged(self.path, f"its folds behind number {after} are out of order")
            after = page[-1].position

    def scopes(self) -> list[ScopeSummary]:
        """All scopes that have folds. A scope is a capability: show them to the archive's owner only."""
        return self._store.scopes()

    def known_ids(self, scope: str, ids: Sequence[str]) -> list[str]:
        """Those of `ids` that the scope holds, sorted."""
        check_scope(scope)
        return self._store.known(scope, ids)

    def id_of(self, scope: str, digest: bytes) -> str | None:
        """The shortest id that the scope ever gave to the body with this SHA-256."""
        check_scope(scope)
        return self._store.id_of(scope, digest)

    def change_mark(self) -> object:
        """A value that equals an earlier one only if nothing was changed in between, by whatever process.

        None while there is no archive yet. Raises ArchiveError.
        """
        try:
            return self._store.change_mark()
        except ArchiveMissing:
            return None

    def forget(self, scope: str, ids: Sequence[str] | None = None, *, dry_run: bool = False) -> "Forgotten":
        """Remove folds by id, None: all of the scope; with `dry_run` only say which.

        A later read says when they were forgotten; folding the same text again brings an id back. All
        or nothing: raises as `entry` does for the first id that is not there, InvalidId, ArchiveError.
        """
        from ctxf.archive.upkeep import Forgotten  # noqa: PLC0415 - see the class

        check_scope(scope)
        going = list(self.entries(scope)) if ids is None else [self.entry(scope, id) for id in ids]
        plan = {entry.id: entry.size for entry in going}
        if dry_run or not plan:
            return Forgotten(tuple(plan), sum(plan.values()))
        return self._store.forget(scope, None if ids is None else list(plan))

    def stats(self, scope: str | None = None) -> "list[ScopeStats]":
        """The figures of one scope, or of all; nothing for a scope that was never used."""
        if scope is not None:
            check_scope(scope)
        return self._store.stats(scope)

    def totals(self) -> "Totals":
        """The figures of the whole store: what is in several scopes counts once."""
        return self._store.totals()

    def verify(self, *, deep: bool = False, progress: Progress | None = None) -> "Verification":
        """Check everything that is stored, in all scopes; see `Store.verify`.

        `progress` is called with the bodies done and their number in all. Raises ArchiveError when the
        archive cannot be read at all; damage is in the result.
        """
        from ctxf.archive.upkeep import Verification  # noqa: PLC0415

        total = 0
        damage: list[Damage] = []
        for check in self._store.verify(deep=deep):
            total = check.total
            damage += check.damage
            if progress is not None:
                progress(check.done, check.total)
        return Verification(total, tuple(damage))

    def search(
        self,
        scope: str,
        pattern: str,
        *,
        id: str | None = None,
        is_fixed: bool = False,
        ignore_case: bool = False,
        context: int = 0,
    ) -> "Search":
        """Lines of the scope's bodies, or of one, that match; see `ctxf.archive.search`."""
        from ctxf.archive.search import Search, compile_pattern  # noqa: PLC0415

        check_scope(scope)
        rules = compile_pattern(pattern, is_fixed=is_fixed, ignore_case=ignore_case)
        entries = self.entries(scope) if id is None else iter([self.entry(scope, id)])
        ids = (entry.id for entry in entries)
        return Search(ids, partial(self._store.get, scope), rules, context)

    def backup(self, target: str | os.PathLike[str], *, progress: Progress | None = None) -> None:
        """Copy the whole archive, as it is at one moment, into a new file of mode 0600.

        Others may write meanwhile. `progress` gets what is done and what there is, in a unit of the store.
        Raises FileExistsError and other OSErrors, ArchiveError; then there is no new file.
        """
        self._store.backup(Path(target), progress)

    def export_package(
        self,
        scope: str,
        target: str | os.PathLike[str],
        ids: Sequence[str] | None = None,
        *,
        progress: Progress | None = None,
    ) -> "PackageSummary":
        """Write a scope, or some of its folds, into a new portable package; see `ctxf.archive.packages`.

        All or nothing. `progress` gets the folds done and their number. Raises ReadError for a body that is
        not there or damaged, ArchiveError, FileExistsError and other OSErrors.
        """
        from ctxf.archive.packages import write_package  # noqa: PLC0415

        check_scope(scope)
        entries = list(self.entries(scope)) if ids is None else [self.entry(scope, id) for id in ids]
        return write_package(Path(target), scope, entries, partial(self._store.get, scope), progress)

    def import_package(
        self,
        source: str | os.PathLike[str],
        scope: str | None = None,
        *,
        progress: Progress | None = None,
    ) -> "PackageSummary":
        """Take over a package into `scope`; None: into the scope that it was exported from.

        Folds keep their ids, labels and dates; what is there already stays. All or nothing. `progress` as
        in `export_package`. Raises
        PackageError, IdTaken, ArchiveError, OSError.
        """
        from ctxf.archive.packages import Package  # noqa: PLC0415
        from ctxf.archive.upkeep import PackageSummary  # noqa: PLC0415

        if scope is not None:
            check_scope(scope)
        with Package(Path(source)) as package:
            target = package.scope if scope is None else scope
            new = self._store.adopt(target, package.folds(progress))
            return PackageSummary(target, len(package.listed), package.size, new)

    def facts(self) -> dict[str, str]:
        """The state of the store by name, as `ctxf doctor` shows it. Raises ArchiveError."""
        return self._store.facts()

    def close(self) -> None:
        """Close the file. A later call opens it again."""
        store = self._store_or_file
        if not isinstance(store, Path):
            store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
