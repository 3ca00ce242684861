"""An environment for each tool, made with nothing but the package registry, and kept for the next run."""

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Tool", "Unavailable", "default_folder", "prepare", "tools"]

_PINS = Path(__file__).with_name("peers.toml")


class Unavailable(Exception):
    """The tool cannot be had here; the message is the installer's."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A row of peers.toml. Without a requirement the driver runs in this Python."""

    name: str
    driver: str
    path: str
    disk: str
    beyond: str
    marked: bool = False  # whether it needs markers around what it folds
    has_clock: bool = True  # whether the driver can move its clock
    target: float | None = None  # how many times as fast ctxf has to be
    requirement: str | None = None
    program: tuple[str, ...] = ()


def tools() -> list[Tool]:
    """All of peers.toml, ctxf first."""
    rows = tomllib.loads(_PINS.read_text())["tool"]
    return [Tool(**{**row, "program": tuple(row.get("program", ()))}) for row in rows]


def default_folder() -> Path:
    """Where environments are kept: the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ctxf-benchmarks"


def prepare(tool: Tool, folder: Path) -> str:
    """The Python that runs the tool's driver; raises Unavailable with the reason."""
    if tool.program:
        _run(tool.program)
    if tool.requirement is None:
        return sys.executable
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    key = hashlib.sha256(f"{tool.requirement} {version}".encode()).hexdigest()[:8]
    environment = folder / f"{tool.name}-{key}"
    python = environment / "bin" / "python"
    complete = environment / "complete"
    if not complete.exists():
        shutil.rmtree(environment, ignore_errors=True)
        print(f"installing {tool.requirement} into {environment}", file=sys.stderr, flush=True)
        _run((sys.executable, "-m", "venv", str(environment)))
        _run((str(python), "-m", "pip", "install", "--quiet", tool.requirement))
        complete.touch()
    return str(python)


def _run(argv: tuple[str, ...]) -> None:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Unavailable(str(error)) from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or [f"{argv[0]} failed"]
        errors = [line for line in lines if line.startswith("ERROR")]
        raise Unavailable(" ".join((errors or lines)[-1].removeprefix("ERROR: ").split())[:300])
