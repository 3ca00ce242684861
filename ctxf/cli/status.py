"""Exit statuses, and the one table from errors to them."""

from enum import IntEnum
from typing import Final

from ctxf.errors import (
    ArchiveDamaged,
    ArchiveError,
    ArchiveMissing,
    BodyDamaged,
    ConfigError,
    CtxfError,
    ExtraMissing,
    InvalidId,
    InvalidPattern,
    InvalidScope,
    PackageError,
    ReadError,
    RequestNotRead,
    SourceNotParsed,
    UnknownLanguage,
    UnknownProtocol,
)

__all__ = ["Status", "status_of", "worst"]


class Status(IntEnum):
    """Numbers above 64 are those of sysexits(3), which Windows does not have in `os`."""

    DONE = 0  # folded, or nothing to fold
    NOT_FOUND = 1  # not found, unresolved, nothing matched
    USAGE = 2
    DAMAGED = 65  # read, restore, verify
    CRASH = 70  # a fault of ctxf itself
    INPUT_OUTPUT = 74  # the input could not be read, the output not written
    KEPT = 75  # text went through unfolded: something could not be stored or parsed
    CONFIG = 78
    INTERRUPTED = 130  # as shells report SIGINT


# The first match counts, so a subclass stands before its base.
_STATUSES: Final[tuple[tuple[type[BaseException], Status], ...]] = (
    (ConfigError, Status.CONFIG),
    (ExtraMissing, Status.CONFIG),
    (InvalidScope, Status.USAGE),
    (InvalidId, Status.USAGE),
    (InvalidPattern, Status.USAGE),
    (BodyDamaged, Status.DAMAGED),
    (UnknownLanguage, Status.USAGE),
    (UnknownProtocol, Status.USAGE),
    (SourceNotParsed, Status.KEPT),
    (RequestNotRead, Status.KEPT),
    (ReadError, Status.NOT_FOUND),
    (ArchiveDamaged, Status.DAMAGED),
    (PackageError, Status.DAMAGED),
    (ArchiveMissing, Status.NOT_FOUND),
    (ArchiveError, Status.KEPT),
    (CtxfError, Status.NOT_FOUND),
    (OSError, Status.INPUT_OUTPUT),
)

# The statuses by severity, for when several things went wrong.
_BY_WEIGHT: Final = (
    Status.CONFIG,
    Status.DAMAGED,
    Status.INPUT_OUTPUT,
    Status.KEPT,
    Status.NOT_FOUND,
    Status.DONE,
)


def status_of(error: BaseException) -> Status:
    """The exit status that an error stands for."""
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), Status.CRASH)


def worst(*statuses: Status) -> Status:
    """The most severe of some statuses."""
    return min(statuses, key=_BY_WEIGHT.index, default=Status.DONE)
