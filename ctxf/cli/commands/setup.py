"""`ctxf setup`: enters ctxf into a client's configuration, and takes it out again."""

import os
from collections.abc import Sequence
from contextlib import nullcontext
from importlib.resources import files
from pathlib import Path

import click

from ctxf.agents.setup.checks import check_program, find_program
from ctxf.agents.setup.clients import CLIENT_NAMES, Client, Program, client_edits
from ctxf.agents.setup.install import Planned, apply, plan_install, plan_uninstall, without_journal
from ctxf.agents.setup.journal import Journal, SetupError, journal_path
from ctxf.agents.setup.lock import alone
from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.extras import require_extra
from ctxf.cli.files import cleaning_up_on_signals
from ctxf.cli.pipes import Output
from ctxf.cli.status import Status
from ctxf.cli.terminal import escape, say

_HELP = """Let an agent read back by itself: enter ctxf into its configuration.

CLIENT is claude, codex or gemini. It gets the MCP server, a hook that names
each session's own scope and puts originals in place of references before a
file is written, and a note in its instructions. Nothing is approved on your
behalf. Comments, order and everything else in the files stay; --uninstall
gives every byte back. Needs the extra `mcp`; `ctxf doctor`
says how to install it.

This is for reading back. What goes to the provider folds by `ctxf run` or
`ctxf gateway`.

\b
Examples:
  ctxf setup claude --dry-run
  ctxf setup codex
  ctxf setup gemini --project .
  ctxf setup claude --uninstall
  codex plugin marketplace add "$(ctxf setup codex --folder)"
"""


@click.command("setup", help=_HELP)
@click.argument("client", type=click.Choice(list(CLIENT_NAMES)))
@click.option("--project", metavar="DIR", help="For one project: into its own files, below DIR.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--uninstall", is_flag=True, help="Take out what an earlier call has put in.")
@click.option("--command", "named", metavar="PATH", help="Let the client start this ctxf.")
@click.option("--folder", is_flag=True, help="Print where the plugin or extension folder for the client is.")
@common_options
def command(
    *,
    common: CommonOptions,
    client: str,
    project: str | None,
    dry_run: bool,
    uninstall: bool,
    named: str | None,
    folder: bool,
) -> int:
    """See _HELP."""
    chosen = CLIENT_NAMES[client]
    if folder:
        _print([str(files("ctxf") / "agents" / "plugins" / client)])
        return Status.DONE
    root = None if project is None else _directory(project)
    place = journal_path(os.environ, chosen, root)
    with cleaning_up_on_signals(), nullcontext() if dry_run else alone(_home()):
        journal = Journal.read(place)
        if uninstall:
            program = journal.program if journal else Program("ctxf")
        else:
            require_extra("mcp")
            program = Program(_program(named, dry_run=dry_run), _options(common))
        edits = client_edits(chosen, program, os.environ, _home(), root)
        plan = plan_uninstall(edits, journal) if uninstall else plan_install(edits, journal)
        _print(_lines(chosen, plan, uninstall=uninstall, dry_run=dry_run))
        if dry_run:
            return Status.DONE
        if uninstall:
            apply(plan)
            Journal.remove(place)
        else:
            _install(chosen, program, plan, place, journal)
            _print([f"  checked: the server and the hook answer; {chosen.next_step}"])
    return Status.DONE


def _install(
    client: Client, program: Program, plan: Sequence[Planned], place: Path, old: Journal | None
) -> None:
    """Journal first, files then, checks last; on any failure all is as it was."""
    without_journal(program, plan).write(place)
    try:
        apply(plan, lambda: _verify(client, program, plan))
    except BaseException:
        if old is None:
            Journal.remove(place)
        else:
            old.write(place)
        raise


def _verify(client: Client, program: Program, plan: Sequence[Planned]) -> None:
    for one in plan:
        if not one.edit.is_there(one.edit.path.read_text("utf-8-sig")):
            raise SetupError(f"{one.edit.path}: does not hold what was written")
    check_program(client, program)


def _lines(client: Client, plan: Sequence[Planned], *, uninstall: bool, dry_run: bool) -> list[str]:
    doing = f"{client.title}, {'removing' if uninstall else 'adding'}"
    lines = [f"{doing} (nothing is changed yet):" if dry_run else f"{doing}:"]
    for one in plan:
        state = "" if one.is_change else " (already so)"
        if one.is_change and uninstall and one.wanted is None:
            state = " (the file goes)"
        elif one.is_change and one.current is None:
            state = " (a new file)"
        lines.append(f"  {_shown(one.edit.path)}: {one.edit.what}{state}")
    return lines


def _program(named: str | None, *, dry_run: bool) -> str:
    """What the client is to start. A dry run enters nothing, so there an objection is a warning."""
    found = find_program(named)
    if found.objection and not dry_run:
        raise SetupError(found.objection)
    if found.objection:
        say(escape(f"warning: without --dry-run this would stop: {found.objection}"))
    return found.path


def _options(common: CommonOptions) -> tuple[str, ...]:
    """What every command that is entered gets, too."""
    options: list[str] = []
    for name, value in (
        ("--archive", common.archive),
        ("--scope", common.scope),
        ("--config", common.config),
    ):
        if value is not None:
            options += (name, value if name == "--scope" else os.path.abspath(value))
    return tuple(options)


def _directory(name: str) -> Path:
    path = Path(os.path.realpath(name))
    if not path.is_dir():
        raise click.UsageError(f"--project {escape(name)}: no such directory.")
    return path


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        raise SetupError("there is no home directory; set HOME") from None


def _shown(path: Path) -> str:
    """A path as a person writes it."""
    try:
        return escape(f"~/{path.relative_to(_home())}")
    except ValueError:
        return escape(str(path))


def _print(lines: Sequence[str]) -> None:
    output = Output()
    output.write("".join(f"{line}\n" for line in lines).encode())
    output.flush()
