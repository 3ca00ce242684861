"""Restore a request: references in the model's own texts become the exact bodies again."""

from ctxf.archive import Archive
from ctxf.errors import ArchiveError, CtxfError, RequestNotRead, TextNotUtf8
from ctxf.protocol.model import Reference
from ctxf.protocol.restore import Kind, find_references, restored_pieces
from ctxf.protocol.scopes import DEFAULT_SCOPE, check_scope
from ctxf.requests.body import Body
from ctxf.requests.formats import find_format
from ctxf.requests.memo import Memo
from ctxf.requests.model import BodyT, RequestRestoreResult, RestoredReference, UnresolvedReference
from ctxf.requests.slots import Edit, pointer
from ctxf.requests.spelling import may_hold_reference
from ctxf.requests.texts import History, SplitReference, Text
from ctxf.strings import to_str

__all__ = ["restore_request"]


def restore_request(
    body: BodyT, protocol: str, archive: Archive, scope: str = DEFAULT_SCOPE
) -> RequestRestoreResult[BodyT]:
    """Put the exact bodies back into a folded request (PROTOCOL.md §13.6).

    What does not resolve stays and is listed with its error. A dict is never changed. Raises InvalidScope
    and UnknownProtocol.
    """
    check_scope(scope)
    format = find_format(protocol)
    if isinstance(body, bytes) and not may_hold_reference(body):
        return RequestRestoreResult(body)
    try:
        parsed = Body(body)
    except RequestNotRead as failure:
        return RequestRestoreResult(body, failure=failure)
    restoration = _Restoration(archive, scope)
    history = History(format.items(parsed.tree), Memo())
    split: dict[int, list[SplitReference]] = {}
    for references in history.split_references().values():
        for reference in references:
            split.setdefault(reference.part.text, []).append(reference)
    edits = []
    for index, text in enumerate(history.texts):
        new = restoration.text(text, split.get(index, []))
        if new != text.data:
            edits.append(Edit("set", text.path, to_str(new)))
    return RequestRestoreResult(
        parsed.apply(edits), tuple(restoration.restored), tuple(restoration.unresolved)
    )


class _Restoration:
    """Restores text after text; what became of each reference adds up meanwhile."""

    def __init__(self, archive: Archive, scope: str) -> None:
        self.restored: list[RestoredReference] = []
        self.unresolved: list[UnresolvedReference] = []
        self._archive = archive
        self._scope = scope
        self._failure: ArchiveError | None = None

    def text(self, text: Text, split: list[SplitReference]) -> bytes:
        """The text with the bodies of its references; `split` are those to parts."""
        if not text.facts.references:
            return text.data
        references = find_references(text.data, Kind.TEXT) + [_as_reference(text, one) for one in split]
        references.sort(key=lambda one: one.start)
        path = pointer(text.path)
        return b"".join(restored_pieces(text.data, references, lambda one: self._body_of(path, one)))

    def _body_of(self, path: str, reference: Reference) -> bytes | None:
        label = reference.label.decode("utf-8")
        try:
            body = self._read(reference.id)
        except CtxfError as error:
            self.unresolved.append(UnresolvedReference(label, path, reference.line, reference.id, error))
            return None
        self.restored.append(RestoredReference(label, path, reference.line, reference.id, len(body)))
        return body

    def _read(self, id: str) -> bytes:
        if self._failure is not None:
            raise self._failure  # once is enough: waiting for a lock takes its time
        try:
            body = self._archive.lookup(self._scope, id)
        except ArchiveError as failure:
            self._failure = failure
            raise
        try:
            to_str(body)
        except UnicodeDecodeError as error:
            raise TextNotUtf8(id) from error
        return body


def _as_reference(text: Text, split: SplitReference) -> Reference:
    start, end = split.part.start - text.start, split.part.end - text.start
    return Reference(split.id, split.label, start, end, text.data.count(b"\n", 0, start) + 1)
