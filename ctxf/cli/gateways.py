"""What `ctxf gateway` and `ctxf run` have in common."""

import os
import shlex
from typing import TYPE_CHECKING

from ctxf.cli.extras import extra_missing
from ctxf.cli.terminal import count, escape, say, size
from ctxf.config import Settings
from ctxf.config.program import own_command
from ctxf.conversations.guidance import RECOVERY_COMMAND

if TYPE_CHECKING:
    from ctxf.gateway.stats import Exchange, Stats

__all__ = ["recovery_command", "require_gateway", "say_exchange", "summary"]


def require_gateway() -> None:
    """Raise ExtraMissing where the packages that the gateway stands on are not installed."""
    try:
        import ctxf.gateway.assemble  # noqa: F401, PLC0415
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("ctxf"):
            raise
        raise extra_missing("gateway", error.name) from error


def recovery_command(settings: Settings, *, is_archive_inherited: bool) -> str:
    """What a model types to read a body back.

    `is_archive_inherited` says that its shell finds the same archive by its environment.
    """
    if settings.recovery_command is not None:
        return settings.recovery_command
    command = RECOVERY_COMMAND.replace("ctxf", own_command(), 1)
    if settings.archive is None or is_archive_inherited:
        return command
    return f"{command} --archive {shlex.quote(os.path.abspath(settings.archive))}"


def say_exchange(exchange: "Exchange") -> None:
    """A line for one request: never a query, a header or a body."""
    path = exchange.route.target.partition(b"?")[0].decode("latin-1")
    status = "no answer" if exchange.status is None else exchange.status
    folding = f"; {exchange.note}" if exchange.note else ""
    if exchange.blocks:
        folding += f" {count(len(exchange.blocks), 'block')}"
    if exchange.bytes_in != exchange.bytes_out:
        folding += f", {size(exchange.bytes_in)} -> {size(exchange.bytes_out)}"
    say(escape(f"{exchange.route.provider} {path}: {status}, {exchange.outcome}{folding}"))


def summary(stats: "Stats") -> str:
    """The totals in one line."""
    failed = {note: n for note, n in stats.notes.items() if note.endswith(("Error", "stuck", "long"))}
    parts = [
        count(stats.requests, "request"),
        f"{count(stats.blocks, 'block')} folded",
        f"about {stats.tokens_saved:,} input tokens saved (estimate)",
    ]
    if failed:
        parts.append(f"{sum(failed.values()):,} {max(failed, key=lambda note: failed[note])}")
    return ", ".join(parts)
