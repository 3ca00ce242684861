"""What commands say of what they did: on stderr after fold and restore, and a line for an archived fold."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ctxf.archive import Entry
from ctxf.cli.status import Status, status_of, worst
from ctxf.cli.terminal import Say, count, escape, say, size
from ctxf.errors import ArchiveError, CtxfError
from ctxf.protocol.model import Reason
from ctxf.results import Fold, FoldResult, Kept

if TYPE_CHECKING:
    from ctxf.restorer import LooseReference, Restoration

__all__ = ["FoldReport", "entry_line", "report_restore"]

_MOST = 3
_NOT_DONE = (Reason.ARCHIVE, Reason.CAPACITY, Reason.PARSER)


@dataclass(slots=True)
class FoldReport:
    """Adds up the results of a fold; small however long the input: only the first kept blocks are listed."""

    place: str = ""  # a prefix for messages when there are several files
    verbose: bool = False
    tell: Say = say
    folds: int = 0
    kept: int = 0
    first_kept: list[Kept] = field(default_factory=list)
    misspelled: int = 0
    first_misspelled: list[int] = field(default_factory=list)
    bytes_in: int = 0
    bytes_out: int = 0
    failure: CtxfError | None = None
    status: Status = Status.DONE

    def add(self, result: FoldResult[bytes]) -> None:
        """Take the next result."""
        self.bytes_out += len(result.text)
        self.failure = self.failure or result.failure
        self.folds += len(result.folds)
        self.kept += len(result.kept)
        self.first_kept += result.kept[: _MOST - len(self.first_kept)]
        self.misspelled += len(result.misspelled)
        self.first_misspelled += result.misspelled[: _MOST - len(self.first_misspelled)]
        if result.failure or any(kept.reason in _NOT_DONE for kept in result.kept):
            self.status = Status.KEPT
        if self.verbose:
            for fold in result.folds:
                self.tell(self.place + _describe_fold(fold))
            for kept in result.kept:
                self.tell(f"{self.place}line {kept.line}: {escape(kept.label)} kept: {kept.detail}")

    def say(self, *, quiet: bool) -> None:
        """The one line that a person wants; nothing where nothing was marked, unless asked for more."""
        if self.failure is not None:
            self.tell(f"{self.place}{escape(str(self.failure))}; the text went through as it came")
        if not quiet and self.misspelled:
            self.tell(f"{self.place}{self._misspelling()}")
        if not quiet and (self.folds or self.kept or self.verbose):
            self.tell(f"{self.place}{self._summary()}")

    def _misspelling(self) -> str:
        lines = ", ".join(map(str, self.first_misspelled))
        more = f" and {self.misspelled - _MOST:,} more" if self.misspelled > _MOST else ""
        return (
            f"line {lines}{more}: looks like a marker and is none (begin or end, then a label of letters,"
            " digits and _ joined by single . - /, and nothing else on the line)"
        )

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
    restoration: "Restoration", *, quiet: bool, verbose: bool, place: str = "", tell: Say = say
) -> Status:
    """Say what did not resolve and what is no reference; the exit status for it."""
    status = Status.DONE
    said = set()
    for one in restoration.unresolved:
        status = worst(status, status_of(one.error))
        problem = str(one.error)
        if isinstance(one.error, ArchiveError) and problem in said:
            continue  # one archive that cannot be read is one message, not one for each reference
        said.add(problem)
        tell(f"{place}line {one.line}: {escape(one.label)} stays folded: {escape(problem)}")
    if not quiet:
        _say_loose(restoration.loose, place, tell)
        if verbose:
            tell(f"{place}{count(len(restoration.restored), 'block')} restored")
    return status


def _say_loose(loose: Sequence["LooseReference"], place: str, tell: Say) -> None:
    for reference in loose[:_MOST]:
        tell(f"{place}line {reference.line}: [[cf:v2:{reference.id}]] stands outside a block: left as text")
    if len(loose) > _MOST:
        tell(f"{place}{len(loose) - _MOST:,} more references outside a block: left as text")


def entry_line(entry: Entry) -> bytes:
    """A fold of the archive: id, size, date, label."""
    label = escape(entry.label.decode("utf-8", "replace"))
    return f"{entry.id:14} {size(entry.size):>9}  {entry.created:%Y-%m-%d %H:%M}  {label}\n".encode()
