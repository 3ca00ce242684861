"""`ctxf project`: the one function that a question is about."""

from typing import Any

import click

from ctxf.archive import Archive
from ctxf.cli.common import CommonOptions, scope_capacity
from ctxf.cli.edge import common_options
from ctxf.cli.file_options import checked_language
from ctxf.cli.jsons import body_fields, dump
from ctxf.cli.language import FIRST_LINE_BYTES, fold_language
from ctxf.cli.pipes import Input, Output
from ctxf.cli.status import Status, status_of
from ctxf.cli.terminal import count, escape, say, size
from ctxf.errors import ArchiveError, ConfigError
from ctxf.folding.project import ProjectResult, Why, project

_HELP = """Print the one function of FILE that a question names; archive the rest.

What stays: that function or method with its decorators and doc comments, the
header of its class, and the file's literal constants. Each stretch between them
becomes one comment `@context-fold omit lines-A-B [[cf:v2:ID]]`, and `ctxf
restore` puts every byte back. Where the question names no function of the file,
or several, the whole file is printed, and stderr says why.

A name that is a plain word, too, as `get` or `main`, needs the form of a name:
get(), `get` in backticks, or Store.get.

\b
Examples:
  ctxf project cache.py --question 'What does Store.get return?'
  ctxf project router.ts --question 'explain buildPlan' | ctxf restore
  ctxf project --language go --question 'what is Serve() for?' < server.go
"""


@click.command("project", help=_HELP)
@click.argument("file", metavar="[FILE]", required=False, type=click.Path(readable=False, allow_dash=True))
@click.option("--question", metavar="TEXT", required=True, help="What the source is read for.")
@click.option(
    "--language",
    metavar="NAME",
    default="auto",
    callback=checked_language,
    help="The source's language [auto: by file name, then hashbang].",
)
@click.option("--explain", is_flag=True, help="Say on stderr what each name of the question was found to be.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: the text and what was done.")
@common_options
def command(
    *,
    common: CommonOptions,
    file: str | None,
    question: str,
    language: str,
    explain: bool,
    as_json: bool,
) -> int:
    """See _HELP."""
    source, output = Input(file), Output()
    data = source.read_all()
    source.close()
    result, status = _project(common, data, question, fold_language(language, file, data[:FIRST_LINE_BYTES]))
    output.write(dump(_fields(result)) if as_json else result.text)
    output.flush()
    _report(result, data, quiet=common.quiet, explain=explain or common.verbose)
    return status


def _project(
    common: CommonOptions, data: bytes, question: str, language: str
) -> tuple[ProjectResult[bytes], Status]:
    """Project; when the configuration or the archive is unusable the text still passes unchanged."""
    try:
        settings = common.settings()
        if not settings.enabled:
            return ProjectResult(data, detail="folding is switched off"), Status.DONE
        with Archive.open(settings.archive) as archive:
            capacity = scope_capacity(settings.scope, settings, None)
            result = project(data, question, language, archive, settings.scope, capacity=capacity)
    except (ConfigError, ArchiveError) as error:
        return ProjectResult(data, why=Why.ARCHIVE, failure=error), status_of(error)
    is_undone = result.failure is not None or result.why in (Why.PARSER, Why.CAPACITY, Why.ARCHIVE)
    return result, Status.KEPT if is_undone else Status.DONE


def _report(result: ProjectResult[bytes], data: bytes, *, quiet: bool, explain: bool) -> None:
    if explain:
        for line in result.matched:
            say(escape(line))
        for one in result.definitions:
            say(f"kept {escape(one.name)}, lines {one.first} to {one.last}")
        if result.constants or result.constants_left_out:
            total = result.constants + result.constants_left_out
            say(f"kept {result.constants} of {count(total, 'literal constant')}")
        for omission in result.omissions:
            say(f"left out {omission.label} as {omission.id} ({size(omission.size)})")
    if result.failure is not None:
        say(f"{escape(str(result.failure))}; the text went through as it came")
    elif quiet:
        return
    elif not result.omissions:
        say(f"kept whole: {escape(result.detail)}")
    else:
        names = ", ".join(dict.fromkeys(escape(one.name) for one in result.definitions))
        left_out = count(len(result.omissions), "stretch").replace("stretchs", "stretches")
        say(f"{names} kept, {left_out} left out; {size(len(data))} -> {size(len(result.text))}")


def _fields(result: ProjectResult[bytes]) -> dict[str, Any]:
    return {
        **body_fields(result.text),
        "why": result.why,
        "detail": result.detail if result.failure is None else str(result.failure),
        "matched": list(result.matched),
        "definitions": [
            {"name": one.name, "line": one.line, "first": one.first, "last": one.last}
            for one in result.definitions
        ],
        "constants": result.constants,
        "omissions": [
            {"label": one.label, "id": one.id, "first": one.first, "last": one.last, "size": one.size}
            for one in result.omissions
        ],
    }
