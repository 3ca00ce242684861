"""Whatever goes wrong on either side, the client gets what the provider said, and no part looks whole."""

import contextlib
import gzip
import logging
import os
import socket
import struct
import threading
import zlib

import pytest
from backports import zstd

from ctxf.errors import ConfigError
from ctxf.gateway.encodings import decode
from ctxf.gateway.folding import FoldJob, Outcome
from ctxf.gateway.guard import check_listen
from ctxf.gateway.server import listen
from ctxf.gateway.upstream import parse_base
from tests.kit.gateway import (
    TIMEOUT,
    Pairs,
    Received,
    Reply,
    Running,
    Wire,
    echo,
    gateway,
    leave,
    provider,
    request_bytes,
)

MESSAGES = b"/anthropic/v1/messages"
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def reset(wire: Wire) -> None:
    """Close with a reset instead of an end."""
    wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.socket.close()


@pytest.mark.parametrize("ending", ["closes", "resets"])
@pytest.mark.parametrize(
    ("head", "said"),
    [
        (CHUNKED, chunk(b"data: 1\n\n") + chunk(b"data: 2\n\n")),
        (CHUNKED, chunk(b"data: 1\n\n") + b"9\r\ndata"),
        (CHUNKED, b""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", b"data: 1\n\n"),
    ],
)
def test_a_provider_that_dies_in_its_answer(head: bytes, said: bytes, ending: str) -> None:
    got_all = threading.Event()

    def die(_request: Received, wire: Wire) -> bool:
        wire.send(head + said)
        if ending == "closes":
            return False
        got_all.wait(TIMEOUT)  # a reset may overtake what was sent before it
        reset(wire)
        return False

    with provider(die) as upstream, gateway(upstream.port) as running:
        wire = running.connect()
        wire.send(request_bytes(b"POST", MESSAGES, b"{}"))
        answered = wire.head()
        assert answered is not None
        got_all.set()
        body, is_whole = wire.body(answered[1], to_the_end=True)
        assert not is_whole
        expected = b"data: 1\n\ndata: 2\n\ndata: 1\n\ndata"
        assert body in expected
        if ending == "closes":
            assert len(body) >= len(b"data: 1\n\n") * (said != b"")
    assert running.stats.outcomes == {"provider failed": 1}


@pytest.mark.parametrize(
    "path", [MESSAGES, b"/openai/v1/responses", b"/gemini/v1beta/models/g:generateContent"]
)
def test_a_provider_that_is_not_there(path: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with gateway(port) as running:
        reply = running.send(path, b"{}")
        assert reply.status == 502
        assert b"could not be reached" in reply.body
        assert b"error" in reply.body


def test_a_provider_that_closes_without_an_answer() -> None:
    with provider(lambda _request, _wire: False) as upstream, gateway(upstream.port) as running:
        assert running.send(MESSAGES, b"{}").status == 502


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\x00\xff nonsense\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"h" * 300_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nabc",
    ],
)
def test_a_provider_that_speaks_no_http(nonsense: bytes) -> None:
    def answer(_request: Received, wire: Wire) -> bool:
        wire.send(nonsense)
        return False

    with provider(answer) as upstream, gateway(upstream.port) as running:
        assert running.send(MESSAGES, b"{}").status == 502


def test_lengths_beside_chunks_do_not_count() -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk(b"longer")

    def both(_request: Received, wire: Wire) -> bool:
        wire.send(answer + chunk(b""))
        return False

    with provider(both) as upstream, gateway(upstream.port) as running:
        reply = running.send(MESSAGES, b"{}")
        assert (reply.body, reply.is_whole, reply.all(b"content-length")) == (b"longer", True, [])


