"""The archive: exact, durable, without expiry. What its owner deals with is in `ctxf.archive.upkeep`."""

from ctxf.archive.archive import Archive
from ctxf.archive.base import Entry, NewBody, Refused, ScopeSummary

__all__ = ["Archive", "Entry", "NewBody", "Refused", "ScopeSummary"]
