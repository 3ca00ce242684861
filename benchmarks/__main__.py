"""`python -m benchmarks`: the table of DESIGN, each row beside its floor, and other tools with `--peers`."""

import argparse
import os
import platform
import sys
from pathlib import Path
from typing import Final

from benchmarks import chart, figures
from benchmarks.measure import Row
from benchmarks.peers.environments import default_folder
from benchmarks.peers.run import is_met
from benchmarks.peers.run import run as run_peers
from benchmarks.results import Results, as_results, load, rounded, save
from benchmarks.rows import QUICK, Scale, all_rows
from ctxf.cli.progress import Progress

_ROOT: Final = Path(__file__).parents[1]
PUBLISHED: Final = _ROOT / "benchmarks" / "results" / "speed.json"

_EXAMPLES = """
examples:
  python -m benchmarks --quick
  python -m benchmarks --peers --json run.json --svg run.svg
  python -m benchmarks --peers --publish    measure all; write benchmarks/results/ and docs/speed.md
  python -m benchmarks --from run.json --svg run.svg    measure nothing
  python -m benchmarks --from run.json --peers --json run.json    measure only the peers anew
"""


def main() -> int:
    """Print each row when it is measured; 1 when a target is missed."""
    parser = _parser()
    arguments = parser.parse_args()
    earlier = None
    if arguments.source is not None:
        try:
            earlier = load(arguments.source)
        except (OSError, ValueError) as error:
            parser.error(f"--from {arguments.source}: {error}")
    if arguments.publish:
        if arguments.quick or (earlier and earlier["run"]["quick"]):
            parser.error("--publish is for a whole run, not for a quick one")
        if not arguments.peers and not (earlier and "peers" in earlier):
            parser.error("--publish needs the peers: add --peers")
    results, missed = (earlier, False) if earlier else _measure_rows(quick=arguments.quick)
    if arguments.peers:
        peers = run_peers(quick=arguments.quick, environments=arguments.environments)
        results = {**results, "peers": peers}
        missed = missed or not is_met(peers)
    _write(rounded(results), arguments)
    return 1 if missed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="less of everything, under two minutes")
    parser.add_argument("--peers", action="store_true", help="the same texts through other tools, too")
    parser.add_argument(
        "--environments",
        metavar="DIR",
        type=Path,
        default=default_folder(),
        help="where the tools are installed, and kept for the next run (%(default)s)",
    )
    parser.add_argument("--from", metavar="FILE", dest="source", type=Path, help="take the table from there")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures there")
    parser.add_argument("--svg", metavar="FILE", type=Path, help="draw them there")
    parser.add_argument("--publish", action="store_true", help="write results/ and docs/speed.md")
    return parser


def _measure_rows(*, quick: bool) -> tuple[Results, bool]:
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}")
    print(f"{'':3}{'ratio':>7} {'target':>7} {'ours':>11} {'floor':>11} {'spread':>18} {'peak':>7}")
    rows = []
    with Progress("Measuring") as progress:
        for row in all_rows(QUICK if quick else Scale(), progress):
            progress.clear()
            rows.append(row)
            print(_line(row), flush=True)
    return as_results(rows, quick=quick), not all(row.holds for row in rows)


def _write(results: Results, arguments: argparse.Namespace) -> None:
    if arguments.json:
        save(results, arguments.json)
    if arguments.svg:
        arguments.svg.write_text(chart.draw(results))
    if arguments.publish:
        PUBLISHED.parent.mkdir(exist_ok=True)
        save(results, PUBLISHED)
        PUBLISHED.with_suffix(".svg").write_text(chart.draw(results))
        figures.insert(results, _ROOT / "docs" / "speed.md")


def _line(row: Row) -> str:
    target = f"<= {row.target:g}" if row.target is not None else ""
    peak = f"{row.peak_kib / 1024:.0f} MiB" if row.peak_kib else ""
    return (
        f"{'ok' if row.holds else '!!':3}{row.ratio:6.2f}x {target:>7} {_time(row.our_seconds)} "
        f"{_time(row.floor_seconds)} {row.spread:>18} {peak:>7}  {row.name} / {row.floor_name}"
    )


def _time(seconds: float) -> str:
    return f"{seconds:9.3f} s" if seconds >= 0.1 else f"{seconds * 1e3:8.3f} ms"


if __name__ == "__main__":
    sys.exit(main())
