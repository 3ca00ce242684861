"""Checks before a set-up: is the program that a client would start there, and does it answer?"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ctxf.agents.setup.clients import Client, Program
from ctxf.agents.setup.journal import SetupError

__all__ = ["FoundProgram", "check_program", "find_program"]

_SECONDS: Final = 30.0
# Environments of `uvx`, `uv run --with` and `pipx run`: temporary, removed without notice.
_PASSING: Final = ("/uv/archive-v0/", "/uv/environments-v2/", "/uv/builds-v0/", "/pipx/.cache/")
_HANDSHAKE: Final = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "ctxf-setup", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)


@dataclass(frozen=True, slots=True)
class FoundProgram:
    """The absolute path of a `ctxf`; `objection` says why no client may be given it, if so."""

    path: str
    objection: str = ""


def find_program(named: str | None) -> FoundProgram:
    """The `ctxf` that clients are to start. Raises SetupError where there is none.

    One that is named is taken as it is. Otherwise it is this very installation, unless that is temporary.
    """
    if named is not None:
        path = shutil.which(os.path.expanduser(named))
        if path is None:
            raise SetupError(f"{named}: no such command")
        return FoundProgram(os.path.abspath(path))
    name = "ctxf.exe" if os.name == "nt" else "ctxf"
    candidates = [
        sys.argv[0] if Path(sys.argv[0]).name == name else "",
        str(Path(sys.executable).with_name(name)),
        shutil.which(name) or "",
    ]
    found = next((os.path.abspath(path) for path in candidates if path and os.access(path, os.X_OK)), None)
    if found is None:
        raise SetupError("the command ctxf was not found; install ctxf, or name it with --command")
    for path in (found, os.path.realpath(found), sys.prefix):
        if _is_temporary(path):
            return FoundProgram(
                found,
                f"{path} is a temporary place, and a client would look there later; install ctxf where it "
                "stays (a virtual environment outside temporary directories), or name a command that stays "
                "with --command",
            )
    return FoundProgram(found)


def _is_temporary(path: str) -> bool:
    resolved = Path(os.path.realpath(path))
    return resolved.is_relative_to(os.path.realpath(tempfile.gettempdir())) or any(
        part in resolved.as_posix() for part in _PASSING
    )


def check_program(client: Client, program: Program) -> None:
    """Start the server and the hook as the client will. Raises SetupError where one does not answer."""
    lines = "".join(json.dumps(message) + "\n" for message in _HANDSHAKE)
    answer = _run([program.path, *program.args("mcp")], lines, ends=b'"context_read"')
    if b'"context_read"' not in answer:
        raise SetupError(f"{program.shell('mcp')}: the server offers no context_read")
    event = {"hook_event_name": "SessionStart", "session_id": "ctxf-setup"}
    answer = _run([program.path, *program.args("hook", client.name)], json.dumps(event))
    if answer and b"hookSpecificOutput" not in answer:
        raise SetupError(f"{program.shell('hook', client.name)}: gives no answer that a hook may give")


def _run(command: Sequence[str], text: str, ends: bytes = b"") -> bytes:
    """What a command writes for `text` on its stdin, up to `ends`. Raises SetupError."""
    try:
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                process.stdin.write(text.encode())
                process.stdin.flush()
                answer = b""
                if ends:  # the server ends when stdin is closed, so wait for its answers before that
                    for line in process.stdout:
                        answer += line
                        if ends in line:
                            break
                rest, complaint = process.communicate(timeout=_SECONDS)
            except (subprocess.TimeoutExpired, BrokenPipeError) as error:
                process.kill()
                raise SetupError(f"{' '.join(command)}: does not answer ({error})") from error
    except OSError as error:
        raise SetupError(f"{command[0]}: cannot be started: {error.strerror}") from error
    if process.returncode != 0 or (ends and ends not in answer):
        reason = complaint.decode("utf-8", "replace").strip() or f"status {process.returncode}"
        raise SetupError(f"{' '.join(command)}: {reason}")
    return answer + rest
