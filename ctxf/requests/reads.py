"""Projects the source reads of a request: what a tool showed of a file becomes the one function that the user
had asked about (PROTOCOL.md §14.6).

Rule 1: what becomes of a read depends on its call, its text and the user's latest text before it, and on
nothing behind it. So the set of projected reads only grows, and every later request repeats each.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from blake3 import blake3

from ctxf.archive import Archive, NewBody, Refused
from ctxf.projection.planner import ProjectionPlan, View, plan_projection
from ctxf.projection.tables import TABLES
from ctxf.protocol.languages import Language, language_for_file
from ctxf.protocol.model import Reference
from ctxf.protocol.parsers import Parsers
from ctxf.protocol.restore import Kind, find_references
from ctxf.protocol.strings import to_bytes, to_str
from ctxf.requests.calls import ToolResult, count_replies, tool_results
from ctxf.requests.model import JsonObject, ProjectedRead, RequestPolicy
from ctxf.requests.readers import READERS, SourceRead, read_source
from ctxf.requests.recent import Recent
from ctxf.requests.slots import Edit, Format, Path, pointer

_LONGEST_QUESTION: Final = 16_384  # characters: whoever says more asks for no one thing

__all__ = ["ReadPlan", "find_read_references", "plan_reads", "store_reads"]


class ReadPlan(NamedTuple):
    """A read to project."""

    path: Path
    read: SourceRead
    plan: ProjectionPlan


def plan_reads(
    body: JsonObject,
    protocol: str,
    format: Format,
    policy: RequestPolicy,
    parser: Parsers,
    recent: "Recent[ProjectionPlan | None]",
) -> list[ReadPlan]:
    """The reads that are due, certain to be reads, and asked for one function."""
    results = list(tool_results(body, protocol, format))
    replies = count_replies(format.items(body))
    plans = []
    for result in results:
        if result.reply + policy.delay_requests > replies:
            continue
        read = read_source(result.tool, result.arguments, result.text, policy.readers)
        plan = _plan(read, result, parser, recent) if read else None
        if read and plan and _saved(plan) >= max(1, policy.min_savings_tokens):
            plans.append(ReadPlan(result.path, read, plan))
    return plans


def store_reads(
    plans: Sequence[ReadPlan], archive: Archive, scope: str, capacity: int | None
) -> tuple[list[Edit], list[ProjectedRead]]:
    """Store what all reads leave out in one transaction, then write them. Raises ArchiveError."""
    groups = [
        [NewBody(one.body, one.digest, one.label.encode("ascii")) for one in plan.plan.stretches]
        for plan in plans
    ]
    edits, projected = [], []
    for plan, ids in zip(plans, archive.put(scope, groups, capacity=capacity), strict=True):
        written = None if isinstance(ids, Refused) else plan.plan.write(ids)
        if written is None:
            continue
        text, stored = written
        read = plan.read
        edits.append(Edit("set", plan.path, read.head + to_str(text) + read.tail))
        names = tuple(dict.fromkeys(one.name for one in plan.plan.finding.definitions))
        projected.append(
            ProjectedRead(
                pointer(plan.path),
                read.file,
                names,
                tuple(id for _stretch, id in stored),
                len(plan.plan.text),
                len(text),
            )
        )
    return edits, projected


def find_read_references(
    body: JsonObject, protocol: str, format: Format, readers: Mapping[str, tuple[str, ...]] = READERS
) -> Iterator[tuple[Path, bytes, list[Reference]]]:
    """The results of reading tools that hold omission lines, with these."""
    for result in tool_results(body, protocol, format):
        if "[[cf:v2:" in result.text and read_source(result.tool, result.arguments, result.text, readers):
            data = to_bytes(result.text)
            references = [
                one for one in find_references(data, Kind.SOURCE) if b" omit " in data[one.start : one.end]
            ]
            if references:
                yield result.path, data, references


def _plan(
    read: SourceRead, result: ToolResult, parser: Parsers, recent: Recent[ProjectionPlan | None]
) -> ProjectionPlan | None:
    language = language_for_file(read.file)
    if language is None or language.name not in TABLES or len(result.question) > _LONGEST_QUESTION:
        return None
    words = to_bytes("\0".join((language.name, result.question, result.text)))
    # An agent's history comes again with every request: what was parsed for one is known for the next.
    return recent.get(blake3(words).digest(), 3 * len(words), lambda: _parse(read, result, language, parser))


def _parse(
    read: SourceRead, result: ToolResult, language: Language, parser: Parsers
) -> ProjectionPlan | None:
    view = View(to_bytes(read.shown), read.first_line) if read.is_numbered else None
    plan = plan_projection(to_bytes(read.source), result.question, language, parser, view=view, whole=True)
    return plan if plan.stretches else None


def _saved(plan: ProjectionPlan) -> int:
    """Estimated tokens that the omission lines save."""
    gone = sum(len(one.body) - len(one.line("0" * 12)) for one in plan.stretches)
    return gone // 4
