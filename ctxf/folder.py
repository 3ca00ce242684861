"""Where protocol and archive meet: plan, store, and only then write references.

`fold` and `restore` take a whole text; a pipe goes through `ctxf.stream`, which shares `store_and_write`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import AnyStr

from ctxf.archive import Archive, NewBody, Refused
from ctxf.archive.base import id_candidates
from ctxf.errors import ArchiveError, CtxfError, TextNotUtf8
from ctxf.protocol.fold import FoldPlan, FoldRules, KeptMarker, PlannedFold, plan_text, write_folds
from ctxf.protocol.model import Marker, Reason, Reference
from ctxf.protocol.restore import Kind, find_loose_references, find_references, restored_pieces
from ctxf.protocol.savings import DEFAULT_MIN_SAVINGS_TOKENS, CountTokens
from ctxf.protocol.scopes import DEFAULT_SCOPE, check_scope
from ctxf.results import (
    Fold,
    FoldResult,
    InnerFold,
    Kept,
    LooseReference,
    Restored,
    RestoreResult,
    Unresolved,
)

__all__ = ["Restoration", "Stretch", "fold", "kind_of", "restore", "store_and_write", "view"]


def fold(
    text: AnyStr,
    archive: Archive,
    *,
    scope: str = DEFAULT_SCOPE,
    language: str = "text",
    min_savings_tokens: int = DEFAULT_MIN_SAVINGS_TOKENS,
    count_tokens: CountTokens | None = None,
    capacity: int | None = None,
) -> FoldResult[AnyStr]:
    """Fold the marked blocks of `text`: store their bodies, and put references in their place.

    Bytes give bytes, a str gives a str. All bodies are stored in one transaction and read back before
    the result exists; where that fails the text comes back as it was, with the reason in `failure`.
    `count_tokens` replaces the estimate of one token for four bytes; `capacity` limits the bytes that
    the scope may hold in all. Raises InvalidScope; never for anything in the text or the archive.
    """
    check_scope(scope)
    data = _to_bytes(text)
    rules = FoldRules(min_savings_tokens, count_tokens)
    (result,) = store_and_write([Stretch(data, 0, plan_text(data, rules))], archive, scope, rules, capacity)
    if isinstance(text, bytes):
        return result
    return FoldResult(_to_str(result.text), result.folds, result.kept, result.failure)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of text that starts at byte `offset` of the whole, and what is to fold in it."""

    text: bytes
    offset: int
    plan: FoldPlan


def store_and_write(
    stretches: Sequence[Stretch], archive: Archive, scope: str, rules: FoldRules, capacity: int | None
) -> list[FoldResult[bytes]]:
    """Store the bodies of all stretches in one transaction, then write their references.

    When that fails every stretch comes back as it was, with the failure.
    """
    planned = [fold for stretch in stretches for fold in stretch.plan.folds]
    try:
        admissions = archive.put(scope, [_group(fold) for fold in planned], capacity=capacity)
    except ArchiveError as failure:
        return [_as_it_was(stretch, rules, failure) for stretch in stretches]
    admitted = iter(zip(planned, admissions, strict=True))
    return [_write(stretch, [next(admitted) for _ in stretch.plan.folds], rules) for stretch in stretches]


def _group(fold: PlannedFold) -> list[NewBody]:
    return [NewBody(one.body, one.digest, one.block.begin.label) for one in (fold, *fold.inner)]


def _write(
    stretch: Stretch, admitted: Sequence[tuple[PlannedFold, tuple[str, ...] | Refused]], rules: FoldRules
) -> FoldResult[bytes]:
    kept = [_kept(one, rules) for one in stretch.plan.kept]
    stored = []
    for fold, ids in admitted:
        if isinstance(ids, Refused):
            detail = f"needs {ids.needed} bytes where the scope has {ids.free} left"
            kept.append(_kept_block(fold.block.begin, Reason.CAPACITY, detail))
        else:
            stored.append((fold, ids))
    text, refused = write_folds(
        stretch.text, [(fold, ids[0]) for fold, ids in stored], rules, offset=stretch.offset
    )
    for fold in refused:
        kept.append(_kept_block(fold.block.begin, Reason.TOO_SMALL, "saves no byte: its id had to be longer"))
    unwritten = {fold.block.begin.start for fold in refused}
    folds = tuple(_fold(fold, ids) for fold, ids in stored if fold.block.begin.start not in unwritten)
    return FoldResult(text, folds, tuple(sorted(kept, key=lambda one: one.line)))


def _as_it_was(stretch: Stretch, rules: FoldRules, failure: ArchiveError) -> FoldResult[bytes]:
    kept = [_kept(one, rules) for one in stretch.plan.kept]
    kept += [
        _kept_block(fold.block.begin, Reason.ARCHIVE, _DETAILS[Reason.ARCHIVE]) for fold in stretch.plan.folds
    ]
    return FoldResult(stretch.text, (), tuple(sorted(kept, key=lambda one: one.line)), failure)


def _fold(fold: PlannedFold, ids: Sequence[str]) -> Fold:
    inner = tuple(
        InnerFold(_label(one.block.begin), id, one.block.begin.line, len(one.body))
        for one, id in zip(fold.inner, ids[1:], strict=True)
    )
    begin = fold.block.begin
    return Fold(_label(begin), ids[0], begin.line, len(fold.body), fold.tokens_saved, inner)


