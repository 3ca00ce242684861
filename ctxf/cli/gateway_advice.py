"""What `ctxf gateway` and `ctxf run` advise at their end."""

from typing import TYPE_CHECKING

from ctxf.cli.terminal import count, say
from ctxf.requests import Refusal

if TYPE_CHECKING:
    from ctxf.gateway.stats import Stats

__all__ = ["say_advice"]


def say_advice(stats: "Stats") -> None:
    """Tell of the requests in which nothing could fold, and what to do about it; nothing where all could."""
    number = stats.notes[f"passed: {Refusal.NO_WAY_BACK}"]
    if number:
        say(
            f"{count(number, 'request')} offered no way to read back, and so nothing folded there; name the "
            "agent's shell tool in the configuration: [magpie] shell_tool_name"
        )
