"""What `ctxf request` says of what it did, on stderr. Figures of tokens are estimates."""

from ctxf.cli.common import CommonOptions
from ctxf.cli.status import Status, status_of, worst
from ctxf.cli.terminal import count, escape, say, size
from ctxf.errors import ArchiveError, CtxfError, NoConversation
from ctxf.protocol.model import Reason
from ctxf.requests import Refusal, RequestRestoreResult, RequestResult

__all__ = ["report_request_fold", "report_request_restore"]

_REFUSALS = {
    Refusal.NO_WAY_BACK: "nothing was folded: the request offers no tool that could read it back",
    Refusal.HISTORY_ELSEWHERE: "nothing was folded: the provider keeps this conversation",
}
_NOT_DONE = (Reason.ARCHIVE, Reason.CAPACITY)


def report_request_fold(
    body: bytes, result: RequestResult[bytes], common: CommonOptions, *, is_long: bool
) -> Status:
    """Say what was folded, and why the rest was not; the exit status for it."""
    if result.failure is not None:
        _say_failure(result.failure)
    if is_long:
        _say_blocks(result)
    if not common.quiet:
        if result.refusal is not None:
            say(_REFUSALS[result.refusal])
        for read in result.reads:
            names = ", ".join(map(escape, read.definitions))
            say(f"{escape(read.file)}: {names} kept; {size(read.size)} -> {size(read.size_after)}")
    if is_long or (not common.quiet and (result.folds or result.kept or common.verbose)):
        say(_summary(body, result))
    if result.failure is not None or any(kept.reason in _NOT_DONE for kept in result.kept):
        return Status.KEPT
    return Status.DONE


def _say_failure(failure: CtxfError) -> None:
    ending = "" if isinstance(failure, NoConversation) else "; the request went through as it came"
    say(f"{escape(str(failure))}{ending}")


def _say_blocks(result: RequestResult[bytes]) -> None:
    """One line for each block: what became of it, what it saves, where it stands."""
    for fold in result.folds:
        parts = f" in {len(fold.parts)} texts" if len(fold.parts) > 1 else ""
        saved = f"est. {fold.tokens_saved:,} tokens"
        say(
            f"folded  {fold.id:14} {size(fold.size):>9} {saved:>20}  {fold.path} line {fold.line}:"
            f" {escape(fold.label)}{parts}"
        )
    for kept in result.kept:
        say(
            f"kept    {kept.reason:14} {'':9} {'':20}  {kept.path} line {kept.line}:"
            f" {escape(kept.label)} {kept.detail}"
        )


def _summary(body: bytes, result: RequestResult[bytes]) -> str:
    kept = f", {len(result.kept):,} kept" if result.kept else ""
    saved = f", est. {result.tokens_saved:,} tokens saved" if result.folds else ""
    guided = ", guidance added" if result.guided else ""
    sizes = f"{size(len(body))} -> {size(len(result.body))}"
    return f"{count(len(result.folds), 'block')} folded{kept}{saved}{guided}; {sizes}"


def report_request_restore(result: RequestRestoreResult[bytes], common: CommonOptions) -> Status:
    """Say what did not resolve; the exit status for it."""
    if result.failure is not None:
        _say_failure(result.failure)
        return Status.KEPT
    statuses = [Status.DONE]
    said = set[int]()
    for one in result.unresolved:
        statuses.append(status_of(one.error))
        if isinstance(one.error, ArchiveError) and id(one.error) in said:
            continue  # one archive that cannot be read is one message, not one for each reference
        said.add(id(one.error))
        say(f"{one.path} line {one.line}: {escape(one.label)} stays folded: {escape(str(one.error))}")
    if common.verbose:
        say(f"{count(len(result.restored), 'reference')} restored")
    return worst(*statuses)
