"""ctxf: a conversation is one text with marked blocks; `fold` it, `restore` it."""

import sys
from collections.abc import Sequence
from pathlib import Path

import ctxf
from benchmarks.peers.drivers.loop import Folded, Refusal, serve


class Ctxf:
    """Its library, on an archive file."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "archive.db"
        self._archive = ctxf.Archive.open(self._path)

    def fold(self, texts: Sequence[bytes]) -> list[Folded]:
        result = ctxf.fold(b"".join(texts), self._archive)
        if result.failure is not None:
            raise result.failure
        return [Folded(result.text)]

    def restore(self, folded: Folded) -> bytes:
        result = ctxf.restore(folded.context, self._archive)
        if result.unresolved:
            raise Refusal(str(result.unresolved[0]))
        return result.text

    def command(self, folded: Folded) -> tuple[list[str], bytes]:
        id = folded.context.partition(b"[[cf:v2:")[2].partition(b"]]")[0].decode()
        executable = str(Path(sys.executable).with_name("ctxf"))
        return [executable, "read", "--archive", str(self._path), "--id", id, "--restore"], b""


if __name__ == "__main__":
    serve(ctxf.__version__, Ctxf)
