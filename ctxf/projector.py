"""Project: a source and a question in, the one function that it is about out, the rest in the archive."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, AnyStr, Generic

from ctxf.archive import Archive, NewBody, Refused
from ctxf.errors import ArchiveError, CtxfError, SourceNotParsed, UnknownLanguage
from ctxf.projection import check, find
from ctxf.projection.choose import Why
from ctxf.projection.find import Finding, Found
from ctxf.projection.plan import Stretch, Written, plan_stretches, write_projection
from ctxf.projection.tables import TABLES, Table
from ctxf.protocol.grammars import find_language
from ctxf.protocol.languages import Language, is_text_name
from ctxf.protocol.model import Reference
from ctxf.protocol.parsers import Failure, Parsers
from ctxf.protocol.references import ID_DIGITS
from ctxf.protocol.restore import Kind, find_references, restored_pieces
from ctxf.protocol.scan_source import MAX_SOURCE_BYTES, is_misread
from ctxf.protocol.scopes import DEFAULT_SCOPE, check_scope
from ctxf.strings import to_bytes, to_str

__all__ = ["KeptDefinition", "Omission", "ProjectResult", "Why", "project"]


@dataclass(frozen=True, slots=True)
class KeptDefinition:
    """A definition that stays, with what belongs to it: lines `first` to `last`; its name is on `line`."""

    name: str
    line: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Omission:
    """Lines `first` to `last` of the source, `size` bytes, archived under `id`."""

    label: str
    id: str
    first: int
    last: int
    size: int


@dataclass(frozen=True, slots=True)
class ProjectResult(Generic[AnyStr]):
    """`text` is the projected source, or the source as it came, `why` and `detail` saying why.

    `constants` is how many file-level constants stay, `matched` what each name of the question was found to
    be. `failure` is set when something failed: ArchiveError or SourceNotParsed.
    """

    text: AnyStr
    definitions: tuple[KeptDefinition, ...] = ()
    omissions: tuple[Omission, ...] = ()
    constants: int = 0
    constants_left_out: int = 0
    why: Why | None = None
    detail: str = ""
    matched: tuple[str, ...] = ()
    failure: CtxfError | None = None


def project(
    source: AnyStr,
    question: str,
    language: str,
    archive: Archive,
    scope: str = DEFAULT_SCOPE,
    *,
    capacity: int | None = None,
    parser: Parsers | None = None,
) -> ProjectResult[AnyStr]:
    """Keep of `source` the one function or method that `question` names; archive the rest (PROTOCOL.md §14).

    A projection is a fold: `ctxf.restore` gives the source back. Where the question names no function, or
    several, or anything fails, the source comes back as it was, with the reason. Bytes give bytes, a str
    gives a str. `capacity` limits the bytes that the scope may hold in all. `parser` is for who projects
    many sources: it keeps the grammars, and the child process that some of them run in.

    Raises InvalidScope and UnknownLanguage; never for anything in the source, the question or the archive.
    """
    check_scope(scope)
    data = to_bytes(source)
    known = None if is_text_name(language) else find_language(language)
    if known is None and not is_text_name(language):
        raise UnknownLanguage(language)
    if known is None or known.name not in TABLES:
        detail = f"projection knows no functions of {known.name if known else 'text'}"
        return ProjectResult(source, why=Why.NO_LANGUAGE, detail=detail)
    if parser is None:
        with Parsers() as own_parser:
            result = _Projector(data, known, archive, scope, capacity, own_parser).project(question)
    else:
        result = _Projector(data, known, archive, scope, capacity, parser).project(question)
    if isinstance(source, bytes):
        return result
    return _with_text(result, to_str(result.text))


def _with_text(result: ProjectResult[Any], text: AnyStr) -> ProjectResult[AnyStr]:
    return replace(result, text=text)


class _Projector:
    """One source on its way."""

    def __init__(
        self,
        data: bytes,
        language: Language,
        archive: Archive,
        scope: str,
        capacity: int | None,
        parser: Parsers,
    ) -> None:
        self._data = data
        self._language = language
        self._table: Table = TABLES[language.name]
        self._archive = archive
        self._scope = scope
        self._capacity = capacity
        self._parser = parser

    def project(self, question: str) -> ProjectResult[bytes]:
        if len(self._data) > MAX_SOURCE_BYTES:
            megabytes = MAX_SOURCE_BYTES >> 20
            return self._whole(Finding(), Why.TOO_LARGE, f"the source is larger than {megabytes} MiB")
        answer = self._parser.ask(find.TASK, find.request(question), self._data, self._language)
        if isinstance(answer, Failure):
            return self._unparsed(Finding(), answer)
        finding = Finding.from_answer(answer)
        if finding.why is not None:
            return self._whole(finding, finding.why, finding.detail)
        stretches = plan_stretches(self._data, finding.rows, self._table.form)
        if not stretches:
            return self._whole(finding, Why.NOTHING, "there is nothing to leave out")
        if any(find_references(one.body, Kind.UNKNOWN) for one in stretches):
            return self._whole(finding, Why.HOLDS_REFERENCE, "what would be left out holds references")
        problem = self._problem(finding, stretches)
        if problem is not None:
            return problem
        return self._store(finding, stretches)

    def _problem(self, finding: Finding, stretches: Sequence[Stretch]) -> ProjectResult[bytes] | None:
        """The result when the projected source would not be what it says; ids have no part in that."""
        written = write_projection(
            self._data, [(one, _sample_id(one)) for one in stretches], finding.definitions
        )
        if is_misread(written.text):
            return self._whole(finding, Why.NO_COMMENT, "a NUL or a lone CR puts its comments in doubt")
        payload = check.request(written.spans, written.places)
        answer = self._parser.ask(check.TASK, payload, written.text, self._language)
        if isinstance(answer, Failure):
            return self._unparsed(finding, answer)
        faults = check.faults(answer)
        if not faults:
            return None
        if faults[0] < len(stretches):
            stretch = stretches[faults[0]]
            detail = f"what would stand for lines {stretch.first} to {stretch.last} may be no comment there"
        else:
            found = finding.definitions[faults[0] - len(stretches)]
            detail = f"{found.name} line {found.line} would not parse alone"
        return self._whole(finding, Why.NO_COMMENT, detail)

    def _store(self, finding: Finding, stretches: Sequence[Stretch]) -> ProjectResult[bytes]:
        """Store all stretches in one transaction, and only then write their references."""
        groups = [[NewBody(one.body, one.digest, one.label.encode("ascii"))] for one in stretches]
        try:
            admissions = self._archive.put(self._scope, groups, capacity=self._capacity)
        except ArchiveError as failure:
            detail = "it could not be stored"
            return replace(self._whole(finding, Why.ARCHIVE, detail), failure=failure)
        stored = []
        for stretch, ids in zip(stretches, admissions, strict=True):
            if isinstance(ids, Refused):
                detail = f"needs {ids.needed} bytes where the scope has {ids.free} left"
                return self._whole(finding, Why.CAPACITY, detail)
            if len(stretch.line(ids[0])) < len(stretch.body):  # else its id had to be longer
                stored.append((stretch, ids[0]))
        written = write_projection(self._data, stored, finding.definitions)
        if not stored or not self._comes_back(written, stored):
            return self._whole(finding, Why.HOLDS_REFERENCE, "it would not be restored as it was")
        return ProjectResult(
            written.text,
            tuple(_kept(one) for one in finding.definitions),
            tuple(Omission(one.label, id, one.first, one.last, len(one.body)) for one, id in stored),
            finding.constants,
            finding.constants_left_out,
            matched=finding.matched,
        )

    def _comes_back(self, written: Written, stored: Sequence[tuple[Stretch, str]]) -> bool:
        """Law L1: what stands for a stretch reads as that, and nothing else has become a reference."""
        for kind in (Kind.SOURCE, Kind.UNKNOWN):
            before = {(one.id, one.label) for one in find_references(self._data, kind)}
            bodies = {(id, stretch.label.encode("ascii")): stretch.body for stretch, id in stored}

            def body_of(one: Reference, bodies: dict[tuple[str, bytes], bytes] = bodies) -> bytes | None:
                return bodies.get((one.id, one.label))

            references = find_references(written.text, kind)
            if any((one.id, one.label) not in before and body_of(one) is None for one in references):
                return False
            if b"".join(restored_pieces(written.text, references, body_of)) != self._data:
                return False
        return True

    def _unparsed(self, finding: Finding, failure: Failure) -> ProjectResult[bytes]:
        error = SourceNotParsed(self._language.name, failure.message, failure.wheel)
        return replace(self._whole(finding, Why.PARSER, "it could not be parsed"), failure=error)

    def _whole(self, finding: Finding, why: Why, detail: str) -> ProjectResult[bytes]:
        return ProjectResult(self._data, why=why, detail=detail, matched=finding.matched)


def _kept(found: Found) -> KeptDefinition:
    return KeptDefinition(found.name, found.line, found.first + 1, found.last + 1)


def _sample_id(stretch: Stretch) -> str:
    return stretch.digest.hex()[:ID_DIGITS]
