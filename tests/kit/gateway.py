"""A provider that does what a test says, a gateway before it, and a client that sees every byte.

Sockets and threads, no HTTP library: what is under test are the bytes on the wire.
"""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ctxf.gateway.app import DEFAULT_MAX_BODY_BYTES, Gateway
from ctxf.gateway.folding import Fold, FoldEdge, FoldJob, Outcome
from ctxf.gateway.guard import Guard
from ctxf.gateway.pages import Pages, ReadBody
from ctxf.gateway.server import in_background, listen
from ctxf.gateway.stats import Stats
from ctxf.gateway.upstream import Base, Upstreams, parse_base

TIMEOUT: Final = 60.0  # generous: the machine may be busy; no test asserts a time
Pairs = list[tuple[bytes, bytes]]


class Received(NamedTuple):
    """A request as a server got it; `body` is without its framing."""

    method: bytes
    target: bytes
    headers: Pairs
    body: bytes

    def all(self, name: bytes) -> list[bytes]:
        return [value for key, value in self.headers if key.lower() == name]


class Reply(NamedTuple):
    """A response as a client got it; `is_whole` tells whether its framing says that it ended."""

    status: int
    headers: Pairs
    body: bytes
    is_whole: bool

    def all(self, name: bytes) -> list[bytes]:
        return [value for key, value in self.headers if key.lower() == name]


class Wire:
    """One connection, read through a buffer."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        connection.settimeout(TIMEOUT)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def fill(self) -> bool:
        """Read some more; False at the end."""
        data = self.socket.recv(1 << 16)
        self._buffer += data
        return data != b""

    def until(self, mark: bytes) -> bytes | None:
        """Everything before `mark`, which is taken too; None when the end comes first."""
        while (at := self._buffer.find(mark)) < 0:
            if not self.fill():
                return None
        found = bytes(self._buffer[:at])
        del self._buffer[: at + len(mark)]
        return found

    def exactly(self, size: int) -> tuple[bytes, bool]:
        """That many bytes, or fewer and False when the end comes first."""
        while len(self._buffer) < size:
            if not self.fill():
                return self.rest(), False
        found = bytes(self._buffer[:size])
        del self._buffer[:size]
        return found, True

    def rest(self) -> bytes:
        found = bytes(self._buffer)
        self._buffer.clear()
        return found

    def head(self) -> tuple[bytes, Pairs] | None:
        text = self.until(b"\r\n\r\n")
        if text is None:
            return None
        first, *lines = text.split(b"\r\n")
        pairs = [line.split(b":", 1) for line in lines]
        return first, [(name, value.strip()) for name, value in pairs]

    def body(self, headers: Pairs, *, to_the_end: bool) -> tuple[bytes, bool]:
        names = {name.lower(): value for name, value in headers}
        if names.get(b"transfer-encoding") == b"chunked":
            return self._chunks()
        if b"content-length" in names:
            return self.exactly(int(names[b"content-length"]))
        if not to_the_end:
            return b"", True
        while self.fill():
            pass
        return self.rest(), True

    def _chunks(self) -> tuple[bytes, bool]:
        body = b""
        while (line := self.until(b"\r\n")) is not None:
            size = int(line.split(b";")[0], 16)
            if size == 0:
                return body, self.until(b"\r\n") is not None
            part, is_whole = self.exactly(size)
            body += part
            if not is_whole or self.exactly(2) != (b"\r\n", True):
                return body, False
        return body + self.rest(), False

    def request(self) -> Received | None:
        """The next request; None when the other side has gone, in the middle of one too."""
        try:
            if (head := self.head()) is None:
                return None
            method, target, _ = head[0].split(b" ")
            body, is_whole = self.body(head[1], to_the_end=False)
            return Received(method, target, head[1], body) if is_whole else None
        except ConnectionError:
            return None

    def reply(self, method: bytes = b"GET") -> Reply:
        """The next response. A connection that was reset reads as one that ended early."""
        head = self.head()
        assert head is not None, "no response"
        status = int(head[0].split(b" ")[1])
        if method == b"HEAD" or status in (204, 304):
            return Reply(status, head[1], b"", True)
        body, is_whole = self.body(head[1], to_the_end=True)
        return Reply(status, head[1], body, is_whole)

    def is_closed_by_peer(self) -> bool:
        """Wait for the other side to close."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True


