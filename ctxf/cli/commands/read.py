"""`ctxf read`: one archived body."""

import click

from ctxf.archive import Archive, Entry
from ctxf.archive.lines import count_lines, parse_lines
from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.jsons import body_fields, dump, entry_fields
from ctxf.cli.pipes import Output
from ctxf.cli.status import Status
from ctxf.cli.terminal import count, escape, say

_HELP = """Print the body of an id.

--restore gives the exact original. Without it, blocks inside stay folded, to
be read one by one. An id may be upper case or the whole `[[cf:v2:...]]`.

\b
Examples:
  ctxf read --id 4db3a91c6e2f --restore
  ctxf read --id 4db3a91c6e2f --restore --lines 120:180
  ctxf read --id '[[cf:v2:4db3a91c6e2f]]' --json
"""


@click.command("read", help=_HELP)
@click.option("--id", required=True, metavar="ID", help="The id: the digits in [[cf:v2:...]].")
@click.option("--restore", is_flag=True, help="The exact original, inner blocks and all.")
@click.option("--lines", metavar="A:B", help="Only lines A to B of what is printed: A:B, A:, :B or A.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object: text (or base64), label, size, date."
)
@common_options
def command(*, common: CommonOptions, id: str, restore: bool, lines: str | None, as_json: bool) -> int:
    """See _HELP."""
    window = None if lines is None else parse_lines(lines)
    if lines is not None and window is None:
        raise click.UsageError(f"--lines {escape(lines)}: give A:B with 1 <= A <= B, or A:, :B, A.")
    settings = common.settings()
    with Archive.open(settings.archive) as archive:
        body = archive.read(settings.scope, id)
        text = body if restore else _view(body, archive, settings.scope)
        entry = archive.entry(settings.scope, id) if as_json else None
    if window is not None:
        total = count_lines(text)
        if window.first > total:
            say(f"{escape(id)}: has only {count(total, 'line')}")
            return Status.NOT_FOUND
        text = window.cut(text)
    output = Output()
    if entry is not None:
        text = _as_json(settings.scope, entry, text)
    output.write(text)
    output.flush()
    return Status.DONE


def _view(body: bytes, archive: Archive, scope: str) -> bytes:
    # Imported here because reads with --restore, the usual ones, would take 74 ms, not 67 ms.
    from ctxf.folding.restore import view  # noqa: PLC0415

    return view(body, archive, scope)


def _as_json(scope: str, entry: Entry, text: bytes) -> bytes:
    return dump({"scope": scope, **entry_fields(entry), **body_fields(text)})
