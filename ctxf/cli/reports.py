"""What commands say of what they did: on stderr after fold and restore, and a line for an archived fold."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxf.archive import Entry
from ctxf.cli.status import Status, status_of, worst
from ctxf.cli.terminal import Say, count, escape, say, size
from ctxf.errors import ArchiveError, CtxfError
from ctxf.protocol.model import Reason

if TYPE_CHECKING:
    from ctxf.folding.restore import LooseReference, Restoration
    from ctxf.folding.results import Fold, FoldResult, Kept

__all__ = ["FoldReport", "entry_line", "report_restore", "shown_label"]

_MOST = 3
_NOT_DONE = (Reason.ARCHIVE, Reason.CAPACITY, Reason.PARSER)


class FoldReport:
    """Adds up the results of a fold; small however long the input: only the first kept blocks are listed.

    `place` is a prefix for messages when there are several files.
    """

    def __init__(self, place: str = "", *, verbose: bool = False, tell: Say = say) -> None:
        self._place = place
        self._verbose = verbose
        self._tell = tell
        self._folds = self._kept = self._misspelled = 0
        self._first_kept: list[Kept] = []
        self._first_misspelled: list[int] = []
        self._failure: CtxfError | None = None
        self.bytes_in = self.bytes_out = 0
        self.status = Status.DONE

    def add(self, result: "FoldResult[bytes]") -> None:
        """Add the next result."""
        self.bytes_out += len(result.text)
        self._failure = self._failure or result.failure
        self._folds += len(result.folds)
        self._kept += len(result.kept)
        self._first_kept += result.kept[: _MOST - len(self._first_kept)]
        self._misspelled += len(result.misspelled)
        self._first_misspelled += result.misspelled[: _MOST - len(self._first_misspelled)]
        if result.failure or any(kept.reason in _NOT_DONE for kept in result.kept):
            self.status = Status.KEPT
        if self._verbose:
            for fold in result.folds:
                self._tell(self._place + _describe_fold(fold))
            for kept in result.kept:
                self._tell(f"{self._place}line {kept.line}: {escape(kept.label)} kept: {kept.detail}")

    def say(self, *, quiet: bool) -> None:
        """The one line that a person wants; nothing where nothing was marked, unless asked for more."""
        if self._failure is not None:
            self._tell(f"{self._place}{escape(str(self._failure))}; the text went through as it came")
        if not quiet and self._misspelled:
            self._tell(f"{self._place}{self._misspelling()}")
        if not quiet and (self._folds or self._kept or self._verbose):
            self._tell(f"{self._place}{self._summary()}")

    def _misspelling(self) -> str:
        lines = ", ".join(map(str, self._first_misspelled))
        more = f" and {self._misspelled - _MOST:,} more" if self._misspelled > _MOST else ""
        return (
            f"line {lines}{more}: looks like a marker and is none (begin or end, then a label of letters,"
            " digits and _ joined by single . - /, and nothing else on the line)"
        )

    def _summary(self) -> str:
        folded = f"{count(self._folds, 'block')} folded"
        if self._kept:
            details = ", ".join(f"line {kept.line}: {kept.detail}" for kept in self._first_kept)
            more = f", and {self._kept - _MOST:,} more" if self._kept > _MOST else ""
            folded += f", {self._kept:,} kept ({details}{more})"
        return f"{folded}; {size(self.bytes_in)} -> {size(self.bytes_out)}"


def _describe_fold(fold: "Fold") -> str:
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
    label = shown_label(entry.label)
    return f"{entry.id:14} {size(entry.size):>9}  {entry.created:%Y-%m-%d %H:%M}  {label}\n".encode()


def shown_label(label: bytes) -> str:
    """A label that may have come from anywhere, harmless on a terminal."""
    return escape(label.decode("utf-8", "replace"))