Handler = Callable[[Received, Wire], object]


@dataclass
class FakeProvider:
    """Answers each request by calling `handler` with it and the connection; keeps the requests."""

    handler: Handler
    port: int = 0
    requests: list[Received] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)

    def serve(self, listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return  # closed: the test is over
            threading.Thread(target=self._serve_one, args=(connection,), daemon=True).start()

    def _serve_one(self, connection: socket.socket) -> None:
        with connection:
            wire = Wire(connection)
            try:
                while (request := wire.request()) is not None:
                    self.requests.append(request)
                    if self.handler(request, wire) is False:
                        return
            except ConnectionError:
                pass
            except BaseException as error:
                self.errors.append(error)


@contextlib.contextmanager
def provider(handler: Handler) -> Iterator[FakeProvider]:
    listening = socket.create_server(("127.0.0.1", 0), backlog=256)
    fake = FakeProvider(handler, listening.getsockname()[1])
    thread = threading.Thread(target=fake.serve, args=(listening,), daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()
        assert not fake.errors


def echo(request: Received, wire: Wire) -> None:
    """The body back."""
    wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(request.body), request.body))


def leave(_job: FoldJob) -> Outcome:
    return Outcome(None, "")


def no_bodies(_scope: str, _id: str) -> bytes:
    raise AssertionError("nothing was folded")


@dataclass(frozen=True)
class Running:
    """A gateway that serves on `port`."""

    port: int
    stats: Stats
    guard: Guard
    wires: list[Wire] = field(default_factory=list)

    def connect(self, port: int | None = None) -> Wire:
        """A connection that lasts as long as the gateway; to another `port`, past it."""
        wire = Wire(socket.create_connection(("127.0.0.1", port or self.port), TIMEOUT))
        self.wires.append(wire)
        return wire

    def close(self) -> None:
        for wire in self.wires:
            wire.socket.close()

    def send(
        self,
        target: bytes,
        body: bytes | None = None,
        headers: Pairs | None = None,
        *,
        method: bytes | None = None,
    ) -> Reply:
        """One request on a connection of its own."""
        method = method or (b"GET" if body is None else b"POST")
        wire = self.connect()
        with wire.socket:
            wire.send(request_bytes(method, target, body, headers))
            return wire.reply(method)


def request_bytes(method: bytes, target: bytes, body: bytes | None, headers: Pairs | None = None) -> bytes:
    pairs = list(headers or [])
    names = {name.lower() for name, _ in pairs}
    if b"host" not in names:
        pairs.insert(0, (b"Host", b"127.0.0.1"))
    if body is not None and not names & {b"content-length", b"transfer-encoding"}:
        pairs.append((b"Content-Length", b"%d" % len(body)))
    lines = b"".join(b"%b: %b\r\n" % pair for pair in pairs)
    return b"%b %b HTTP/1.1\r\n%b\r\n%b" % (method, target, lines, body or b"")


@contextlib.contextmanager
def gateway(
    port: int,
    fold: Fold = leave,
    *,
    timeout: float = TIMEOUT,
    token: str | None = None,
    host: str = "127.0.0.1",
    max_body_bytes: int = DEFAULT_MAX_BODY_BYTES,
    read: ReadBody = no_bodies,
    base_path: str = "",
    workers: int = 4,
    chatgpt: Base | None = None,
) -> Iterator[Running]:
    """A gateway whose three providers are all at `port`."""
    base = parse_base("a test", f"http://127.0.0.1:{port}{base_path}")
    guard = Guard(token, host)
    stats = Stats()
    app = Gateway(
        Upstreams({"anthropic": base, "openai": base, "gemini": base, "chatgpt": chatgpt or base}),
        FoldEdge(fold, timeout, workers),
        guard,
        stats,
        Pages(stats, guard, read, "0"),
        max_body_bytes=max_body_bytes,
    )
    with in_background(app, listen("127.0.0.1", 0)) as own_port:
        running = Running(own_port, stats, guard)
        try:
            yield running
        finally:
            running.close()
