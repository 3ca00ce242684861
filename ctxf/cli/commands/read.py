"""`ctxf read`: one archived body."""

import re
from typing import Final

import click

from ctxf.archive import Archive, Entry
from ctxf.cli.edge import CommonOptions, common_options
from ctxf.cli.pipes import Output
from ctxf.cli.status import Status
from ctxf.cli.terminal import count, escape, say

_HELP = """Print the body of an id, exactly as it was archived.

Without --restore the blocks inside it are shown folded, so that they can be
read one by one. An id may be upper case or the whole `[[cf:v2:...]]`.

\b
Examples:
  ctxf read --id 4db3a91c6e2f --restore
  ctxf read --id 4db3a91c6e2f --restore --lines 120:180
  ctxf read --id '[[cf:v2:4db3a91c6e2f]]' --json
"""

_RANGE: Final = re.compile(r"(?P<first>[0-9]{1,18})?(?P<colon>:)?(?P<last>[0-9]{1,18})?(?<!^)")


@click.command("read", help=_HELP)
@click.option("--id", required=True, metavar="ID", help="The id: the digits in [[cf:v2:...]].")
@click.option("--restore", is_flag=True, help="The exact original, inner blocks and all.")
@click.option("--lines", metavar="A:B", help="Only lines A to B, counted from 1; A: and :B are open.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object: text (or base64), label, size, date."
)
@common_options
def command(*, common: CommonOptions, id: str, restore: bool, lines: str | None, as_json: bool) -> int:
    """See _HELP."""
    window = _parse_lines(lines)
    settings = common.settings()
    with Archive.open(settings.archive) as archive:
        body = archive.read(settings.scope, id)
        text = body if restore else _view(body, archive, settings.scope)
        entry = archive.entry(settings.scope, id) if as_json else None
    if window is not None:
        total = text.count(b"\n") + (not text.endswith(b"\n"))
        if window[0] > total:
            say(f"{escape(id)}: has only {count(total, 'line')}")
            return Status.NOT_FOUND
        text = _cut_lines(text, *window)
    output = Output()
    if entry is not None:
        text = _as_json(settings.scope, entry, text)
    output.write(text)
    output.flush()
    return Status.DONE


# What only some reads need is imported by them: this command starts once for every look-up of an agent.


def _view(body: bytes, archive: Archive, scope: str) -> bytes:
    from ctxf.folder import view  # noqa: PLC0415

    return view(body, archive, scope)


def _as_json(scope: str, entry: Entry, text: bytes) -> bytes:
    from ctxf.cli.jsons import body_fields, dump, entry_fields  # noqa: PLC0415

    return dump({"scope": scope, **entry_fields(entry), **body_fields(text)})


def _parse_lines(lines: str | None) -> tuple[int, int | None] | None:
    """First and last line, counted from 1; None for an open end. Raises click.UsageError."""
    if lines is None:
        return None
    match = _RANGE.fullmatch(lines)
    if match is not None:
        first = int(match["first"] or 1)
        last = int(match["last"]) if match["last"] else None if match["colon"] else first
        if first >= 1 and (last is None or last >= first):
            return first, last
    raise click.UsageError(f"--lines {escape(lines)}: give A:B with 1 <= A <= B, or A:, :B, A.")


def _cut_lines(text: bytes, first: int, last: int | None) -> bytes:
    start = _line_start(text, 0, first - 1)
    return text[start:] if last is None else text[start : _line_start(text, start, last - first + 1)]


def _line_start(text: bytes, position: int, lines: int) -> int:
    """The start of the line that is `lines` lines behind the one that starts at `position`."""
    for _ in range(lines):
        position = text.find(b"\n", position) + 1
        if not position:
            return len(text)
    return position
