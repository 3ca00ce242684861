"""Files of ours: made privately, replaced whole or not at all, durable by name; and where they belong.

Nothing here knows what is in them.
"""

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from ctxf.errors import StorageError

__all__ = [
    "FileChanged",
    "create_private_file",
    "data_directory",
    "file_problem",
    "make_directories",
    "new_file",
    "read_file",
    "replace_file",
]


def data_directory(environ: Mapping[str, str]) -> Path:
    """CTXF_HOME, else below XDG_DATA_HOME, else the platform's data directory.

    Raises StorageError where there is no home directory.
    """
    if home := environ.get("CTXF_HOME"):
        return Path(home)
    data_home = environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(data_home):  # the XDG specification: a relative path is to be ignored
        return Path(data_home) / "ctxf"
    if sys.platform in ("darwin", "win32"):
        from platformdirs import user_data_path  # noqa: PLC0415 - installed on these platforms only

        return user_data_path("ctxf", appauthor=False)
    try:
        return Path.home() / ".local" / "share" / "ctxf"
    except RuntimeError as error:
        raise StorageError("(none)", "there is no home directory", "name a place with CTXF_HOME") from error


def file_problem(path: Path) -> str | None:
    """Why `path` cannot be a file of ours, by its kind alone; None when it is missing or fine."""
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


def create_private_file(path: Path) -> bool:
    """Make an empty file of mode 0600, and missing directories of mode 0700; False when it is there already.

    Before SQLite sees the path, since SQLite would follow links and leave the mode to the umask.
    The names are durable on return. Raises OSError.
    """
    make_directories(path.parent)
    try:
        _make_private(path)
    except FileExistsError:
        return False
    _sync_directory(path.parent)
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
        try:
            _make_private(temporary)
        except OSError as error:
            error.filename = str(path)  # nobody else knows the temporary name
            raise
        yield temporary
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        _name_finally(temporary, path)
        _sync_directory(path.parent)
    finally:
        for left in (temporary, Path(f"{temporary}-journal")):
            left.unlink(missing_ok=True)


def _make_private(path: Path) -> None:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags, 0o600)
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


class FileChanged(OSError):
    """Somebody wrote the file while it was being worked on."""


def read_file(path: Path) -> tuple[bytes, os.stat_result]:
    """The bytes of a regular file, and its state to compare with later. Raises OSError."""
    # Without O_NONBLOCK a named pipe would be waited for.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
    with open(path, "rb", opener=lambda name, _flags: os.open(name, flags)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError("is not a regular file")
        return file.read(), status


def replace_file(
    path: Path, data: bytes, *, source: os.stat_result, in_place: bool, aside: Path | None = None
) -> None:
    """Make `data` the content of `path` in one step; a link is followed, the mode stays.

    `source` is the state of the file that was read: a new file is no more public than that one, and
    `in_place`, where it is the same file, one that was written since is left alone. `aside`, in the same
    directory, is the new file until then, for a caller that has to find it after a kill.
    Raises FileChanged, OSError; then the file is as it was and no other file is left behind.
    """
    target = Path(os.path.realpath(path))
    # Named before it is made: no signal can come in between and leave it behind.
    temporary = aside or target.with_name(f".ctxf-{os.urandom(8).hex()}")
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            _set_mode(file.fileno(), target, source)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if in_place and _has_changed(target, source):
            raise FileChanged("was written by somebody else meanwhile: it is left as it is")
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _set_mode(descriptor: int, target: Path, source: os.stat_result) -> None:
    try:
        status = os.stat(target)
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        os.fchmod(descriptor, source.st_mode & 0o777 & ~umask)
        return
    with contextlib.suppress(OSError):  # only root may give a file away
        os.fchown(descriptor, status.st_uid, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))


def _has_changed(target: Path, expected: os.stat_result) -> bool:
    now = os.stat(target)
    return (now.st_ino, now.st_size, now.st_mtime_ns) != (
        expected.st_ino,
        expected.st_size,
        expected.st_mtime_ns,
    )
