"""A fork must lose nothing: not when the parent closes first, and not while its threads work."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import ctxf

IN_CHILDREN = range(900_000, 900_008)


def document(number: int) -> str:
    lines = "".join(f"{number} line {i} {number * i}\n" for i in range(300))
    return f"<!-- @context-fold begin x -->\n{lines}<!-- @context-fold end x -->\n"


def fold(archive: ctxf.Archive, number: int) -> str:
    result = ctxf.fold(document(number), archive)
    assert result.failure is None
    return result.folds[0].id


def in_child(work: Callable[[], object]) -> int:
    """Start `work` in a forked child; its process id."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            os._exit(1)
    return child


def read_elsewhere(path: Path, id: str) -> bytes:
    """What another process reads."""
    argv = [sys.executable, "-m", "ctxf", "--archive", str(path), "read", "--restore", "--id", id]
    return subprocess.run(argv, capture_output=True, check=False).stdout


def body_of(number: int) -> bytes:
    return "".join(document(number).splitlines(keepends=True)[1:-1]).encode()


def test_a_child_folds_on_when_its_parent_has_closed(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    archive = ctxf.Archive.open(path)
    ids = {0: fold(archive, 0)}
    reading, writing = os.pipe()

    def work() -> None:
        fold(archive, 1)
        os.read(reading, 1)  # until the parent has closed
        for number in range(2, 6):
            fold(archive, number)
        archive.close()

    child = in_child(work)
    archive.close()
    os.write(writing, b"x")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(reading)
    os.close(writing)
    with ctxf.Archive.open(path) as again:
        ids |= {number: ctxf.fold(document(number), again).folds[0].id for number in range(1, 6)}
        assert len(list(again.entries("default"))) == 6  # folding them again found them all
    assert [read_elsewhere(path, ids[number]) == body_of(number) for number in range(6)] == [True] * 6


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_forks_while_threads_fold(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    archive = ctxf.Archive.open(path)
    done = threading.Event()
    failures: list[str] = []

    def work(first: int) -> None:
        number = first
        while not done.is_set():
            try:
                fold(archive, number)
            except AssertionError as error:
                failures.append(str(error))
            number += 4

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    children = [in_child(partial(fold, archive, number)) for number in IN_CHILDREN]
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    done.set()
    for thread in threads:
        thread.join()
    archive.close()
    assert statuses == [0] * 8
    assert failures == []
    with ctxf.Archive.open(path) as again:
        assert again.verify(deep=True).is_intact
        known = {entry.id for entry in again.entries("default")}
    memory = ctxf.Archive.memory()
    assert {fold(memory, number) for number in IN_CHILDREN} <= known
