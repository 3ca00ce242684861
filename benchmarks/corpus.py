"""The texts that are measured: made, not shipped, and the same in every run."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

__all__ = ["MAKERS", "chat_request", "marked_text", "write_corpus"]

_WORDS: Final = (
    *(
        "the",
        "of",
        "and",
        "to",
        "in",
        "is",
        "that",
        "for",
        "it",
        "as",
        "was",
        "with",
        "be",
        "by",
        "on",
        "not",
    ),
    *("he", "but", "at", "are", "this", "have", "from", "or", "had", "an", "they", "which", "one", "you"),
    *(
        "were",
        "all",
        "there",
        "would",
        "their",
        "when",
        "who",
        "will",
        "no",
        "more",
        "if",
        "out",
        "so",
        "said",
    ),
    *(
        "what",
        "about",
        "into",
        "than",
        "them",
        "can",
        "only",
        "other",
        "new",
        "some",
        "could",
        "time",
        "these",
    ),
    *("timeout", "router", "request", "branch", "retry", "cache", "thread", "signal", "buffer", "handler"),
)
_PERIOD: Final = 4 << 20


def _sentence(rng: random.Random) -> str:
    return " ".join(rng.choices(_WORDS, k=rng.randint(6, 14)))


def _prose(rng: random.Random) -> Iterator[str]:
    while True:
        yield f"{_sentence(rng).capitalize()}.\n"


def _markdown(rng: random.Random) -> Iterator[str]:
    while True:
        kind = rng.random()
        if kind < 0.02:
            yield "```py\n" + "".join(f"x = {_sentence(rng)}\n" for _ in range(8)) + "```\n"
        elif kind < 0.06:
            yield f"\n## {_sentence(rng)}\n\n"
        elif kind < 0.3:
            yield f"- `{rng.choice(_WORDS)}` {_sentence(rng)} **{rng.choice(_WORDS)}** ~ [a](b.md)\n"
        elif kind < 0.31:
            yield f"<!-- {_sentence(rng)} -->\n"
        else:
            yield f"{_sentence(rng)}\n"


def _html(rng: random.Random) -> Iterator[str]:
    while True:
        comment = f"<!-- {rng.choice(_WORDS)} -->" if rng.random() < 0.05 else ""
        text = f"<p>{_sentence(rng)} <b>{_sentence(rng)}</b></p>"
        yield f'<div class="{rng.choice(_WORDS)}">{text}{comment}</div>\n'


MAKERS: Final[dict[str, Callable[[random.Random], Iterator[str]]]] = {
    "prose": _prose,
    "Markdown": _markdown,
    "HTML": _html,
}


def write_corpus(path: Path, kind: str, size: int) -> None:
    """Write `size` bytes of unmarked text: 4 MiB of it, again and again."""
    pieces, length = [], 0
    for piece in MAKERS[kind](random.Random(kind)):
        pieces.append(piece)
        length += len(piece)
        if length >= _PERIOD:
            break
    period = "".join(pieces).encode()
    with path.open("wb") as file:
        for _ in range(size // len(period)):
            file.write(period)
        file.write(period[: size % len(period)])


def marked_text(blocks: int, body_bytes: int, *, seed: str = "blocks") -> tuple[bytes, list[bytes]]:
    """A text with `blocks` marked blocks of about `body_bytes` each, all different, and their bodies."""
    rng = random.Random(seed)
    pieces, bodies = [], []
    for number in range(blocks):
        lines = [f"{number:08}"]
        while sum(map(len, lines)) + len(lines) < body_bytes - 80:
            lines.append(f"{rng.randrange(10**6):06} {_sentence(rng)}")
        body = ("\n".join(lines) + "\n").encode()
        bodies.append(body)
        pieces.append(
            b"A line between blocks.\n<!-- @context-fold begin b%d -->\n%b<!-- @context-fold end b%d -->\n"
            % (number, body, number)
        )
    return b"".join(pieces), bodies


def chat_request(blocks: int, size: int = 1_000_000, turns: int = 50) -> bytes:
    """An Anthropic request of some `size` bytes, as agents send it; its first replies hold marked blocks."""
    rng = random.Random("request")
    makers = [_prose(rng), _markdown(rng), _html(rng)]

    def text(length: int, maker: Iterator[str]) -> str:
        pieces = [f"{rng.randrange(10**9)} \N{EM DASH} "]
        while sum(map(len, pieces)) < length:
            pieces.append(next(maker))
        return "".join(pieces) + "\n"

    share = size // turns // 2
    messages: list[dict[str, object]] = []
    for turn in range(turns):
        said = text(share, makers[turn % 3])
        if turn < blocks:
            said = (
                f"So it is.\n<!-- @context-fold begin b{turn} -->\n{said}<!-- @context-fold end b{turn} -->\n"
            )
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "Bash", "input": {"command": "make"}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{turn}", "content": text(share, makers[2])}
        messages += (
            {"role": "user", "content": [{"type": "text", "text": _sentence(rng)}]},
            {"role": "assistant", "content": [{"type": "text", "text": said}, call]},
            {"role": "user", "content": [result]},
        )
    schema = {"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "number"}}}
    tools = [
        {"name": f"tool_{n}", "description": _sentence(rng) * 5, "input_schema": schema} for n in range(30)
    ]
    body = {"model": "m", "max_tokens": 32000, "stream": True, "tools": tools, "messages": messages}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
