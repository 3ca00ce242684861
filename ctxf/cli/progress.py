"""A bar for work that takes long: on stderr, on a terminal only, once it took two seconds."""

import os
import sys
import time
from types import TracebackType
from typing import Final, Self

from ctxf.cli.pipes import is_terminal

__all__ = ["Progress"]

_STDERR: Final = 2
_PATIENCE: Final = 2.0  # seconds before anybody wonders
_BETWEEN: Final = 0.1  # seconds from one picture to the next: a terminal is slower than the work
_BAR_WIDTH: Final = 30


class Progress:
    """Call it with what is done and how much there is. When the work ends, its line is empty again.

    Whoever says something meanwhile calls `clear` first. click's own bar knows no delay, and stays.
    """

    def __init__(self, label: str, *, quiet: bool = False) -> None:
        self._label = label
        self._is_wanted = not quiet and sys.stderr is not None and is_terminal(_STDERR)
        self._next = time.monotonic() + _PATIENCE
        self._shown = 0  # columns

    def __call__(self, done: int, total: int) -> None:
        if not self._is_wanted or not total or (now := time.monotonic()) < self._next:
            return
        self._next = now + _BETWEEN
        filled = _BAR_WIDTH * done // total
        bar = "#" * filled + "-" * (_BAR_WIDTH - filled)
        self._show(f"{self._label} [{bar}] {100 * done // total:3} %  {done:,} of {total:,}")

    def clear(self) -> None:
        """Take the bar away until the next call."""
        if self._shown:
            self._write("\r" + " " * self._shown + "\r")
            self._shown = 0

    def _show(self, line: str) -> None:
        line = line[: _columns() - 1]  # the last column would start a new line on some terminals
        self._write("\r" + line.ljust(self._shown))
        self._shown = len(line)

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:  # the terminal is gone; the work is not about it
            self._is_wanted, self._shown = False, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.clear()


def _columns() -> int:
    try:
        return os.get_terminal_size(_STDERR).columns or 80
    except OSError:
        return 80
