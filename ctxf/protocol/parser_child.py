"""The child process that `parsers` starts: reads requests from stdin, answers on stdout, prints nothing.

A request is four frames: the task (the name of a module of ctxf, whose `answer` is called with the tree),
the language's name, the task's payload, the text. The answer is one: `v` and what the task answers, `t` after
a timeout, `m` and wheel and problem, two lines, when there is no grammar. An empty answer comes first: ready.
"""

import signal
import sys
from typing import BinaryIO, Final

from ctxf.protocol.grammars import PARSE_SECONDS, Grammar, MissingGrammar, find_language, load_grammar
from ctxf.protocol.parsers import read_frame, task_of, write_frame

if sys.platform != "win32":
    import resource

__all__ = ["main"]

_MEMORY_BYTES: Final = 4 << 30
_BACKSTOP_SECONDS: Final = 60.0


def main() -> None:
    """Serve until stdin ends."""
    _limit_resources()
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    grammars: dict[str, Grammar | MissingGrammar | None] = {}
    _send(answers, b"")
    while (task := read_frame(requests)) is not None:
        name, payload, data = read_frame(requests), read_frame(requests), read_frame(requests)
        if name is None or payload is None or data is None:
            return
        _start_backstop(_BACKSTOP_SECONDS)
        _send(answers, _answer(task.decode("ascii"), name.decode("ascii"), payload, data, grammars))
        _start_backstop(0)


def _answer(
    task: str, name: str, payload: bytes, data: bytes, grammars: dict[str, Grammar | MissingGrammar | None]
) -> bytes:
    if name not in grammars:
        language = find_language(name)
        grammars[name] = load_grammar(language) if language else None
    grammar = grammars[name]
    if grammar is None:
        return b"m\nunknown language"
    if isinstance(grammar, MissingGrammar):
        return f"m{grammar.wheel or ''}\n{grammar.problem}".encode()
    tree = grammar.parse(data, PARSE_SECONDS)
    if tree is None:
        return b"t"
    return b"v" + task_of(task)(tree, data, grammar.language, payload)


def _send(stream: BinaryIO, payload: bytes) -> None:
    write_frame(stream, payload)
    stream.flush()


def _limit_resources() -> None:
    """Limit memory, write no core dumps, and ignore the Ctrl-C that is meant for the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "win32":
        return
    for limit, value in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, _MEMORY_BYTES)):
        try:
            resource.setrlimit(limit, (value, value))
        except (OSError, ValueError):  # a lower limit is in force already
            continue


def _start_backstop(seconds: float) -> None:
    """End after `seconds` even within C code, in case the parent is dead and cannot kill this process."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)  # SIGALRM's default action ends the process
