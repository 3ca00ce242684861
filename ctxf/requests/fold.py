"""Fold a request: marked blocks of the model's own earlier replies become references."""

from typing import TYPE_CHECKING, NamedTuple

from ctxf.archive import Archive
from ctxf.conversations.guidance import Recovery, guidance
from ctxf.errors import ArchiveError, RequestNotRead
from ctxf.protocol.fold import FoldRules
from ctxf.protocol.scopes import DEFAULT_SCOPE, check_scope
from ctxf.requests.body import Body
from ctxf.requests.formats import find_format
from ctxf.requests.memo import Memo
from ctxf.requests.model import (
    BodyT,
    JsonObject,
    ProjectedRead,
    Refusal,
    RequestPolicy,
    RequestResult,
)
from ctxf.requests.plan import plan_request
from ctxf.requests.recovery import find_way_back, is_guided
from ctxf.requests.slots import Edit, Format
from ctxf.requests.spelling import may_hold_marker
from ctxf.requests.texts import History
from ctxf.requests.write import describe_failed, describe_kept, in_order, store_plan, write_plan

if TYPE_CHECKING:
    from ctxf.protocol.parsers import Parsers
    from ctxf.requests.reads import ReadPlan

__all__ = ["fold_request"]


def fold_request(
    body: BodyT,
    protocol: str,
    archive: Archive,
    scope: str = DEFAULT_SCOPE,
    policy: RequestPolicy | None = None,
    memo: Memo | None = None,
    parser: "Parsers | None" = None,
) -> RequestResult[BodyT]:
    """Fold what is due in a request body: a dict, or its JSON as bytes (PROTOCOL.md §13).

    All bodies are stored in one transaction and read back before the result exists. Where anything fails
    the body comes back as it was, with the reason in `failure`. A dict is never changed: the result shares
    with it what stays. In bytes every value that stays keeps its exact spelling.

    `protocol` is one of PROTOCOLS. `memo` remembers what was found in the texts of earlier requests; it
    may serve all scopes and threads, and never changes a result. `parser` is for who projects source reads of
    many requests. Raises InvalidScope and UnknownProtocol;
    never for anything in the body or the archive.
    """
    check_scope(scope)
    format = find_format(protocol)
    policy = policy or RequestPolicy()
    may_change = policy.append_guidance or policy.project_reads
    if isinstance(body, bytes) and not may_change and not may_hold_marker(body):
        return RequestResult(body)
    try:
        parsed = Body(body)
    except RequestNotRead as failure:
        return RequestResult(body, failure=failure)
    memo = memo or Memo()
    job = _Job(parsed.tree, protocol, format, scope, policy)
    history = History(format.items(parsed.tree), memo)
    plan = plan_request(history, FoldRules(policy.min_savings_tokens), policy.delay_requests)
    kept = [describe_kept(history, one, policy.min_savings_tokens) for one in plan.kept]
    reads = job.reads(parser, memo)
    if not plan.folds and not reads and not policy.append_guidance:
        return RequestResult(body, kept=tuple(kept))
    way_back = job.way_back()
    if isinstance(way_back, Refusal):
        return RequestResult(body, kept=tuple(kept), refusal=way_back)
    try:
        admissions = store_plan(plan, history, archive, scope, policy.capacity, memo)
        read_edits, projected = job.store(reads, archive)
    except ArchiveError as failure:
        kept += (describe_failed(history, fold) for fold in plan.folds)
        return RequestResult(body, kept=in_order(kept), failure=failure)
    written = write_plan(plan, history, admissions)
    guide = job.guide(way_back)
    return RequestResult(
        parsed.apply([*written.edits, *read_edits, *guide]),
        written.folds,
        in_order([*kept, *written.kept]),
        guided=bool(guide),
        reads=tuple(projected),
    )


class _Job(NamedTuple):
    """What holds for one call."""

    tree: JsonObject
    protocol: str
    format: Format
    scope: str
    policy: RequestPolicy

    def way_back(self) -> Recovery | Refusal:
        """How the model can read what is folded, or why nothing is."""
        if self.format.is_elsewhere(self.tree):
            return Refusal.HISTORY_ELSEWHERE
        return find_way_back(self.format, self.tree, self.scope, self.policy.recovery) or Refusal.NO_WAY_BACK

    def reads(self, parser: "Parsers | None", memo: Memo) -> "list[ReadPlan]":
        """The source reads to project, where that is wanted."""
        if not self.policy.project_reads:
            return []
        # Imported here because the setting is off by default: with the parsers and the projection imported
        # `ctxf request fold` takes 135 ms, not 88 ms.
        from ctxf.protocol.parsers import Parsers  # noqa: PLC0415
        from ctxf.requests.reads import plan_reads  # noqa: PLC0415

        if parser is None:
            with Parsers() as own_parser:
                return plan_reads(self.tree, self.protocol, self.format, self.policy, own_parser, memo.reads)
        return plan_reads(self.tree, self.protocol, self.format, self.policy, parser, memo.reads)

    def store(self, reads: "list[ReadPlan]", archive: Archive) -> tuple[list[Edit], list[ProjectedRead]]:
        """Store what they leave out, and the edits for that. Raises ArchiveError."""
        if not reads:
            return [], []
        from ctxf.requests.reads import store_reads  # noqa: PLC0415

        return store_reads(reads, archive, self.scope, self.policy.capacity)

    def guide(self, way_back: Recovery) -> list[Edit]:
        """The edit that puts the guidance in, where it is wanted and does not stand there already."""
        if not self.policy.append_guidance or is_guided(self.format, self.tree, self.scope, way_back):
            return []
        edit = self.format.add_guidance(self.tree, guidance(self.scope, way_back))
        return [] if edit is None else [edit]
