"""Runs grammars, in this process or in a child (PROTOCOL.md §11.4).

Grammars are C code that others wrote: tree-sitter-yaml 0.7.2 crashes on 256 nested `- `, and scanners of
html, rust, lua and bash go quadratic, where no time limit reaches them. Those parse in a child process,
and every grammar does when the caller says so. One child serves a whole run; a crash or a timeout costs
its text the fold, and the next text a new child.

The child gets bytes and answers with bytes, framed by lengths: nothing is pickled, nothing inherited by
fork. Rejected: multiprocessing, whose forked children deadlock on the locks of a threaded server.
"""

import os
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import StrEnum
from importlib import import_module
from math import inf
from threading import Lock, Timer
from time import monotonic
from types import TracebackType
from typing import IO, TYPE_CHECKING, Final, NamedTuple, Protocol, Self

from ctxf.protocol.comments import TASK, Span, request
from ctxf.protocol.grammars import PARSE_SECONDS, Grammar, MissingGrammar, load_grammar
from ctxf.protocol.languages import Language

if TYPE_CHECKING:
    from tree_sitter import Tree

__all__ = ["Failure", "Parsers", "Problem", "SourceParser", "read_frame", "task_of", "write_frame"]

_START_SECONDS: Final = 10.0  # for Python to start: a loaded machine, a cold disk
_STOP_SECONDS: Final = 1.0

_LENGTH: Final = struct.Struct("<Q")

_RETRY_SECONDS: Final = 60.0  # before a child that could not be started is tried again

# The standard library first, then the parent's own search path, so that the child finds this very ctxf and
# its grammars wherever they are (isolated mode alone would lose user site packages and PYTHONPATH), while
# a `copy.py` in somebody's folder cannot get before the real one.
_START_CODE: Final = (
    "import sys; sys.path += sys.argv[1:]; from ctxf.protocol.parser_child import main; main()"
)


class Problem(StrEnum):
    """Why a text could not be parsed at all."""

    NO_GRAMMAR = "no-grammar"
    TOO_LARGE = "too-large"
    TIMEOUT = "timeout"
    CRASH = "crash"


class Failure(NamedTuple):
    """The problem and a sentence about it; `wheel` is the package to install when that would help."""

    problem: Problem
    message: str
    wheel: str | None = None


class SourceParser(Protocol):
    """What the scanner needs of a parser."""

    def judge(self, data: bytes, spans: Sequence[Span], language: Language) -> bytes | Failure:
        """One verdict per span (see `judge_spans`). Never raises for what is in `data`."""


Task = Callable[["Tree", bytes, Language, bytes], bytes]


def task_of(name: str) -> Task:
    """The `answer` of the module `name`: tree, source, language and payload in, bytes out.

    By name, since a task may run in the child process, and since this layer knows none of those above it.
    """
    task: Task = import_module(name).answer
    return task


