"""What fold and restore say on stderr when they are done."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ctxf.cli.status import Status, status_of, worst
from ctxf.cli.terminal import count, escape, say, size
from ctxf.errors import ArchiveError, InvalidId
from ctxf.protocol.model import Reason
from ctxf.results import Fold, FoldResult, Kept, LooseReference, RestoreResult, Unresolved

__all__ = ["FoldReport", "report_restore"]

_MOST = 3
_NOT_DONE = (Reason.ARCHIVE, Reason.CAPACITY, Reason.PARSER)


@dataclass(slots=True)
class FoldReport:
    """Adds up the results of a fold. It stays small however long the input: only the first kept blocks are listed."""

    place: str = ""  # a prefix for messages when there are several files
    verbose: bool = False
    folds: int = 0
    kept: int = 0
    first_kept: list[Kept] = field(default_factory=list)
    bytes_in: int = 0
    bytes_out: int = 0
    failure: ArchiveError | None = None
    status: Status = Status.DONE

    def add(self, result: FoldResult[bytes]) -> None:
        """Take the next result."""
        self.bytes_out += len(result.text)
        self.failure = self.failure or result.failure
        self.folds += len(result.folds)
        self.kept += len(result.kept)
        self.first_kept += result.kept[: _MOST - len(self.first_kept)]
        if result.failure or any(kept.reason in _NOT_DONE for kept in result.kept):
            self.status = Status.KEPT
        if self.verbose:
            for fold in result.folds:
                say(self.place + _describe_fold(fold))
            for kept in result.kept:
                say(f"{self.place}line {kept.line}: {escape(kept.label)} kept: {kept.detail}")

    def say(self) -> None:
        """The one line that a person wants; nothing where nothing was marked, unless asked for more."""
        if self.failure is not None:
            say(f"{self.place}{escape(str(self.failure))}; the text went through as it came")
        if self.folds or self.kept or self.verbose:
            say(f"{self.place}{self._summary()}")

    def _summary(self) -> str:
        folded = f"{count(self.folds, 'block')} folded"
        if self.kept:
            details = ", ".join(f"line {kept.line}: {kept.detail}" for kept in self.first_kept)
            more = f", and {self.kept - _MOST:,} more" if self.kept > _MOST else ""
            folded += f", {self.kept:,} kept ({details}{more})"
        return f"{folded}; {size(self.bytes_in)} -> {size(self.bytes_out)}"


def _describe_fold(fold: Fold) -> str:
    inner = f", {count(len(fold.inner), 'block')} inside" if fold.inner else ""
    return (
        f"line {fold.line}: {escape(fold.label)} folded as {fold.id}"
        f" ({size(fold.size)}, saves about {fold.tokens_saved:,} tokens{inner})"
    )


def report_restore(
    restored: int, unresolved: Iterable[Unresolved], loose: Iterable[LooseReference], *, verbose: bool, place: str = ""
) -> Status:
    """Say what did not resolve; the exit status for it."""
    status = Status.DONE
    archive_failures = set()
    for one in unresolved:
        status = worst(status, status_of(one.error))
        if isinstance(one.error, ArchiveError) and str(one.error) in archive_failures:
            continue
        archive_failures.add(str(one.error))
        say(f"{place}line {one.line}: {escape(one.label)} stays folded: {escape(str(one.error))}")
    loose = list(loose)
    for reference in loose[:_MOST]:
        say(f"{place}line {reference.line}: [[cf:v2:{reference.id}]] stands outside a block: left as text")
    if len(loose) > _MOST:
        say(f"{place}{len(loose) - _MOST:,} more references outside a block: left as text")
    if verbose:
        say(f"{place}{count(restored, 'block')} restored")
    return status
