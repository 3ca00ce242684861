"""Allows one set-up at a time: two at once would overwrite each other's changes."""

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ctxf.agents.setup.journal import SetupError

__all__ = ["alone"]

_PATIENCE_SECONDS: Final = 120.0


@contextlib.contextmanager
def alone(home: Path) -> Iterator[None]:
    """Within this no other set-up of this home runs; waits for one that does. Raises SetupError.

    The lock is on the home directory itself, so that no lock file is left behind. Where there are no locks
    (some file systems, Windows), each file is only compared again just before it is written.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl  # noqa: PLC0415 - Unix only

    try:
        directory = os.open(home, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        yield  # the set-up itself reports what is missing
        return
    try:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise SetupError("another `ctxf setup` is at work; try again when it is done") from None
                time.sleep(0.05)
            except OSError:
                break
        yield
    finally:
        os.close(directory)
