"""`ctxf guide`: the instruction for an agent."""

import click

from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.pipes import Output
from ctxf.cli.status import Status
from ctxf.guidance import RECOVERY_COMMAND, guidance

_HELP = """Print the short instruction that an agent needs to fold and to read back.

Put it into the agent's own instructions (CLAUDE.md, AGENTS.md, GEMINI.md, a
system prompt). The scope is filled in.

\b
Example:
  ctxf guide --scope run-7 >> AGENTS.md
"""


@click.command("guide", help=_HELP)
@common_options
def command(*, common: CommonOptions) -> int:
    """See _HELP."""
    settings = common.settings()
    output = Output()
    output.write(guidance(settings.scope, settings.recovery_command or RECOVERY_COMMAND).encode())
    output.flush()
    return Status.DONE
