"""`ctxf verify`: is every archived byte as it was written?"""

import click

from ctxf.archive import Archive
from ctxf.archive.upkeep import Damage, Verification
from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.jsons import dump
from ctxf.cli.pipes import Output
from ctxf.cli.progress import Progress
from ctxf.cli.status import Status
from ctxf.cli.terminal import count, escape, say, shown_scope

_HELP = """Check the whole archive: its file, its rows, and the stored bytes of every body.

Stored bytes are compared with their BLAKE3; with --deep every body is unpacked
and compared with its SHA-256, as each read does anyway. Damaged ids of the scope
are listed, with --all-scopes those of all. Exit status 65 when anything, in
whatever scope, is damaged. Folding the same text again repairs its body.

\b
Examples:
  ctxf verify
  ctxf verify --deep --all-scopes --json
  ctxf verify --archive backup.db
"""


@click.command("verify", help=_HELP)
@click.option("--deep", is_flag=True, help="Unpack every body and compare its SHA-256.")
@click.option("--all-scopes", is_flag=True, help="Name the damaged ids of all scopes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each fault, and a last one.")
@common_options
def command(*, common: CommonOptions, deep: bool, all_scopes: bool, as_json: bool) -> int:
    """See _HELP."""
    settings = common.settings()
    with (
        Archive.open(settings.archive) as archive,
        Progress("Verifying", quiet=common.quiet) as progress,
    ):
        result = archive.verify(deep=deep, progress=progress)
    shown = [one for one in result.damage if all_scopes or one.scope in (None, settings.scope)]
    output = Output()
    for damage in shown:
        output.write(_json(damage) if as_json else _line(damage, all_scopes))
    if as_json:
        summary = {"bodies": result.bodies, "damaged": len(result.damage), "deep": deep}
        output.write(dump(summary))
    output.flush()
    if not common.quiet:
        say(_summary(result, len(result.damage) - len(shown)))
    return Status.DONE if result.is_intact else Status.DAMAGED


def _line(damage: Damage, with_scope: bool) -> bytes:
    place = damage.id or (shown_scope(damage.scope) if damage.scope else "archive")
    scope = f" (scope {shown_scope(damage.scope)})" if with_scope and damage.scope and damage.id else ""
    return f"{escape(place)}{scope}: {escape(damage.problem)}\n".encode()


def _json(damage: Damage) -> bytes:
    scope = None if damage.scope is None else shown_scope(damage.scope)
    return dump({"scope": scope, "id": damage.id, "problem": damage.problem})


def _summary(result: Verification, elsewhere: int) -> str:
    checked = "1 body checked" if result.bodies == 1 else f"{result.bodies:,} bodies checked"
    if result.is_intact:
        return f"{checked}, nothing is damaged"
    more = f", {elsewhere:,} of them in other scopes (--all-scopes names them)" if elsewhere else ""
    return (
        f"{checked}, {count(len(result.damage), 'fault')}{more}; take the archive from a backup,"
        " or fold the same texts again"
    )
