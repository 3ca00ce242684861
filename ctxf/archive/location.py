"""Where the archive is when nobody says so."""

from collections.abc import Mapping
from pathlib import Path

from ctxf.errors import ArchiveError, StorageError
from ctxf.storage.files import data_directory

__all__ = ["default_archive_path"]

_FILE_NAME = "archive.db"


def default_archive_path(environ: Mapping[str, str]) -> Path:
    """CTXF_ARCHIVE, else `archive.db` in the data directory. Raises ArchiveError where there is neither."""
    if named := environ.get("CTXF_ARCHIVE"):
        return Path(named)
    try:
        return data_directory(environ) / _FILE_NAME
    except StorageError as error:
        raise ArchiveError("(none)", error.problem, "name a file with CTXF_ARCHIVE") from error
