"""`ctxf request`: chat requests, as a program sends them, on stdin or in a file."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ctxf.archive import Archive
from ctxf.cli import gateways
from ctxf.cli.common import CommonOptions, scope_capacity
from ctxf.cli.edge import common_options
from ctxf.cli.pipes import Input, Output
from ctxf.cli.request_reports import report_request_fold, report_request_restore
from ctxf.cli.status import Status, status_of, worst
from ctxf.cli.terminal import escape, say
from ctxf.config import MAX_INTEGER, Settings
from ctxf.errors import ArchiveError, ConfigError, RequestNotRead
from ctxf.requests import (
    PROTOCOLS,
    Recovery,
    RequestPolicy,
    RequestRestoreResult,
    RequestResult,
    fold_request,
    restore_request,
)
from ctxf.requests.formats import check_request

_HELP = """Fold or restore a chat request: the JSON that goes to a model's API.

\b
Examples:
  ctxf request fold --protocol anthropic < request.json > folded.json
  ctxf request restore --protocol anthropic folded.json
"""

_FOLD_HELP = """Fold the marked blocks of the model's own earlier replies in a request.

Nothing else changes: no user's text, no tool call, no result, no byte of the
JSON around it. A block folds once --delay further replies follow it. Whatever
cannot be read or stored goes through as it came, with exit status 75.
--guidance tells the model how to fold and to read back; restoring does not
take it out again.

The model reads a body back by a shell command, `ctxf read`, or another that
--recovery-command names: see `ctxf guide`. Where it has tools instead, name
them with --recovery-tool: a request that offers none of them is not folded.

\b
Examples:
  ctxf request fold --protocol anthropic < request.json > folded.json
  ctxf request fold --protocol chat --delay 0 --report request.json | jq .
"""

_RESTORE_HELP = """Put the exact originals back into a folded request.

A reference that does not resolve in this scope stays where it is, is reported
on stderr, and makes the exit status 1 (65 when its body is damaged). What
`request fold --guidance` put behind the system prompt stays: it is no fold.

\b
Example:
  ctxf request restore --protocol anthropic folded.json > request.json
"""

_F = TypeVar("_F", bound=Callable[..., Any])


def _request_options(function: _F) -> _F:
    """Add FILE and --protocol."""
    file = click.argument("file", metavar="[FILE]", required=False, type=click.Path(allow_dash=True))
    protocol = click.option(
        "--protocol", required=True, type=click.Choice(PROTOCOLS), help="The API that the request is for."
    )
    return file(protocol(function))


@click.group("request", help=_HELP)
def command() -> None:
    """See _HELP."""


@command.command("fold", help=_FOLD_HELP, short_help="Fold the marked blocks of earlier replies.")
@_request_options
@click.option(
    "--delay",
    metavar="N",
    type=click.IntRange(0, MAX_INTEGER),
    help="Fold when N further replies follow [1].",
)
@click.option(
    "--min-savings",
    metavar="N",
    type=click.IntRange(0, MAX_INTEGER),
    help="Fold what saves N tokens or more [256].",
)
@click.option(
    "--recovery-command", metavar="COMMAND", help="How the model reads back in a shell [ctxf read]."
)
@click.option(
    "--recovery-tool", metavar="NAME", multiple=True, help="A tool that reads back; may be repeated."
)
@click.option(
    "--project-reads/--no-project-reads",
    default=None,
    help="Keep of source reads only the function that was asked about [no].",
)
@click.option("--guidance", is_flag=True, help="Put the text of `ctxf guide` behind the system prompt.")
@click.option("--report", is_flag=True, help="Print a line for each block on stderr.")
@common_options
def fold(
    *,
    common: CommonOptions,
    file: str | None,
    protocol: str,
    delay: int | None,
    min_savings: int | None,
    recovery_command: str | None,
    recovery_tool: tuple[str, ...],
    project_reads: bool | None,
    guidance: bool,
    report: bool,
) -> int:
    """See _FOLD_HELP."""
    body = _read(file)
    try:
        settings = common.settings(
            delay_requests=delay, min_savings_tokens=min_savings, project_reads=project_reads
        )
        archive = Archive.open(settings.archive)
        status = Status.DONE
    except (ConfigError, ArchiveError) as error:
        # When the configuration or the archive is unusable the request still passes unchanged.
        say(f"{escape(str(error))}; the request goes through as it came")
        settings = Settings(enabled=False)
        status = status_of(error)
    if not settings.enabled:
        _write(body)
        return worst(status, report_request_fold(body, RequestResult(body), common, is_long=report))
    policy = RequestPolicy(
        settings.delay_requests,
        settings.min_savings_tokens,
        _recovery(common, settings, recovery_command, recovery_tool),
        append_guidance=guidance,
        project_reads=settings.project_reads,
        capacity=scope_capacity(settings.scope, settings, None),
    )
    with archive:
        result = fold_request(body, protocol, archive, settings.scope, policy)
    if not result.folds and (fault := _fault(body, protocol)):
        result = RequestResult(body, failure=result.failure or fault)
    _write(result.body)
    return worst(status, report_request_fold(body, result, common, is_long=report))


@command.command("restore", help=_RESTORE_HELP, short_help="Put the exact originals back.")
@_request_options
@click.option(
    "--max-output",
    metavar="BYTES",
    type=click.IntRange(min=0),
    default=1 << 30,
    help="Leave the request as it is when it would be more than this [1 GiB].",
)
@common_options
def restore(*, common: CommonOptions, file: str | None, protocol: str, max_output: int) -> int:
    """See _RESTORE_HELP."""
    settings = common.settings()
    body = _read(file)
    with Archive.open(settings.archive) as archive:
        result = restore_request(body, protocol, archive, settings.scope, max_output=max_output)
    if result.body is body and (fault := _fault(body, protocol)):
        result = RequestRestoreResult(body, failure=fault)
    _write(result.body)
    return report_request_restore(result, common)


def _recovery(
    common: CommonOptions, settings: Settings, command: str | None, tools: tuple[str, ...]
) -> Recovery:
    """The way back that was named: options before the configuration, tools instead of a shell."""
    if tools and command is None:
        return Recovery("", read_tools=tools)
    shell = (settings.shell_tool_name,) if settings.shell_tool_name and command is None else ()
    own = gateways.recovery_command(settings, is_archive_inherited=common.archive is None)
    return Recovery(command or own, shell, tools)


def _fault(body: bytes, protocol: str) -> RequestNotRead | None:
    """A body without a marker is not even parsed, but here a person may want to know that it is no JSON, or
    a request to another API than the one that was named."""
    try:
        check_request(body, protocol)
    except RequestNotRead as fault:
        return fault
    return None


def _read(file: str | None) -> bytes:
    source = Input(file)
    body = source.read_all()
    source.close()
    return body


def _write(body: bytes) -> None:
    output = Output()
    output.write(body)
    output.flush()
