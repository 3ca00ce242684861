"""slimctx: `Pipeline.compress_blob` and `retrieve` on its SQLite store, as its MCP server has them."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import slimctx  # type: ignore[import-not-found]

from benchmarks.peers.drivers.loop import Folded, Refusal, as_text, serve

_MARKER = re.compile(r"\[slimctx-ref ([0-9a-f]+) ")
_READ = (
    "import sys; from slimctx import SqliteStore; sys.stdout.write(SqliteStore(sys.argv[1]).get(sys.argv[2]))"
)


class Slimctx:
    """Its pipeline."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "store.db"
        self._pipeline = slimctx.Pipeline(store=slimctx.SqliteStore(str(self._path)))

    def fold(self, texts: Sequence[bytes]) -> list[Folded]:
        return [self._fold(text) for text in texts]

    def _fold(self, text: bytes) -> Folded:
        content, errors = as_text(text)
        compressed = self._pipeline.compress_blob(content)
        # Where it gives no marker, the context is all there is to restore from.
        marker = _MARKER.match(compressed) if compressed != content else None
        return Folded(compressed.encode("utf-8", errors), marker and marker[1], errors)

    def restore(self, folded: Folded) -> bytes:
        if folded.reference is None:
            return folded.context
        original = self._pipeline.retrieve(folded.reference)
        if original is None:
            raise Refusal(f"no content for ref {folded.reference} (expired, evicted, or invalid)")
        return str(original).encode("utf-8", folded.errors)

    def command(self, folded: Folded) -> tuple[list[str], bytes]:
        return [sys.executable, "-c", _READ, str(self._path), str(folded.reference)], b""


if __name__ == "__main__":
    serve(slimctx.__version__, Slimctx)
