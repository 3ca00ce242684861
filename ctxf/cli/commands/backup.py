"""`ctxf backup`: the whole archive, as it is at one moment, in one new file."""

from pathlib import Path

import click

from ctxf.archive import Archive
from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.files import cleaning_up_on_signals
from ctxf.cli.jsons import dump
from ctxf.cli.pipes import Output
from ctxf.cli.progress import Progress
from ctxf.cli.status import Status
from ctxf.cli.terminal import escape, say, size

_HELP = """Copy the whole archive, all scopes, into the new file TARGET.

Consistent while others write, mode 0600, never over a file that is there.
(Copying the archive's file with `cp` while it is in use loses what is still in
its write-ahead log.) A backup is an archive: to go back to it, stop every ctxf,
remove the archive's file with its -wal and -shm, and copy the backup there.

\b
Examples:
  ctxf backup ctxf-2026-12-01.db
  ctxf verify --deep --archive ctxf-2026-12-01.db
"""


@click.command("backup", help=_HELP)
@click.argument("target", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: path, size.")
@common_options
def command(*, common: CommonOptions, target: str, as_json: bool) -> int:
    """See _HELP."""
    settings = common.settings()
    with (
        cleaning_up_on_signals(),
        Archive.open(settings.archive) as archive,
        Progress("Copying", quiet=common.quiet) as progress,
    ):
        archive.backup(target, progress=progress)
    bytes_ = Path(target).stat().st_size
    if as_json:
        output = Output()
        output.write(dump({"path": target, "size": bytes_}))
        output.flush()
    if not common.quiet:
        say(f"{escape(target)}: {size(bytes_)} written")
    return Status.DONE
