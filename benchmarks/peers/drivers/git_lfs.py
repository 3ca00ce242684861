"""git-lfs: clean and smudge through its long-running filter process, as Git itself uses it on many files."""

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.peers.drivers.loop import Folded, Refusal, serve

_MOST = 65516  # bytes of payload in one packet


class GitLfs:
    """A repository with a filter process; the pointer is what stands in the text's place."""

    def __init__(self, folder: Path) -> None:
        if not (folder / ".git").exists():
            subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
        self._process = subprocess.Popen(
            ["git", "lfs", "filter-process"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=-1,
        )
        self._send([b"git-filter-client\n", b"version=2\n"])
        self._lines()
        self._send([b"capability=clean\n", b"capability=smudge\n"])
        self._lines()

    def fold(self, texts: Sequence[bytes]) -> list[Folded]:
        return [Folded(self._filter(b"clean", text)) for text in texts]

    def restore(self, folded: Folded) -> bytes:
        return self._filter(b"smudge", folded.context)

    def command(self, folded: Folded) -> tuple[list[str], bytes]:
        return ["git", "lfs", "smudge"], folded.context

    def _filter(self, command: bytes, content: bytes) -> bytes:
        self._send([b"command=%b\n" % command, b"pathname=text\n"])
        self._send([content[at : at + _MOST] for at in range(0, len(content), _MOST)])
        self._expect_success()
        filtered = b"".join(self._packets())
        self._expect_success()
        return filtered

    def _expect_success(self) -> None:
        """A status comes before the content and, only where it has changed, behind it."""
        status = self._lines()
        if status not in ([], [b"status=success"]):
            raise Refusal(b" ".join(status).decode())

    def _send(self, packets: Sequence[bytes]) -> None:
        assert self._process.stdin is not None
        for packet in packets:
            self._process.stdin.write(b"%04x%b" % (len(packet) + 4, packet))
        self._process.stdin.write(b"0000")
        self._process.stdin.flush()

    def _lines(self) -> list[bytes]:
        return [packet.rstrip(b"\n") for packet in self._packets()]

    def _packets(self) -> Iterator[bytes]:
        assert self._process.stdout is not None
        while (size := int(self._process.stdout.read(4), 16)) != 0:
            yield self._process.stdout.read(size - 4)


if __name__ == "__main__":
    version = subprocess.run(["git", "lfs", "version"], capture_output=True, text=True, check=True).stdout
    serve(version.split()[0].removeprefix("git-lfs/"), GitLfs)
