"""Files that are rewritten: whole or not at all, with their mode, through symbolic links."""

import contextlib
import os
import signal
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

import click

from ctxf.cli.terminal import escape

__all__ = [
    "FileChanged",
    "cleaning_up_on_signals",
    "file_targets",
    "read_file",
    "replace_file",
    "write_result",
]


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


def write_result(file: Path, target: Path, data: bytes, result: bytes, state: os.stat_result) -> None:
    """Write what became of `file`, whose `data` and `state` were read, to `target`; in place only a change.

    Raises as `replace_file` does.
    """
    if target != file:
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, result, source=state, in_place=False)
    elif result != data:
        replace_file(target, result, source=state, in_place=True)


def file_targets(files: Sequence[str], *, in_place: bool, output_dir: str | None) -> list[Path] | None:
    """Where each of `files` goes; None is stdout. Raises click.UsageError before anything is written."""
    if output_dir == "":
        raise click.UsageError("--output-dir needs the name of a directory.")
    if in_place and output_dir:
        raise click.UsageError("Only one of --in-place and --output-dir can be used.")
    if not in_place and not output_dir:
        if len(files) > 1:
            raise click.UsageError("Many FILEs need --in-place or --output-dir.")
        return None
    if not files or "-" in files:
        raise click.UsageError("--in-place and --output-dir need the name of a FILE.")
    if in_place:
        return [Path(file) for file in files]
    return _paths_below(files, str(output_dir))


def _paths_below(files: Sequence[str], directory: str) -> list[Path]:
    """Each file's relative path below `directory`; none leads out of it, no two are one."""
    paths: dict[Path, str] = {}
    inputs = set(_identities(files))
    for file in files:
        name = escape(file)
        relative = Path(file)
        if relative.is_absolute() or ".." in relative.parts:
            raise click.UsageError(f"{name}: --output-dir takes relative paths without '..'.")
        path = Path(directory) / relative
        if path in paths:
            raise click.UsageError(f"{escape(paths[path])} and {name} would both become {escape(str(path))}.")
        with contextlib.suppress(OSError):
            if os.path.samefile(path, file):
                raise click.UsageError(f"{name} would become itself; use --in-place for that.")
            status = os.stat(path)
            if (status.st_dev, status.st_ino) in inputs:
                raise click.UsageError(f"{name} would be written over {escape(str(path))}, another FILE.")
        paths[path] = file
    return list(paths)


def _identities(files: Sequence[str]) -> Iterator[tuple[int, int]]:
    for file in files:
        with contextlib.suppress(OSError):
            status = os.stat(file)
            yield status.st_dev, status.st_ino


@contextlib.contextmanager
def cleaning_up_on_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind the stack as Ctrl-C does, so that temporary files go away.

    One that is ignored stays ignored: that is what nohup does.
    """

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    known = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [number for number in known if signal.getsignal(number) is signal.SIG_DFL]
    before = [signal.signal(number, leave) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


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
