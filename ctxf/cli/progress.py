"""A bar for work that takes long: on stderr, on a terminal only."""

import sys
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

import click

from ctxf.cli.pipes import is_terminal

__all__ = ["Progress"]

_STDERR = 2


class Progress:
    """Call it with what is done and how much there is; the bar appears with the first call.

    If `is_shown`, messages should be printed afterwards: they would break the bar.
    """

    def __init__(self, label: str, *, quiet: bool) -> None:
        self._label = label
        self.is_shown = not quiet and sys.stderr is not None and is_terminal(_STDERR)
        self._stack = ExitStack()
        self._bar: Any = None
        self._done = 0

    def __call__(self, done: int, total: int) -> None:
        if not self.is_shown or not total:
            return
        if self._bar is None:
            bar = click.progressbar(length=total, label=self._label, file=sys.stderr)
            self._bar = self._stack.enter_context(bar)
        self._bar.update(done - self._done)
        self._done = done

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()
