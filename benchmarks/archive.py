"""Load on one archive: `python -m benchmarks.archive [--quick]`.

Eight processes that put, and eight that fold, beside a bare sqlite3 that stores the same bytes with the
same tables and durability; then get, list page and put beside 1,000, 100,000 and a million bodies.
"""

import argparse
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import ctxf
from benchmarks.floors import FloorArchive, random_body
from ctxf.archive import NewBody
from ctxf.protocol.references import body_digest

__all__ = ["concurrent_folds", "concurrent_puts", "growth", "main"]

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


def _together(work: _Work, path: Path, count: int) -> float:
    """Seconds until eight processes have done `work` on one archive; raises when one of them fails."""
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=work, args=(path, count)) for _ in range(_PROCESSES)]
    start = time.perf_counter()
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise RuntimeError(f"{work.__name__}: a process failed")
    return time.perf_counter() - start


def _beside_floor(name: str, floor: _Work, ours: _Work, folder: Path, count: int, repeat: int) -> None:
    floors, own = [], []
    for number in range(repeat):
        bare = folder / f"{name}-floor-{number}.db"
        FloorArchive(bare).close()  # it cannot be made by eight at once
        floors.append(_together(floor, bare, count))
        path = folder / f"{name}-{number}.db"
        own.append(_together(ours, path, count))
        with ctxf.Archive.open(path) as archive:
            found = archive.scopes()[0].folds
            if found != _PROCESSES * count or not archive.verify(deep=True).is_intact:
                raise RuntimeError(f"{found} of {_PROCESSES * count} are there")
    seconds, floor_seconds = statistics.median(own), statistics.median(floors)
    print(
        f"{_PROCESSES} x {count:,} {name}: {seconds:.2f} s, floor {floor_seconds:.2f} s,"
        f" {seconds / floor_seconds:.2f} x; {_PROCESSES * count / seconds:,.0f} a second; 0 lost, 0 errors",
        flush=True,
    )


def concurrent_puts(folder: Path, count: int = 250, repeat: int = 3) -> None:
    """Eight processes that each put `count` bodies of 4 KB, one at a time."""
    _beside_floor("puts", _floor_puts, _our_puts, folder, count, repeat)


def concurrent_folds(folder: Path, count: int = 2000, repeat: int = 1) -> None:
    """Eight processes that each fold `count` texts of one block of 1.2 KB."""
    _beside_floor("folds", _floor_folds, _our_folds, folder, count, repeat)


def growth(folder: Path, sizes: Sequence[int] = (1_000, 100_000, 1_000_000), calls: int = 500) -> None:
    """p50 and p99 of a get, a list page and a put in one archive as it grows, over scopes of 1,000 folds."""
    with ctxf.Archive.open(folder / "growth.db") as archive:
        stored = 0
        for size in sizes:
            while stored < size:
                scope = f"scope-{stored // 1000}"
                archive.put(scope, [[_new(b"%d " % (stored + one) + random_body(60))] for one in range(1000)])
                stored += 1000
            print(f"at {size:>9,} bodies: {_calls(archive, size, calls)}", flush=True)


def _calls(archive: ctxf.Archive, size: int, calls: int) -> str:
    scopes = [f"scope-{number * max(1, size // 1000 // 50) % (size // 1000)}" for number in range(50)]
    ids = {scope: [entry.id for entry in archive.entries(scope)][::100] for scope in dict.fromkeys(scopes)}
    targets = [(scope, id) for scope, some in ids.items() for id in some]
    store = archive._store  # a page is a call of the store
    return "; ".join(
        (
            _timed("get", lambda n: archive.read(*targets[n % len(targets)]), calls),
            _timed("page of 500", lambda n: store.entries(scopes[n % 50], after=0, limit=500), calls // 5),
            _timed("put", lambda n: archive.put("new", [[_new(b"%d " % n + random_body(4096))]]), calls // 5),
        )
    )


def _timed(name: str, call: Callable[[int], object], calls: int) -> str:
    seconds = []
    for number in range(calls):
        start = time.perf_counter()
        call(number)
        seconds.append(time.perf_counter() - start)
    seconds.sort()
    p50, p99 = seconds[len(seconds) // 2], seconds[len(seconds) * 99 // 100]
    return f"{name} p50 {p50 * 1e3:.3f} ms, p99 {p99 * 1e3:.3f} ms"


def main() -> int:
    """Print the figures; raises when anything is lost."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.archive", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of it")
    quick = parser.parse_args().quick
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory(prefix="ctxf-archive-") as folder:
        concurrent_puts(Path(folder), 50 if quick else 250, 1 if quick else 3)
        concurrent_folds(Path(folder), 200 if quick else 2000)
        growth(Path(folder), (1_000, 10_000, 100_000) if quick else (1_000, 100_000, 1_000_000))
    return 0


if __name__ == "__main__":
    sys.exit(main())
