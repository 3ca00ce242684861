"""A driver as a process of its own: started, asked, and killed as a power cut would."""

import base64
import json
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from benchmarks.peers.drivers.loop import Folded

__all__ = ["Driver", "Failure", "Fold", "Restored", "Runner"]

_ROOT = Path(__file__).parents[2]


class Failure(Exception):
    """The tool, or its process, could not do what it was asked; the message is its own."""


class Fold(NamedTuple):
    """What fold gave, and how long it took: seconds of the tool's own calls."""

    folded: list[Folded]
    seconds: float


class Restored(NamedTuple):
    """The originals, or for each what the tool said instead; seconds of the tool's own calls."""

    texts: list[bytes | str]
    seconds: float


class Runner(NamedTuple):
    """How a tool's driver is started."""

    python: str
    driver: str

    def start(self, folder: Path, *, clock_ahead: int = 0) -> "Driver":
        """A new process on that folder."""
        return Driver(self, folder, {"CTXF_BENCHMARK_CLOCK_AHEAD": str(clock_ahead)})

    def environ(self, folder: Path) -> dict[str, str]:
        """Home and caches are the folder: nothing of the user's is read or written."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {**kept, "HOME": str(folder), "PYTHONPATH": str(_ROOT), "PYTHONUTF8": "1"}


class Driver:
    """One process; each call waits for its answer, or ends the process after `timeout` seconds."""

    def __init__(self, runner: Runner, folder: Path, more: Mapping[str, str]) -> None:
        self._log = (folder / "stderr.txt").open("ab+")
        self._process = subprocess.Popen(
            [runner.python, "-m", f"benchmarks.peers.drivers.{runner.driver}", str(folder)],
            cwd=folder,
            env={**runner.environ(folder), **more},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        try:
            self.version: str = self._answer(120)["version"]
        except Failure:
            self.kill()
            raise

    def fold(self, texts: Sequence[bytes], timeout: float = 600) -> Fold:
        """Put the texts away; raises Failure when the tool raises."""
        self.send_fold(texts)
        return self.receive_fold(timeout)

    def send_fold(self, texts: Sequence[bytes]) -> None:
        """Ask without waiting, so that many can be asked at once."""
        self._ask({"request": "fold", "texts": [base64.b64encode(text).decode() for text in texts]})

    def receive_fold(self, timeout: float = 600) -> Fold:
        """The answer to `send_fold`."""
        answer = self._answer(timeout)
        folded = [
            Folded(base64.b64decode(one["context"]), one["reference"], one["errors"])
            for one in answer["folded"]
        ]
        return Fold(folded, answer["seconds"])

    def restore(self, folded: Sequence[Folded], timeout: float = 600) -> Restored:
        """The originals."""
        self._ask({"request": "restore", "folded": [_fields(one) for one in folded]})
        answer = self._answer(timeout)
        texts = [base64.b64decode(one["text"]) if "text" in one else one["error"] for one in answer["texts"]]
        return Restored(texts, answer["seconds"])

    def command(self, folded: Folded) -> tuple[list[str], bytes]:
        """The cheapest process that prints the original."""
        self._ask({"request": "command", "folded": _fields(folded)})
        answer = self._answer(60)
        return answer["argv"], base64.b64decode(answer["stdin"])

    def kill(self) -> None:
        """SIGKILL, at whatever point it is."""
        self._process.send_signal(signal.SIGKILL)
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close its stdin and wait; a process that does not end is killed."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            try:
                self._process.stdin.close()
                self._process.wait(30)
            except (OSError, subprocess.TimeoutExpired):
                self._process.kill()
            self._end()

    def _end(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):  # of what was on its way to a process that is gone
                    stream.close()
        self._process.wait()
        self._log.close()

    def _ask(self, request: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise Failure(self._last_words()) from None

    def _answer(self, timeout: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        timed_out = threading.Event()

        def give_up() -> None:
            timed_out.set()
            self._process.kill()

        timer = threading.Timer(timeout, give_up)
        timer.start()
        try:
            line = self._process.stdout.readline()
        finally:
            timer.cancel()
        if not line:
            raise Failure(f"no answer within {timeout:g} s" if timed_out.is_set() else self._last_words())
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise Failure(answer["error"])
        return answer

    def _last_words(self) -> str:
        self._process.wait()
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "the process ended")[:300]


def _fields(folded: Folded) -> dict[str, Any]:
    return {**folded._asdict(), "context": base64.b64encode(folded.context).decode()}
