"""`ctxf completion`: what teaches a shell to complete."""

import click
from click.shell_completion import get_completion_class

from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.pipes import Output
from ctxf.cli.status import Status

_HELP = """Print the script with which SHELL completes commands, options and files.

bash (4.4 or newer), zsh or fish. The script asks this ctxf at every press of
the Tab key, so that it never has to be made again.

\b
Examples:
  eval "$(ctxf completion bash)"
  ctxf completion zsh > ~/.zfunc/_ctxf
  ctxf completion fish > ~/.config/fish/completions/ctxf.fish
"""

_SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_CTXF_COMPLETE"


@click.command("completion", help=_HELP)
@click.argument("shell", type=click.Choice(_SHELLS))
@common_options
@click.pass_context
def command(ctx: click.Context, /, *, common: CommonOptions, shell: str) -> int:
    """See _HELP."""
    del common  # the script depends on nothing
    complete = get_completion_class(shell)
    assert complete is not None
    made = complete(ctx.find_root().command, {}, "ctxf", _VARIABLE)
    output = Output()
    # Not `source()`: for bash that starts one, to warn of an old version.
    output.write((made.source_template % made.source_vars()).encode())
    output.flush()
    return Status.DONE
