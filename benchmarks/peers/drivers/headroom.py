"""headroom-ai: what its MCP tools `headroom_compress` and `headroom_retrieve` do, called in process.

Those two keep the whole original under one hash; `compress()` alone keeps parts of it, which do not add up
to the original. SQLite is its default store. Its text model has to be downloaded, so it is off; that makes
it faster.
"""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.drivers.loop import Folded, Refusal, as_text, serve

os.environ["HEADROOM_OFFLINE"] = "1"  # before the import, which reads it

import headroom  # type: ignore[import-not-found]
from headroom.ccr.mcp_server import HeadroomMCPServer  # type: ignore[import-not-found]

_READ = (
    "import sys; from headroom.cache.compression_store import get_compression_store; "
    "sys.stdout.write(get_compression_store().retrieve(sys.argv[1]).original_content)"
)


class Headroom:
    """Its MCP server's methods, without the transport."""

    def __init__(self, folder: Path) -> None:
        del folder  # it is the home directory, where headroom has its store
        self._server = HeadroomMCPServer(check_proxy=False)  # a proxy would be a second store
        self._loop = asyncio.new_event_loop()

    def fold(self, texts: Sequence[bytes]) -> list[Folded]:
        return [self._fold(text) for text in texts]

    def _fold(self, text: bytes) -> Folded:
        content, errors = as_text(text)
        result = self._server._compress_content(content)
        return Folded(result["compressed"].encode("utf-8", errors), result["hash"], errors)

    def restore(self, folded: Folded) -> bytes:
        if folded.reference is None:
            return folded.context
        result = self._loop.run_until_complete(self._server._retrieve_content(folded.reference))
        if "original_content" not in result:
            raise Refusal(result["error"])
        original: str = result["original_content"]
        return original.encode("utf-8", folded.errors)

    def command(self, folded: Folded) -> tuple[list[str], bytes]:
        return [sys.executable, "-c", _READ, str(folded.reference)], b""


if __name__ == "__main__":
    serve(headroom.__version__, Headroom)