@pytest.mark.parametrize("said", [b"", CHUNKED + chunk(b"data: 1\n\n")])
@pytest.mark.parametrize("path", [MESSAGES, b"/openai/v1/models"])
def test_a_client_that_leaves_reaches_the_provider(path: bytes, said: bytes) -> None:
    is_asked = threading.Event()
    is_left = threading.Event()

    def answer(_request: Received, wire: Wire) -> bool:
        wire.send(said)
        is_asked.set()
        if wire.is_closed_by_peer():
            is_left.set()
        return False

    with provider(answer) as upstream, gateway(upstream.port) as running:
        wire = running.connect()
        wire.send(request_bytes(b"POST", path, b"{}"))
        assert is_asked.wait(TIMEOUT)
        wire.socket.close()
        assert is_left.wait(TIMEOUT)


@pytest.mark.parametrize("path", [MESSAGES, b"/openai/v1/files"])
def test_a_client_that_leaves_in_its_request(path: bytes) -> None:
    with provider(echo) as upstream, gateway(upstream.port) as running:
        wire = running.connect()
        wire.send(request_bytes(b"POST", path, b"half", [(b"Content-Length", b"8")]))
        wire.socket.close()
        assert running.send(path, b"whole").body == b"whole"
        assert [request.body for request in upstream.requests] == [b"whole"]


def test_a_slow_client_slows_the_provider_down() -> None:
    """What the client does not take stays with the provider, not in the gateway's memory."""
    part = b"x" * (1 << 16)
    sent = []
    may_end = threading.Event()

    def flood(_request: Received, wire: Wire) -> bool:
        wire.send(CHUNKED)
        wire.socket.settimeout(1)
        with contextlib.suppress(TimeoutError):
            for _ in range(4000):  # 256 MiB if nobody held it back
                wire.send(chunk(part))
                sent.append(len(part))
        may_end.set()
        return False

    with provider(flood) as upstream, gateway(upstream.port) as running:
        wire = running.connect()
        wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        wire.send(request_bytes(b"POST", MESSAGES, b"{}"))
        assert may_end.wait(TIMEOUT)
        assert sum(sent) < 64 << 20