def _kept(kept: KeptMarker, rules: FoldRules) -> Kept:
    if kept.tokens_saved is None:
        detail = _DETAILS[kept.reason]
    elif kept.tokens_saved >= rules.min_savings_tokens:
        detail = "saves no byte"
    else:
        detail = f"saves {kept.tokens_saved} tokens, needs {rules.min_savings_tokens}"
    return _kept_block(kept.marker, kept.reason, detail)


def _kept_block(marker: Marker, reason: Reason, detail: str) -> Kept:
    return Kept(_label(marker), marker.line, reason, detail)


def _label(marker: Marker) -> str:
    return marker.label.decode("utf-8")


_DETAILS = {
    Reason.UNCLOSED: "has no end",
    Reason.STRAY_END: "ends a block that was not begun",
    Reason.CROSSING: "crosses another block",
    Reason.FENCED: "stands in fenced code or a longer comment",
    Reason.TOO_LARGE: "is longer than 16 MiB",
    Reason.TOO_DEEP: "is inside more than 15 other blocks",
    Reason.HOLDS_REFERENCE: "holds a reference already",
    Reason.IN_DOUBT: "may not be a comment here",
    Reason.PARSER: "could not be parsed",
    Reason.ARCHIVE: "could not be stored",
}


def restore(
    text: AnyStr, archive: Archive, *, scope: str = DEFAULT_SCOPE, language: str | None = None
) -> RestoreResult[AnyStr]:
    """Put the exact body in place of every reference of `text` that resolves.

    `language` says what the text is, as in `fold`; by default references of every kind count. Whatever
    does not resolve stays and is listed with its error. Raises InvalidScope.
    """
    if isinstance(text, bytes):
        return Restoration(text, archive, scope, kind_of(language)).result()
    restoration = Restoration(_to_bytes(text), archive, scope, kind_of(language), only_utf8=True)
    result = restoration.result()
    return RestoreResult(_to_str(result.text), result.restored, result.unresolved, result.loose)


def kind_of(language: str | None) -> Kind:
    """Which references count in a language; None is a text of unknown kind."""
    if language is None:
        return Kind.UNKNOWN
    return Kind.TEXT if language in ("text", "markdown") else Kind.SOURCE


class Restoration:
    """A restore in pieces, for who writes them out; `restored` and `unresolved` fill up meanwhile."""

    def __init__(
        self, data: bytes, archive: Archive, scope: str, kind: Kind, *, only_utf8: bool = False
    ) -> None:
        check_scope(scope)
        self.restored: list[Restored] = []
        self.unresolved: list[Unresolved] = []
        self._data = data
        self._archive = archive
        self._scope = scope
        self._only_utf8 = only_utf8
        self._references = find_references(data, kind)
        self.loose = tuple(LooseReference(*one) for one in find_loose_references(data, self._references))
        self._failure: ArchiveError | None = None

    def size(self) -> int:
        """Bytes that all pieces will have together, without reading a body."""
        size = len(self._data)
        for reference in self._references:
            try:
                size += self._archive.entry(self._scope, reference.id).size - (
                    reference.end - reference.start
                )
            except CtxfError:
                continue  # it will stay, and be reported when its turn comes
        return size

    def pieces(self) -> Iterator[bytes]:
        """The restored text. A body is read and checked only when its turn comes."""
        return restored_pieces(self._data, self._references, self._body_of)

    def result(self) -> RestoreResult[bytes]:
        """All of it at once."""
        text = b"".join(self.pieces())
        return RestoreResult(text, tuple(self.restored), tuple(self.unresolved), self.loose)

    def _body_of(self, reference: Reference) -> bytes | None:
        label = reference.label.decode("utf-8")
        try:
            body = self._read(reference.id)
        except CtxfError as error:
            self.unresolved.append(Unresolved(label, reference.id, reference.line, error))
            return None
        self.restored.append(Restored(label, reference.id, reference.line, len(body)))
        return body

    def _read(self, id: str) -> bytes:
        if self._failure is not None:
            raise self._failure  # once is enough: waiting for a lock takes its time
        try:
            body = self._archive.lookup(self._scope, id)
        except ArchiveError as failure:
            self._failure = failure
            raise
        if self._only_utf8:
            _check_utf8(id, body)
        return body


def view(body: bytes, archive: Archive, scope: str) -> bytes:
    """A body with the blocks inside it shown folded, as far as the archive has them on their own."""
    rules = FoldRules(min_savings_tokens=0)
    plan = plan_text(body, rules)
    ids = []
    for planned in plan.folds:
        id = _id_of(planned.digest, archive, scope)
        if id is not None:
            ids.append((planned, id))
    return write_folds(body, ids, rules)[0]


def _id_of(digest: bytes, archive: Archive, scope: str) -> str | None:
    for id in archive.known_ids(scope, list(id_candidates(digest))):
        if archive.entry(scope, id).digest == digest:
            return id
    return None


# A str may hold lone surrogates (json.loads makes them); they go through as the three bytes each.
def _to_bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def _to_str(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _check_utf8(id: str, body: bytes) -> None:
    try:
        _to_str(body)
    except UnicodeDecodeError as error:
        raise TextNotUtf8(id) from error
