"""`python -m benchmarks [--quick] [--json FILE]`: the table of DESIGN, each row beside its floor."""

import argparse
import json
import os
import platform
import sys
from pathlib import Path

from benchmarks.measure import Row
from benchmarks.rows import QUICK, Scale, all_rows


def main() -> int:
    """Print each row when it is measured; 1 when a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less of everything, under two minutes")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures there, too")
    arguments = parser.parse_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}")
    print(f"{'':3}{'ratio':>7} {'target':>7} {'ours':>11} {'floor':>11} {'spread':>18} {'peak':>7}")
    rows = []
    for row in all_rows(QUICK if arguments.quick else Scale()):
        rows.append(row)
        print(_line(row), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps([_fields(row) for row in rows], indent=1) + "\n")
    return 0 if all(row.holds for row in rows) else 1


def _line(row: Row) -> str:
    target = f"<= {row.target:g}" if row.target is not None else ""
    peak = f"{row.peak_kib / 1024:.0f} MiB" if row.peak_kib else ""
    return (
        f"{'ok' if row.holds else '!!':3}{row.ratio:6.2f}x {target:>7} {_time(row.our_seconds)} "
        f"{_time(row.floor_seconds)} {row.spread:>18} {peak:>7}  {row.name} / {row.floor_name}"
    )


def _time(seconds: float) -> str:
    return f"{seconds:9.3f} s" if seconds >= 0.1 else f"{seconds * 1e3:8.3f} ms"


def _fields(row: Row) -> dict[str, object]:
    return {
        "name": row.name,
        "floor": row.floor_name,
        "target": row.target,
        "ratio": row.ratio,
        "seconds": row.our_seconds,
        "floor_seconds": row.floor_seconds,
        "peak_kib": row.peak_kib,
    }


if __name__ == "__main__":
    sys.exit(main())