class Parsers:
    """A SourceParser that owns the grammars it has loaded and the child process it has started.

    A context manager: leaving it ends the child. Threads may share one; they parse in turns when a child
    is needed. `seconds` is the limit for one text.
    """

    def __init__(self, *, isolate: bool = False, seconds: float = PARSE_SECONDS) -> None:
        self._isolate = isolate
        self._seconds = seconds
        self._grammars: dict[str, Grammar | MissingGrammar] = {}
        self._child: subprocess.Popen[bytes] | None = None
        self._child_owner = 0
        self._retry_at = 0.0
        self._lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the child process, if there is one. The object can be used again."""
        with self._lock:
            self._stop_child()

    def close_for_good(self) -> None:
        """The same where threads may still be at work: they start no new child, and get a Failure."""
        with self._lock:
            self._retry_at = inf
            self._stop_child()

    def judge(self, data: bytes, spans: Sequence[Span], language: Language) -> bytes | Failure:
        """One verdict per span, or why there is none."""
        verdicts = self.ask(TASK, request(spans), data, language)
        if isinstance(verdicts, Failure) or len(verdicts) == len(spans):
            return verdicts
        return Failure(Problem.CRASH, f"the {language.name} parser gave no sensible answer")

    def ask(self, task: str, payload: bytes, data: bytes, language: Language) -> bytes | Failure:
        """What a task answers about the tree of `data`, or why there is no answer."""
        if self._isolate or language.isolate:
            with self._lock:
                return self._ask_child(task, payload, data, language)
        grammar = self._grammar(language)
        if isinstance(grammar, MissingGrammar):
            return _missing(grammar.problem, grammar.wheel or "")
        tree = grammar.parse(data, self._seconds)
        if tree is None:
            return self._timeout()
        return task_of(task)(tree, data, language, payload)

    def _grammar(self, language: Language) -> Grammar | MissingGrammar:
        if language.name not in self._grammars:
            self._grammars[language.name] = load_grammar(language)
        return self._grammars[language.name]

    def _ask_child(self, task: str, payload: bytes, data: bytes, language: Language) -> bytes | Failure:
        child = self._running_child()
        if child is None:
            return Failure(Problem.CRASH, "the parser process could not be started")
        answer = self._exchange(
            child, [task.encode("ascii"), language.name.encode("ascii"), payload, data], self._seconds
        )
        if isinstance(answer, Failure):
            return answer
        kind, answered = answer[:1], answer[1:]
        if kind == b"v":
            return answered
        if kind == b"t":
            return self._timeout()
        if kind == b"m":
            wheel, _, problem = answered.decode("utf-8", "replace").partition("\n")
            return _missing(problem, wheel)
        self._stop_child()
        return Failure(Problem.CRASH, f"the {language.name} parser gave no sensible answer")

    def _exchange(
        self, child: "subprocess.Popen[bytes]", frames: Sequence[bytes], seconds: float
    ) -> bytes | Failure:
        """Send `frames` and wait for the one that answers; a child that takes longer is killed."""
        assert child.stdin
        assert child.stdout
        answer = None
        start = monotonic()
        timer = Timer(seconds, child.kill)
        timer.daemon = True
        timer.start()
        try:
            with suppress(OSError):  # it died while we were writing
                for frame in frames:
                    write_frame(child.stdin, frame)
                child.stdin.flush()
                answer = read_frame(child.stdout)
        finally:
            timer.cancel()
            is_late = monotonic() - start >= seconds  # then it may have been killed after it answered
            if is_late or answer is None:
                self._stop_child()
        if answer is not None:
            return answer
        return self._timeout() if is_late else Failure(Problem.CRASH, "the parser process crashed")

    def _timeout(self) -> Failure:
        return Failure(Problem.TIMEOUT, f"the parser took longer than {self._seconds:g} s")

    def _running_child(self) -> "subprocess.Popen[bytes] | None":
        if self._child is not None and self._child_owner != os.getpid():
            self._child = None  # this process was forked: the child belongs to its parent
        if self._child is not None and self._child.poll() is not None:
            self._stop_child()
        if self._child is None and monotonic() >= self._retry_at:
            self._start_child()
            if (
                self._child is None
            ):  # else every text of a long run would wait for another child that does not start
                self._retry_at = monotonic() + _RETRY_SECONDS
        return self._child

    def _start_child(self) -> None:
        try:
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _START_CODE, *(path or os.getcwd() for path in sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except (OSError, ValueError):  # no interpreter, no memory, no processes left
            return
        self._child_owner = os.getpid()
        self._exchange(self._child, [], _START_SECONDS)  # it says when it is ready

    def _stop_child(self) -> None:
        child, self._child = self._child, None
        if child is None or self._child_owner != os.getpid():
            return
        assert child.stdin
        assert child.stdout
        with suppress(OSError):
            child.stdin.close()  # an idle child ends by itself
        try:
            child.wait(0 if child.poll() is not None else _STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        child.stdout.close()


def write_frame(stream: IO[bytes], payload: bytes) -> None:
    """Write a length and so many bytes."""
    stream.write(_LENGTH.pack(len(payload)))
    stream.write(payload)


def read_frame(stream: IO[bytes]) -> bytes | None:
    """What `write_frame` wrote, or None where the stream ends."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    payload = stream.read(length)
    return payload if len(payload) == length else None


def _missing(problem: str, wheel: str) -> Failure:
    return Failure(Problem.NO_GRAMMAR, problem, wheel or None)
