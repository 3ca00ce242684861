"""What an archive's store must do. `SqliteStore` and `MemoryStore` do it; a server's may follow.

A scope holds *folds*: an id, the body that it stands for, a label. A body is stored once, however many
scopes and ids it has. Ids are prefixes of the SHA-256 of their body, and an id once given in a scope
never stands for another body, not even after the body was forgotten.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ctxf.protocol.references import ID_DIGITS, MAX_ID_DIGITS

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["Entry", "NewBody", "Refused", "ScopeSummary", "Store", "id_candidates"]


@dataclass(frozen=True, slots=True)
class NewBody:
    """A body to store; `digest` is the SHA-256 of `body`, 32 bytes."""

    body: bytes
    digest: bytes
    label: bytes


@dataclass(frozen=True, slots=True)
class Refused:
    """The scope's capacity has no room for a group: it takes `needed` bytes more, `free` are left."""

    needed: int
    free: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A fold of a scope. `size` counts bytes of the body, `created` is in UTC (the first fold's time).

    `position` grows with every new entry of the store: pages of a listing continue behind it.
    """

    position: int
    id: str
    digest: bytes
    label: bytes
    size: int
    created: "datetime"


@dataclass(frozen=True, slots=True)
class ScopeSummary:
    """A scope, how many folds it has and the bytes of their bodies."""

    name: str
    folds: int
    size: int


class Store(Protocol):
    """The contract; `tests/test_archive_contract.py` checks an implementation against it.

    Every call may raise ArchiveError, and then has changed nothing. Calls may come from several
    threads, and from a child process after a fork.
    """

    @property
    def path(self) -> str:
        """Where the store is, for messages."""

    def put(
        self, scope: str, groups: Sequence[Sequence[NewBody]], capacity: int | None
    ) -> list[tuple[str, ...] | Refused]:
        """Store groups of bodies and give each body its id; a group is one block and those inside it.

        All of them in one transaction: on return every body of every admitted group is durable (it
        survives power loss) and has been read back equal; after an exception none of this call is there.

        A body that the scope has keeps its id and needs no room; one that was forgotten takes its id
        back. A new one gets the shortest free candidate (`id_candidates`). A group whose new bodies do
        not fit into what `capacity` (bytes of all bodies of the scope, None: no limit) leaves is
        refused whole; later groups may still fit.
        """

    def get(self, scope: str, id: str) -> bytes:
        """The body: exactly the bytes that were stored, checked against their SHA-256.

        Raises BodyNotFound (no suggestions), BodyForgotten, BodyDamaged.
        """

    def entry(self, scope: str, id: str) -> Entry:
        """What is known of a fold without its body. Raises BodyNotFound (no suggestions), BodyForgotten."""

    def entries(self, scope: str, *, after: int, limit: int) -> list[Entry]:
        """A page of the scope's folds, oldest first: at most `limit` with a position above `after`."""

    def scopes(self) -> list[ScopeSummary]:
        """All scopes that have folds, by name."""

    def known(self, scope: str, ids: Iterable[str]) -> list[str]:
        """Those of `ids` that the scope holds, sorted."""

    def known_prefix(self, scope: str, prefix: str, limit: int) -> list[str]:
        """At most `limit` ids of the scope that begin with `prefix`, sorted."""

    def facts(self) -> dict[str, str]:
        """What is worth knowing of the store's state, by name, for `ctxf doctor`; makes no new archive."""

    def close(self) -> None:
        """Let go of all resources. A later call opens them again."""


def id_candidates(digest: bytes) -> Iterator[str]:
    """The ids that a body may have, in the order in which they are tried (PROTOCOL.md §6.1)."""
    digits = digest.hex()
    return (digits[:length] for length in range(ID_DIGITS, MAX_ID_DIGITS + 1))
