"""`python -m benchmarks.agents`: what an agent waits for, the hook and the start of the server.

Each beside a bare Python, in turns, so that both see the same machine; the server beside the bare import of
its SDK, too. DESIGN asks for times here: a hook within 100 ms, the server's list of tools within 0.8 s.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import CTXF, Row, Sample, compare

__all__ = ["measure"]

_BARE: Final = (sys.executable, "-I", "-c", "pass")
# The time at which all is imported, not the one at which Python has taken thousands of classes down again.
_SDK: Final = (sys.executable, "-c", "import os, mcp.server; os.write(1, b'\\n'); os._exit(0)")
_SESSION: Final = "benchmark"
_BODY: Final = "".join(f"{n:06} worker: nothing to do\n" for n in range(400))


def measure(folder: Path, repeat: int) -> list[Row]:
    """All rows, in an installation of its own below `folder`."""
    environ = {**os.environ, "CTXF_HOME": str(folder)}
    hook = (*CTXF, "hook", "claude-code")
    start = {"hook_event_name": "SessionStart", "source": "startup"}
    guidance = json.loads(_output(hook, _event(**start), environ))["hookSpecificOutput"]["additionalContext"]
    scope = guidance.partition("--scope ")[2].split()[0]
    marked = f"<!-- @context-fold begin log -->\n{_BODY}<!-- @context-fold end log -->\n"
    reference = _output((*CTXF, "--scope", scope, "-q"), marked.encode(), environ).decode().split("\n")[1]
    events = {
        "nothing to do": _write("no reference\n"),
        "a session starts": _event(**start),
        "a reference expanded": _write(f"{reference}\n"),
    }
    answer = json.loads(_output(hook, events["a reference expanded"], environ))["hookSpecificOutput"]
    if answer.get("updatedInput", {}).get("content") != _BODY:
        raise RuntimeError("the hook did not expand the reference")
    bare = _once(_BARE, b"", environ)
    pairs = [
        (f"`ctxf hook`: {name}", "bare Python", bare, _once(hook, event, environ))
        for name, event in events.items()
    ]
    served, listed = _served(environ), "`ctxf mcp` to its list of tools"
    pairs.append((listed, "bare Python", bare, served))
    pairs.append((listed, "import mcp.server", _once(_SDK, b"", environ), served))
    return [
        compare(name, floor_name=floor_name, target=None, floor=floor, ours=ours, repeat=repeat)
        for name, floor_name, floor, ours in pairs
    ]


def _event(**fields: object) -> bytes:
    return json.dumps({"session_id": _SESSION, **fields}).encode()


def _write(content: str) -> bytes:
    tool_input = {"file_path": "/nowhere/a.txt", "content": content}
    return _event(hook_event_name="PreToolUse", tool_name="Write", tool_input=tool_input)


def _output(command: Sequence[str], data: bytes, environ: dict[str, str]) -> bytes:
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, env=environ, check=True).stdout


def _once(command: Sequence[str], data: bytes, environ: dict[str, str]) -> Callable[[], Sample]:
    """A process from its start to its end."""

    def run() -> Sample:
        start = time.perf_counter()
        _output(command, data, environ)
        return Sample(time.perf_counter() - start)

    return run


def _served(environ: dict[str, str]) -> Callable[[], Sample]:
    """`ctxf mcp` from its start to the answer to `tools/list`."""
    client = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "b", "version": "1"},
    }
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    data = b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages)

    def run() -> Sample:
        start = time.perf_counter()
        with subprocess.Popen(
            (*CTXF, "mcp"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(data)
            process.stdin.flush()
            answers = [json.loads(process.stdout.readline()) for _ in range(2)]
            seconds = time.perf_counter() - start
            process.stdin.close()
        if "tools" not in answers[1]["result"]:
            raise RuntimeError(f"no list of tools: {answers[1]}")
        return Sample(seconds)

    return run


def main() -> int:
    """Print the medians."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agents", description=__doc__)
    parser.add_argument("--repeat", type=int, default=30, help="runs of each [30]")
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory(prefix="ctxf-agents-") as folder:
        for row in measure(Path(folder), arguments.repeat):
            print(
                f"{row.our_seconds * 1e3:6.0f} ms {row.floor_seconds * 1e3:6.0f} ms {row.ratio:6.2f}x "
                f"{row.spread:>18}  {row.name} / {row.floor_name}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
