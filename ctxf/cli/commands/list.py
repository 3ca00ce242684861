"""`ctxf list`: what is archived."""

import click

from ctxf.archive import Archive, ScopeSummary
from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.jsons import dump, entry_fields
from ctxf.cli.pipes import Output
from ctxf.cli.reports import entry_line
from ctxf.cli.status import Status
from ctxf.cli.terminal import count, shown_scope, size

_HELP = """List the folds of a scope, oldest first: id, size, date, label.

With --all-scopes, list the scopes instead. The scope of a conversation is a
key to its content, so only a fingerprint of it is shown.

\b
Examples:
  ctxf list --scope run-7
  ctxf list --json | jq -r .id
  ctxf list --all-scopes
"""


@click.command("list", help=_HELP)
@click.option("--all-scopes", is_flag=True, help="List scopes, how many folds each has, and their size.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
def command(*, common: CommonOptions, all_scopes: bool, as_json: bool) -> int:
    """See _HELP."""
    settings = common.settings()
    output = Output()
    with Archive.open(settings.archive) as archive:
        if all_scopes:
            for scope in archive.scopes():
                output.write(_scope_json(scope) if as_json else _scope_line(scope))
        else:
            for entry in archive.entries(settings.scope):
                output.write(dump(entry_fields(entry)) if as_json else entry_line(entry))
    output.flush()
    return Status.DONE


def _scope_line(scope: ScopeSummary) -> bytes:
    return f"{count(scope.folds, 'fold'):>14} {size(scope.size):>9}  {shown_scope(scope.name)}\n".encode()


def _scope_json(scope: ScopeSummary) -> bytes:
    return dump({"scope": shown_scope(scope.name), "folds": scope.folds, "size": scope.size})
