"""`ctxf guide`: the instruction for an agent."""

import click

from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.gateways import recovery_command
from ctxf.cli.pipes import Output
from ctxf.cli.status import Status
from ctxf.conversations.guidance import guidance

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
    # What the environment or a file names, the agent's shell finds there too.
    reading = recovery_command(settings, is_archive_inherited=common.archive is None)
    output = Output()
    output.write(guidance(settings.scope, reading).encode())
    output.flush()
    return Status.DONE
