"""Folds in a thread, outside the event loop, with a time limit; on any failure the original body passes."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from ctxf.gateway.routes import Protocol
from ctxf.gateway.stats import Block, Exchange
from ctxf.gateway.wire import Headers

__all__ = ["Fold", "FoldEdge", "FoldJob", "Outcome"]

WORKERS: Final = 4


@dataclass(frozen=True, slots=True)
class FoldJob:
    """A request body to fold, as it came, with the headers that it came with."""

    protocol: Protocol
    headers: Headers
    body: bytes
    target: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result: the new body, None for the original one, and a note for the counters.

    `session` is what the status page calls the conversation by, `scope` where its blocks are.
    """

    body: bytes | None
    note: str
    session: str = ""
    scope: str = ""
    blocks: tuple[Block, ...] = ()


Fold = Callable[[FoldJob], Outcome]


class FoldEdge:
    """Folds bodies in threads. Whatever goes wrong, and whatever takes too long, lets the original pass.

    A thread that is stuck (an archive that another process has locked) cannot be stopped, only left
    alone. When all of them are, requests pass at once instead of waiting for their time limit each.
    """

    def __init__(self, fold: Fold, timeout: float, workers: int = WORKERS) -> None:
        self._fold = fold
        self._timeout = timeout
        self._workers = workers
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="ctxf-fold")
        self._lock = threading.Lock()
        self._overdue = 0

    async def fold(self, job: FoldJob, exchange: Exchange) -> bytes | None:
        """The folded body; None where the body that came is to go on. Notes on `exchange` what happened."""
        with self._lock:
            is_stuck = self._overdue >= self._workers
        if is_stuck:
            exchange.note = "passed: folding is stuck"
            return None
        task: Future[Outcome] = self._threads.submit(self._fold_or_pass, job)
        waiter = asyncio.wrap_future(task)
        done, _ = await asyncio.wait((waiter,), timeout=self._timeout)
        if not done:
            self._give_up(task)
            exchange.note = "passed: folding took too long"
            return None
        outcome = waiter.result()
        exchange.note = outcome.note
        exchange.session = outcome.session
        exchange.scope = outcome.scope
        exchange.blocks = outcome.blocks
        return outcome.body

    def _fold_or_pass(self, job: FoldJob) -> Outcome:
        try:
            return self._fold(job)
        except Exception as error:  # law L5: the body passes also after a failure that nobody foresaw
            return Outcome(None, f"passed: {type(error).__name__}")

    def _give_up(self, task: "Future[Outcome]") -> None:
        if task.cancel():  # it had not begun
            return
        with self._lock:
            self._overdue += 1
        task.add_done_callback(self._is_back)

    def _is_back(self, _task: "Future[Outcome]") -> None:
        with self._lock:
            self._overdue -= 1

    def close(self) -> None:
        """Start no further folds."""
        self._threads.shutdown(wait=False, cancel_futures=True)
