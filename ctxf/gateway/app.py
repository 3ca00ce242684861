"""The gateway as an ASGI application: a request comes in, is folded where it may be, and goes on.

Written against ASGI itself. A framework's request and response objects decode, buffer and normalise, and
what passes here has to pass as it came.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final

import httpcore2

from ctxf.gateway.folding import FoldEdge, FoldJob
from ctxf.gateway.guard import SESSION_HEADER, Guard
from ctxf.gateway.pages import Pages
from ctxf.gateway.routes import Route, find_route
from ctxf.gateway.stats import Exchange, Stats
from ctxf.gateway.upstream import UPSTREAM_ERRORS, Upstreams
from ctxf.gateway.wire import (
    ClientGone,
    Headers,
    Message,
    Provider,
    Receive,
    Scope,
    Send,
    Upstream,
    error_body,
    first,
    forwarded,
    has,
    without,
)

__all__ = ["DEFAULT_MAX_BODY_BYTES", "Gateway"]

DEFAULT_MAX_BODY_BYTES: Final = 64 << 20
"""A larger request is passed on while it arrives, unfolded."""

_NO_WEBSOCKETS: Final = (
    "no WebSockets here; send the request over HTTP (Codex: supports_websockets = false for this provider)"
)
_NO_ROUTE: Final = (
    "nothing here; the providers are below /anthropic, /openai/v1 and /gemini, the status is at /-/"
)


class Gateway:
    """The application. One per event loop; `startup` and `shutdown` of its lifespan open and close it."""

    def __init__(
        self,
        upstreams: Upstreams,
        edge: FoldEdge,
        guard: Guard,
        stats: Stats,
        pages: Pages,
        *,
        on_shutdown: Callable[[], None] = lambda: None,
        max_body_bytes: int = DEFAULT_MAX_BODY_BYTES,
    ) -> None:
        self._upstreams = upstreams
        self._edge = edge
        self._guard = guard
        self._stats = stats
        self._pages = pages
        self._on_shutdown = on_shutdown
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI's entry point."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1003, "reason": "no WebSockets here"})

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self._upstreams.aclose()
                self._edge.close()
                self._on_shutdown()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Headers = scope["headers"]
        path: bytes = scope["raw_path"]
        route = find_route(scope["method"], path, scope["query_string"])
        provider = route.provider if route else None
        if refusal := self._guard.refuse(headers, path):
            await _answer_error(send, provider, refusal.status, refusal.message)
        elif path.startswith(b"/-/"):
            await self._pages.answer(scope, send)
        elif route is None:
            await _answer_error(send, None, 404, _NO_ROUTE)
        elif has(headers, b"upgrade") and (first(headers, b"upgrade") or b"").lower() == b"websocket":
            # 426 is what makes Codex try again over HTTP.
            await _answer_error(send, provider, 426, _NO_WEBSOCKETS, ((b"upgrade", b"HTTP/1.1"),))
        else:
            request = _Request(scope["method"], self._guard.cleaned(headers), route)
            await self._relay_while_wanted(request, _Inbox(receive), send)

    async def _relay_while_wanted(self, request: "_Request", inbox: "_Inbox", send: Send) -> None:
        """Relay, and stop when the client disconnects, so that the provider does not go on generating."""
        work = asyncio.create_task(self._relay(request, inbox, send))
        gone = asyncio.create_task(inbox.wait_until_gone())
        try:
            await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            work.cancel()
            gone.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)
        if not work.cancelled() and (error := work.exception()) is not None:
            raise error

    async def _relay(self, request: "_Request", inbox: "_Inbox", send: Send) -> None:
        exchange = self._stats.begin(request.route)
        try:
            headers, content = await self._prepared(request, inbox, exchange)
            await self._pass_on(request, headers, content, exchange, send)
        except ClientGone:
            exchange.outcome = "client gone"
        except asyncio.CancelledError:
            exchange.outcome = "client gone"
            raise
        finally:
            self._stats.end(exchange)

    async def _prepared(
        self, request: "_Request", inbox: "_Inbox", exchange: Exchange
    ) -> tuple[Headers, bytes | AsyncIterator[bytes] | None]:
        """The headers and the content that go to the provider. Raises ClientGone."""
        headers = without(forwarded(request.headers), (SESSION_HEADER,))
        is_chunked = has(request.headers, b"transfer-encoding")
        length = _length(request.headers)
        if not is_chunked and not length:
            return headers, None
        if request.route.protocol is None or (length or 0) > self._max_body_bytes:
            framing = [(b"transfer-encoding", b"chunked")] if is_chunked else []
            return headers + framing, inbox.chunks()
        chunks = inbox.chunks()
        body, is_whole = await _collect(chunks, self._max_body_bytes)
        if not is_whole:
            return [*headers, (b"transfer-encoding", b"chunked")], _chain(body, chunks)
        exchange.bytes_in = exchange.bytes_out = len(body)
        job = FoldJob(request.route.protocol, request.headers, body, request.route.target)
        folded = await self._edge.fold(job, exchange)
        if folded is not None:
            body = folded
            headers = without(headers, (b"content-encoding",))
            exchange.bytes_out = len(body)
        return [*without(headers, (b"content-length",)), (b"content-length", b"%d" % len(body))], body

    async def _pass_on(
        self,
        request: "_Request",
        headers: Headers,
        content: bytes | AsyncIterator[bytes] | None,
        exchange: Exchange,
        send: Send,
    ) -> None:
        """Send to the provider, and its answer to the client as it arrives.

        When the provider fails in the middle of its answer this returns without an end: the server then cuts
        the client's connection, and what was broken does not look whole.
        """
        route = request.route
        try:
            async with self._upstreams.send(
                _upstream(route, headers), request.method, route.target, headers, content
            ) as answer:
                exchange.status = answer.status
                await send(_start(answer.status, forwarded(answer.headers)))
                async for chunk in answer.body:
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                exchange.outcome = "complete"
        except UPSTREAM_ERRORS as error:
            exchange.outcome = "provider failed"
            if exchange.status is None:
                exchange.status = 504 if isinstance(error, httpcore2.TimeoutException) else 502
                message = f"the provider could not be reached: {type(error).__name__}: {error}"
                await _answer_error(send, route.provider, exchange.status, message)


@dataclass(frozen=True, slots=True)
class _Request:
    """A request for a provider; its headers are the client's without those for the gateway."""

    method: str
    headers: Headers
    route: Route


