"""`ctxf restore`: references in, the exact originals out."""

from dataclasses import dataclass
from pathlib import Path

import click

from ctxf.archive import Archive
from ctxf.cli.edge import CommonOptions, common_options
from ctxf.cli.files import cleaning_up_on_signals, file_targets, read_file, replace_file
from ctxf.cli.pipes import Input, Output
from ctxf.cli.reports import report_restore
from ctxf.cli.status import Status, status_of, worst
from ctxf.cli.terminal import escape, say, size
from ctxf.folder import Restoration, kind_of

_HELP = """Put the exact original in place of every reference of FILE, or of stdin.

A reference that does not resolve in this scope stays where it is, is reported
on stderr, and makes the exit status 1 (65 when its body is damaged).

\b
Examples:
  ctxf restore folded.md > notes.md
  ctxf restore --in-place --scope run-7 notes/*.md
"""


@click.command("restore", help=_HELP)
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(readable=False, allow_dash=True))
@click.option("--in-place", is_flag=True, help="Write each FILE back, in one step.")
@click.option("--output-dir", metavar="DIR", help="Write each FILE below DIR, under its relative path.")
@click.option(
    "--max-output",
    metavar="BYTES",
    type=click.IntRange(min=0),
    default=1 << 30,
    help="Write nothing when it would be more than this [1 GiB].",
)
@common_options
def command(
    *,
    common: CommonOptions,
    files: tuple[str, ...],
    in_place: bool,
    output_dir: str | None,
    max_output: int,
) -> int:
    """See _HELP."""
    targets = file_targets(files, in_place=in_place, output_dir=output_dir)
    settings = common.settings()
    with Archive.open(settings.archive) as archive:
        job = _Job(common, archive, settings.scope, max_output)
        if targets is None:
            return job.restore_to_stdout(files[0] if files else None)
        with cleaning_up_on_signals():
            return worst(*(job.restore_file(*pair) for pair in zip(files, targets, strict=True)))


@dataclass(frozen=True, slots=True)
class _Job:
    """What holds for all files of one call."""

    common: CommonOptions
    archive: Archive
    scope: str
    max_output: int

    def restore_to_stdout(self, file: str | None) -> Status:
        """Write piece by piece: no more than one body is in memory at a time."""
        source, output = Input(file), Output()
        data = source.read_all()
        source.close()
        restoration = self._start(data, file)
        if restoration is None:
            return Status.NOT_FOUND
        for piece in restoration.pieces():
            output.write(piece)
        output.flush()
        return self._report(restoration)

    def restore_file(self, file: str, target: Path) -> Status:
        """Restore one file whole; what does not resolve stays in it."""
        try:
            data, state = read_file(Path(file))
            restoration = self._start(data, file)
            if restoration is None:
                return Status.NOT_FOUND
            text = restoration.result().text
            if target != Path(file):
                target.parent.mkdir(parents=True, exist_ok=True)
                replace_file(target, text, source=state, in_place=False)
            elif text != data:
                replace_file(target, text, source=state, in_place=True)
        except OSError as error:
            say(f"{escape(file)}: {escape(error.strerror or str(error))}")
            return status_of(error)
        return self._report(restoration, f"{escape(file)}: ")

    def _start(self, data: bytes, file: str | None) -> Restoration | None:
        """The restore, unless it would give more than is allowed."""
        restoration = Restoration(data, self.archive, self.scope, kind_of(None))
        needed = restoration.size()
        if needed <= self.max_output:
            return restoration
        place = escape(file or "stdin")
        say(f"{place}: would become {size(needed)}; nothing was written (raise --max-output to allow it)")
        return None

    def _report(self, restoration: Restoration, place: str = "") -> Status:
        return report_restore(restoration, quiet=self.common.quiet, verbose=self.common.verbose, place=place)
