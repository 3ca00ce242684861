"""`ctxf config`: what is configured, and where."""

import os
from difflib import get_close_matches

import click

from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.jsons import dump
from ctxf.cli.pipes import Output
from ctxf.cli.status import Status
from ctxf.cli.terminal import escape, say
from ctxf.config import Loaded
from ctxf.config.fields import VARIABLES

_HELP = """Show or check the configuration.

Later wins: defaults, the user's file, the project's .context-folding.toml, the
environment, options.

\b
Examples:
  ctxf config show
  ctxf config check
"""

_SHOW_HELP = """Print every setting, its value, and where it was set.

\b
Example:
  ctxf config show --json
"""

_CHECK_HELP = """Check every file and variable; exit 78 when one cannot be used.

A variable CTXF_... that ctxf does not know is a warning.

\b
Example:
  ctxf config check && echo fine
"""


@click.group("config", help=_HELP)
def command() -> None:
    """See _HELP."""


@command.command("show", help=_SHOW_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@common_options
def show(*, common: CommonOptions, as_json: bool) -> int:
    """See _SHOW_HELP."""
    loaded = common.check()
    values = {name: getattr(loaded.settings, name) for name in loaded.sources}
    output = Output()
    if as_json:
        output.write(
            dump({name: {"value": value, "from": loaded.sources[name]} for name, value in values.items()})
        )
    else:
        for name, value in values.items():
            shown = "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
            output.write(f"{name:20} {escape(shown):24} {escape(loaded.sources[name])}\n".encode())
    output.flush()
    return _report(loaded)


@command.command("check", help=_CHECK_HELP)
@common_options
def check(*, common: CommonOptions) -> int:
    """See _CHECK_HELP."""
    loaded = common.check()
    if not common.quiet:
        for file in loaded.files:
            say(f"{escape(file.path)}: {'found' if file.found else 'not there'}")
        _warn_of_variables()
    if not loaded.errors and not common.quiet:
        say("the configuration is good")
    return _report(loaded)


def _warn_of_variables() -> None:
    """Of a name that nothing reads: most likely a misspelt one."""
    for name in sorted(os.environ):
        if name.startswith("CTXF_") and name not in VARIABLES:
            meant = get_close_matches(name, VARIABLES, 1)
            hint = f"; did you mean {meant[0]}?" if meant else ""
            say(escape(f"warning: {name}: ctxf knows no such variable{hint}"))


def _report(loaded: Loaded) -> Status:
    for error in loaded.errors:
        say(escape(str(error)))
    return Status.CONFIG if loaded.errors else Status.DONE
