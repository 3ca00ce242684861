"""`context_grep`: a search with a time limit, so that no pattern can block the server.

A pattern comes from a model, and Python's `re` may take for ever over one. So the search is `ctxf grep` in a
process of its own, which is ended when its time is up or enough has been found.
"""

import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Final

from ctxf.mcp.answers import PAGE_BYTES, readable

__all__ = ["Matches", "Query", "find_matches"]

SECONDS: Final = 10.0
_LINE_BYTES: Final = 500
_STDERR_BYTES: Final = 10_000
_NOTHING: Final = 1


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for, as `ctxf grep` takes it; `skip` lines of its output are passed over."""

    archive: str
    scope: str
    pattern: str
    id: str | None
    is_fixed: bool
    ignore_case: bool
    context: int
    skip: int


@dataclass(frozen=True, slots=True)
class Matches:
    """Lines as `id:line:text`; `has_more` when there are others behind them, `problem` in words if any."""

    lines: list[str]
    has_more: bool
    problem: str


def find_matches(query: Query) -> Matches:
    """The lines that fit into one answer."""
    command = [sys.executable, "-P", "-m", "ctxf", "grep", "--archive", query.archive, "--scope", query.scope]
    command += ["-F"] * query.is_fixed + ["-i"] * query.ignore_case + ["-C", str(query.context)]
    command += ["--id", query.id] if query.id is not None else []
    command += ["--", query.pattern]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            lines, has_more = _collect(_short_lines(process.stdout), query.skip)
            if has_more:
                process.kill()
            problem = process.stderr.read(_STDERR_BYTES).decode("utf-8", "replace")
            status = process.wait()
        finally:
            timer.cancel()
            process.kill()
    if status < 0 and not has_more:
        problem = (
            f"the search took more than {SECONDS:.0f} s and was ended; narrow it with id or a simpler pattern"
        )
        return Matches(lines, True, problem)
    if status > _NOTHING and not problem:
        problem = f"the search failed with status {status}"
    return Matches(lines, has_more, problem.replace("ctxf: ", "").strip())


def _collect(found: Iterator[str], skip: int) -> tuple[list[str], bool]:
    lines: list[str] = []
    size = 0
    for number, line in enumerate(found):
        if number < skip:
            continue
        size += len(line.encode("utf-8")) + 1
        if size > PAGE_BYTES:
            return lines, True
        lines.append(line)
    return lines, False


def _short_lines(stream: IO[bytes]) -> Iterator[str]:
    """Lines without their ends, cut where they are long."""
    while line := stream.readline(_LINE_BYTES):
        is_cut = not line.endswith(b"\n")
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = stream.readline(1 << 20)
        yield readable(line.rstrip(b"\r\n"))[0] + (" [...]" if is_cut and len(line) == _LINE_BYTES else "")
