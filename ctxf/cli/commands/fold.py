"""`ctxf fold`, and `ctxf` alone: text in, folded text out."""

from dataclasses import dataclass
from pathlib import Path

import click

from ctxf.archive import Archive
from ctxf.cli.edge import CommonOptions, common_options, scope_capacity
from ctxf.cli.files import cleaning_up_on_signals, file_targets, read_file, replace_file
from ctxf.cli.pipes import Input, Output, is_terminal
from ctxf.cli.reports import FoldReport
from ctxf.cli.status import Status, status_of, worst
from ctxf.cli.terminal import escape, say
from ctxf.config import MAX_INTEGER, Settings
from ctxf.errors import ArchiveError, ConfigError
from ctxf.folder import fold
from ctxf.protocol.fold import FoldRules
from ctxf.results import FoldResult
from ctxf.stream import FoldStream

# How long a batch of folds waits for more input before it is stored, in seconds: long enough for a
# busy writer to fill it, short enough for a person who watches.
_LINGER_SECONDS = 0.05

_HELP = """Fold the marked blocks of FILE, or of stdin, to stdout.

A block stands between two lines `<!-- @context-fold begin LABEL -->` and
`<!-- @context-fold end LABEL -->`. Its body is stored durably in the archive
first; only then does a reference `[[cf:v2:ID]]` take its place. Whatever cannot
be stored goes through as it came, with exit status 75.

\b
Examples:
  ctxf < notes.md > folded.md
  tail -f agent.log | ctxf fold --scope run-7
  ctxf fold --in-place notes/*.md
"""


@click.command("fold", help=_HELP)
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(readable=False, allow_dash=True))
@click.option(
    "--min-savings",
    metavar="N",
    type=click.IntRange(0, MAX_INTEGER),
    help="Fold what saves N tokens or more [256].",
)
@click.option("--in-place", is_flag=True, help="Write each FILE back, in one step.")
@click.option("--output-dir", metavar="DIR", help="Write each FILE below DIR, under its relative path.")
@click.option(
    "--capacity", metavar="BYTES", type=click.IntRange(min=0), help="Let the scope hold no more than this."
)
@common_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    common: CommonOptions,
    files: tuple[str, ...],
    min_savings: int | None,
    in_place: bool,
    output_dir: str | None,
    capacity: int | None,
) -> int:
    """See _HELP."""
    if not files and not in_place and output_dir is None and is_terminal(0):
        assert ctx.parent is not None
        click.echo(ctx.parent.get_help())
        return Status.DONE
    targets = file_targets(files, in_place=in_place, output_dir=output_dir)
    try:
        settings = common.settings(min_savings_tokens=min_savings)
        archive = Archive.open(settings.archive)
        status = Status.DONE
    except (ConfigError, ArchiveError) as error:
        # What is wrong around it must not break the pipe that ctxf stands in.
        say(f"{escape(str(error))}; the text goes through as it came")
        settings = Settings(enabled=False)
        archive = Archive.memory()  # for nobody: folding is off
        status = status_of(error)
    with archive:
        job = _Job(common, settings, archive, scope_capacity(settings.scope, settings, capacity))
        if targets is None:
            return worst(status, job.fold_to_stdout(files[0] if files else None))
        with cleaning_up_on_signals():
            return worst(status, *(job.fold_file(*pair) for pair in zip(files, targets, strict=True)))


@dataclass(frozen=True, slots=True)
class _Job:
    """What holds for all files of one call."""

    common: CommonOptions
    settings: Settings
    archive: Archive
    capacity: int | None

    def fold_to_stdout(self, file: str | None) -> Status:
        """Fold as the text flows by; when something fails, what is held back still goes out."""
        source, output, report = Input(file), Output(), FoldReport(verbose=self.common.verbose)
        rules = FoldRules(self.settings.min_savings_tokens)
        stream = FoldStream(
            self.archive, self.settings.scope, rules, capacity=self.capacity, reread=source.reread()
        )
        failure: OSError | None = None
        while True:
            try:
                chunk = source.read_chunk()
            except OSError as error:
                failure = error  # what was read before is the reader's all the same
                break
            if not chunk:
                break
            report.bytes_in += len(chunk)
            results = stream.feed(chunk) if self.settings.enabled else [FoldResult(chunk)]
            _write(results, output, report)
            if source.is_waiting(_LINGER_SECONDS if stream.has_batch else 0):
                _write(stream.flush(), output, report)
                output.flush()
        _write(stream.finish(), output, report)
        output.flush()
        source.close()
        report.say(quiet=self.common.quiet)
        if failure is not None:
            raise failure
        return report.status

    def fold_file(self, file: str, target: Path) -> Status:
        """Fold one file whole, or leave it as it is."""
        report = FoldReport(f"{escape(file)}: ", self.common.verbose)
        try:
            data, state = read_file(Path(file))
            report.bytes_in = len(data)
            if self.settings.enabled:
                result = fold(
                    data,
                    self.archive,
                    scope=self.settings.scope,
                    min_savings_tokens=self.settings.min_savings_tokens,
                    capacity=self.capacity,
                )
                report.add(result)
            else:
                result = FoldResult(data)
            if target != Path(file):
                target.parent.mkdir(parents=True, exist_ok=True)
                replace_file(target, result.text, source=state, in_place=False)
            elif result.text != data:
                replace_file(target, result.text, source=state, in_place=True)
        except OSError as error:
            say(f"{escape(file)}: {escape(error.strerror or str(error))}")
            return status_of(error)
        report.say(quiet=self.common.quiet)
        return report.status


def _write(results: list[FoldResult[bytes]], output: Output, report: FoldReport) -> None:
    for result in results:
        report.add(result)
        output.write(result.text)
