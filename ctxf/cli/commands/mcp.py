"""`ctxf mcp`: the server for agents."""

import gc

import click

from ctxf import __version__
from ctxf.archive import Archive
from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.extras import extra_missing
from ctxf.cli.pipes import ReaderGone
from ctxf.cli.status import Status

_HELP = """Serve the archive to an agent, as an MCP server on stdin and stdout.

Tools: context_read, context_grep, context_list. With --scope the agent can
reach that scope alone; without it each call names one. `ctxf setup` enters
this command into an agent's configuration. Needs the extra `mcp`;
`ctxf doctor` says how to install it.

\b
Examples:
  claude mcp add ctxf -- ctxf mcp
  ctxf mcp --scope run-7
"""


@click.command("mcp", help=_HELP)
@common_options
def command(*, common: CommonOptions) -> int:
    """See _HELP."""
    settings = common.settings()
    # The import makes thousands of classes that all stay. With garbage collection on, the first
    # answer comes after 575 ms, not 430 ms.
    gc.disable()
    try:
        from ctxf.mcp.deferred import deferred_models  # noqa: PLC0415

        with deferred_models():
            from ctxf.mcp.server import build_server, serve  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("ctxf"):
            raise
        raise extra_missing("mcp", error.name) from error
    gc.enable()
    gc.freeze()
    with Archive.open(settings.archive) as archive:
        server = build_server(archive, version=__version__, scope=common.scope, default_scope=settings.scope)
        try:
            serve(server)
        except BrokenPipeError as error:
            raise ReaderGone from error
    return Status.DONE
