"""What the gateway adds: `python -m benchmarks.gateway [--requests N] [--soak SECONDS]`.

Client, gateway and a provider of a few lines are processes of their own on loopback. Beside the gateway runs
a plain pass-through proxy of the same stack (uvicorn, httpcore2), in the same run and turn by turn: what
the difference shows is ours. The body is 80 KB of conversation with five blocks that are due.
"""

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import httpcore2
import uvicorn

from ctxf.archive import Archive
from ctxf.config import Settings
from ctxf.gateway.assemble import assemble
from ctxf.gateway.server import listen, serve
from ctxf.gateway.stats import Stats

__all__ = ["added_time", "main", "soak"]

_HOST: Final = "127.0.0.1"
_PATH: Final = "/anthropic/v1/messages"
_EVENTS: Final = 20
_BODY_BYTES: Final = 80_000
_BLOCKS: Final = 5
_RATE: Final = 20  # requests a second of the soak
_SESSIONS: Final = 50


# The three servers, each in a process.


def _provider(port: Connection) -> None:
    """Answers every request with a stream of events."""

    async def app(scope: dict[str, Any], receive: Callable[[], Any], send: Callable[[Any], Any]) -> None:
        if scope["type"] != "http":
            return
        while (await receive()).get("more_body"):
            pass
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for number in range(_EVENTS):
            event = b'data: {"number": %d}\n\n' % number
            await send({"type": "http.response.body", "body": event, "more_body": number < _EVENTS - 1})

    _serve_plainly(app, port)


def _plain_proxy(port: Connection, upstream: int) -> None:
    """The least that passes a request and its answer on as they stream: the floor."""
    pool = httpcore2.AsyncConnectionPool(max_connections=None, max_keepalive_connections=64)

    async def app(scope: dict[str, Any], receive: Callable[[], Any], send: Callable[[Any], Any]) -> None:
        if scope["type"] != "http":
            return
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        path = scope["raw_path"].removeprefix(b"/anthropic")
        url = httpcore2.URL(scheme=b"http", host=_HOST.encode(), port=upstream, target=path)
        headers = [pair for pair in scope["headers"] if pair[0] != b"host"]
        request = httpcore2.Request(
            scope["method"], url, headers=[(b"Host", b"x"), *headers], content=body or None
        )
        response = await pool.handle_async_request(request)
        try:
            kept = [pair for pair in response.headers if pair[0].lower() != b"transfer-encoding"]
            await send({"type": "http.response.start", "status": response.status, "headers": kept})
            async for chunk in response.aiter_stream():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            await response.aclose()

    _serve_plainly(app, port)


def _gateway(port: Connection, upstream: int, archive: str) -> None:
    assembled = assemble(
        Settings(),
        Archive.open(archive),
        secret=b"s" * 32,
        recovery_command="ctxf read",
        urls={"anthropic": f"http://{_HOST}:{upstream}"},
        host=_HOST,
    )
    listening = listen(_HOST, 0)
    port.send(listening.getsockname()[1])
    threading.Thread(target=_report, args=(port, assembled.stats), daemon=True).start()
    serve(assembled.gateway, listening)


def _report(port: Connection, stats: Stats) -> None:
    """Answer each question for the counters."""
    while port.recv():
        port.send((stats.requests, dict(stats.outcomes), dict(stats.notes), _resident_kib()))


def _serve_plainly(app: Any, port: Connection) -> None:
    listening = listen(_HOST, 0)
    port.send(listening.getsockname()[1])
    config = uvicorn.Config(
        app, http="h11", ws="none", loop="asyncio", lifespan="off", log_config=None, access_log=False
    )
    asyncio.run(uvicorn.Server(config).serve(sockets=[listening]))


