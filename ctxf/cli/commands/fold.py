"""`ctxf fold`, and `ctxf` alone: text or source in, folded out."""

from functools import partial
from pathlib import Path

import click

from ctxf.cli.common import CommonOptions, scope_capacity
from ctxf.cli.edge import common_options
from ctxf.cli.file_options import FileOptions, file_options, for_each_file
from ctxf.cli.files import write_result
from ctxf.cli.folding import FoldJob, settle
from ctxf.cli.language import FIRST_LINE_BYTES, SharedParser, fold_language
from ctxf.cli.pipes import is_terminal
from ctxf.cli.reports import FoldReport
from ctxf.cli.status import Status, status_of, worst
from ctxf.cli.terminal import Say, escape, problem_of
from ctxf.config import MAX_INTEGER
from ctxf.folding.results import FoldResult
from ctxf.protocol.markers import KEYWORD
from ctxf.storage.files import read_file

_HELP = """Fold the marked blocks of FILE, or of stdin, to stdout.

A block stands between two lines `<!-- @context-fold begin LABEL -->` and
`<!-- @context-fold end LABEL -->`; in source, between two such comments of its
language. Its body is stored durably in the archive
first; only then does a reference `[[cf:v2:ID]]` take its place. Whatever cannot
be stored goes through as it came, with exit status 75.

\b
Examples:
  ctxf < notes.md > folded.md
  tail -f agent.log | ctxf fold --scope run-7
  ctxf fold module.py > folded.py
  ctxf fold --in-place --recursive src
"""


@click.command("fold", help=_HELP)
@file_options
@click.option(
    "--min-savings",
    metavar="N",
    type=click.IntRange(0, MAX_INTEGER),
    help="Fold what saves N tokens or more [256].",
)
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
    options: FileOptions,
    min_savings: int | None,
    capacity: int | None,
) -> int:
    """See _HELP."""
    if options.is_bare and is_terminal(0):
        assert ctx.parent is not None
        click.echo(ctx.parent.get_help())
        return Status.DONE
    pairs = options.pairs()
    settings, archive, status = settle(common, min_savings_tokens=min_savings)
    with archive, SharedParser() as parser:
        room = scope_capacity(settings.scope, settings, capacity)
        job = FoldJob(common, settings, archive, room, options.language, parser)
        if pairs is None:
            return worst(status, job.fold_to_stdout(options.files[0] if options.files else None))
        return worst(
            status, for_each_file(pairs, partial(_fold_file, job), label="Folding", quiet=common.quiet)
        )


def _fold_file(job: FoldJob, file: str, target: Path, tell: Say) -> Status:
    """Fold one file whole, or leave it as it is."""
    report = FoldReport(f"{escape(file)}: ", verbose=job.common.verbose, tell=tell)
    try:
        data, state = read_file(Path(file))
        report.bytes_in = len(data)
        if job.settings.enabled and KEYWORD in data:
            result = job.fold(data, fold_language(job.language, file, data[:FIRST_LINE_BYTES]))
            report.add(result)
        else:
            result = FoldResult(data)
            report.bytes_out = len(data)
        write_result(Path(file), target, data, result.text, state)
    except OSError as error:
        tell(f"{escape(file)}: {escape(problem_of(error))}")
        return status_of(error)
    report.say(quiet=job.common.quiet)
    return report.status