def test_many_streams_at_once() -> None:
    """32 streams of 500 events each, every byte in its place."""
    events = [b'data: {"n": %d, "text": "\xe4\xb8\x96"}\n\n' % number for number in range(500)]

    def stream(request: Received, wire: Wire) -> None:
        wire.send(CHUNKED)
        for event in events:
            wire.send(chunk(request.body + event[:20]) + chunk(event[20:]))
        wire.send(chunk(b""))

    replies: dict[int, Reply] = {}

    def ask(running: Running, number: int) -> None:
        replies[number] = running.send(MESSAGES, b"%d" % number)

    with provider(stream) as upstream, gateway(upstream.port) as running:
        threads = [threading.Thread(target=ask, args=(running, number)) for number in range(32)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert running.stats.outcomes == {"complete": 32}
    for number, reply in replies.items():
        assert reply.is_whole
        assert reply.body == b"".join(b"%d%b" % (number, event) for event in events)
    assert len(replies) == 32


@pytest.mark.parametrize("size", [10_000, 200_000])
def test_large_request_heads(size: int) -> None:
    headers: Pairs = [(b"X-Large", b"h" * size)]
    with provider(echo) as upstream, gateway(upstream.port) as running:
        assert running.send(MESSAGES, b"{}", headers).status == 200
        assert upstream.requests[0].all(b"x-large") == [b"h" * size]


def test_websockets_are_declined() -> None:
    headers: Pairs = [
        (b"Connection", b"Upgrade"),
        (b"Upgrade", b"websocket"),
        (b"Sec-WebSocket-Key", b"AAAAAAAAAAAAAAAAAAAAAA=="),
        (b"Sec-WebSocket-Version", b"13"),
    ]
    with provider(echo) as upstream, gateway(upstream.port) as running:
        reply = running.send(b"/openai/v1/responses", headers=headers)
        assert (reply.status, upstream.requests) == (426, [])
        assert b"supports_websockets = false" in reply.body


# Folding that fails.


@pytest.mark.parametrize("error", [RuntimeError, RecursionError, MemoryError, OSError])
def test_folding_that_fails_lets_the_original_pass(error: type[Exception]) -> None:
    def fails(_job: FoldJob) -> Outcome:
        raise error("a fault of ours")

    with provider(echo) as upstream, gateway(upstream.port, fails) as running:
        assert running.send(MESSAGES, b"as it came").body == b"as it came"
    assert running.stats.notes == {f"passed: {error.__name__}": 1}


def test_folding_that_takes_too_long_lets_the_original_pass() -> None:
    may_end = threading.Event()

    def waits(job: FoldJob) -> Outcome:
        may_end.wait(TIMEOUT)
        return Outcome(b"folded", "folded")

    try:
        with provider(echo) as upstream, gateway(upstream.port, waits, timeout=0.05, workers=2) as running:
            replies = [running.send(MESSAGES, b"as it came") for _ in range(4)]
            assert [reply.body for reply in replies] == [b"as it came"] * 4
            may_end.set()
            while running.send(MESSAGES, b"as it came").body != b"folded":
                pass
        assert running.stats.notes["passed: folding took too long"] == 2
        assert running.stats.notes["passed: folding is stuck"] >= 2
        assert running.stats.notes["folded"] == 1
    finally:
        may_end.set()


def _shorter(job: FoldJob) -> Outcome:
    return Outcome(b"short", "folded")


@pytest.mark.parametrize("encoding", [b"gzip", b"zstd", b"br"])
def test_a_folded_body_goes_without_the_encoding_of_the_original(encoding: bytes) -> None:
    with provider(echo) as upstream, gateway(upstream.port, _shorter) as running:
        running.send(MESSAGES, b"encoded", [(b"Content-Encoding", encoding)])
        (request,) = upstream.requests
        assert (request.body, request.all(b"content-length")) == (b"short", [b"5"])
        assert request.all(b"content-encoding") == []


@pytest.mark.parametrize("encoding", [b"gzip", b"zstd", b"br"])
def test_an_unchanged_body_goes_as_it_came(encoding: bytes) -> None:
    with provider(echo) as upstream, gateway(upstream.port, leave) as running:
        running.send(MESSAGES, b"encoded", [(b"Content-Encoding", encoding)])
        (request,) = upstream.requests
        assert (request.body, request.all(b"content-encoding")) == (b"encoded", [encoding])


LIMIT = 100_000
TEXT = os.urandom(100) * 10


@pytest.mark.parametrize(
    ("body", "encoding", "decoded"),
    [
        (TEXT, b"", TEXT),
        (TEXT, b" Identity ", TEXT),
        (gzip.compress(TEXT), b"gzip", TEXT),
        (gzip.compress(TEXT), b"x-GZIP", TEXT),
        (zstd.compress(TEXT), b"zstd", TEXT),
        (gzip.compress(bytes(LIMIT)), b"gzip", bytes(LIMIT)),
        (gzip.compress(bytes(LIMIT + 1)), b"gzip", None),
        (gzip.compress(bytes(50_000_000)), b"gzip", None),
        (zstd.compress(bytes(50_000_000)), b"zstd", None),
        (bytes(LIMIT + 1), b"", None),
        (gzip.compress(TEXT)[:-1], b"gzip", None),
        (zstd.compress(TEXT)[:-1], b"zstd", None),
        (gzip.compress(TEXT) + b"more", b"gzip", None),
        (gzip.compress(TEXT) * 2, b"gzip", None),
        (zstd.compress(TEXT) * 2, b"zstd", None),
        (gzip.compress(TEXT)[:-8] + bytes(8), b"gzip", None),
        (TEXT, b"gzip", None),
        (TEXT, b"zstd", None),
        (zlib.compress(TEXT), b"deflate", None),
        (gzip.compress(TEXT), b"gzip, gzip", None),
        (b"", b"gzip", None),
        (b"", b"zstd", None),
        (b"", b"", b""),
    ],
)
def test_encodings(body: bytes, encoding: bytes, decoded: bytes | None) -> None:
    assert decode(body, encoding, LIMIT) == decoded


# Who may come in.


@pytest.mark.parametrize(
    ("host", "status"),
    [
        (b"127.0.0.1", 200),
        (b"127.0.0.1:8788", 200),
        (b"localhost", 200),
        (b"LocalHost:1", 200),
        (b"[::1]:8788", 200),
        (b"[::1]", 200),
        (b"evil.example", 421),
        (b"evil.example:8788", 421),
        (b"localhost.evil.example", 421),
        (b"127.0.0.1.evil.example", 421),
        (b"169.254.169.254", 421),
        (b"[::2]", 421),
        (b"", 421),
    ],
)
@pytest.mark.parametrize("path", [MESSAGES, b"/-/stats"])
def test_the_host_must_be_this_machine(path: bytes, host: bytes, status: int) -> None:
    with provider(echo) as upstream, gateway(upstream.port) as running:
        assert running.send(path, headers=[(b"Host", host)]).status == status
        assert len(upstream.requests) == (status == 200 and path == MESSAGES)


TOKEN = "a token of 32 letters, or so...."


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([], 401),
        ([(b"X-Ctxf-Token", TOKEN.encode())], 200),
        ([(b"X-Ctxf-Token", b"another token of 32 letters ....")], 401),
        ([(b"X-Ctxf-Token", b"")], 401),
        ([(b"Authorization", b"Bearer " + TOKEN.encode())], 401),
    ],
)
def test_with_a_token(headers: Pairs, status: int) -> None:
    with provider(echo) as upstream, gateway(upstream.port, token=TOKEN) as running:
        host = (b"Host", b"gateway.example:8788")
        assert running.send(MESSAGES, b"{}", [host, *headers]).status == status
        assert len(upstream.requests) == (status == 200)
        assert running.send(b"/-/stats", headers=[host, *headers]).status == status
        assert running.send(b"/-/health", headers=[host]).status == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "gateway.example"])
