"""Measuring in pairs: floor and product take turns in one run, so that both see the same machine."""

import contextlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Row", "Sample", "command_sample", "compare", "function_sample"]

# The installed command, as people start it.
CTXF = (str(Path(sys.executable).with_name("ctxf")),)


@dataclass(frozen=True, slots=True)
class Sample:
    """One run: wall-clock seconds, and the peak memory of the process that it ran in; 0 where unknown."""

    seconds: float
    peak_kib: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table. `target` is the ratio that DESIGN asks for, None where there is none."""

    name: str
    floor_name: str
    target: float | None
    floor: Sequence[Sample]
    ours: Sequence[Sample]
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def floor_seconds(self) -> float:
        """The floor's median."""
        return statistics.median(sample.seconds for sample in self.floor)

    @property
    def our_seconds(self) -> float:
        """Our median."""
        return statistics.median(sample.seconds for sample in self.ours)

    @property
    def ratio(self) -> float:
        """How many times the floor we take."""
        return self.our_seconds / self.floor_seconds

    @property
    def spread(self) -> str:
        """Our fastest and slowest run."""
        seconds = [sample.seconds for sample in self.ours]
        return f"{min(seconds):.4g}-{max(seconds):.4g} s"

    @property
    def peak_kib(self) -> int:
        """The most memory that one of our runs took, in KiB."""
        return max(sample.peak_kib for sample in self.ours)

    @property
    def holds(self) -> bool:
        """Whether the target is met."""
        return self.target is None or self.ratio <= self.target


def compare(
    name: str,
    *,
    floor_name: str,
    target: float | None,
    floor: Callable[[], Sample],
    ours: Callable[[], Sample],
    repeat: int,
) -> Row:
    """Run floor and product in turns, `repeat` times each."""
    pairs = [(floor(), ours()) for _ in range(repeat)]
    return Row(name, floor_name, target, [pair[0] for pair in pairs], [pair[1] for pair in pairs])


def function_sample(function: Callable[[], object]) -> Sample:
    """The time of one call in this process, and its peak memory, with all that was there before."""
    _forget_peak()
    start = time.perf_counter()
    function()
    return Sample(time.perf_counter() - start, _peak_kib())


def _forget_peak() -> None:
    """Let the peak start anew (proc(5), clear_refs); nothing where there is no /proc."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_kib() -> int:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().split("\n"):
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return 0


# A process starts out as a copy of its parent, whose memory then counts as its own peak: so a small
# process starts it, and prints seconds, peak and status.
_LAUNCHER = """
import os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen(sys.argv[3:], stdin=open(sys.argv[1], "rb"), stdout=open(sys.argv[2], "wb"))
_, status, usage = os.wait4(process.pid, 0)
print(time.perf_counter() - start, usage.ru_maxrss, os.waitstatus_to_exitcode(status))
"""


def command_sample(argv: Sequence[str], *, source: Path, target: Path, environ: dict[str, str]) -> Sample:
    """One process from file to file; fails loudly when the command does."""
    launcher = (sys.executable, "-I", "-S", "-c", _LAUNCHER, str(source), str(target), *argv)
    done = subprocess.run(launcher, capture_output=True, text=True, env=environ, check=True)
    seconds, peak, status = done.stdout.split()
    if status != "0":
        raise RuntimeError(f"{' '.join(argv)} ended with {status}: {done.stderr}")
    return Sample(float(seconds), int(peak))
