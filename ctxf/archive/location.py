"""Where the archive is when nobody says so, and how its file comes to be."""

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from ctxf.errors import ArchiveError

__all__ = [
    "create_archive_file",
    "data_directory",
    "default_archive_path",
    "file_problem",
    "make_directories",
    "new_file",
]

_FILE_NAME = "archive.db"


def default_archive_path(environ: Mapping[str, str]) -> Path:
    """CTXF_ARCHIVE, else `archive.db` in the data directory. Raises ArchiveError where there is neither."""
    if named := environ.get("CTXF_ARCHIVE"):
        return Path(named)
    return data_directory(environ) / _FILE_NAME


def data_directory(environ: Mapping[str, str]) -> Path:
    """CTXF_HOME, else below XDG_DATA_HOME, else the platform's data directory.

    Raises ArchiveError where there is no home directory.
    """
    if home := environ.get("CTXF_HOME"):
        return Path(home)
    data_home = environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(data_home):  # the XDG specification: a relative path is to be ignored
        return Path(data_home) / "ctxf"
    if sys.platform in ("darwin", "win32"):
        from platformdirs import user_data_path  # noqa: PLC0415 - not needed where XDG holds

        return user_data_path("ctxf", appauthor=False)
    try:
        return Path.home() / ".local" / "share" / "ctxf"
    except RuntimeError as error:
        raise ArchiveError("(none)", "there is no home directory", "name a file with CTXF_ARCHIVE") from error


def file_problem(path: Path) -> str | None:
    """Why `path` cannot be an archive's file, by its kind alone; None when it is missing or fine."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"cannot be reached: {os.strerror(error.errno or 0)}"
    if stat.S_ISREG(mode):
        return None
    if stat.S_ISLNK(mode):
        return "is a symbolic link, and links are not followed"
    return "is a directory" if stat.S_ISDIR(mode) else "is not a regular file"


def create_archive_file(path: Path) -> bool:
    """Make an empty file of mode 0600, and missing directories of mode 0700; False when it is there already.

    Before SQLite sees the path, since SQLite would follow links and leave the mode to the umask.
    The names are durable on return. Raises ArchiveError.
    """
    try:
        make_directories(path.parent)
        flags = (
            os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        )
        try:
            descriptor = os.open(path, flags, 0o600)
        except FileExistsError:
            return False
        try:
            os.fchmod(descriptor, 0o600)  # a umask like 0777 takes from the mode above
        finally:
            os.close(descriptor)
        _sync_directory(path.parent)
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise ArchiveError(
            str(path), f"cannot be created: {reason}", "name another place with --archive"
        ) from error
    return True


@contextlib.contextmanager
def new_file(path: Path, aside: Path | None = None) -> Iterator[Path]:
    """Fill a new file, mode 0600, that stands at `path` when the block ends: whole, durable, or not at all.

    The block gets the empty file's temporary path: `aside`, in the same directory, for a caller that has to
    find it after a kill, or a random one. Raises FileExistsError, at the latest at the end:
    nothing is ever overwritten. OSError.
    """
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, "is there already and is not overwritten", str(path))
    # Named before it is made: no signal can come in between and leave it behind.
    temporary = aside or path.with_name(f".ctxf-{os.urandom(8).hex()}")
    try:
        _make_private(temporary, path)
        yield temporary
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        _name_finally(temporary, path)
        _sync_directory(path.parent)
    finally:
        for left in (temporary, Path(f"{temporary}-journal")):
            left.unlink(missing_ok=True)


def _make_private(temporary: Path, path: Path) -> None:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    try:
        descriptor = os.open(temporary, flags, 0o600)
    except OSError as error:
        error.filename = str(path)  # nobody has heard of the temporary name
        raise
    try:
        os.fchmod(descriptor, 0o600)  # a umask like 0777 takes from the mode
    finally:
        os.close(descriptor)


def _name_finally(temporary: Path, path: Path) -> None:
    """Unlike a rename, a link never replaces what another process put there meanwhile."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.lexists(path):
            raise FileExistsError(
                errno.EEXIST, "is there already and is not overwritten", str(path)
            ) from None
        os.rename(temporary, path)


def make_directories(directory: Path) -> None:
    """Make a directory and those above it that are missing, mode 0700, durably. Raises OSError."""
    missing = []
    while not directory.exists():
        missing.append(directory)
        directory = directory.parent
    for directory in reversed(missing):
        try:
            directory.mkdir(0o700)
        except FileExistsError:
            continue  # another process was faster
        directory.chmod(0o700)
        _sync_directory(directory.parent)


def _sync_directory(directory: Path) -> None:
    # Some file systems cannot, and a directory may be closed to readers; SQLite makes the same exception.
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
