"""Restore: references in, the exact bodies out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import AnyStr, Generic

from ctxf.archive import Archive
from ctxf.archive.base import id_candidates
from ctxf.errors import ArchiveError, CtxfError, TextNotUtf8, UnknownLanguage
from ctxf.protocol.fold import FoldRules, plan_text, write_folds
from ctxf.protocol.model import Reference
from ctxf.protocol.restore import Kind, find_loose_references, find_references, restored_pieces
from ctxf.protocol.scopes import DEFAULT_SCOPE, check_scope
from ctxf.protocol.strings import to_bytes, to_str

__all__ = [
    "LooseReference",
    "Restoration",
    "RestoreResult",
    "Restored",
    "Unresolved",
    "kind_of",
    "restore",
    "view",
]


@dataclass(frozen=True, slots=True)
class Restored:
    """A reference that was replaced by its body of `size` bytes."""

    label: str
    id: str
    line: int
    size: int


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A reference that stays where it is, and the error that says why."""

    label: str
    id: str
    line: int
    error: CtxfError


@dataclass(frozen=True, slots=True)
class LooseReference:
    """A well-formed reference outside any block: it is text and was left alone."""

    id: str
    line: int


@dataclass(frozen=True, slots=True)
class RestoreResult(Generic[AnyStr]):
    """`text` with every reference that resolves replaced by its exact body."""

    text: AnyStr
    restored: tuple[Restored, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    loose: tuple[LooseReference, ...] = ()


def restore(
    text: AnyStr, archive: Archive, *, scope: str = DEFAULT_SCOPE, language: str | None = None
) -> RestoreResult[AnyStr]:
    """Put the exact body in place of every reference of `text` that resolves.

    `language` says what the text is, as in `fold`; by default references of every kind count. Whatever
    does not resolve stays and is listed with its error. Raises InvalidScope.
    """
    if isinstance(text, bytes):
        return Restoration(text, archive, scope, kind_of(language)).result()
    restoration = Restoration(to_bytes(text), archive, scope, kind_of(language), only_utf8=True)
    result = restoration.result()
    return RestoreResult(to_str(result.text), result.restored, result.unresolved, result.loose)


def kind_of(language: str | None) -> Kind:
    """Which references count in a language; None is a text of unknown kind. Raises UnknownLanguage."""
    if language is None:
        return Kind.UNKNOWN
    if language in ("text", "markdown"):
        return Kind.TEXT
    # Imported here because `ctxf restore` mostly names no language and is a third faster without the tables
    # of languages (76 ms, not 100 ms).
    from ctxf.protocol.grammars import find_language  # noqa: PLC0415
    from ctxf.protocol.languages import is_text_name  # noqa: PLC0415

    if is_text_name(language):
        return Kind.TEXT
    if find_language(language) is None:
        raise UnknownLanguage(language)
    return Kind.SOURCE


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
                continue  # it stays, and is reported when it is reached
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
            raise self._failure  # do not try again: each attempt may wait for a lock until its time limit
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


def _check_utf8(id: str, body: bytes) -> None:
    try:
        to_str(body)
    except UnicodeDecodeError as error:
        raise TextNotUtf8(id) from error
