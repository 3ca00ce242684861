"""`ctxf hook`: called by clients; people only read its help."""

import click

from ctxf.agents.hooks.options import HookOptions
from ctxf.agents.hooks.run import run_hook
from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options

_HELP = """Answer a hook of an agent: one JSON object on stdin, one or none on stdout.

CLIENT is claude-code (or claude), codex or gemini; `ctxf setup` enters this command into
its configuration. When a session starts it tells the agent how to fold and to
read back in a scope of its own. Before a file is written it puts originals in
place of references, so that none gets into a file. The exit status is always 0.

\b
Example:
  ctxf hook codex <<< '{"hook_event_name":"SessionStart","session_id":"1"}'
"""


@click.command("hook", help=_HELP)
@click.argument("client")
@common_options
def command(*, common: CommonOptions, client: str) -> int:
    """See _HELP."""
    return run_hook(client, HookOptions(common.archive, common.scope, common.config))
