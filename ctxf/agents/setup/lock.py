"""One set-up at a time: two that plan on the same files would undo each other's work."""

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

    The lock is on the home directory itself, so that nothing is left behind. Where a file system has none (or
    Windows), what protects is that each file is looked at once more before it is written.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl  # noqa: PLC0415 - Unix only

    try:
        directory = os.open(home, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        yield  # what is missing there is said by who needs it
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
