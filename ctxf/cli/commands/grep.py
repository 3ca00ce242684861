"""`ctxf grep`: lines of archived bodies."""

import os
import warnings

import click

from ctxf.archive import Archive
from ctxf.archive.search import Line
from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.jsons import body_fields, dump
from ctxf.cli.pipes import Output, is_terminal
from ctxf.cli.status import Status, status_of, worst
from ctxf.cli.terminal import escape, say

_HELP = """Print the lines of archived bodies that match PATTERN, as `id:line:text`.

PATTERN is a regular expression of Python's `re`. All bodies of the scope are
searched, oldest first, blocks inside others under their own ids too. Line
numbers are those of `ctxf read --restore --lines`. Exit status 1 when nothing
matches.

\b
Examples:
  ctxf grep -i 'timed? ?out'
  ctxf grep -F 'retry(3)' --id 4db3a91c6e2f -C 2
  ctxf grep --json panic --scope run-7 | jq -r .id | sort -u
"""

_STDOUT = 1


@click.command("grep", help=_HELP)
@click.argument("pattern")
@click.option("--id", metavar="ID", help="Search this body only.")
@click.option("-i", "--ignore-case", is_flag=True, help="Make no difference between upper and lower case.")
@click.option("-F", "--fixed-strings", "is_fixed", is_flag=True, help="PATTERN is a text, not an expression.")
@click.option("-n", "--line-number", is_flag=True, help="Always on: lines can be read by their number.")
@click.option(
    "-C",
    "--context",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    help="Show N lines around each match, as `id-line-text`.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line: id, line, match, text.")
@common_options
def command(
    *,
    common: CommonOptions,
    pattern: str,
    id: str | None,
    ignore_case: bool,
    is_fixed: bool,
    line_number: bool,
    context: int,
    as_json: bool,
) -> int:
    """See _HELP."""
    warnings.simplefilter("ignore", FutureWarning)  # of patterns that a later Python may read otherwise
    del line_number  # accepted for those who type it out of habit
    settings = common.settings()
    output = Output()
    writer = _JsonWriter(output) if as_json else _LineWriter(output, context > 0)
    with Archive.open(settings.archive) as archive:
        search = archive.search(
            settings.scope,
            os.fsencode(pattern).decode("utf-8", "surrogateescape"),  # whatever the locale
            id=id,
            is_fixed=is_fixed,
            ignore_case=ignore_case,
            context=context,
        )
        for line in search:
            writer.write(line)
    output.flush()
    for error in search.unreadable:
        say(f"{escape(str(error))}; it was not searched")
    found = Status.DONE if writer.matches else Status.NOT_FOUND
    return worst(found, *(status_of(error) for error in search.unreadable))


class _LineWriter:
    """Lines as grep writes them; the text escaped where it would reach a terminal."""

    def __init__(self, output: Output, has_context: bool) -> None:
        self._output = output
        self._has_context = has_context
        self._is_terminal = is_terminal(_STDOUT)
        self.matches = 0
        self._lines = 0

    def write(self, line: Line) -> None:
        if self._has_context and self._lines and not line.follows:
            self._output.write(b"--\n")
        mark = b":" if line.is_match else b"-"
        text = (
            escape(line.text.decode("utf-8", "surrogateescape")).encode() if self._is_terminal else line.text
        )
        self._output.write(b"%b%b%d%b%b\n" % (line.id.encode("ascii"), mark, line.number, mark, text))
        self._lines += 1
        self.matches += line.is_match


class _JsonWriter:
    """One object for each line."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self.matches = 0

    def write(self, line: Line) -> None:
        fields = {"id": line.id, "line": line.number, "match": line.is_match, **body_fields(line.text)}
        self._output.write(dump(fields))
        self.matches += line.is_match
