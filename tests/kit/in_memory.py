"""Folds and restores on the protocol core alone, with a dict for an archive, for the protocol's tests."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256

from ctxf.protocol.fold import FoldRules, PlannedFold, plan_text, write_folds
from ctxf.protocol.model import Reference
from ctxf.protocol.restore import Kind, find_references, restored_pieces

__all__ = ["Folded", "Restored", "Scope", "fold", "restore"]


@dataclass
class Scope:
    """The bodies of one scope by id, and whose an id once was (PROTOCOL.md §6.1)."""

    bodies: dict[str, bytes] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)

    def put(self, body: bytes) -> str:
        identity = sha256(body).hexdigest()
        prefixes = (identity[:digits] for digits in range(12, 65))
        id = next(prefix for prefix in prefixes if self.owners.get(prefix, identity) == identity)
        self.owners[id] = identity
        self.bodies[id] = body
        return id

    def forget(self, id: str) -> None:
        del self.bodies[id]


@dataclass(frozen=True)
class Folded:
    """`folds` are label, line and id; `kept` are line and reason; `archived` are ids, inner blocks' too."""

    text: bytes
    folds: list[tuple[str, int, str]]
    kept: list[tuple[int, str]]
    archived: set[str]


@dataclass(frozen=True)
class Restored:
    """`unresolved` are ids, in the order of the text."""

    text: bytes
    unresolved: list[str]


def fold(text: bytes, scope: Scope, min_savings_tokens: int = 256) -> Folded:
    rules = FoldRules(min_savings_tokens)
    plan = plan_text(text, rules)
    ids = [scope.put(fold.body) for fold in plan.folds]
    inner = {scope.put(inner.body) for fold in plan.folds for inner in fold.inner}
    folded, refused = write_folds(text, zip(plan.folds, ids, strict=True), rules)
    folds = [
        (fold.block.begin.label.decode(), fold.block.begin.line, id)
        for fold, id in zip(plan.folds, ids, strict=True)
        if fold not in refused
    ]
    kept = [(one.marker.line, str(one.reason)) for one in plan.kept] + list(_too_small(refused))
    return Folded(folded, folds, sorted(kept), {*ids, *inner})


def restore(text: bytes, scope: Scope, kind: str = "text") -> Restored:
    unresolved: list[str] = []

    def body_of(reference: Reference) -> bytes | None:
        body = scope.bodies.get(reference.id)
        if body is None:
            unresolved.append(reference.id)
        return body

    pieces = restored_pieces(text, find_references(text, Kind(kind)), body_of)
    return Restored(b"".join(pieces), unresolved)


def _too_small(refused: Iterable[PlannedFold]) -> Iterable[tuple[int, str]]:
    return ((fold.block.begin.line, "too-small") for fold in refused)
