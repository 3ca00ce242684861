"""From what a command returns or raises to an exit status and a message, with click or without."""

import os
import sys
from collections.abc import Callable

from ctxf.cli.pipes import ReaderGone
from ctxf.cli.status import Status, status_of
from ctxf.cli.terminal import escape, give_up, problem_of, say

__all__ = ["exit_status"]


def exit_status(work: Callable[[], int]) -> int:
    """Run `work` and return the exit status. Nothing but SystemExit and a crash of Python itself gets out."""
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        _fill_descriptors()
    try:
        return work()
    except KeyboardInterrupt:
        return Status.INTERRUPTED
    except ReaderGone:
        return Status.DONE
    except MemoryError:
        say("there is not enough memory for this")
        return Status.INPUT_OUTPUT
    except Exception as error:
        if (status := status_of(error)) == Status.CRASH:
            say(f"internal error: {type(error).__name__}: {escape(str(error))}; please report it")
        else:
            say(escape(_message(error)))
        if isinstance(error, OSError):
            give_up(1)
        return status


def _fill_descriptors() -> None:
    """Open the null device on closed standard descriptors, so that no other file gets their numbers.

    Reading from a closed stdin and writing to a closed stdout still fail, since the mode is the opposite one.
    """
    for descriptor, stream, mode in (
        (0, sys.stdin, os.O_WRONLY),
        (1, sys.stdout, os.O_RDONLY),
        (2, sys.stderr, os.O_WRONLY),
    ):
        if stream is None and (nowhere := os.open(os.devnull, mode)) != descriptor:
            os.close(nowhere)  # this descriptor was open after all
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for as long as Python runs


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{'output' if error.filename is None else error.filename}: {problem_of(error)}"
    return str(error)
