"""Random sequences of calls give the same results with the SQLite store and the store in memory."""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ctxf.archive import Archive, Entry, NewBody
from ctxf.archive.in_memory import MemoryStore
from ctxf.archive.sqlite import SqliteStore
from ctxf.archive.upkeep import Forgotten, PackedFold, ScopeStats
from ctxf.errors import ArchiveMissing, BodyForgotten, CtxfError
from tests.kit.archive import collision_pair, new

T = TypeVar("T")

FIRST, SECOND = collision_pair()
# Few bodies, so that they meet again; the collision among them; sizes that matter to a capacity.
CONTENTS = [FIRST, SECOND, b"", b"a" * 100, b"b" * 100, b"text\n" * 900, bytes(range(256)) * 40]
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)

scopes = st.sampled_from(["a", "b", "c-" + "0" * 32])
# By number: Hypothesis shows strategies in full.
contents = st.integers(0, len(CONTENTS) - 1).map(lambda number: CONTENTS[number])
groups = st.lists(st.lists(st.builds(new, contents, st.sampled_from([b"x", b"y"])), max_size=3), max_size=3)
capacities = st.none() | st.sampled_from([0, 100, 300, 5000, 20_000])
handles = st.integers(0, 1)


class ArchiveMachine(RuleBasedStateMachine):
    """`oracle` is in memory; two handles on one file must agree with it, and so with each other."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp(prefix="ctxf-machine-"))
        self.oracle = Archive(MemoryStore())
        self.handles = [Archive(SqliteStore(self.directory / "archive.db")) for _ in range(2)]

    def teardown(self) -> None:
        for handle in self.handles:
            handle.close()
        files = sorted(path.name for path in self.directory.iterdir())
        shutil.rmtree(self.directory)
        assert files in ([], ["archive.db"])

    def both(self, handle: int, call: Callable[[Archive], T]) -> None:
        expected = outcome(call, self.oracle)
        assert outcome(call, self.handles[handle]) == expected

    @rule(handle=handles, scope=scopes, groups=groups, capacity=capacities)
    def put(self, handle: int, scope: str, groups: list[list[NewBody]], capacity: int | None) -> None:
        self.both(handle, lambda archive: archive.put(scope, groups, capacity=capacity))

    @rule(handle=handles, scope=scopes, content=contents, digits=st.integers(6, 64))
    def read(self, handle: int, scope: str, content: bytes, digits: int) -> None:
        id = new(content).digest.hex()[:digits]
        self.both(handle, lambda archive: archive.read(scope, id))
        self.both(handle, lambda archive: archive.lookup(scope, id))
        self.both(handle, lambda archive: archive.entry(scope, id))

    @rule(handle=handles, scope=scopes, some=st.lists(contents, max_size=3), digits=st.integers(12, 14))
    def forget(self, handle: int, scope: str, some: list[bytes], digits: int) -> None:
        ids = [new(content).digest.hex()[:digits] for content in some]
        self.both(handle, lambda archive: archive.forget(scope, ids, dry_run=True))
        self.both(handle, lambda archive: archive.forget(scope, ids))

    @rule(handle=handles, scope=scopes)
    def forget_scope(self, handle: int, scope: str) -> None:
        self.both(handle, lambda archive: archive.forget(scope))

    @rule(handle=handles, scope=scopes, some=st.lists(st.tuples(contents, st.integers(12, 14)), max_size=3))
    def adopt(self, handle: int, scope: str, some: list[tuple[bytes, int]]) -> None:
        folds = {}
        for content, digits in some:
            body = new(content)
            id = body.digest.hex()[:digits]
            folds[id] = PackedFold(id, content, body.digest, b"packed", EPOCH)
        self.both(handle, lambda archive: archive._store.adopt(scope, iter(folds.values())))

    @rule(handle=handles)
    def reopen(self, handle: int) -> None:
        self.handles[handle].close()

    @rule(handle=handles)
    def new_handle(self, handle: int) -> None:
        self.handles[handle].close()
        self.handles[handle] = Archive(SqliteStore(self.directory / "archive.db"))

    @invariant()
    def everything_agrees(self) -> None:
        self.both(0, lambda archive: archive.scopes())
        for scope in ("a", "b"):
            self.both(1, lambda archive, scope=scope: list(archive.entries(scope)))  # type: ignore[misc]

    @invariant()
    def nothing_is_damaged(self) -> None:
        try:
            assert self.handles[0].verify(deep=True).damage == ()
        except ArchiveMissing:
            return
        for scope in self.oracle.stats():
            (stats,) = self.handles[1].stats(scope.name)
            assert without_dates(replace(stats, stored=0)) == without_dates(replace(scope, stored=0))


def outcome(call: Callable[[Archive], T], archive: Archive) -> object:
    """What a call gives or raises, without the dates; a missing file is an empty archive."""
    try:
        return comparable(call(archive))
    except ArchiveMissing:
        return missing(call)
    except BodyForgotten as error:
        return type(error), error.id
    except CtxfError as error:
        return type(error), str(error)


def missing(call: Callable[[Archive], T]) -> object:
    return outcome(call, Archive(MemoryStore()))


def comparable(value: object) -> object:
    if isinstance(value, list):
        return [comparable(one) for one in value]
    if isinstance(value, Entry):
        return value._replace(created=EPOCH)
    if isinstance(value, Forgotten):
        return replace(value, is_erased=True)
    return value


def without_dates(stats: ScopeStats) -> ScopeStats:
    return replace(stats, first=None, last=None)


# `derandomize` keeps CI still; `pytest -m long` looks further, with another seed each time.
TestArchive = ArchiveMachine.TestCase
TestArchive.settings = settings(
    max_examples=40,
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
