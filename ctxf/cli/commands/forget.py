"""`ctxf forget`: the only way that anything leaves the archive."""

import click

from ctxf.archive import Archive
from ctxf.archive.upkeep import Forgotten
from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.jsons import dump
from ctxf.cli.pipes import Output
from ctxf.cli.reports import entry_line
from ctxf.cli.status import Status
from ctxf.cli.terminal import count, say, size

_HELP = """Remove folds for good: by id, or a whole scope. Without --yes, only show which.

References to them stop resolving; a read says when they were forgotten. Their
bytes are overwritten and their space is given back, except where another scope
has the same body. Backups and packages keep their copies. Folding the same
text again brings an id back.

\b
Examples:
  ctxf forget --id 4db3a91c6e2f
  ctxf forget --id 4db3a91c6e2f --id 9c0e1b52aa07 --yes
  ctxf forget --scope run-7 --whole-scope --yes
"""


@click.command("forget", help=_HELP)
@click.option("--id", "ids", metavar="ID", multiple=True, help="An id to forget; may be given many times.")
@click.option("--whole-scope", is_flag=True, help="Forget everything in the scope.")
@click.option("--yes", is_flag=True, help="Really remove it.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object: ids, bytes, whether it was done."
)
@common_options
def command(
    *, common: CommonOptions, ids: tuple[str, ...], whole_scope: bool, yes: bool, as_json: bool
) -> int:
    """See _HELP."""
    if bool(ids) == whole_scope:
        raise click.UsageError("Give either --id or --whole-scope.")
    settings = common.settings()
    output = Output()
    with Archive.open(settings.archive) as archive:
        chosen = list(ids) if ids else None
        if not yes and not as_json:
            # All are looked up before the first is shown, so that an unknown id prints no partial list.
            for id in archive.forget(settings.scope, chosen, dry_run=True).ids:
                output.write(entry_line(archive.entry(settings.scope, id)))
        forgotten = archive.forget(settings.scope, chosen, dry_run=not yes)
    if as_json:
        output.write(dump({"forgotten": yes, "ids": list(forgotten.ids), "size": forgotten.size}))
    output.flush()
    _report(forgotten, is_done=yes, quiet=common.quiet)
    return Status.DONE


def _report(forgotten: Forgotten, *, is_done: bool, quiet: bool) -> None:
    if not forgotten.is_erased:
        say(
            "another process has the archive open: the bytes leave the disk when it lets go of them and"
            " something is forgotten or the archive is closed for the last time"
        )
    if quiet:
        return
    what = f"{count(len(forgotten.ids), 'fold')}, {size(forgotten.size)}"
    say(f"{what} forgotten" if is_done else f"{what} would be forgotten; nothing was removed without --yes")
