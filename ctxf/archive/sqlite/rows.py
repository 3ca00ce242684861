"""From rows to values. A row that SQLite takes for well-formed may still hold damage, of any type."""

from datetime import UTC, datetime
from typing import Any

from ctxf.archive.base import Entry
from ctxf.archive.codec import DamagedPayload, decode
from ctxf.errors import ArchiveDamaged, BodyDamaged, BodyForgotten, BodyNotFound
from ctxf.protocol.references import is_id

__all__ = ["ENTRY_COLUMNS", "Row", "body_of", "entry_of", "time_of"]

Row = tuple[Any, ...]

ENTRY_COLUMNS = "f.key, f.id, f.sha256, f.label, f.size, f.created, f.forgotten"


def body_of(scope: str, id: str, row: Row | None) -> bytes:
    """The body in a row of (sha256, size, forgotten, encoding, payload, name of the scope).

    The row was found through indexes, which may be damaged and lead to a sound row of another body or
    another scope: so that it is the right one is for the row to say.
    Raises BodyNotFound for no row, BodyForgotten, BodyDamaged.
    """
    if row is None:
        raise BodyNotFound(scope, id)
    digest, size, forgotten, encoding, data, owner = row
    if owner != scope or not (isinstance(digest, bytes) and digest.hex().startswith(id)):
        raise BodyDamaged(scope, id, "its index leads to another row")
    if data is None:
        if type(forgotten) is int:
            raise BodyForgotten(scope, id, time_of(forgotten))
        raise BodyDamaged(scope, id, "its row is gone")
    if not (isinstance(data, bytes) and type(size) is int and size >= 0):
        raise BodyDamaged(scope, id, "its row holds values of a wrong type")
    try:
        return decode(encoding, data, size=size, digest=digest)
    except DamagedPayload as error:
        raise BodyDamaged(scope, id, str(error)) from error


def entry_of(path: str, row: Row) -> Entry:
    """The entry in a row of ENTRY_COLUMNS. Raises ArchiveDamaged."""
    position, id, digest, label, size, created, _forgotten = row
    if not (
        isinstance(id, str)
        and is_id(id)
        and isinstance(digest, bytes)
        and digest.hex().startswith(id)
        and isinstance(label, bytes)
        and type(size) is int
        and type(created) is int
    ):
        raise ArchiveDamaged(path, f"row {position} of its folds holds values that cannot be")
    return Entry(position, id, digest, label, size, time_of(created))


def time_of(milliseconds: int) -> datetime:
    """A point in time, in UTC; the nearest that there is for a damaged one."""
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.max.replace(tzinfo=UTC) if milliseconds > 0 else datetime.min.replace(tzinfo=UTC)
