"""All tools, all rows, as a table and as fields for the JSON file."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.peers.environments import Unavailable, prepare, tools
from benchmarks.peers.process import Failure, Runner
from benchmarks.peers.rows import QUICK, Cell, Peer, Scale, measure
from ctxf.cli.progress import Progress

__all__ = ["is_met", "run"]


def run(*, quick: bool, environments: Path) -> dict[str, Any]:
    """Make the environments, measure, print; what was found, as plain values."""
    described, peers = _peers(environments)
    for tool in described:
        state = tool["error"] or f"{tool['path']}; {tool['disk']}"
        print(f"{tool['name']} {tool['version'] or '(not measured)'}: {state}")
    cells, row = [], ""
    with Progress("Measuring") as progress:
        for cell in measure(peers, QUICK if quick else Scale(), progress):
            progress.clear()
            cells.append(asdict(cell))
            title = f"{cell.row}, {cell.group}" if cell.group else cell.row
            if title != row:
                row = title
                print(f"\n{row}")
            for line in _lines(cell):
                print(f"  {line}", flush=True)
    _compare(described, cells)
    print("\nWhat they do that ctxf does not")
    for tool in described:
        if tool["beyond"]:
            print(f"  {tool['name']}: {tool['beyond']}")
    return {"tools": described, "cells": cells}


def is_met(peers: dict[str, Any]) -> bool:
    """Whether ctxf is as many times as fast as every tool that could be measured as it has to be."""
    return all(
        tool["target"] <= tool["ratio"]
        for tool in peers["tools"]
        if tool["target"] is not None and tool["ratio"] is not None
    )


def _compare(described: list[dict[str, Any]], cells: list[dict[str, Any]]) -> None:
    """Give each tool its `ratio`: how many times as fast ctxf is, with the text that is best for the tool."""
    speeds = {(cell["tool"], cell["group"]): cell["value"] for cell in cells if cell["unit"] == "MB/s"}
    print("\nctxf beside each, conversation with the text that is best for the other")
    for tool in described:
        ratios = [
            speeds["ctxf", group] / value
            for (name, group), value in speeds.items()
            if name == tool["name"] and ("ctxf", group) in speeds
        ]
        tool["ratio"] = min(ratios, default=None)
        if tool["name"] == "ctxf" or tool["ratio"] is None:
            continue
        target = f", target {tool['target']:g}" if tool["target"] is not None else ""
        print(f"  {tool['ratio']:.3g} times as fast as {tool['name']}{target}")


def _peers(folder: Path) -> tuple[list[dict[str, Any]], list[Peer]]:
    """Each tool with its version, or with why it is not there; and those that are."""
    described: list[dict[str, Any]] = []
    peers = []
    for tool in tools():
        fields = {name: getattr(tool, name) for name in ("name", "path", "disk", "beyond", "target")}
        try:
            runner = Runner(prepare(tool, folder), tool.driver)
            version = _version(runner)
        except (Unavailable, Failure) as error:
            described.append({**fields, "version": None, "error": str(error)})
            continue
        described.append({**fields, "version": version, "error": None})
        peers.append(Peer(tool.name, runner, tool.marked, tool.has_clock))
    return described, peers


def _version(runner: Runner) -> str:
    with TemporaryDirectory(prefix="ctxf-peers-") as folder, runner.start(Path(folder)) as driver:
        return driver.version


def _lines(cell: Cell) -> Iterator[str]:
    if cell.error is not None:
        yield f"{cell.tool:12} cannot: {cell.error}"
        return
    value = f"{cell.value:9.2f} {cell.unit}" if cell.value is not None and cell.unit in {"MB/s", "ms"} else ""
    spread = f" ({min(cell.runs):.4g}-{max(cell.runs):.4g})" if cell.runs else ""
    yield f"{cell.tool:12} {value}{spread}{'  ' if value and cell.words else ''}{cell.words}"
    for name, found in cell.details.items():
        if found not in {"exact", "there"}:
            yield f"{'':14}{name}: {found}"
