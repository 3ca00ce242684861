"""Restore a request: references in the model's own texts become the exact bodies again."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from ctxf.archive import Archive
from ctxf.errors import ArchiveError, CtxfError, RequestNotRead, TextNotUtf8
from ctxf.protocol.model import Reference
from ctxf.protocol.restore import Kind, find_references, restored_pieces
from ctxf.protocol.scopes import DEFAULT_SCOPE, check_scope
from ctxf.protocol.strings import to_str
from ctxf.requests.body import Body
from ctxf.requests.formats import find_format
from ctxf.requests.memo import Memo, TextFacts
from ctxf.requests.model import (
    BodyT,
    JsonObject,
    RequestRestoreResult,
    RestoredReference,
    UnresolvedReference,
)
from ctxf.requests.readers import READERS
from ctxf.requests.slots import Edit, Format, pointer
from ctxf.requests.spelling import may_hold_reference
from ctxf.requests.texts import History, SplitReference, Text

__all__ = ["MAX_OUTPUT_BYTES", "restore_request"]

MAX_OUTPUT_BYTES: Final = 1 << 30
"""A request may name one large body very often."""


def restore_request(
    body: BodyT,
    protocol: str,
    archive: Archive,
    scope: str = DEFAULT_SCOPE,
    *,
    max_output: int = MAX_OUTPUT_BYTES,
    readers: Mapping[str, tuple[str, ...]] | None = None,
) -> RequestRestoreResult[BodyT]:
    """Put the exact bodies back into a folded request (PROTOCOL.md §13.6).

    What does not resolve stays and is listed with its error. Where all bodies together have more than
    `max_output` bytes nothing is restored. A dict is never changed. `readers` are those of the
    policy that projected source reads, None for the default. Raises InvalidScope and UnknownProtocol.
    """
    check_scope(scope)
    format = find_format(protocol)
    if isinstance(body, bytes) and not may_hold_reference(body):
        return RequestRestoreResult(body)
    try:
        parsed = Body(body)
        reader = _Reader(archive, scope)
        found = _find(History(format.items(parsed.tree), Memo()))
        found += _find_in_reads(parsed.tree, protocol, format, readers)
        reader.check_size((reference for one in found for reference in one.references), max_output)
    except RequestNotRead as failure:
        return RequestRestoreResult(body, failure=failure)
    edits = []
    for text, references in found:
        new = reader.restore(text, references)
        if new != text.data:
            edits.append(Edit("set", text.path, to_str(new)))
    return RequestRestoreResult(parsed.apply(edits), tuple(reader.restored), tuple(reader.unresolved))


class _Found(NamedTuple):
    """The references of one text, in their order."""

    text: Text
    references: list[Reference]


def _find(history: History) -> list[_Found]:
    """The texts that hold references: those to whole bodies, and those to a text's part of one."""
    split: dict[int, list[SplitReference]] = {}
    for references in history.split_references().values():
        for reference in references:
            split.setdefault(reference.part.text, []).append(reference)
    found = []
    for index, text in enumerate(history.texts):
        if text.facts.references:
            own = find_references(text.data, Kind.TEXT)
            own += (_as_reference(text, one) for one in split.get(index, ()))
            found.append(_Found(text, sorted(own, key=lambda one: one.start)))
    return found


def _find_in_reads(
    tree: JsonObject, protocol: str, format: Format, readers: Mapping[str, tuple[str, ...]] | None
) -> list[_Found]:
    """The source reads that hold omission lines (PROTOCOL.md §14.6)."""
    # Imported here because most bodies hold no reference: it makes 79 ms of `ctxf request restore` 122 ms.
    from ctxf.requests.reads import find_read_references  # noqa: PLC0415

    return [
        _Found(Text(path, data, 0, 0, TextFacts(b"")), references)
        for path, data, references in find_read_references(
            tree, protocol, format, READERS if readers is None else readers
        )
    ]


def _as_reference(text: Text, split: SplitReference) -> Reference:
    start, end = split.part.start - text.start, split.part.end - text.start
    return Reference(split.id, split.label, start, end, text.data.count(b"\n", 0, start) + 1)


class _Reader:
    """Reads each body once; `restored` and `unresolved` add up meanwhile."""

    def __init__(self, archive: Archive, scope: str) -> None:
        self.restored: list[RestoredReference] = []
        self.unresolved: list[UnresolvedReference] = []
        self._archive = archive
        self._scope = scope
        self._known: dict[str, bytes | CtxfError] = {}
        self._failure: ArchiveError | None = None

    def check_size(self, references: Iterable[Reference], max_output: int) -> None:
        """Raise RequestNotRead if all bodies together are too much, before one is put in."""
        size = 0
        for reference in references:
            body = self._read(reference.id)
            size += len(body) if isinstance(body, bytes) else 0
            if size > max_output:
                raise RequestNotRead(f"restored it would have more than {max_output} bytes")

    def restore(self, text: Text, references: list[Reference]) -> bytes:
        """The text with the bodies of its references."""
        path = pointer(text.path)

        def body_of(reference: Reference) -> bytes | None:
            body, label = self._read(reference.id), reference.label.decode("utf-8")
            place = (label, path, reference.line, reference.id)
            if isinstance(body, bytes):
                self.restored.append(RestoredReference(*place, len(body)))
                return body
            self.unresolved.append(UnresolvedReference(*place, body))
            return None

        return b"".join(restored_pieces(text.data, references, body_of))

    def _read(self, id: str) -> bytes | CtxfError:
        if id not in self._known:
            self._known[id] = self._failure or self._look_up(id)
        return self._known[id]

    def _look_up(self, id: str) -> bytes | CtxfError:
        try:
            body = self._archive.lookup(self._scope, id)
        except ArchiveError as failure:
            self._failure = failure  # do not try again: each attempt may wait for a lock until its time limit
            return failure
        except CtxfError as error:
            return error
        try:
            to_str(body)
        except UnicodeDecodeError:
            return TextNotUtf8(id)
        return body
