"""`ctxf run`: one run of an agent, through a gateway of its own."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

import click

from ctxf.archive import Archive
from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.gateway_advice import say_advice
from ctxf.cli.gateways import recovery_command, require_gateway, summary
from ctxf.cli.terminal import escape, say
from ctxf.conversations.scopes import install_secret, secret_path

if TYPE_CHECKING:
    from ctxf.gateway.clients import Launch

_HELP = """Run an agent with its requests folded on their way to the provider.

Starts a gateway on a free port, points this one run of the agent at it, and
says at the end what was saved. Nothing on disk changes. AGENT is claude, codex,
gemini, or any program that heeds ANTHROPIC_BASE_URL, OPENAI_BASE_URL or
GOOGLE_GEMINI_BASE_URL; what these variables say now is where the requests go
on to. Exit status and signals are the agent's. Needs the extra `gateway`;
`ctxf doctor` says how to install it.

\b
Examples:
  ctxf run claude
  ctxf run codex exec "why is the build slow?"
  ctxf run gemini --prompt "why is the build slow?"
"""

_NOT_FOUND = 127  # as shells report it
_NOT_EXECUTABLE = 126
_SIGNALLED = 128
_HOST = "127.0.0.1"


@click.command(
    "run",
    help=_HELP,
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False},
)
@click.argument("agent", metavar="AGENT")
@click.argument("args", metavar="[ARGS]...", nargs=-1, type=click.UNPROCESSED)
@common_options
def command(*, common: CommonOptions, agent: str, args: tuple[str, ...]) -> int:
    """See _HELP."""
    if shutil.which(agent) is None:
        say(escape(f"{agent}: no such program in PATH; install it, or name it by its path"))
        return _NOT_FOUND
    require_gateway()
    from ctxf.gateway import server  # noqa: PLC0415 - an extra
    from ctxf.gateway.assemble import assemble  # noqa: PLC0415
    from ctxf.gateway.clients import current_urls, launch  # noqa: PLC0415

    loaded = common.check()
    settings = common.settings()
    assembled = assemble(
        settings,
        Archive.open(settings.archive),
        secret=install_secret(secret_path(os.environ)),
        recovery_command=recovery_command(settings, is_archive_inherited=True),
        urls=current_urls(os.environ),
        host=_HOST,
        scope=None if loaded.sources["scope"] == "default" else settings.scope,
    )
    environ = dict(os.environ)
    if settings.archive is not None:
        environ["CTXF_ARCHIVE"] = os.path.abspath(settings.archive)
    with server.in_background(assembled.gateway, server.listen(_HOST, 0)) as port:
        status = _run(launch((agent, *args), f"http://{_HOST}:{port}", environ))
    if not common.quiet:
        say(summary(assembled.stats) if assembled.stats.requests else _unused(agent))
        say_advice(assembled.stats)
    return status


def _unused(agent: str) -> str:
    return escape(
        f"no request of {agent} came through the gateway; if it had something to send, its own settings "
        "name another address"
    )


def _run(launch: "Launch") -> int:
    """Run to the end; the exit status as a shell would report it."""
    with _Signals() as signals:
        try:
            process = subprocess.Popen(launch.command, env=launch.environ)
        except PermissionError as error:
            say(escape(f"{launch.command[0]}: {error.strerror}"))
            return _NOT_EXECUTABLE
        except OSError as error:
            say(escape(f"{launch.command[0]}: {error.strerror}"))
            return _NOT_FOUND
        signals.pass_to(process)
        status = signals.wait(process)
    return status if status >= 0 else _SIGNALLED - status


class _Signals:
    """While the agent runs, signals are handled by the agent alone.

    Ctrl-C reaches it from the terminal, so it is not passed on: a second one would mean something else to the
    agent. Signals that were sent to this process alone are passed on.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []  # signals that came before the agent was started
        self._before: dict[int, Any] = {}
        self._arrived, self._arrive = os.pipe()  # Python writes a byte into it for every signal
        os.set_blocking(self._arrive, False)

    def __enter__(self) -> Self:
        # No SIG_IGN for SIGINT: the agent would inherit it.
        handlers: dict[str, Callable[[int, FrameType | None], None]] = {
            "SIGINT": lambda _number, _frame: None
        }
        handlers["SIGCHLD"] = handlers["SIGINT"]
        handlers |= dict.fromkeys(("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"), self._pass_on)
        for name, handler in handlers.items():
            if (number := getattr(signal, name, None)) is not None:
                self._before[number] = signal.signal(number, handler)
        self._wakeup = signal.set_wakeup_fd(self._arrive, warn_on_full_buffer=False)
        return self

    def __exit__(self, *_exception: object) -> None:
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._arrived)
        os.close(self._arrive)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def pass_to(self, process: "subprocess.Popen[bytes]") -> None:
        """Pass signals to `process` from now on, and those that came before."""
        self._process = process
        for number in self._early:
            process.send_signal(number)

    def wait(self, process: "subprocess.Popen[bytes]") -> int:
        """The agent's return code when it ends.

        Not Popen.wait(): Python runs no handler for a signal that comes just before the system call, until
        that returns, and the agent may be waiting for this very signal. A byte in the pipe is not missed.
        """
        if not hasattr(signal, "SIGCHLD"):
            return process.wait()
        while (status := process.poll()) is None:
            os.read(self._arrived, 4096)
        return status

    def _pass_on(self, number: int, _frame: FrameType | None) -> None:
        if self._process is None:
            self._early.append(number)
        else:
            self._process.send_signal(number)
