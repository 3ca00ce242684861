"""What is measured of each tool. A tool that cannot do a row has the error there, in its own words."""

import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.peers.drivers.loop import Folded
from benchmarks.peers.process import Driver, Failure, Runner
from benchmarks.peers.texts import KINDS, hard_bodies, marked, messages

__all__ = ["ROWS", "Cell", "Peer", "Scale", "measure"]

_DAY = 86_400
_CLOCKS = {"1 hour": 3_600 + 60, "2 days": 2 * _DAY, "1 year": 365 * _DAY}
_WRITERS = 8


@dataclass(frozen=True, slots=True)
class Scale:
    """Messages of a conversation, bytes of one, runs, writes of one process, messages in one store."""

    messages: int = 250
    message_bytes: int = 8192
    repeat: int = 5
    writes: int = 50
    many: int = 2000


QUICK = Scale(messages=40, repeat=3, writes=10, many=1100)


@dataclass(frozen=True, slots=True)
class Peer:
    """A tool that is there, and how to start its driver."""

    name: str
    runner: Runner
    is_marked: bool
    has_clock: bool  # whether its clock can be moved

    def texts(self, bodies: Sequence[bytes]) -> list[bytes]:
        """The bodies as this tool is given them."""
        return [marked(body) for body in bodies] if self.is_marked else list(bodies)


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure of one tool: `value` in `unit`, the median of `runs` where there are some, and its words.

    `group` is the kind of text where a figure is taken for several. Details are `exact`, `there`, or what was
    found instead.
    """

    row: str
    tool: str
    words: str
    value: float | None = None
    unit: str = ""
    group: str = ""
    runs: Sequence[float] = ()
    error: str | None = None
    details: dict[str, str] = field(default_factory=dict)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="ctxf-peers-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _warm(driver: Driver, peer: Peer) -> None:
    """What a tool sets up at its first call is not a matter of throughput."""
    driver.restore(driver.fold(peer.texts(messages("log", 1, 4096, seed="warm"))).folded)


def _exact(restored: Sequence[bytes | str], texts: Sequence[bytes]) -> int:
    """How many came back as they were; a tool may have joined them all into one."""
    if len(restored) == 1 and restored[0] == b"".join(texts):
        return len(texts)
    return sum(one == text for one, text in zip(restored, texts, strict=len(restored) == len(texts)))


def throughput(peers: Sequence[Peer], scale: Scale) -> Iterator[Cell]:
    """A conversation folded and restored; the tools take turns, each in a new process and a new store."""
    row = f"fold + restore, {scale.messages} messages of {scale.message_bytes >> 10} KB"
    for kind in KINDS:
        bodies = messages(kind, scale.messages, scale.message_bytes)
        runs: dict[str, list[float]] = {peer.name: [] for peer in peers}
        words: dict[str, str] = {}
        errors: dict[str, str] = {}
        for _ in range(scale.repeat):
            for peer in peers:
                texts = peer.texts(bodies)
                try:
                    with _folder() as folder, peer.runner.start(folder) as driver:
                        _warm(driver, peer)
                        fold = driver.fold(texts)
                        restored = driver.restore(fold.folded)
                except Failure as error:
                    errors[peer.name] = str(error)
                    continue
                size = sum(map(len, texts))
                runs[peer.name].append(size / (fold.seconds + restored.seconds) / 1e6)
                stays = sum(len(one.context) for one in fold.folded) / size
                exact = _exact(restored.texts, texts)
                words[peer.name] = f"{exact} of {len(texts)} exact, {stays:.0%} stays in the context"
        for peer in peers:
            if runs[peer.name]:
                speeds = runs[peer.name]
                yield Cell(row, peer.name, words[peer.name], statistics.median(speeds), "MB/s", kind, speeds)
            else:
                yield Cell(row, peer.name, "", group=kind, error=errors[peer.name])


def single_message(row: str, peer: Peer, scale: Scale) -> Cell:
    """One message at a time, each stored before the next: what a proxy does."""
    texts = peer.texts(messages("log", scale.messages, scale.message_bytes, seed="one"))
    seconds = []
    with _folder() as folder, peer.runner.start(folder) as driver:
        _warm(driver, peer)
        for text in texts:
            fold = driver.fold([text])
            seconds.append((fold.seconds + driver.restore(fold.folded).seconds) * 1e3)
    deciles = statistics.quantiles(seconds, n=10)
    return Cell(row, peer.name, f"p90 {deciles[-1]:.2f} ms", statistics.median(seconds), "ms")


def exactness(row: str, peer: Peer, scale: Scale) -> Cell:
    """Fourteen hard bodies, one after the other; a process that does not survive one is started again."""
    del scale
    details = {name: _verdict(peer, peer.texts([body])[0]) for name, body in hard_bodies().items()}
    exact = sum(verdict in {"exact", "exact, not folded"} for verdict in details.values())
    kept = sum(verdict == "exact, not folded" for verdict in details.values())
    words = f"{exact} of {len(details)} exact" + (f", {kept} of them not folded" if kept else "")
    return Cell(row, peer.name, words, exact, f"of {len(details)}", details=details)


def _verdict(peer: Peer, text: bytes) -> str:
    try:
        with _folder() as folder, peer.runner.start(folder) as driver:
            folded = driver.fold([text], timeout=60).folded
            (restored,) = driver.restore(folded, timeout=60).texts
    except Failure as error:
        return f"error: {error}"
    if isinstance(restored, str):
        return f"lost: {restored}"
    if restored == text:
        return "exact, not folded" if folded[0].context == text else "exact"
    if folded[0].reference is None and folded[0].context == restored:
        return "no way back: shortened, and no reference to an original"
    return f"other bytes: {len(restored)} for {len(text)}"


def durability(row: str, peer: Peer, scale: Scale) -> Cell:
    """kill -9 behind the last acknowledged write, in the middle of the next; a new process reads."""
    texts = peer.texts(messages("log", scale.writes + 1, scale.message_bytes, seed="kill"))
    with _folder() as folder:
        driver = peer.runner.start(folder)
        try:
            folded = [driver.fold([text]).folded[0] for text in texts[:-1]]
            driver.send_fold(texts[-1:])
        finally:
            driver.kill()
        with peer.runner.start(folder) as reader:
            exact = _exact(reader.restore(folded).texts, texts[:-1])
    lost = len(folded) - exact
    return Cell(row, peer.name, f"{lost} of {len(folded)} lost", lost, "writes")


def writers(row: str, peer: Peer, scale: Scale) -> Cell:
    """Eight processes write into one store at once; a new process reads what was acknowledged."""
    batches = [
        peer.texts(messages("log", scale.writes, scale.message_bytes, seed=f"writer {number}"))
        for number in range(_WRITERS)
    ]
    acknowledged: list[tuple[Folded, bytes]] = []
    refused: list[str] = []
    with _folder() as folder:
        with ExitStack() as stack:
            drivers = [stack.enter_context(peer.runner.start(folder)) for _ in range(_WRITERS)]
            start = time.perf_counter()
            for at in range(scale.writes):
                for driver, batch in zip(drivers, batches, strict=True):
                    driver.send_fold([batch[at]])
                for driver, batch in zip(drivers, batches, strict=True):
                    try:
                        acknowledged.append((driver.receive_fold().folded[0], batch[at]))
                    except Failure as error:
                        refused.append(str(error))
            seconds = time.perf_counter() - start
        with peer.runner.start(folder) as reader:
            restored = reader.restore([folded for folded, _ in acknowledged]).texts
    lost = sum(one != text for one, (_, text) in zip(restored, acknowledged, strict=True))
    rate = len(acknowledged) / seconds
    words = f"{lost} of {len(acknowledged)} lost, {len(refused)} refused; {rate:,.0f} a second"
    details = {"first refusal": refused[0]} if refused else {}
    return Cell(row, peer.name, words, lost, "writes", details=details)


def start_up(row: str, peer: Peer, scale: Scale) -> Cell:
    """A whole process that prints one stored message, as a shell tool call does."""
    (body,) = messages("log", 1, 4096, seed="start")
    runs = []
    with _folder() as folder:
        with peer.runner.start(folder) as driver:
            argv, stdin = driver.command(driver.fold(peer.texts([body])).folded[0])
        environ = peer.runner.environ(folder)
        environ.pop("PYTHONPATH")
        for _ in range(scale.repeat * 3):
            start = time.perf_counter()
            done = subprocess.run(
                argv, input=stdin, cwd=folder, env=environ, capture_output=True, check=False
            )
            runs.append((time.perf_counter() - start) * 1e3)
            if done.returncode != 0 or done.stdout.removesuffix(b"\n") != body.removesuffix(b"\n"):
                raise Failure(
                    f"exit {done.returncode}: {done.stderr.decode(errors='replace').strip()[-300:]}"
                )
    return Cell(row, peer.name, "", statistics.median(runs), "ms", runs=runs)


def capacity(row: str, peer: Peer, scale: Scale) -> Cell:
    """How many of many acknowledged messages a new process finds."""
    texts = peer.texts(messages("log", scale.many, 2048, seed="many"))
    with _folder() as folder:
        with peer.runner.start(folder) as driver:
            folded = driver.fold(texts).folded
        with peer.runner.start(folder) as reader:
            exact = _exact(reader.restore(folded).texts, texts)
    words = f"{exact:,} of {len(texts):,} still there"
    return Cell(row, peer.name, words, exact, "messages")


def expiry(row: str, peer: Peer, scale: Scale) -> Cell:
    """Whether a message is still there later: a new process whose clock is ahead."""
    del scale
    if not peer.has_clock:
        raise Failure("a program of its own, whose clock cannot be moved")
    texts = peer.texts(messages("log", 1, 4096, seed="expiry"))
    details = {}
    for name, seconds in _CLOCKS.items():
        with _folder() as folder:
            with peer.runner.start(folder) as driver:
                folded = driver.fold(texts).folded
            with peer.runner.start(folder, clock_ahead=seconds) as reader:
                restored = reader.restore(folded).texts
        details[name] = "there" if restored == texts else f"gone: {restored[0]!r}"
    gone = [name for name, found in details.items() if found != "there"]
    words = f"gone after {gone[0]}" if gone else f"there after {list(_CLOCKS)[-1]}"
    return Cell(row, peer.name, words, details=details)


ROWS: dict[str, Callable[[str, Peer, Scale], Cell]] = {
    "one log message folded and restored, p50": single_message,
    "hard bodies given back exactly": exactness,
    "writes lost after kill -9": durability,
    f"writes lost by {_WRITERS} writers at once": writers,
    "one stored message printed by a new process": start_up,
    "messages still there": capacity,
    "expiry": expiry,
}


def measure(
    peers: Sequence[Peer], scale: Scale, progress: Callable[[int, int], None] = lambda _done, _total: None
) -> Iterator[Cell]:
    """Every row of every tool, each when it is asked for; `progress` gets the rows done, and their number."""
    for cell in throughput(peers, scale):
        yield cell
        progress(0, 1 + len(ROWS))
    for done, (row, function) in enumerate(ROWS.items(), 1):
        for peer in peers:
            progress(done, 1 + len(ROWS))
            try:
                yield function(row, peer, scale)
            except Failure as error:
                yield Cell(row, peer.name, "", error=str(error))
