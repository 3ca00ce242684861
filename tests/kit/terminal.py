"""Runs the command line at a real terminal (a pseudo-terminal), some of its descriptors at pipes."""

import os
import pty
import subprocess
import termios
import threading
import tty
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from tests.kit.cli import CTXF, TIMEOUT, Cli

__all__ = ["FAST_CLOCK", "AtTerminal", "fast_clock", "run_at_terminal"]

FAST_CLOCK: Final = b"import time\nreal = time.monotonic\ntime.monotonic = lambda: real() * 100_000\n"


class AtTerminal(NamedTuple):
    """What the terminal got, what the pipes got, and how the run ended."""

    screen: bytes
    stdout: bytes
    stderr: bytes
    status: int


def fast_clock(cli: Cli) -> dict[str, str]:
    """The environment of a process in which seconds pass while it does what takes milliseconds."""
    cli.write("sitecustomize.py", FAST_CLOCK)
    return {"PYTHONPATH": str(cli.cwd)}


def run_at_terminal(
    cli: Cli,
    *args: str | Path,
    terminal: tuple[str, ...] = ("stdout", "stderr"),
    columns: int = 80,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
) -> AtTerminal:
    """Run to the end, with the descriptors that `terminal` names at one terminal that changes no byte."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    termios.tcsetwinsize(slave, (24, columns))
    process = subprocess.Popen(
        [*CTXF, *args],
        stdin=subprocess.PIPE,
        stdout=slave if "stdout" in terminal else subprocess.PIPE,
        stderr=slave if "stderr" in terminal else subprocess.PIPE,
        env=cli.environment({"TERM": "xterm", **(env or {})}),
        cwd=cli.cwd,
    )
    os.close(slave)
    seen: list[bytes] = []
    reader = threading.Thread(target=_read_to_end, args=(master, seen))
    reader.start()
    stdout, stderr = process.communicate(stdin, timeout=TIMEOUT)
    reader.join()
    os.close(master)
    return AtTerminal(b"".join(seen), stdout or b"", stderr or b"", process.returncode)


def _read_to_end(master: int, seen: list[bytes]) -> None:
    while True:
        try:
            piece = os.read(master, 1 << 16)
        except OSError:  # on Linux this is how the other side's end shows
            return
        if not piece:
            return
        seen.append(piece)