@contextlib.contextmanager
def _process(target: Callable[..., None], *args: object) -> Iterator[tuple[int, Connection]]:
    """A server in a process: its port, and a line to it."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=target, args=(theirs, *args), daemon=True)
    process.start()
    try:
        yield ours.recv(), ours
    finally:
        process.kill()
        process.join()


def _resident_kib() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


# What is sent.


def conversation(session: int, turns: int) -> bytes:
    """A request of some 80 KB whose five blocks, in its first replies, are due; `turns` make it longer."""
    block_bytes = _BODY_BYTES // (_BLOCKS + 3)
    messages: list[dict[str, Any]] = []
    for number in range(_BLOCKS):
        line = f"session {session} block {number}: nothing that anybody needs again"
        log = "".join(f"{at:05d} {line}\n" for at in range(block_bytes // (len(line) + 7)))
        marks = [f"<!-- @context-fold {word} log-{number} -->\n" for word in ("begin", "end")]
        messages.append({"role": "user", "content": f"Question {number}"})
        messages.append({"role": "assistant", "content": f"Fine.\n{marks[0]}{log}{marks[1]}"})
    for number in range(2 + turns):
        messages.append({"role": "user", "content": f"More {number}"})
        messages.append({"role": "assistant", "content": "A plain reply. " * 100})
    messages.append({"role": "user", "content": "And?"})
    tools = [{"name": "Bash", "description": "Run a command. " * 1800, "input_schema": {"type": "object"}}]
    return json.dumps({"system": "Be brief.", "tools": tools, "messages": messages}).encode()


class _Client:
    """One connection that is kept open."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection(_HOST, port)

    def ask(self, body: bytes, session: int) -> tuple[float, float]:
        """Seconds to the first byte of the answer's body, and to its end."""
        headers = {"X-Claude-Code-Session-Id": str(session), "Content-Type": "application/json"}
        start = time.perf_counter()
        self._connection.request("POST", _PATH, body, headers)
        answer = self._connection.getresponse()
        if answer.status != 200 or not answer.read(1):
            raise RuntimeError(f"status {answer.status}")
        first = time.perf_counter() - start
        answer.read()
        return first, time.perf_counter() - start


def added_time(folder: Path, requests: int) -> None:
    """First byte and end of the same request through both, turn by turn."""
    body = conversation(0, 0)
    with (
        _process(_provider) as (upstream, _),
        _process(_plain_proxy, upstream) as (plain_port, _),
        _process(_gateway, upstream, str(folder / "archive.db")) as (port, line),
    ):
        plain, ours = _Client(plain_port), _Client(port)
        for _ in range(20):
            plain.ask(body, 0)
            ours.ask(body, 0)
        pairs = [(plain.ask(body, 0), ours.ask(body, 0)) for _ in range(requests)]
        line.send(True)
        _, outcomes, notes, _ = line.recv()
    if notes != {"folded": requests + 20} or outcomes != {"complete": requests + 20}:
        raise RuntimeError(f"not all were folded: {outcomes}, {notes}")
    print(f"{len(body):,} bytes, {_BLOCKS} blocks, {requests} requests through each")
    for name, index in (("first byte", 0), ("whole answer", 1)):
        floor = sorted(pair[0][index] for pair in pairs)
        own = sorted(pair[1][index] for pair in pairs)
        added = statistics.median(own) - statistics.median(floor)
        print(
            f"{name:12}: plain p50 {_ms(floor, 50)}, p99 {_ms(floor, 99)};"
            f" gateway p50 {_ms(own, 50)}, p99 {_ms(own, 99)}; added p50 {added * 1e3:.2f} ms",
            flush=True,
        )


def _ms(seconds: list[float], percent: int) -> str:
    return f"{seconds[len(seconds) * percent // 100] * 1e3:.2f} ms"


def soak(folder: Path, seconds: float) -> None:
    """A steady rate over many growing sessions; memory of the gateway as it goes on."""
    with (
        _process(_provider) as (upstream, _),
        _process(_gateway, upstream, str(folder / "soak.db")) as (port, line),
    ):
        client = _Client(port)
        start = time.monotonic()
        shown = 0.0
        sent = 0
        late = 0.0
        while (now := time.monotonic() - start) < seconds:
            if now >= shown:
                _show(line, now)
                shown += max(seconds / 10, 1)
            due = sent / _RATE
            if due > now:
                time.sleep(due - now)
            late = max(late, time.monotonic() - start - due)
            client.ask(conversation(sent % _SESSIONS, sent // _SESSIONS % 20), sent % _SESSIONS)
            sent += 1
        outcomes, notes = _show(line, seconds)
    print(f"{sent:,} requests, the latest {late * 1e3:.0f} ms behind its time: {outcomes}, {notes}")
    if outcomes != {"complete": sent} or notes != {"folded": sent}:
        raise RuntimeError("not all were folded and answered")


def _show(line: Connection, now: float) -> tuple[dict[str, int], dict[str, int]]:
    line.send(True)
    requests, outcomes, notes, resident = line.recv()
    print(f"{now:6.0f} s: {requests:6,} requests, {resident / 1024:.1f} MiB resident", flush=True)
    return outcomes, notes


def main() -> int:
    """Print the figures; raises when a request is not folded or not answered."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gateway", description=__doc__)
    parser.add_argument("--requests", type=int, default=500, help="through each of the two [500]")
    parser.add_argument("--soak", type=float, metavar="SECONDS", help=f"{_RATE} requests a second instead")
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory(prefix="ctxf-gateway-") as folder:
        if arguments.soak is None:
            added_time(Path(folder), arguments.requests)
        else:
            soak(Path(folder), arguments.soak)
    return 0


if __name__ == "__main__":
    sys.exit(main())
