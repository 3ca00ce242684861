"""The archive: exact, durable, without expiry."""

from ctxf.archive.archive import Archive
from ctxf.archive.base import Entry, NewBody, Refused, ScopeSummary

__all__ = ["Archive", "Entry", "NewBody", "Refused", "ScopeSummary"]
