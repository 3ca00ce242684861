"""furl-ctx: what its MCP tools `furl_compress` and `furl_retrieve` do, called in process.

As for headroom-ai: those two keep the whole original under one hash. The store and its time to live are
those that its plugin sets. Its token counter would download a vocabulary, and try again at each call
where it cannot; so its own estimator counts, which is faster.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.drivers.loop import Folded, Refusal, as_text, serve

os.environ.update(
    FURL_CCR_BACKEND="sqlite", FURL_CCR_TTL_SECONDS="86400"
)  # before the import, which reads them

import furl_ctx  # type: ignore[import-not-found]
from furl_ctx.ccr.mcp_server import (  # type: ignore[import-not-found]
    _MCP_TOKEN_MODEL,
    FurlMCPServer,
)
from furl_ctx.tokenizers.estimator import EstimatingTokenCounter  # type: ignore[import-not-found]
from furl_ctx.tokenizers.registry import register_tokenizer  # type: ignore[import-not-found]


class Furl:
    """Its MCP server's methods, without the transport."""

    def __init__(self, folder: Path) -> None:
        del folder  # it is the home directory, where furl has its store
        register_tokenizer(_MCP_TOKEN_MODEL, EstimatingTokenCounter())
        self._server = FurlMCPServer()

    def fold(self, texts: Sequence[bytes]) -> list[Folded]:
        return [self._fold(text) for text in texts]

    def _fold(self, text: bytes) -> Folded:
        content, errors = as_text(text)
        result = self._server._compress_content(content)
        if "error" in result:
            raise Refusal(result["error"])
        if result.get("durably_stored") is False:  # it says so: the caller keeps the text
            return Folded(text)
        return Folded(result["compressed"].encode("utf-8", errors), result["hash"], errors)

    def restore(self, folded: Folded) -> bytes:
        if folded.reference is None:
            return folded.context
        result = self._server._retrieve_content_sync(folded.reference, None)
        if "original_content" not in result:
            raise Refusal(result["error"])
        original: str = result["original_content"]
        return original.encode("utf-8", folded.errors)

    def command(self, folded: Folded) -> tuple[list[str], bytes]:
        return [str(Path(sys.executable).with_name("furl")), "retrieve", str(folded.reference)], b""


if __name__ == "__main__":
    serve(furl_ctx.__version__, Furl)
