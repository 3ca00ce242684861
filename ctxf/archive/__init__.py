"""The archive: exact, durable, without expiry."""

from ctxf.archive.archive import Archive
from ctxf.archive.base import (
    Damage,
    Entry,
    Forgotten,
    NewBody,
    PackageSummary,
    Refused,
    ScopeStats,
    ScopeSummary,
    Totals,
    Verification,
)
from ctxf.archive.search import Line, Search

__all__ = [
    "Archive",
    "Damage",
    "Entry",
    "Forgotten",
    "Line",
    "NewBody",
    "PackageSummary",
    "Refused",
    "ScopeStats",
    "ScopeSummary",
    "Search",
    "Totals",
    "Verification",
]
