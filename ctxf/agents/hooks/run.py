"""`ctxf hook CLIENT`: one JSON object on stdin, one or none on stdout, and always exit status 0.

For a client another status may mean "block", and text on stdout is shown to the model. So any failure is
reported in one line on stderr, and the client goes on as if there were no hook.
"""

import contextlib
import json
import os
import sys
from collections.abc import Sequence
from typing import Any, Final

from ctxf.agents.hooks.options import HookOptions
from ctxf.agents.hooks.shapes import CLIENTS, OTHER_NAMES, START_EVENTS, TOOL_EVENTS

__all__ = ["main", "run_hook"]

_WITH_VALUE: Final = ("--archive", "--scope", "--config")


def main(args: Sequence[str]) -> int:
    """Run with the words behind `ctxf hook`; 0 whatever happens."""
    words = iter(args)
    options: dict[str, str] = {}
    client = ""
    for word in words:
        if word in _WITH_VALUE:
            options[word.removeprefix("--")] = next(words, "")
        elif not word.startswith("-"):
            client = word
    return run_hook(client, HookOptions(**options))


def run_hook(client: str, options: HookOptions) -> int:
    """Answer what stands on stdin; 0 whatever happens."""
    answer = None
    client = OTHER_NAMES.get(client, client)
    if client not in CLIENTS:
        _complain(f"{client!r} is no client; use {', '.join(CLIENTS)}")
        return 0
    try:
        answer = _answer(client, json.loads(_stdin()), options)
    except OSError as error:
        _complain(f"{error.filename or 'stdin'}: {error.strerror}")
    except BaseException as error:  # a failing hook must never stop its client
        _complain(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
    try:
        if answer is not None:
            sys.stdout.flush()
            data = memoryview(json.dumps(answer).encode("ascii") + b"\n")
            while data:
                data = data[os.write(1, data) :]
    except BaseException as error:
        _complain(str(error))
    return 0


def _answer(client: str, event: Any, options: HookOptions) -> dict[str, Any] | None:
    if not isinstance(event, dict):
        raise ValueError("what came in is no JSON object")
    name, session = event.get("hook_event_name"), event.get("session_id")
    if not isinstance(name, str) or not isinstance(session, str) or not session:
        return None
    # A client calls a hook before every tool, and nearly always there is no reference in its input. Without
    # the imports below that takes 22 ms; with them it would take more than twice as long.
    if name in START_EVENTS:
        from ctxf.agents.hooks.start import answer_start  # noqa: PLC0415

        return answer_start(client, name, session, event.get("source"), options)
    if name not in TOOL_EVENTS:
        return None
    tool, tool_input = event.get("tool_name"), event.get("tool_input")
    if not isinstance(tool, str) or not isinstance(tool_input, dict) or not _holds_reference(tool_input):
        return None
    from ctxf.agents.hooks.tool import answer_tool  # noqa: PLC0415

    return answer_tool(client, name, session, tool, tool_input, options)


def _holds_reference(tool_input: dict[str, Any]) -> bool:
    return "[[cf:v2:" in json.dumps(tool_input, ensure_ascii=False)


def _stdin() -> bytes:
    pieces = []
    while piece := os.read(0, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def _complain(message: str) -> None:
    with contextlib.suppress(BaseException):  # stderr is closed: the message is dropped
        os.write(2, f"ctxf hook: {message}\n".encode("ascii", "backslashreplace"))
