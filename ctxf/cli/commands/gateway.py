"""`ctxf gateway`: requests fold on their way to the provider."""

import os
import signal
from types import FrameType

import click

from ctxf.archive import Archive
from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.gateway_advice import say_advice
from ctxf.cli.gateways import recovery_command, require_gateway, say_exchange, summary
from ctxf.cli.status import Status
from ctxf.cli.terminal import say
from ctxf.conversations.scopes import install_secret, secret_path

_HELP = """Serve a local gateway that folds requests on their way to the provider.

Agents are pointed at it by their base URL: ANTHROPIC_BASE_URL=.../anthropic,
GOOGLE_GEMINI_BASE_URL=.../gemini, base_url = ".../openai/v1". What is not a
conversation, and every answer, passes byte for byte. Whatever goes wrong with
folding, the request goes on as it came. Needs the extra `gateway`;
`ctxf doctor` says how to install it.

Each conversation has a scope of its own; --scope puts all into one. To serve
other machines too, set CTXF_GATEWAY_TOKEN: clients then send it as X-Ctxf-Token.

\b
Examples:
  ctxf gateway
  ctxf gateway --listen 127.0.0.1:9000 --openai http://127.0.0.1:11434/v1
"""

_DEFAULT_LISTEN = "127.0.0.1:8788"
_LAST_PORT = 65535


def _address(_ctx: click.Context, _option: click.Parameter, value: str) -> tuple[str, int]:
    host, colon, port = value.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    if not colon or not host or not (port.isascii() and port.isdigit() and int(port) <= _LAST_PORT):
        raise click.BadParameter(f"{value!r} is not HOST:PORT")
    return host, int(port)


@click.command("gateway", help=_HELP)
@click.option(
    "--listen",
    metavar="HOST:PORT",
    default=_DEFAULT_LISTEN,
    callback=_address,
    help=f"Where to listen; port 0 takes a free one [{_DEFAULT_LISTEN}].",
)
@click.option("--anthropic", metavar="URL", help="Where /anthropic leads [https://api.anthropic.com].")
@click.option("--openai", metavar="URL", help="Where /openai/v1 leads [https://api.openai.com/v1].")
@click.option(
    "--gemini", metavar="URL", help="Where /gemini leads [https://generativelanguage.googleapis.com]."
)
@click.option(
    "--max-body",
    metavar="BYTES",
    type=click.IntRange(min=0),
    help="A larger request streams through unfolded [67108864].",
)
@common_options
def command(
    *,
    common: CommonOptions,
    listen: tuple[str, int],
    anthropic: str | None,
    openai: str | None,
    gemini: str | None,
    max_body: int | None,
) -> int:
    """See _HELP."""
    require_gateway()
    from ctxf.gateway import assemble as assembly  # noqa: PLC0415 - an extra
    from ctxf.gateway import guard, server  # noqa: PLC0415

    loaded = common.check()
    settings = common.settings()
    host, port = listen
    token = os.environ.get("CTXF_GATEWAY_TOKEN") or None
    guard.check_listen(host, token)
    assembled = assembly.assemble(
        settings,
        Archive.open(settings.archive),
        secret=install_secret(secret_path(os.environ)),
        recovery_command=recovery_command(settings, is_archive_inherited=False),
        urls={"anthropic": anthropic, "openai": openai, "gemini": gemini},
        host=host,
        token=token,
        scope=None if loaded.sources["scope"] == "default" else settings.scope,
        max_body_bytes=assembly.DEFAULT_MAX_BODY_BYTES if max_body is None else max_body,
        on_end=say_exchange if common.verbose else None,
    )
    listening = server.listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    origin = f"http://{shown}:{listening.getsockname()[1]}"
    signal.signal(signal.SIGTERM, _stop)
    status = Status.DONE
    try:
        if not common.quiet:
            key = "" if token else f"#{assembled.guard.key}"
            say(f"gateway at {origin} (/anthropic, /openai/v1, /gemini); status page {origin}/-/{key}")
        server.serve(assembled.gateway, listening)
    except _Stopped:  # how a service is stopped: it has done what it was to do
        pass
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    if not common.quiet:
        say(summary(assembled.stats))
        say_advice(assembled.stats)
    return status


class _Stopped(BaseException):
    """SIGTERM came; the server has ended its answers."""


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _Stopped
