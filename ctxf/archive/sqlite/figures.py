"""The figures of the SQLite store. They read every row of what they count, payloads aside."""

from ctxf.archive.sqlite.rows import time_of
from ctxf.archive.upkeep import ScopeStats, Totals
from ctxf.storage.database import Database

__all__ = ["scope_stats", "totals"]

_STATS = """
    SELECT s.name, count(f.body), CAST(s.size AS INTEGER),
        coalesce(sum(length(b.payload)), 0), count(f.forgotten),
        min(f.created) FILTER (WHERE f.body IS NOT NULL), max(f.created) FILTER (WHERE f.body IS NOT NULL)
    FROM scopes s JOIN folds f ON f.scope = s.key LEFT JOIN bodies b ON b.key = f.body
    WHERE :scope IS NULL OR s.name = :scope
    GROUP BY s.key ORDER BY s.name
"""
_TOTALS = "SELECT count(*), coalesce(sum(size), 0), coalesce(sum(length(payload)), 0) FROM bodies"


def scope_stats(database: Database, scope: str | None) -> list[ScopeStats]:
    """See `Store.stats`."""
    with database.reading() as connection:
        rows = connection.execute(_STATS, {"scope": scope}).fetchall()
    return [
        ScopeStats(*row[:5], *(time_of(date) if type(date) is int else None for date in row[5:]))
        for row in rows
    ]


def totals(database: Database) -> Totals:
    """See `Store.totals`."""
    with database.reading() as connection:
        return Totals(*connection.execute(_TOTALS).fetchone())
