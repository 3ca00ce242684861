"""A run as plain values: what the JSON file holds, and the chart and docs/speed.md are made of.

    {"run": {"ctxf", "python", "cores", "machine", "quick"},
     "rows": [{"name", "floor", "target", "ratio", "seconds", "fastest", "slowest", "floor_seconds", ...}],
     "peers": {"tools": [...], "cells": [{"row", "group", "tool", "value", "unit", "words", "error", ...}]}}

Times are seconds and medians of their runs; `peers` is there only when they were measured.
"""

import json
import os
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import ctxf
from benchmarks.measure import Row

__all__ = ["Results", "as_results", "load", "plain", "rounded", "save"]

Results = dict[str, Any]


def as_results(rows: Iterable[Row], *, quick: bool) -> Results:
    """The table's rows, and what they were measured on."""
    run = {
        "ctxf": ctxf.__version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "quick": quick,
    }
    return {"run": run, "rows": [_fields(row) for row in rows]}


def _fields(row: Row) -> Results:
    seconds = [sample.seconds for sample in row.ours]
    return {
        "name": row.name,
        "floor": row.floor_name,
        "target": row.target,
        "ratio": row.ratio,
        "seconds": row.our_seconds,
        "fastest": min(seconds),
        "slowest": max(seconds),
        "floor_seconds": row.floor_seconds,
        "runs": len(seconds),
        "peak_kib": row.peak_kib,
    }


def plain(value: float, digits: int) -> str:
    """The value with so many digits that count, without an exponent where a reader expects none."""
    return f"{float(f'{value:.{digits}g}'):.10g}"


def load(path: Path) -> Results:
    """The results of an earlier run; raises OSError, or ValueError where these are none."""
    results = json.loads(path.read_text())
    if not isinstance(results, dict) or not {"run", "rows"} <= results.keys():
        raise ValueError("these are not the results of a run")
    return results


def save(results: Results, path: Path) -> None:
    """One field a line, so that a difference can be read."""
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")


def rounded(value: Any) -> Any:
    """The same with four digits of every figure: more are not repeated by another run."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value
