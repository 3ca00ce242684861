"""`ctxf export`: a scope in a file that needs no ctxf to be read."""

import click

from ctxf.archive import Archive
from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.files import cleaning_up_on_signals
from ctxf.cli.jsons import dump
from ctxf.cli.pipes import Output
from ctxf.cli.progress import Progress
from ctxf.cli.status import Status
from ctxf.cli.terminal import count, escape, say, size

_HELP = """Pack a scope, or some of its folds, into the new file TARGET.

A package is a ZIP file: `manifest.json` (ids, labels, sizes, SHA-256, dates, and
the scope's name) and the bodies as `objects/<sha256>`. `ctxf import` takes it
over elsewhere. Whoever has it can read it: the file gets mode 0600.

\b
Examples:
  ctxf export --scope run-7 run-7.zip
  ctxf export --id 4db3a91c6e2f one.zip
"""


@click.command("export", help=_HELP)
@click.argument("target", type=click.Path())
@click.option("--id", "ids", metavar="ID", multiple=True, help="Only this id; may be given many times.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: path, scope, folds, size.")
@common_options
def command(*, common: CommonOptions, target: str, ids: tuple[str, ...], as_json: bool) -> int:
    """See _HELP."""
    settings = common.settings()
    with cleaning_up_on_signals(), Archive.open(settings.archive) as archive:
        if not ids and next(archive.entries(settings.scope), None) is None:
            # After a mistyped scope an empty package would look like a copy, and `ctxf forget` might follow.
            say(f"scope {escape(settings.scope)} holds nothing in this archive; nothing was exported")
            return Status.NOT_FOUND
        with Progress("Exporting", quiet=common.quiet) as progress:
            package = archive.export_package(settings.scope, target, list(ids) or None, progress=progress)
    if as_json:
        output = Output()
        fields = {"path": target, "scope": package.scope, "folds": package.folds, "size": package.size}
        output.write(dump(fields))
        output.flush()
    if not common.quiet:
        say(f"{escape(target)}: {count(package.folds, 'fold')}, {size(package.size)} exported")
    return Status.DONE
