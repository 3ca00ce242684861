"""The child process that `parsers` starts: reads requests from stdin, answers on stdout, prints nothing.

A request is three frames: the language's name, the spans as pairs of 64-bit integers, the text. The
answer is one: `v` and a verdict per span, `t` after a timeout, `m` and wheel and problem, two lines,
when there is no grammar. An empty answer comes first: ready.
"""

import signal
import struct
import sys
from typing import BinaryIO, Final

from ctxf.protocol.comments import Span, judge_spans
from ctxf.protocol.grammars import PARSE_SECONDS, Grammar, MissingGrammar, find_language, load_grammar
from ctxf.protocol.parsers import read_frame, write_frame

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
    while (name := read_frame(requests)) is not None:
        packed, data = read_frame(requests), read_frame(requests)
        if packed is None or data is None:
            return
        _start_backstop(_BACKSTOP_SECONDS)
        _send(answers, _answer(name.decode("ascii"), packed, data, grammars))
        _start_backstop(0)


def _answer(
    name: str, packed: bytes, data: bytes, grammars: dict[str, Grammar | MissingGrammar | None]
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
    numbers = struct.unpack(f"<{len(packed) // 8}Q", packed)
    spans = [Span(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)]
    return b"v" + judge_spans(tree, data, spans, grammar.language)


def _send(stream: BinaryIO, payload: bytes) -> None:
    write_frame(stream, payload)
    stream.flush()


def _limit_resources() -> None:
    """No memory without end, no core dumps, no death by the Ctrl-C that was meant for the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "win32":
        return
    for limit, value in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, _MEMORY_BYTES)):
        try:
            resource.setrlimit(limit, (value, value))
        except (OSError, ValueError):  # a lower limit is in force already
            continue


def _start_backstop(seconds: float) -> None:
    """Die after `seconds` whatever C code is running, should the parent be dead and kill us no more."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)  # SIGALRM's default action ends the process
