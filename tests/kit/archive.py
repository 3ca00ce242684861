"""What the archive tests share: bodies, the real collision, and both stores by name."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ctxf.archive import Archive, NewBody
from ctxf.archive.base import Store
from ctxf.archive.in_memory import MemoryStore
from ctxf.archive.sqlite import SqliteStore

COLLISION = Path(__file__).parents[1] / "cases" / "collision"
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
    code: str, *arguments: str | Path, without_rights: bool = False, umask: int = -1, timeout: float = 60
) -> subprocess.CompletedProcess[bytes]:
    """Run `code` in a process of its own; `without_rights` modes bind it even when we are root."""
    prefix = []
    if without_rights and os.geteuid() == 0:
        prefix = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner"]
        if shutil.which(prefix[0]) is None:
            pytest.skip("root needs setpriv for this")
    return subprocess.run(
        [*prefix, sys.executable, "-c", code, *map(str, arguments)],
        env={
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "HOME": "/nonexistent",
            "PATH": os.environ["PATH"],
        },
        capture_output=True,
        timeout=timeout,
        check=False,
        umask=umask,
    )
