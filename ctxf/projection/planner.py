"""The whole plan for one source: what stays, what is left out, and that the result is what it says.

    plan = plan_projection(data, question, language, parser)
    ids = archive.put(...)                    # the bodies of plan.stretches
    plan.write(ids)

What is planned may be a *view* of the source, the same lines with their numbers before them, as tools show it
to a model: then the lines of the view stay and go, and the parser sees the source.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ctxf.projection import check, find
from ctxf.projection.choose import Why
from ctxf.projection.find import Finding
from ctxf.projection.plan import Stretch, Written, plan_stretches, write_projection
from ctxf.projection.tables import TABLES
from ctxf.protocol.languages import Language
from ctxf.protocol.model import Reference
from ctxf.protocol.parsers import Failure, Parsers
from ctxf.protocol.references import ID_DIGITS
from ctxf.protocol.restore import Kind, find_references, restored_pieces
from ctxf.protocol.scan_source import MAX_SOURCE_BYTES, is_misread

__all__ = ["ProjectionPlan", "View", "plan_projection"]


@dataclass(frozen=True, slots=True)
class View:
    """Lines as they are shown, one for each of the source, and the number of the first one."""

    text: bytes
    first_line: int = 1


@dataclass(frozen=True, slots=True)
class ProjectionPlan:
    """What is left out of `text`; nothing, with `why` and `detail`, when it stays whole.

    `failure` is set where a parser failed.
    """

    text: bytes
    finding: Finding
    stretches: tuple[Stretch, ...] = ()
    why: Why | None = None
    detail: str = ""
    failure: Failure | None = None

    def write(self, ids: Sequence[str]) -> tuple[bytes, list[tuple[Stretch, str]]] | None:
        """The text with an omission line for each stretch that one is shorter than, and these stretches.

        None where that would not be restored as it was.
        """
        stored = [
            (stretch, id)
            for stretch, id in zip(self.stretches, ids, strict=True)
            if len(stretch.line(id)) < len(stretch.body)  # else its id had to be longer
        ]
        written = write_projection(self.text, stored, self.finding.definitions)
        if not stored or not _comes_back(self.text, written, stored):
            return None
        return written.text, stored


_NOT_BACK: Final = "what would be left out holds references"


def plan_projection(
    data: bytes,
    question: str,
    language: Language,
    parser: Parsers,
    *,
    view: View | None = None,
    whole: bool = False,
) -> ProjectionPlan:
    """Plan the projection of a source, or of a view of it. Never raises for what is in `data`.

    With `whole` no error at all may be in the source. Costs two parses, the second of what stays.
    """
    shown = view or View(data)

    def keep(finding: Finding, why: Why, detail: str, failure: Failure | None = None) -> ProjectionPlan:
        return ProjectionPlan(shown.text, finding, (), why, detail, failure)

    if language.name not in TABLES:
        return keep(Finding(), Why.NO_LANGUAGE, f"projection knows no functions of {language.name}")
    if len(data) > MAX_SOURCE_BYTES:
        megabytes = MAX_SOURCE_BYTES >> 20
        return keep(Finding(), Why.TOO_LARGE, f"the source is larger than {megabytes} MiB")
    answer = parser.ask(find.TASK, find.request(question, whole=whole), data, language)
    if isinstance(answer, Failure):
        return keep(Finding(), Why.PARSER, "it could not be parsed", answer)
    finding = Finding.from_answer(answer)
    if finding.why is not None:
        return keep(finding, finding.why, finding.detail)
    if view is not None and find_references(data, Kind.UNKNOWN):
        return keep(finding, Why.HOLDS_REFERENCE, "it holds references")  # which nobody sees behind numbers
    form = TABLES[language.name].form
    stretches = plan_stretches(
        shown.text, finding.rows, form, numbered_from=view.first_line if view else None
    )
    if not stretches:
        return keep(finding, Why.NOTHING, "there is nothing to leave out")
    if any(find_references(one.body, Kind.UNKNOWN) for one in stretches):
        return keep(finding, Why.HOLDS_REFERENCE, _NOT_BACK)
    parsed = stretches if view is None else plan_stretches(data, finding.rows, form, only=stretches)
    problem = _problem(data, finding, parsed, language, parser)
    if isinstance(problem, Failure):
        return keep(finding, Why.PARSER, "it could not be parsed", problem)
    if problem:
        return keep(finding, Why.NO_COMMENT, problem)
    return ProjectionPlan(shown.text, finding, tuple(stretches))


def _problem(
    data: bytes, finding: Finding, stretches: Sequence[Stretch], language: Language, parser: Parsers
) -> str | Failure:
    """Why the projected source would not be what it says, if so; ids have no part in that."""
    samples = [(one, one.digest.hex()[:ID_DIGITS]) for one in stretches]
    written = write_projection(data, samples, finding.definitions)
    if is_misread(written.text):
        return "a NUL or a lone CR puts its comments in doubt"
    answer = parser.ask(check.TASK, check.request(written.spans, written.places), written.text, language)
    if isinstance(answer, Failure):
        return answer
    faults = check.faults(answer)
    if not faults:
        return ""
    if faults[0] < len(stretches):
        stretch = stretches[faults[0]]
        return f"what would stand for lines {stretch.first} to {stretch.last} may be no comment there"
    found = finding.definitions[faults[0] - len(stretches)]
    return f"{found.name} line {found.line} would not parse alone"


def _comes_back(text: bytes, written: Written, stored: Sequence[tuple[Stretch, str]]) -> bool:
    """Law L1: what stands for a stretch reads as that, and nothing else has become a reference."""
    bodies = {(id, stretch.label.encode("ascii")): stretch.body for stretch, id in stored}

    def body_of(one: Reference) -> bytes | None:
        return bodies.get((one.id, one.label))

    for kind in (Kind.SOURCE, Kind.UNKNOWN):
        before = {(one.id, one.label) for one in find_references(text, kind)}
        references = find_references(written.text, kind)
        if any((one.id, one.label) not in before and body_of(one) is None for one in references):
            return False
        if b"".join(restored_pieces(written.text, references, body_of)) != text:
            return False
    return True
