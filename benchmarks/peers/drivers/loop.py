"""What all drivers share: JSON lines on stdin and stdout, one request and one answer at a time.

Requests: `fold` with texts, `restore` with what fold gave, `command` with one of those. Texts are base64 of
bytes. The clock runs around the tool's own calls only; an error of the tool is part of the answer.
"""

import base64
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

__all__ = ["CLOCK_AHEAD", "Folded", "Refusal", "Tool", "as_text", "serve"]

# Seconds that the tool's clock is ahead: how expiry is seen without waiting for it.
CLOCK_AHEAD = "CTXF_BENCHMARK_CLOCK_AHEAD"


class Folded(NamedTuple):
    """What stands in the context instead of the text, and the tool's reference to the original, if any."""

    context: bytes
    reference: str | None = None
    errors: str = "strict"  # how the text became a str, so that it becomes the same bytes again


class Refusal(Exception):
    """The tool says that it has no such original."""


class Tool(Protocol):
    """A tool opened on a folder of its own."""

    def fold(self, texts: Sequence[bytes]) -> list[Folded]:
        """Put texts away in the way that the tool is meant for; a tool may join them into one."""

    def restore(self, folded: Folded) -> bytes:
        """The original; raises what the tool raises."""

    def command(self, folded: Folded) -> tuple[list[str], bytes]:
        """The cheapest process that prints the original (without markers), and what it reads."""


def as_text(text: bytes) -> tuple[str, str]:
    """Bytes for a tool that takes only `str`, and the error handler that gives the same bytes back."""
    for errors in ("strict", "surrogatepass"):
        try:
            return text.decode("utf-8", errors), errors
        except UnicodeDecodeError:
            pass
    return text.decode("utf-8", "surrogateescape"), "surrogateescape"


def serve(version: str, open_tool: Callable[[Path], Tool]) -> None:
    """Answer until stdin ends; `open_tool` gets the folder that was named on the command line."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a tool prints must not come between the answers
    _move_clock()
    tool = open_tool(Path(sys.argv[1]))
    _answer(answers, {"version": version})
    for line in sys.stdin.buffer:
        request = json.loads(line)
        _answer(answers, _REQUESTS[request["request"]](tool, request))


def _answer(answers: Any, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


def _move_clock() -> None:
    ahead = float(os.environ.get(CLOCK_AHEAD, "0"))
    if ahead:
        real = time.time
        time.time = lambda: real() + ahead


def _fold(tool: Tool, request: dict[str, Any]) -> dict[str, Any]:
    texts = [base64.b64decode(text) for text in request["texts"]]
    start = time.perf_counter()
    try:
        folded = tool.fold(texts)
    except Exception as error:
        return {"error": _said(error)}
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "folded": [_fields(one) for one in folded]}


def _restore(tool: Tool, request: dict[str, Any]) -> dict[str, Any]:
    folded = [_folded(fields) for fields in request["folded"]]
    texts: list[bytes | Exception] = []
    start = time.perf_counter()
    for one in folded:
        try:
            texts.append(tool.restore(one))
        except Exception as error:
            texts.append(error)
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "texts": [
            {"error": _said(text)} if isinstance(text, Exception) else {"text": _base64(text)}
            for text in texts
        ],
    }


def _command(tool: Tool, request: dict[str, Any]) -> dict[str, Any]:
    argv, stdin = tool.command(_folded(request["folded"]))
    return {"argv": argv, "stdin": _base64(stdin)}


_REQUESTS: dict[str, Callable[[Tool, dict[str, Any]], dict[str, Any]]] = {
    "fold": _fold,
    "restore": _restore,
    "command": _command,
}


def _fields(folded: Folded) -> dict[str, Any]:
    return {**folded._asdict(), "context": _base64(folded.context)}


def _folded(fields: dict[str, Any]) -> Folded:
    return Folded(base64.b64decode(fields["context"]), fields["reference"], fields["errors"])


def _base64(text: bytes) -> str:
    return base64.b64encode(text).decode()


def _said(error: Exception) -> str:
    message = " ".join(str(error).split())
    name = "" if isinstance(error, Refusal) else f"{type(error).__name__}: "
    return f"{name}{message}"[:300]
