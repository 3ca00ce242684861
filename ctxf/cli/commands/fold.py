"""`ctxf fold`, and `ctxf` alone: text in, folded text out."""

from pathlib import Path

import click

from ctxf.archive import Archive
from ctxf.archive.archive import check_scope
from ctxf.cli.edge import CommonOptions, common_options, scope_capacity
from ctxf.cli.files import cleaning_up_on_signals, output_paths, read_file, replace_file
from ctxf.cli.pipes import Input, Output, is_terminal
from ctxf.cli.reports import FoldReport
from ctxf.cli.status import Status, status_of, worst
from ctxf.cli.terminal import escape, say
from ctxf.config import Settings
from ctxf.errors import ConfigError
from ctxf.folder import fold
from ctxf.protocol.fold import FoldRules
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
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(allow_dash=True))
@click.option("--min-savings", metavar="N", type=click.IntRange(min=0), help="Fold what saves N tokens or more [256].")
@click.option("--in-place", is_flag=True, help="Write each FILE back, in one step.")
@click.option("--output-dir", metavar="DIR", help="Write each FILE below DIR, under its relative path.")
@click.option("--capacity", metavar="BYTES", type=click.IntRange(min=0), help="Let the scope hold no more than this.")
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
    if not files and not in_place and not output_dir and is_terminal(0):
        assert ctx.parent is not None
        click.echo(ctx.parent.get_help())
        return Status.DONE
    _check_usage(files, in_place, output_dir)
    targets = output_paths_or_usage_error(files, output_dir)
    try:
        settings: Settings | None = common.settings(min_savings_tokens=min_savings)
    except ConfigError as error:
        # A broken configuration must not break the pipe that ctxf stands in.
        say(f"{escape(str(error))}; the text goes through as it came")
        settings = None
    if settings is None and in_place:
        return Status.CONFIG
    job = _Job(common, settings, capacity)
    with job.archive:
        if in_place or output_dir:
            status = _fold_files(job, files, targets)
        else:
            status = _fold_to_stdout(job, files[0] if files else None)
    return Status.CONFIG if settings is None else status
