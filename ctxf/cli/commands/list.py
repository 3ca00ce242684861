"""`ctxf list`: what is archived."""

from collections.abc import Callable, Iterable, Sequence

import click

from ctxf.archive import Archive, Entry, ScopeSummary
from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.jsons import dump, entry_fields
from ctxf.cli.pipes import Output
from ctxf.cli.reports import entry_line, shown_label
from ctxf.cli.status import Status
from ctxf.cli.tables import Column, Screen, age, screen
from ctxf.cli.terminal import count, shown_scope, size

_HELP = """List the folds of a scope, oldest first: id, size, date, label.

A terminal gets a table with ages, a pipe these four in the same form always.
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
    output, terminal = Output(), None if as_json else screen()
    with Archive.open(settings.archive) as archive:
        if all_scopes:
            scopes = archive.scopes()
            lines = _scope_table(terminal, scopes) if terminal else map(_line_of(as_json), scopes)
        else:
            entries = archive.entries(settings.scope)
            lines = _table(terminal, entries) if terminal else map(_entry_of(as_json), entries)
        for line in lines:
            output.write(line)
    output.flush()
    return Status.DONE


def _entry_of(as_json: bool) -> Callable[[Entry], bytes]:
    return (lambda entry: dump(entry_fields(entry))) if as_json else entry_line


def _line_of(as_json: bool) -> Callable[[ScopeSummary], bytes]:
    return _scope_json if as_json else _scope_line


def _table(terminal: Screen, entries: Iterable[Entry]) -> Iterable[bytes]:
    columns = (
        Column("ID", 12, is_whole=True),
        Column("SIZE", 9, is_right=True),
        Column("AGE", 9, is_right=True),
    )
    cells = ((entry.id, size(entry.size), age(entry.created), shown_label(entry.label)) for entry in entries)
    return terminal.rows((*columns, Column("LABEL", 0)), cells)


def _scope_table(terminal: Screen, scopes: Sequence[ScopeSummary]) -> Iterable[bytes]:
    largest = max((scope.size for scope in scopes), default=0) or 1
    columns = (Column("SCOPE", 32), Column("FOLDS", 9, is_right=True), Column("SIZE", 9, is_right=True))
    cells = (
        (shown_scope(scope.name), f"{scope.folds:,}", size(scope.size), scope.size / largest)
        for scope in scopes
    )
    return terminal.rows((*columns, Column("", 0)), cells)


def _scope_line(scope: ScopeSummary) -> bytes:
    return f"{count(scope.folds, 'fold'):>14} {size(scope.size):>9}  {shown_scope(scope.name)}\n".encode()


def _scope_json(scope: ScopeSummary) -> bytes:
    return dump({"scope": shown_scope(scope.name), "folds": scope.folds, "size": scope.size})
