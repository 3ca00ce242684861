"""Load on one archive: `python -m benchmarks.archive [--quick]`, and two rows of the whole table.

Eight processes that put, and eight that fold, beside a bare sqlite3 that stores the same bytes with the
same tables and durability; then get, list page and put beside 1,000, 100,000 and a million bodies.
"""

import argparse
import itertools
import multiprocessing
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import ctxf
from benchmarks.floors import FloorArchive, random_body
from benchmarks.measure import Row, Sample, compare
from ctxf.archive import NewBody
from ctxf.protocol.references import body_digest

__all__ = ["Load", "concurrent_folds", "concurrent_puts", "get_beside_many", "growth", "main"]

_PROCESSES = 8
_Work = Callable[[Path, int], None]


def _new(body: bytes) -> NewBody:
    return NewBody(body, body_digest(body), b"b")


def _floor_puts(path: Path, count: int) -> None:
    archive = FloorArchive(path)
    for _ in range(count):
        archive.put([random_body(4096)])
    archive.close()


def _our_puts(path: Path, count: int) -> None:
    with ctxf.Archive.open(path) as archive:
        for _ in range(count):
            body = random_body(4096)
            (ids,) = archive.put("default", [[_new(body)]])
            if not isinstance(ids, tuple):
                raise RuntimeError("refused")


def _our_folds(path: Path, count: int) -> None:
    with ctxf.Archive.open(path) as archive:
        for _ in range(count):
            body = random_body(600).hex().encode() + b"\n"
            text = b"<!-- @context-fold begin x -->\n%b<!-- @context-fold end x -->\n" % body
            if not ctxf.fold(text, archive, min_savings_tokens=0).folds:
                raise RuntimeError("not folded")


def _floor_folds(path: Path, count: int) -> None:
    archive = FloorArchive(path)
    for _ in range(count):
        archive.put([random_body(600).hex().encode() + b"\n"])
    archive.close()


def _together(work: _Work, path: Path, count: int) -> Sample:
    """Eight processes do `work` on one archive, to the end; raises when one of them fails."""
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=work, args=(path, count)) for _ in range(_PROCESSES)]
    start = time.perf_counter()
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise RuntimeError(f"{work.__name__}: a process failed")
    return Sample(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


@dataclass(frozen=True, slots=True)
class Load:
    """What each of the eight processes does how often, and how many times over."""

    folder: Path
    count: int
    repeat: int = 5


def _beside_floor(name: str, works: tuple[_Work, _Work], target: float | None, load: Load) -> Row:
    """The same work by eight processes on the floor and on ours; raises when anything was lost."""
    numbers = itertools.count()
    floor_work, our_work = works

    def floor() -> Sample:
        path = load.folder / f"{name}-floor-{next(numbers)}.db"
        FloorArchive(path).close()  # it cannot be made by eight at once
        return _together(floor_work, path, load.count)

    def ours() -> Sample:
        path = load.folder / f"{name}-{next(numbers)}.db"
        sample = _together(our_work, path, load.count)
        with ctxf.Archive.open(path) as archive:
            found = archive.scopes()[0].folds
            if found != _PROCESSES * load.count or not archive.verify(deep=True).is_intact:
                raise RuntimeError(f"{found} of {_PROCESSES * load.count} are there")
        return sample

    return compare(
        f"{_PROCESSES} processes x {load.count:,} {name}, one archive; 0 lost, 0 errors",
        floor_name="bare sqlite3, same tables and durability",
        target=target,
        floor=floor,
        ours=ours,
        repeat=load.repeat,
    )


def concurrent_puts(load: Load) -> Row:
    """Eight processes that each put bodies of 4 KB, one at a time."""
    return _beside_floor("puts", (_floor_puts, _our_puts), 1.5, load)


def concurrent_folds(load: Load) -> Row:
    """Eight processes that each fold texts of one block of 1.2 KB; the floor does not scan any."""
    return _beside_floor("folds", (_floor_folds, _our_folds), None, load)


@dataclass(frozen=True, slots=True)
class Timing:
    """How long calls took, in seconds, in the order in which they were made."""

    seconds: Sequence[float]

    def __str__(self) -> str:
        ordered = sorted(self.seconds)
        p50, p99 = ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]
        return f"p50 {p50 * 1e3:.3f} ms, p99 {p99 * 1e3:.3f} ms"

    def medians(self, parts: int = 5) -> list[Sample]:
        """The medians of so many stretches of the calls."""
        size = len(self.seconds) // parts
        return [
            Sample(statistics.median(self.seconds[first : first + size]))
            for first in range(0, size * parts, size)
        ]


def growth(folder: Path, sizes: Sequence[int], calls: int = 500) -> Iterator[tuple[int, dict[str, Timing]]]:
    """Timings of a get, a list page and a put in one archive as it grows, over scopes of 1,000 folds."""
    with ctxf.Archive.open(folder / "growth.db") as archive:
        stored = 0
        for size in sizes:
            while stored < size:
                scope = f"scope-{stored // 1000}"
                archive.put(scope, [[_new(b"%d " % (stored + one) + random_body(60))] for one in range(1000)])
                stored += 1000
            yield size, _calls(archive, size, calls)


def get_beside_many(folder: Path, sizes: tuple[int, int]) -> Row:
    """One get beside many bodies, with the same beside few for its floor."""
    (few, at_few), (many, at_many) = growth(folder, sizes, calls=2500)
    return Row(
        f"one get beside {many:,} bodies, p50",
        f"beside {few:,}",
        2,
        at_few["get"].medians(),
        at_many["get"].medians(),
    )


def _calls(archive: ctxf.Archive, size: int, calls: int) -> dict[str, Timing]:
    scopes = [f"scope-{number * max(1, size // 1000 // 50) % (size // 1000)}" for number in range(50)]
    ids = {scope: [entry.id for entry in archive.entries(scope)][::100] for scope in dict.fromkeys(scopes)}
    targets = [(scope, id) for scope, some in ids.items() for id in some]
    store = archive._store  # a page is a call of the store
    return {
        "get": _timed(lambda n: archive.read(*targets[n % len(targets)]), calls),
        "page of 500": _timed(lambda n: store.entries(scopes[n % 50], after=0, limit=500), calls // 5),
        "put": _timed(lambda n: archive.put("new", [[_new(b"%d " % n + random_body(4096))]]), calls // 5),
    }


def _timed(call: Callable[[int], object], calls: int) -> Timing:
    seconds = []
    for number in range(calls):
        start = time.perf_counter()
        call(number)
        seconds.append(time.perf_counter() - start)
    return Timing(seconds)


def main() -> int:
    """Print the figures; raises when anything is lost."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.archive", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of it")
    quick = parser.parse_args().quick
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory(prefix="ctxf-archive-") as folder:
        puts = Load(Path(folder), 50 if quick else 250)
        folds = Load(Path(folder), 200 if quick else 2000, repeat=1)
        for row in (concurrent_puts(puts), concurrent_folds(folds)):
            print(
                f"{row.ratio:.2f} x, {row.our_seconds:.2f} s / {row.floor_seconds:.2f} s: {row.name}",
                flush=True,
            )
        for size, timings in growth(Path(folder), (1_000, 10_000, 100_000, *(() if quick else (1_000_000,)))):
            shown = "; ".join(f"{name} {timing}" for name, timing in timings.items())
            print(f"at {size:>9,} bodies: {shown}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
