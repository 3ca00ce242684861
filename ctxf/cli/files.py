"""The files that a command line names: where their results go, and how a signal removes unfinished ones."""

import contextlib
import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

import click

from ctxf.cli.terminal import escape
from ctxf.storage.files import replace_file

__all__ = [
    "cleaning_up_on_signals",
    "file_targets",
    "write_result",
]


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
