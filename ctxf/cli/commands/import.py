"""`ctxf import`: what `ctxf export` packed, into this archive."""

import click

from ctxf.archive import Archive
from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.jsons import dump
from ctxf.cli.pipes import Output
from ctxf.cli.progress import Progress
from ctxf.cli.status import Status
from ctxf.cli.terminal import count, escape, say, size

_HELP = """Take over the package SOURCE, whole or not at all.

Ids, labels and dates stay, so that references made elsewhere resolve here. What
the scope has already is not touched. The folds go into the scope of --scope; with
--keep-scope into the one that they were exported from. Every hash and size is
checked first; exit status 65 when the package is damaged or not one.

\b
Examples:
  ctxf import --scope run-7 run-7.zip
  ctxf import --keep-scope run-7.zip
"""


@click.command("import", help=_HELP)
@click.argument("source", type=click.Path())
@click.option("--keep-scope", is_flag=True, help="Use the exporting scope's name.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: scope, folds, new, size.")
@common_options
def command(*, common: CommonOptions, source: str, keep_scope: bool, as_json: bool) -> int:
    """See _HELP."""
    if keep_scope and common.scope is not None:
        raise click.UsageError("Only one of --scope and --keep-scope can be used.")
    settings = common.settings()
    scope = None if keep_scope else settings.scope
    with Archive.open(settings.archive) as archive, Progress("Importing", quiet=common.quiet) as progress:
        package = archive.import_package(source, scope, progress=progress)
    if as_json:
        output = Output()
        fields = {"scope": package.scope, "folds": package.folds, "new": package.new, "size": package.size}
        output.write(dump(fields))
        output.flush()
    if not common.quiet:
        said = f"{escape(source)}: {count(package.folds, 'fold')}, {size(package.size)}"
        say(f"{said}; {package.new:,} of them new in scope {package.scope}")
    return Status.DONE