def test_listening_to_others_takes_a_token(host: str) -> None:
    with pytest.raises(ConfigError, match="CTXF_GATEWAY_TOKEN"):
        check_listen(host, None)
    check_listen(host, TOKEN)
    for weak in ("", "short", "ü" * 32, "a" * 31 + "\n"):
        with pytest.raises(ConfigError, match="printable"):
            check_listen(host, weak)


def test_a_port_that_is_taken() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(ConfigError, match="cannot listen on 127"),
    ):
        listen("127.0.0.1", taken.getsockname()[1])


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.example",
        "ftp://api.example",
        "https://",
        "https:///v1",
        "https://user:secret@api.example",
        "https://api.example/?key=1",
        "https://api.example/#x",
        "https://api.example:port",
        "https://api.example:99999",
        "https://ü.example",
        "https://[::1",
    ],
)
def test_urls_that_are_none_of_a_provider(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_base("option --openai", url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "authority", "path"),
    [
        ("https://api.example", b"api.example", b""),
        ("https://api.example/", b"api.example", b""),
        ("http://api.example:8080/a/v1/", b"api.example:8080", b"/a/v1"),
        ("http://[::1]:3425/v1", b"[::1]:3425", b"/v1"),
    ],
)
def test_urls_of_providers(url: str, authority: bytes, path: bytes) -> None:
    base = parse_base("option --openai", url)
    assert (base.authority, base.path) == (authority, path)


def test_asyncio_says_nothing_of_clients_that_reset(caplog: pytest.LogCaptureFixture) -> None:
    asyncio_log = logging.getLogger("asyncio")
    asyncio_log.setLevel(logging.NOTSET)
    with provider(echo) as upstream, gateway(upstream.port) as running:
        reset(running.connect())
        assert running.send(MESSAGES, b"{}").body == b"{}"
        # Its words for a fifth write to a connection that is gone, which no test can time.
        asyncio_log.warning("socket.send() raised exception.")
    assert caplog.records == []
