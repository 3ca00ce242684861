"""`ctxf languages`: what can be parsed here, and by which package."""

import click

from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.jsons import dump
from ctxf.cli.pipes import Output
from ctxf.cli.status import Status
from ctxf.protocol.grammars import available

_HELP = """List the languages whose comments can hold markers: name, package, version.

More come with the extra `languages` (`ctxf doctor` says how); any other installed
tree_sitter_NAME package serves the language NAME.

\b
Examples:
  ctxf languages
  ctxf languages --json
"""


@click.command("languages", help=_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@common_options
def command(*, common: CommonOptions, as_json: bool) -> int:
    """See _HELP."""
    del common  # the same everywhere
    output = Output()
    for one in available():
        if as_json:
            output.write(dump({"language": one.language, "package": one.provider, "version": one.version}))
        else:
            output.write(f"{one.language:14} {one.provider:26} {one.version}\n".encode())
    output.flush()
    return Status.DONE