class _Inbox:
    """What ASGI receives from the client: the body while it arrives, then the disconnect."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._has_ended = asyncio.Event()

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body. Raises ClientGone when the client leaves before its end."""
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            if chunk := message.get("body", b""):
                yield chunk
            if not message.get("more_body", False):
                self._has_ended.set()
                return

    async def wait_until_gone(self) -> None:
        """Return when the client has disconnected; whoever reads the body learns of it there."""
        await self._has_ended.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass


def _upstream(route: Route, headers: Headers) -> Upstream:
    """Codex names its account where it signed in with ChatGPT; its token is no key for the API."""
    is_chatgpt = route.provider == "openai" and has(headers, b"chatgpt-account-id")
    return "chatgpt" if is_chatgpt else route.provider


def _length(headers: Headers) -> int | None:
    """The Content-Length; the server in front has checked that it is a number."""
    value = first(headers, b"content-length")
    return None if value is None else int(value)


async def _collect(chunks: AsyncIterator[bytes], limit: int) -> tuple[bytes, bool]:
    """The body, and whether that is all of it: with more than `limit` bytes the rest is left in `chunks`."""
    parts = []
    size = 0
    async for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size > limit:
            return b"".join(parts), False
    return b"".join(parts), True


async def _chain(head: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield head
    async for chunk in rest:
        yield chunk


def _start(status: int, headers: Headers) -> Message:
    return {"type": "http.response.start", "status": status, "headers": headers}


async def _answer_error(
    send: Send,
    provider: Provider | None,
    status: int,
    message: str,
    more: tuple[tuple[bytes, bytes], ...] = (),
) -> None:
    body = error_body(provider, status, message)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), *more]
    with contextlib.suppress(ClientGone):
        await send(_start(status, headers))
        await send({"type": "http.response.body", "body": body, "more_body": False})
