"""`ctxf stats`: how much is archived, and what it saves."""

from collections.abc import Iterable, Sequence
from typing import Any

import click

from ctxf.archive import Archive
from ctxf.archive.upkeep import ScopeStats, Totals
from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.jsons import dump
from ctxf.cli.pipes import Output, is_terminal
from ctxf.cli.status import Status
from ctxf.cli.tables import Column, Screen, screen
from ctxf.cli.terminal import count, shown_scope, size

_HELP = """Show how much a scope holds: folds, bytes, bytes as stored, tokens saved.

Tokens are estimated at four bytes each, for every fold standing in a text once.
With --all-scopes, every scope and the whole archive, where a body that is in
several scopes is stored once.

\b
Examples:
  ctxf stats --scope run-7
  ctxf stats --all-scopes
  ctxf stats --json | jq .tokens_saved
"""

_STDOUT = 1
_BAR_WIDTH = 30


@click.command("stats", help=_HELP)
@click.option("--all-scopes", is_flag=True, help="Every scope, and the archive as a whole.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
def command(*, common: CommonOptions, all_scopes: bool, as_json: bool) -> int:
    """See _HELP."""
    settings = common.settings()
    with Archive.open(settings.archive) as archive:
        if all_scopes:
            scopes, totals = archive.stats(), archive.totals()
            lines = _all_json(scopes, totals) if as_json else _all_lines(scopes, totals, screen())
        else:
            stats = archive.stats(settings.scope) or [_nothing(settings.scope)]
            lines = [dump(_fields(stats[0], settings.scope))] if as_json else _scope_lines(stats[0])
    output = Output()
    for line in lines:
        output.write(line)
    output.flush()
    return Status.DONE


def _nothing(scope: str) -> ScopeStats:
    return ScopeStats(scope, 0, 0, 0, 0, None, None)


def _scope_lines(stats: ScopeStats) -> list[bytes]:
    rows = [
        ("folds", f"{stats.folds:,}" + (f" ({stats.forgotten:,} forgotten)" if stats.forgotten else "")),
        ("bodies", f"{size(stats.size):>9}  {_bar(stats.size, stats.size)}"),
        ("stored", f"{size(stats.stored):>9}  {_bar(stats.stored, stats.size)}"),
        ("compression", _ratio(stats.size, stats.stored)),
        ("tokens saved", f"about {stats.tokens_saved:,}"),
    ]
    if stats.first is not None and stats.last is not None:
        rows.append(("from, to", f"{stats.first:%Y-%m-%d %H:%M}, {stats.last:%Y-%m-%d %H:%M}"))
    return [f"{name:13} {value.strip()}".encode() + b"\n" for name, value in rows]


def _all_lines(scopes: Sequence[ScopeStats], totals: Totals, terminal: Screen | None) -> list[bytes]:
    lines = [_scope_line(stats) for stats in scopes] if terminal is None else [*_table(terminal, scopes)]
    in_scopes = sum(stats.size for stats in scopes)
    once = (
        f"archive: {totals.bodies:,} bodies stored once, {size(totals.size)}, {size(totals.stored)} on disk;"
    )
    ratios = (
        f"deduplication {_ratio(in_scopes, totals.size)}, compression {_ratio(totals.size, totals.stored)}"
    )
    return [*lines, f"{once}{' ' if terminal is None else chr(10)}{ratios}\n".encode()]


def _scope_line(stats: ScopeStats) -> bytes:
    return (
        f"{count(stats.folds, 'fold'):>14} {size(stats.size):>9} {size(stats.stored):>9} stored"
        f" {stats.tokens_saved:>12,} tokens  {shown_scope(stats.name)}\n"
    ).encode()


def _table(terminal: Screen, scopes: Sequence[ScopeStats]) -> Iterable[bytes]:
    """A bar for what each scope saves, beside the one that saves most."""
    most = max((stats.tokens_saved for stats in scopes), default=0) or 1
    columns = (
        Column("SCOPE", 22),
        Column("FOLDS", 7, is_right=True),
        Column("SIZE", 9, is_right=True),
        Column("STORED", 9, is_right=True),
        Column("TOKENS SAVED", 12, is_right=True),
        Column("", 0),
    )
    cells = (
        (
            *(shown_scope(stats.name), f"{stats.folds:,}", size(stats.size), size(stats.stored)),
            *(f"{stats.tokens_saved:,}", stats.tokens_saved / most),
        )
        for stats in scopes
    )
    return terminal.rows(columns, cells)


def _all_json(scopes: Sequence[ScopeStats], totals: Totals) -> list[bytes]:
    lines = [dump(_fields(stats, shown_scope(stats.name))) for stats in scopes]
    whole = {"bodies": totals.bodies, "size": totals.size, "stored": totals.stored}
    in_scopes = sum(stats.size for stats in scopes)
    return [*lines, dump({**whole, "size_in_scopes": in_scopes, "scopes": len(scopes)})]


def _fields(stats: ScopeStats, name: str) -> dict[str, Any]:
    return {
        "scope": name,
        "folds": stats.folds,
        "forgotten": stats.forgotten,
        "size": stats.size,
        "stored": stats.stored,
        "tokens_saved": stats.tokens_saved,
        "first": None if stats.first is None else f"{stats.first:%Y-%m-%dT%H:%M:%SZ}",
        "last": None if stats.last is None else f"{stats.last:%Y-%m-%dT%H:%M:%SZ}",
    }


def _ratio(larger: int, smaller: int) -> str:
    return f"{larger / smaller:.1f} x" if smaller else "-"


def _bar(value: int, full: int) -> str:
    """A bar for a terminal, as wide for all values of one chart; nothing elsewhere."""
    if not full or not is_terminal(_STDOUT):
        return ""
    bar = "#" * max(1, round(_BAR_WIDTH * value / full))
    return f"{bar:{_BAR_WIDTH}}  "
