"""What the gateway says of itself: `/-/health`, `/-/stats`, and a page for people at `/-/`."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from ctxf.errors import CtxfError
from ctxf.gateway.guard import Guard
from ctxf.gateway.stats import Stats
from ctxf.gateway.wire import Headers, Scope, Send

__all__ = ["Pages", "ReadBody"]

ReadBody = Callable[[str, str], bytes]
"""From a scope and an id to the body; raises CtxfError."""

_FILES: Final = {
    b"/-/": ("index.html", b"text/html; charset=utf-8"),
    b"/-/page.css": ("page.css", b"text/css; charset=utf-8"),
    b"/-/page.js": ("page.js", b"text/javascript; charset=utf-8"),
}
_TEXT: Final = b"text/plain; charset=utf-8"
_JSON: Final = b"application/json"
_ORIGINAL: Final = b"/-/original/"
_SAFE: Final = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)


@dataclass(frozen=True, slots=True)
class _Page:
    status: int
    kind: bytes
    content: bytes


class Pages:
    """Answers below `/-/`. Labels, ids and bodies are for who has the guard's key."""

    def __init__(self, stats: Stats, guard: Guard, read: ReadBody, version: str) -> None:
        self._stats = stats
        self._guard = guard
        self._read = read
        self._version = version

    async def answer(self, scope: Scope, send: Send) -> None:
        """Answer one request."""
        if scope["method"] in ("GET", "HEAD"):
            page = await self._page(scope["raw_path"], self._guard.opens(scope["headers"]))
        else:
            page = _Page(405, _TEXT, b"only GET\n")
        headers: Headers = [
            (b"content-type", page.kind),
            (b"content-length", b"%d" % len(page.content)),
            *_SAFE,
        ]
        await send({"type": "http.response.start", "status": page.status, "headers": headers})
        await send({"type": "http.response.body", "body": page.content, "more_body": False})

    async def _page(self, path: bytes, is_open: bool) -> _Page:
        if file := _FILES.get(path):
            name, kind = file
            return _Page(200, kind, files("ctxf.gateway").joinpath("page", name).read_bytes())
        if path == b"/-/health":
            return _Page(200, _JSON, _dump({"status": "ok", "version": self._version}))
        if path == b"/-/stats":
            return _Page(200, _JSON, _dump(self._stats.snapshot(with_blocks=is_open)))
        if path.startswith(_ORIGINAL):
            return await self._original(path.removeprefix(_ORIGINAL), is_open)
        return _Page(404, _TEXT, b"no such page\n")

    async def _original(self, number: bytes, is_open: bool) -> _Page:
        if not is_open:
            return _Page(403, _TEXT, b"open the page by the address that `ctxf gateway` printed\n")
        found = next((one for one in self._stats.latest if b"%d" % one.number == number), None)
        if found is None:
            return _Page(404, _TEXT, b"no longer among the latest folds\n")
        try:
            body = await asyncio.to_thread(self._read, found.scope, found.block.id)
        except CtxfError as error:
            return _Page(404, _TEXT, f"{error}\n".encode("utf-8", "replace"))
        return _Page(200, _TEXT, body)


def _dump(value: dict[str, object]) -> bytes:
    return json.dumps(value).encode("ascii") + b"\n"
