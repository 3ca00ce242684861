"""The texts: messages of a conversation, and bodies that are hard to keep. Made, the same in every run."""

import json
import random
from collections.abc import Callable, Iterator
from typing import Final

from benchmarks.corpus import MAKERS

__all__ = ["KINDS", "hard_bodies", "marked", "messages"]

_LEVELS: Final = ("INFO", "INFO", "INFO", "WARN", "ERROR")


def _log(rng: random.Random) -> Iterator[str]:
    sentences = MAKERS["prose"](rng)
    while True:
        clock = (
            f"{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}.{rng.randrange(1000):03}"
        )
        said = next(sentences).strip(".\n")[:60]
        yield f"2026-11-30T{clock}Z {rng.choice(_LEVELS)} {said} id={rng.randrange(10**6)}\n"


def _rows(rng: random.Random) -> Iterator[str]:
    sentences = MAKERS["prose"](rng)
    while True:
        row = {
            "id": rng.randrange(10**6),
            "path": f"/api/{rng.choice(('users', 'orders', 'health'))}/{rng.randrange(1000)}",
            "status": rng.choice((200, 200, 200, 404, 500)),
            "ms": rng.randrange(900),
            "message": next(sentences).strip(),
        }
        yield f" {json.dumps(row)}"


_KINDS: Final[dict[str, Callable[[random.Random], Iterator[str]]]] = {
    "prose": MAKERS["prose"],
    "log": _log,
    "JSON": _rows,
}
KINDS: Final = tuple(_KINDS)


def marked(body: bytes) -> bytes:
    """The body as an agent marks it; only ctxf gets it so, every other tool gets the body alone."""
    end = b"\r\n" if body.endswith(b"\r\n") else b"\n"
    gap, last = (b"", end) if not body or body.endswith(b"\n") else (end, b"")
    return b"<!-- @context-fold begin work -->%b%b%b<!-- @context-fold end work -->%b" % (
        end,
        body,
        gap,
        last,
    )


def messages(kind: str, count: int, size: int, *, seed: str = "") -> list[bytes]:
    """`count` bodies of `size` bytes or a line more, all different."""
    rng = random.Random(kind + seed)
    found = []
    for _ in range(count):
        lines, length = [], 0
        for line in _KINDS[kind](rng):
            lines.append(line)
            length += len(line) + (kind == "JSON")
            if length >= size:
                break
        body = "[\n" + ",\n".join(lines) + "\n]\n" if kind == "JSON" else "".join(lines)
        found.append(body.encode())
    return found


def hard_bodies() -> dict[str, bytes]:
    """Fourteen texts that a tool must give back byte for byte; long enough that folding them saves."""
    rng = random.Random("hard")
    maker = _log(rng)
    lines = [next(maker).encode().rstrip(b"\n") for _ in range(120)]
    text = b"\n".join(lines) + b"\n"
    ends = (b"\n", b"\r\n", b"\r")
    insides = {
        "NUL": b"\0",
        "invalid UTF-8": b"\xff\xfe\xc3(",
        "lone surrogates": "\ud83d \ude00".encode("utf-8", "surrogatepass"),
        "emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f".encode(),
        "CJK": "\u6298\u308a\u305f\u305f\u3080 \u4e0a\u4e0b\u6587 \ubb38\ub9e5".encode(),
        "trailing blanks": b"  \t ",
        "form feeds": "\f \v \x85 \u2028".encode(),
    }
    return {
        "CRLF": b"".join(line + b"\r\n" for line in lines),
        "lone CR": b"\r".join(lines),
        "mixed line ends": b"".join(line + ends[i % 3] for i, line in enumerate(lines)),
        "no final newline": b"\n".join(lines),
        **{name: b"".join(b"%b %b\n" % (line, inside) for line in lines) for name, inside in insides.items()},
        "BOM": b"\xef\xbb\xbf" + text,
        "5 MB line": b" ".join(lines * (5_000_000 // len(text) + 1))[:5_000_000] + b"\n",
        "empty": b"",
    }
