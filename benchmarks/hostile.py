"""Texts and sources that are made to be slow; what they cost at n, 2n and 4n bytes."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import ctxf
from benchmarks.measure import Row, Sample, compare, function_sample

__all__ = ["HOSTILE", "hostile_rows"]


_IN_STRINGS: Final = "markers in strings of Python"


def _hostile(kind: str, size: int) -> bytes:
    """Texts made to be slow, of about `size` bytes."""
    begin, end = b"<!-- @context-fold begin %d -->\n", b"<!-- @context-fold end %d -->\n"
    number = size // len(begin)
    reference = b"<!-- @context-fold begin r -->\n[[cf:v2:0123456789ab]]\n<!-- @context-fold end r -->\n"
    shapes: dict[str, Callable[[], bytes]] = {
        "unclosed begins": lambda: b"".join(begin % i for i in range(number)),
        "one very long line": lambda: b"<!-- @context-fold begin x " * (size // 27),
        "alternating fences": lambda: b"```\n~~~\n```\n" * (size // 12),
        "deep nesting": lambda: (
            b"".join(begin % i for i in range(number // 2))
            + b"".join(end % i for i in reversed(range(number // 2)))
        ),
        "many labels, crossing": lambda: (
            b"".join(begin % i for i in range(number // 2)) + b"".join(end % i for i in range(number // 2))
        ),
        "stray ends": lambda: begin % 0 + b"".join(end % (i + 1) for i in range(number)),
        "many references to one id": lambda: reference * (size // len(reference)),
        "markers in quotes": lambda: b'"<!-- @context-fold begin x -->",\n' * (size // 34),
        "blanks before a marker": lambda: b" " * size + begin % 1,
        _IN_STRINGS: lambda: b's = """\n# @context-fold begin x\n"""\n' * (size // 36),
        "comment openers": lambda: b"<!-- a --> <!--\n" * (size // 16),
    }
    return shapes[kind]()


HOSTILE = (
    "unclosed begins",
    "one very long line",
    "alternating fences",
    "deep nesting",
    "many labels, crossing",
    "stray ends",
    "many references to one id",
    "markers in quotes",
    "blanks before a marker",
    "comment openers",
    _IN_STRINGS,
)


def hostile_rows(size: int, repeat: int) -> Iterator[Row]:
    """Fold and restore of each shape, and of twice as much of it; and both again from twice as much."""

    def work(text: bytes, kind: str) -> Sample:
        archive = ctxf.Archive.memory()

        def fold_and_restore() -> None:
            language = "python" if kind == _IN_STRINGS else "text"
            folded = ctxf.fold(text, archive, language=language, min_savings_tokens=0).text
            ctxf.restore(folded, archive, language=language)

        return function_sample(fold_and_restore)

    for kind in HOSTILE:
        for factor in (1, 2):
            once, twice = _hostile(kind, size * factor), _hostile(kind, size * factor * 2)
            yield compare(
                f"{kind}: {2 * size * factor >> 10} KiB",
                floor_name=f"the same, {size * factor >> 10} KiB",
                target=2.3,
                floor=partial(work, once, kind),
                ours=partial(work, twice, kind),
                repeat=repeat,
            )
