"""Runs a gateway: the socket, the HTTP server around the application, and a thread to run it in."""

import contextlib
import logging
import signal
import socket
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Final

import uvicorn

from ctxf.errors import ConfigError
from ctxf.gateway.app import Gateway

__all__ = ["in_background", "listen", "serve"]

_LARGEST_HEAD: Final = 256 << 10  # bytes of request line and headers
_IDLE_SECONDS: Final = 120  # longer than clients keep connections open, so that the client ends them
_GRACE_SECONDS: Final = 3  # for running answers, when the gateway stops
_BACKLOG: Final = 2048


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises ConfigError where that cannot be."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        # Connections inherit TCP_NODELAY. asyncio sets it only on sockets whose protocol number says TCP,
        # which these do not. Without it each event waits for the acknowledgement of the previous one, 40 ms.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except OSError as error:
        problem = f"cannot listen on {host}:{port}: {error.strerror or error}"
        raise ConfigError("option --listen", problem) from error


def serve(gateway: Gateway, listening: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM; the signal is raised again at the end."""
    stops = {signal.SIGINT, signal.SIGTERM}
    with _blocked(stops) as unblock:

        async def take_signals() -> None:
            unblock()  # a signal in the middle of its start would make the server print warnings

        _server(gateway, take_signals).run(sockets=[listening])


@contextlib.contextmanager
def in_background(gateway: Gateway, listening: socket.socket) -> Iterator[int]:
    """Serve in a thread for as long as the block lasts; it gets the port."""
    server = _server(gateway)
    thread = threading.Thread(
        target=server.run, kwargs={"sockets": [listening]}, name="ctxf-gateway", daemon=True
    )
    port: int = listening.getsockname()[1]
    # Taken by another thread, a signal would not wake the main thread from what it waits for.
    with _blocked(signal.valid_signals()):
        thread.start()  # the socket listens already: early connections wait in its queue
    try:
        yield port
    finally:
        server.should_exit = True
        thread.join()


@contextlib.contextmanager
def _blocked(signals: Iterable[int]) -> Iterator[Callable[[], None]]:
    """Let no signal reach this thread, nor any that is started here, until the block or the wait is over."""
    if not hasattr(signal, "pthread_sigmask"):
        yield lambda: None
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)

    def unblock() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    try:
        yield unblock
    finally:
        unblock()


def _server(
    gateway: Gateway, on_start: Callable[[], Coroutine[None, None, None]] | None = None
) -> uvicorn.Server:
    # For every client that leaves in the middle of an answer it writes lines to stderr.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        gateway,
        http="h11",
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        log_level="critical",  # it logs tracebacks for connections that we cut on purpose
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        h11_max_incomplete_event_size=_LARGEST_HEAD,
        backlog=_BACKLOG,
        callback_notify=on_start,  # called again every half minute, which does no harm
    )
    return uvicorn.Server(config)
