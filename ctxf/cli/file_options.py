"""What `fold` and `restore` take: files, where they go, and their language."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from ctxf.cli.files import cleaning_up_on_signals, file_targets
from ctxf.cli.language import AUTO
from ctxf.cli.progress import Progress
from ctxf.cli.status import Status, worst
from ctxf.cli.terminal import Say, say
from ctxf.cli.walk import files_below
from ctxf.errors import UnknownLanguage
from ctxf.folding.restore import kind_of

__all__ = ["FileOptions", "checked_language", "file_options", "for_each_file"]

_F = TypeVar("_F", bound=Callable[..., Any])


class FileOptions(NamedTuple):
    """FILEs and the options about them, as they were typed."""

    files: tuple[str, ...]
    language: str
    in_place: bool
    recursive: bool
    output_dir: str | None

    @property
    def is_bare(self) -> bool:
        """Whether nothing was said: stdin goes to stdout."""
        return not self.files and not self.in_place and self.output_dir is None

    def pairs(self) -> list[tuple[str, Path]] | None:
        """Each file with the one to write; None when the one FILE, or stdin, goes to stdout.

        Raises click.UsageError before anything is written.
        """
        files: Sequence[str] = list(files_below(self.files)) if self.recursive else self.files
        if self.recursive and not files:
            return []
        targets = file_targets(files, in_place=self.in_place, output_dir=self.output_dir)
        return None if targets is None else list(zip(files, targets, strict=True))


def for_each_file(
    pairs: Sequence[tuple[str, Path]], work: Callable[[str, Path, Say], Status], *, label: str, quiet: bool
) -> Status:
    """Do `work` on one file after the other, even if one fails; the most severe status.

    On a terminal a bar shows how far it is, where that takes long.
    """
    statuses = [Status.DONE]
    with cleaning_up_on_signals(), Progress(label, quiet=quiet) as progress:

        def tell(message: str) -> None:
            progress.clear()
            say(message)

        for done, (file, target) in enumerate(pairs, 1):
            statuses.append(work(file, target, tell))
            progress(done, len(pairs))
    return worst(*statuses)


def checked_language(_ctx: click.Context, _option: click.Parameter, value: str) -> str:
    """The value of `--language`; an unknown name is a usage error."""
    if value != AUTO:
        try:
            kind_of(value)
        except UnknownLanguage as error:
            raise click.BadParameter("no such language; `ctxf languages` lists them") from error
    return value


def file_options(function: _F) -> _F:
    """Add FILEs, --language, --in-place, --output-dir and --recursive; the command gets them as `options`."""

    def collect(
        *args: Any,
        files: tuple[str, ...],
        language: str,
        in_place: bool,
        recursive: bool,
        output_dir: str | None,
        **kwargs: Any,
    ) -> Any:
        options = FileOptions(files, language, in_place, recursive, output_dir)
        return function(*args, options=options, **kwargs)

    parameters = (
        click.argument(
            "files", metavar="[FILE]...", nargs=-1, type=click.Path(readable=False, allow_dash=True)
        ),
        click.option(
            "--language",
            metavar="NAME",
            default=AUTO,
            callback=checked_language,
            help="text, or the language whose comments hold the markers [auto: by file name, then hashbang].",
        ),
        click.option("--in-place", is_flag=True, help="Write each FILE back, in one step."),
        click.option(
            "--output-dir", metavar="DIR", help="Write each FILE below DIR, under its relative path."
        ),
        click.option(
            "--recursive", is_flag=True, help="Take the files below each directory, except what Git ignores."
        ),
    )
    wrapped: Any = collect
    wrapped.__click_params__ = list(getattr(function, "__click_params__", []))
    for parameter in reversed(parameters):
        wrapped = parameter(wrapped)
    return wrapped  # type: ignore[no-any-return]
