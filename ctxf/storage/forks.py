"""Closes SQLite connections before a fork.

SQLite keeps for each file, process-wide, which locks it holds; a child inherits that list, but not the
locks. A connection that it opens then locks nothing, and the last process that does lock removes the
write-ahead log under it: what it commits from there on nobody else finds. (Locks of SQLite's own that
another thread holds at the fork would stay locked in the child for ever, too.) So every connection is
closed before a fork, with its threads held off, and is opened again by the next call on either side.
"""

import os
import threading
import weakref
from typing import Final, Protocol

__all__ = ["close_at_forks"]


class Forked(Protocol):
    """An object that has to close its connection before a fork."""

    def let_go_for_fork(self) -> None:
        """Close what is open, and keep others from opening it until `go_on_after_fork`."""

    def go_on_after_fork(self) -> None:
        """In the parent: allow connections again."""


# The one place with state of the whole process, because a fork is of the whole process.
_open: Final["weakref.WeakSet[Forked]"] = weakref.WeakSet()
_held: Final[list[Forked]] = []
_lock: Final = threading.Lock()


def close_at_forks(one: Forked) -> None:
    """Call the methods of `one` at every fork, as long as the object exists."""
    with _lock:
        _open.add(one)


def _before() -> None:
    _lock.acquire()
    for one in sorted(_open, key=id):
        one.let_go_for_fork()
        _held.append(one)


def _after_in_parent() -> None:
    while _held:
        _held.pop().go_on_after_fork()
    _lock.release()


def _after_in_child() -> None:
    _held.clear()
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
