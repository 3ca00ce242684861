"""What the gateway does not fold it relays byte for byte, in both directions."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxf.gateway.folding import FoldJob, Outcome
from ctxf.gateway.upstream import parse_base
from tests.kit.gateway import Pairs, Received, Wire, echo, gateway, provider, request_bytes

SSE = [
    b'data: {"text": "\xe4\xb8',
    b'\x96\xe7\x95\x8c"}\n\n',
    b"event: ping\ndata: {}\n\n",
    b"data: [DONE]\n\n",
]


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


@pytest.mark.parametrize(
    ("target", "arrives_as"),
    [
        (b"/anthropic/v1/messages?beta=true", b"/base/v1/messages?beta=true"),
        (b"/anthropic/v1/models", b"/base/v1/models"),
        (b"/anthropic", b"/base"),
        (b"/openai/v1/responses", b"/base/responses"),
        (b"/openai/v1/models/a%2Fb?x=%20&x=+", b"/base/models/a%2Fb?x=%20&x=+"),
        (
            b"/gemini/v1beta/models/g:generateContent?alt=sse",
            b"/base/v1beta/models/g:generateContent?alt=sse",
        ),
        (b"/gemini//v1beta/./a/../b;c=d?", b"/base//v1beta/./a/../b;c=d"),
        (b"/gemini/%e4%b8%96?%ff", b"/base/%e4%b8%96?%ff"),
    ],
)
def test_paths_pass_as_they_are(target: bytes, arrives_as: bytes) -> None:
    with provider(echo) as upstream, gateway(upstream.port, base_path="/base/") as running:
        assert running.send(target, b"x").body == b"x"
        assert upstream.requests[0].target == arrives_as


@pytest.mark.parametrize(
    "target", [b"/", b"/v1/messages", b"/openai/responses", b"/anthropicx/v1", b"/openai"]
)
def test_elsewhere_is_nothing(target: bytes) -> None:
    with provider(echo) as upstream, gateway(upstream.port) as running:
        reply = running.send(target, b"x")
        assert (reply.status, upstream.requests) == (404, [])
        assert b"/anthropic" in reply.body


def test_request_headers_arrive_but_those_of_the_connection() -> None:
    headers: Pairs = [
        (b"Host", b"localhost:8788"),
        (b"Authorization", b"Bearer sk-fake"),
        (b"anthropic-beta", b"a,b"),
        (b"X-Twice", b"1"),
        (b"X-Twice", b"\xff\xfe2"),
        (b"Accept-Encoding", b"br, zstd"),
        (b"Connection", b"keep-alive, X-Mine"),
        (b"X-Mine", b"dropped"),
        (b"TE", b"trailers"),
        (b"X-Ctxf-Token", b"dropped"),
        (b"X-Ctxf-Key", b"dropped"),
    ]
    with provider(echo) as upstream, gateway(upstream.port) as running:
        running.send(b"/anthropic/v1/messages", b"{}", headers)
        (request,) = upstream.requests
        assert request.headers == [
            (b"Host", b"127.0.0.1:%d" % upstream.port),
            (b"authorization", b"Bearer sk-fake"),
            (b"anthropic-beta", b"a,b"),
            (b"x-twice", b"1"),
            (b"x-twice", b"\xff\xfe2"),
            (b"accept-encoding", b"br, zstd"),
            (b"content-length", b"2"),
        ]


def test_who_signed_in_with_chatgpt_goes_to_its_address() -> None:
    account = (b"ChatGPT-Account-Id", b"acct-1")
    with provider(echo) as upstream:
        base = parse_base("a test", f"http://127.0.0.1:{upstream.port}/backend-api/codex")
        with gateway(upstream.port, base_path="/v1", chatgpt=base) as running:
            running.send(b"/openai/v1/responses", b"{}", [account])
            running.send(b"/openai/v1/responses", b"{}")
            running.send(b"/anthropic/v1/messages", b"{}", [account])
        targets = [request.target for request in upstream.requests]
    assert targets == [b"/backend-api/codex/responses", b"/v1/responses", b"/v1/v1/messages"]


@pytest.mark.parametrize("method", [b"GET", b"DELETE", b"POST", b"OPTIONS", b"PATCH"])
def test_no_body_stays_no_body(method: bytes) -> None:
    with provider(echo) as upstream, gateway(upstream.port) as running:
        assert running.send(b"/openai/v1/files", method=method).status == 200
        (request,) = upstream.requests
        assert (request.method, request.body) == (method, b"")
        assert not request.all(b"transfer-encoding")
        assert request.all(b"content-length") in ([], [b"0"])


ANSWERS = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: 1\r\nX-A: 2\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\nok",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\n\x1f\x8b\xff\x00!",
    b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/elsewhere\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 307 Temporary Redirect\r\nLocation: /x\r\nContent-Length: 3\r\n\r\nsee",
    b'HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"error": 1}',
    b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 4\r\n\r\nbad\n",
    b"HTTP/1.1 529 \r\nrequest-id: req_1\r\nContent-Length: 2\r\n\r\n{}",
    b"HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n",
    b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n',
    b"HTTP/1.1 200 OK\r\nX-Huge: " + b"h" * 60_000 + b"\r\nContent-Length: 1\r\n\r\n.",
    b"HTTP/1.1 200 OK\r\nX-Latin: \xe4\xff\r\nContent-Length: 1\r\n\r\n.",
]


@pytest.mark.parametrize("answer", ANSWERS, ids=[answer[9:40].decode("latin-1") for answer in ANSWERS])
def test_answers_pass_as_they_are(answer: bytes) -> None:
    with provider(lambda _request, wire: wire.send(answer)) as upstream, gateway(upstream.port) as running:
        direct, through = running.connect(upstream.port), running.connect()
        for wire in (direct, through):
            wire.send(request_bytes(b"POST", b"/anthropic/v1/messages", b"{}"))
        assert through.reply(b"POST") == direct.reply(b"POST")


def test_a_head_request() -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
    with provider(lambda _request, wire: wire.send(answer)) as upstream, gateway(upstream.port) as running:
        reply = running.send(b"/openai/v1/models", method=b"HEAD")
        assert (reply.status, reply.all(b"content-length")) == (200, [b"1000"])


def test_events_arrive_one_by_one() -> None:
    taken = threading.Semaphore(0)

    def stream(_request: Received, wire: Wire) -> None:
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for part in SSE:
            wire.send(chunk(part))
            assert taken.acquire(timeout=60)  # the next one only when the client has this one
        wire.send(chunk(b""))

    with provider(stream) as upstream, gateway(upstream.port) as running:
        wire = running.connect()
        wire.send(request_bytes(b"POST", b"/openai/v1/responses", b'{"stream": true}'))
        head = wire.head()
        assert head is not None
        assert (b"Content-Type", b"text/event-stream") in head[1]
        for part in SSE:
            size = wire.until(b"\r\n")
            assert wire.exactly(int(size or b"0", 16) + 2) == (part + b"\r\n", True)
            taken.release()
        assert wire.until(b"\r\n\r\n") == b"0"


@pytest.mark.parametrize("path", [b"/anthropic/v1/messages", b"/openai/v1/files"])
@pytest.mark.parametrize("size", [0, 1, 1000, 300_000])
def test_chunked_requests(path: bytes, size: int) -> None:
    body = bytes(range(256)) * (size // 256 + 1)
    body = body[:size]
    framed = b"".join(chunk(body[at : at + 70_000]) for at in range(0, size, 70_000)) + b"0\r\n\r\n"
    with provider(echo) as upstream, gateway(upstream.port) as running:
        reply = running.send(path, framed, [(b"Transfer-Encoding", b"chunked")])
        assert reply.body == body == upstream.requests[0].body


@pytest.mark.parametrize("framing", [b"length", b"chunks"])
def test_what_is_too_large_to_fold_streams_through(framing: bytes) -> None:
    body = b"x" * 500_000
    headers = [(b"Transfer-Encoding", b"chunked")] if framing == b"chunks" else []
    sent = chunk(body[:400]) + chunk(body[400:]) + chunk(b"") if framing == b"chunks" else body
    with provider(echo) as upstream, gateway(upstream.port, _never, max_body_bytes=1000) as running:
        assert running.send(b"/anthropic/v1/messages", sent, headers).body == body
        assert upstream.requests[0].body == body


def _never(_job: FoldJob) -> Outcome:
    raise AssertionError("this was not to be folded")


def test_any_bytes_in_any_chunks() -> None:
    parts: list[bytes] = []

    def answer(_request: Received, wire: Wire) -> None:
        wire.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        wire.send(b"".join(chunk(part) for part in parts) + chunk(b""))

    with provider(answer) as upstream, gateway(upstream.port) as running:

        @given(st.binary(max_size=3000), st.lists(st.binary(min_size=1, max_size=700), max_size=6))
        def check(body: bytes, answered: list[bytes]) -> None:
            parts[:] = answered
            reply = running.send(b"/anthropic/v1/messages", body)
            assert (reply.body, reply.is_whole) == (b"".join(answered), True)
            assert upstream.requests[-1].body == body

        check()
