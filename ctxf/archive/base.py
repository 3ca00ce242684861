"""What an archive's store must do. `SqliteStore` and `MemoryStore` do it; a server's may follow.

A scope holds *folds*: an id, the body that it stands for, a label. A body is stored once, however many
scopes and ids it has. Ids are prefixes of the SHA-256 of their body, and an id once given in a scope
never stands for another body, not even after the body was forgotten.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ctxf.protocol.references import ID_DIGITS, MAX_ID_DIGITS

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from ctxf.archive.upkeep import Check, Forgotten, PackedFold, ScopeStats, Totals

__all__ = [
    "Entry",
    "NewBody",
    "Refused",
    "ScopeSummary",
    "Store",
    "free_id",
    "id_candidates",
]


class NewBody(NamedTuple):
    """A body to store; `digest` is the SHA-256 of `body`, 32 bytes."""

    body: bytes
    digest: bytes
    label: bytes


class Refused:
    """The scope's capacity has no room for a group: it takes `needed` bytes more, `free` are left.

    Not a NamedTuple, because callers tell it by its type from the tuple of ids of an admitted group. Not a
    dataclass, because every command imports this module (see `ctxf.protocol.model`).
    """

    __slots__ = ("free", "needed")

    def __init__(self, needed: int, free: int) -> None:
        self.needed = needed
        self.free = free

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Refused) and (self.needed, self.free) == (other.needed, other.free)

    def __hash__(self) -> int:
        return hash((self.needed, self.free))

    def __repr__(self) -> str:
        return f"Refused(needed={self.needed}, free={self.free})"


class Entry(NamedTuple):
    """A fold of a scope. `size` counts bytes of the body, `created` is in UTC (the first fold's time).

    `position` grows with every new entry of the store: pages of a listing continue behind it.
    """

    position: int
    id: str
    digest: bytes
    label: bytes
    size: int
    created: "datetime"


class ScopeSummary(NamedTuple):
    """A scope, how many folds it has and the bytes of their bodies."""

    name: str
    folds: int
    size: int


class Store(Protocol):
    """The contract; `tests/archive/test_contract.py` checks an implementation against it.

    Every call may raise ArchiveError, and then has changed nothing. Calls may come from several
    threads, from several processes, and from a child process after a fork. A call sees everything
    that calls which returned before it began have written, whichever process made them.
    """

    @property
    def path(self) -> str:
        """Where the store is, for messages."""

    def put(
        self, scope: str, groups: Sequence[Sequence[NewBody]], capacity: int | None
    ) -> list[tuple[str, ...] | Refused]:
        """Store groups of bodies and give each body its id; a group is one block and those inside it.

        All of them in one transaction: on return every body of every admitted group is durable (it
        survives power loss) and has been read back equal; after an exception none of this call is there,
        or all of it is (when the store failed on its last step), never a part.

        A body that the scope has keeps its id and needs no room; one that was forgotten takes its id
        back, with a new label and date. A new one gets the shortest free candidate (`id_candidates`). A
        group whose new bodies do not fit into what `capacity` (bytes of all bodies of the scope, None:
        no limit) leaves is refused whole; later groups may still fit. A stored copy that is damaged is
        replaced.
        """

    def get(self, scope: str, id: str) -> bytes:
        """The body: exactly the bytes that were stored, checked against their SHA-256.

        Raises BodyNotFound (no suggestions), BodyForgotten, BodyDamaged.
        """

    def entry(self, scope: str, id: str) -> Entry:
        """What is known of a fold without its body. Raises BodyNotFound (no suggestions), BodyForgotten."""

    def entries(self, scope: str, *, after: int, limit: int) -> list[Entry]:
        """A page of the scope's folds, oldest first: at most `limit` with a position above `after`.

        Costs as much at the end of a long listing as at its beginning.
        """

    def scopes(self) -> list[ScopeSummary]:
        """All scopes that have folds, by name."""

    def known(self, scope: str, ids: Iterable[str]) -> list[str]:
        """Those of `ids` that the scope holds, sorted; one indexed look-up each."""

    def known_prefix(self, scope: str, prefix: str, limit: int) -> list[str]:
        """At most `limit` ids of the scope that begin with `prefix`, sorted; one indexed look-up."""

    def id_of(self, scope: str, digest: bytes) -> str | None:
        """The shortest id that the scope ever gave to a body, also when it was forgotten since."""

    def change_mark(self) -> object:
        """A value that equals an earlier one only if nothing was changed in between, by whatever process.

        Raises ArchiveMissing where there is no archive yet.
        """

    def adopt(self, scope: str, folds: "Iterable[PackedFold]") -> int:
        """Take over folds with their ids, labels and dates; how many of them are new here.

        All in one transaction, durable on return. A fold that the scope has stays as it is; one that
        was forgotten comes back. Raises IdTaken when an id stands for another body here, and whatever
        the iterable raises; then nothing is taken over.
        """

    def forget(self, scope: str, ids: Sequence[str] | None) -> "Forgotten":
        """Remove folds, None: all of the scope's, in one transaction; a tombstone of each id stays.

        Bytes that no other fold needs are overwritten and given back. Raises BodyNotFound, BodyForgotten
        for the first of `ids` that is not there; then nothing is removed.
        """

    def stats(self, scope: str | None) -> "list[ScopeStats]":
        """The figures of a scope, or of all, by name; nothing for a scope that was never used."""

    def totals(self) -> "Totals":
        """The figures of the whole store."""

    def verify(self, *, deep: bool) -> "Iterator[Check]":
        """Check all bodies and rows, stretch by stretch, while others may read and write.

        Stored bytes against their BLAKE3; when `deep`, bodies against their SHA-256 as every read does.
        Damage is reported, never raised, unless the store cannot be read at all.
        """

    def backup(self, target: "Path", progress: Callable[[int, int], None] | None = None) -> None:
        """Write everything, as it is at one moment, into a new file at `target`, mode 0600.

        Others may write meanwhile. `progress` gets what is done and what there is, in the store's own unit.
        Raises FileExistsError, OSError; then `target` is as it was.
        """

    def facts(self) -> dict[str, str]:
        """What is worth knowing of the store's state, by name, for `ctxf doctor`; makes no new archive."""

    def close(self) -> None:
        """Close all resources. A later call opens them again."""


def id_candidates(digest: bytes) -> Iterator[str]:
    """The ids that a body may have, in the order in which they are tried (PROTOCOL.md §6.1)."""
    digits = digest.hex()
    return (digits[:length] for length in range(ID_DIGITS, MAX_ID_DIGITS + 1))


def free_id(digest: bytes, taken: Container[str]) -> str:
    """The first candidate that is not taken. 64 digits are taken by no other body."""
    return next(id for id in id_candidates(digest) if id not in taken)
