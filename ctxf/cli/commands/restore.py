"""`ctxf restore`: references in, the exact originals out."""

from pathlib import Path
from typing import NamedTuple

import click

from ctxf.archive import Archive
from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.file_options import FileOptions, file_options, for_each_file
from ctxf.cli.files import write_result
from ctxf.cli.language import AUTO, FIRST_LINE_BYTES
from ctxf.cli.pipes import Input, Output
from ctxf.cli.reports import report_restore
from ctxf.cli.status import Status, status_of
from ctxf.cli.terminal import Say, escape, problem_of, say, size
from ctxf.folding.restore import Restoration, kind_of
from ctxf.protocol.restore import Kind
from ctxf.storage.files import read_file

_HELP = """Put the exact original in place of every reference of FILE, or of stdin.

A reference that does not resolve in this scope stays where it is, is reported
on stderr, and makes the exit status 1 (65 when its body is damaged).

\b
Examples:
  ctxf restore folded.md > notes.md
  ctxf restore --in-place --scope run-7 notes/*.md
"""


@click.command("restore", help=_HELP)
@file_options
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
    options: FileOptions,
    max_output: int,
) -> int:
    """See _HELP."""
    pairs = options.pairs()
    settings = common.settings()
    with Archive.open(settings.archive) as archive:
        job = _Job(common, archive, settings.scope, options.language, max_output)
        if pairs is None:
            return job.restore_to_stdout(options.files[0] if options.files else None)
        return for_each_file(pairs, job.restore_file, label="Restoring", quiet=common.quiet)


class _Job(NamedTuple):
    """What holds for all files of one call."""

    common: CommonOptions
    archive: Archive
    scope: str
    language: str
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

    def restore_file(self, file: str, target: Path, tell: Say) -> Status:
        """Restore one file whole; what does not resolve stays in it."""
        try:
            data, state = read_file(Path(file))
            restoration = self._start(data, file, tell)
            if restoration is None:
                return Status.NOT_FOUND
            text = restoration.result().text
            write_result(Path(file), target, data, text, state)
        except OSError as error:
            tell(f"{escape(file)}: {escape(problem_of(error))}")
            return status_of(error)
        return self._report(restoration, f"{escape(file)}: ", tell)

    def _start(self, data: bytes, file: str | None, tell: Say = say) -> Restoration | None:
        """The restore, unless it would give more than is allowed."""
        kind = _kind(self.language, file, data[:FIRST_LINE_BYTES])
        restoration = Restoration(data, self.archive, self.scope, kind)
        needed = restoration.size()
        if needed <= self.max_output:
            return restoration
        place = escape(file or "stdin")
        tell(f"{place}: would become {size(needed)}; nothing was written (raise --max-output to allow it)")
        return None

    def _report(self, restoration: Restoration, place: str = "", tell: Say = say) -> Status:
        return report_restore(
            restoration, quiet=self.common.quiet, verbose=self.common.verbose, place=place, tell=tell
        )


def _kind(option: str, file: str | None, first_line: bytes) -> Kind:
    """Which references count in `file`: those of its language; all kinds where the language is unknown.

    `option` is the value of --language; `first_line` may be longer than a line.
    """
    if option != AUTO:
        return kind_of(option)
    if file is None or file == "-":
        return Kind.UNKNOWN
    # Imported here because a restore of stdin does without it and is a third faster (76 ms, not 100 ms).
    from ctxf.protocol.languages import is_text_file, language_for_file  # noqa: PLC0415

    if is_text_file(file):
        return Kind.TEXT
    return Kind.SOURCE if language_for_file(file, first_line) else Kind.UNKNOWN
