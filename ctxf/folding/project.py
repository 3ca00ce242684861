"""Project: a source and a question in, the one function that it is about out, the rest in the archive."""

from dataclasses import dataclass, replace
from typing import Any, AnyStr, Generic

from ctxf.archive import Archive, NewBody, Refused
from ctxf.errors import ArchiveError, CtxfError, SourceNotParsed, UnknownLanguage
from ctxf.projection.choose import Why
from ctxf.projection.planner import ProjectionPlan, plan_projection
from ctxf.protocol.grammars import find_language
from ctxf.protocol.languages import is_text_name
from ctxf.protocol.parsers import Parsers
from ctxf.protocol.scopes import DEFAULT_SCOPE, check_scope
from ctxf.protocol.strings import to_bytes, to_str

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
    if is_text_name(language):
        return ProjectResult(source, why=Why.NO_LANGUAGE, detail="projection knows no functions of text")
    known = find_language(language)
    if known is None:
        raise UnknownLanguage(language)
    if parser is None:
        with Parsers() as own_parser:
            plan = plan_projection(data, question, known, own_parser)
    else:
        plan = plan_projection(data, question, known, parser)
    result = _whole(plan, plan.why, plan.detail) if plan.why else _store(plan, archive, scope, capacity)
    if plan.failure is not None:
        failure = SourceNotParsed(known.name, plan.failure.message, plan.failure.wheel)
        result = replace(result, failure=failure)
    if isinstance(source, bytes):
        return result
    return _with_text(result, to_str(result.text))


def _with_text(result: ProjectResult[Any], text: AnyStr) -> ProjectResult[AnyStr]:
    return replace(result, text=text)


def _store(plan: ProjectionPlan, archive: Archive, scope: str, capacity: int | None) -> ProjectResult[bytes]:
    """Store all stretches in one transaction, and only then write their references."""
    groups = [[NewBody(one.body, one.digest, one.label.encode("ascii"))] for one in plan.stretches]
    try:
        admissions = archive.put(scope, groups, capacity=capacity)
    except ArchiveError as failure:
        return replace(_whole(plan, Why.ARCHIVE, "it could not be stored"), failure=failure)
    ids = []
    for admission in admissions:
        if isinstance(admission, Refused):
            detail = f"needs {admission.needed} bytes where the scope has {admission.free} left"
            return _whole(plan, Why.CAPACITY, detail)
        ids.append(admission[0])
    written = plan.write(ids)
    if written is None:
        return _whole(plan, Why.HOLDS_REFERENCE, "it would not be restored as it was")
    text, stored = written
    finding = plan.finding
    return ProjectResult(
        text,
        tuple(KeptDefinition(one.name, one.line, one.first + 1, one.last + 1) for one in finding.definitions),
        tuple(Omission(one.label, id, one.first, one.last, len(one.body)) for one, id in stored),
        finding.constants,
        finding.constants_left_out,
        matched=finding.matched,
    )


def _whole(plan: ProjectionPlan, why: Why, detail: str) -> ProjectResult[bytes]:
    return ProjectResult(plan.text, why=why, detail=detail, matched=plan.finding.matched)
