"""What the archive tests share: bodies, the real collision, and both stores by name."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from ctxf.archive import Archive, NewBody
from ctxf.archive.base import Store
from ctxf.archive.memory import MemoryStore
from ctxf.archive.sqlite import SqliteStore

COLLISION = Path(__file__).parent / "cases" / "collision"
NOBODY = 65534
"""A user without rights, for what root may do anyway."""

StoreFactory = Callable[[Path], Store]
STORES: Mapping[str, StoreFactory] = {
    "memory": lambda _directory: MemoryStore(),
    "sqlite": lambda directory: SqliteStore(directory / "archive.db"),
}


def new(body: bytes, label: bytes = b"note") -> NewBody:
    """A body to store, with its digest."""
    return NewBody(body, hashlib.sha256(body).digest(), label)


def bodies(count: int, size: int = 400, seed: str = "") -> list[bytes]:
    """Different bodies that compress like text."""
    return [f"{seed} body {n}: ".encode() + b"the same line of a log\n" * (size // 23) for n in range(count)]


def collision_pair() -> tuple[bytes, bytes]:
    """Two bodies with the same first twelve digits of SHA-256."""
    return (COLLISION / "first.txt").read_bytes(), (COLLISION / "second.txt").read_bytes()


def put(archive: Archive, scope: str, *contents: bytes) -> list[str]:
    """Store each body as a group of its own; their ids."""
    admissions = archive.put(scope, [[new(content)] for content in contents])
    return [ids[0] for ids in admissions if isinstance(ids, tuple)]


def run_python(
    code: str, *arguments: str | Path, as_nobody: bool = False, umask: int = -1, timeout: float = 60
) -> subprocess.CompletedProcess[bytes]:
    """Run `code` in a process of its own; with `as_nobody` as a user without rights, if we are root."""
    someone_else = NOBODY if as_nobody and os.geteuid() == 0 else None
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={"PYTHONPATH": str(Path(__file__).parent), "HOME": "/nonexistent"},
        capture_output=True,
        timeout=timeout,
        check=False,
        user=someone_else,
        group=someone_else,
        extra_groups=None if someone_else is None else [],
        umask=umask,
    )
