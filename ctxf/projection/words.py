"""Plain words: what a question may hold without meaning a function of that name (PROTOCOL.md §14.2).

English words in their base forms (`is_plain` knows regular endings), then the smallest words of a few other
languages. What is missing there is taken for a name as soon as a file defines it; what is too much needs call
parentheses, backticks or a qualifier. A list of our own: a dictionary would have nearly every name that
people choose.
"""

from pathlib import Path
from typing import Final

__all__ = ["is_plain"]

_WORDS: Final = frozenset(Path(__file__).with_name("plain_words.txt").read_text("ascii").split())
_ENDINGS: Final = (
    ("ies", "y"),
    ("ied", "y"),
    ("es", ""),
    ("s", ""),
    ("ed", "e"),
    ("ed", ""),
    ("ing", "e"),
    ("ing", ""),
    ("ly", ""),
)


def is_plain(word: str) -> bool:
    """Whether a question may hold `word` as a word of its language."""
    word = word.lower()
    if word in _WORDS or len(word) < 2:
        return True
    return any(
        word.endswith(ending)
        and (_stem(word, ending, instead) in _WORDS or _undoubled(word, ending) in _WORDS)
        for ending, instead in _ENDINGS
    )


def _stem(word: str, ending: str, instead: str) -> str:
    return word.removesuffix(ending) + instead


def _undoubled(word: str, ending: str) -> str:
    """`stop` of `stopped` and `stopping`."""
    stem = word.removesuffix(ending)
    return stem[:-1] if len(stem) > 2 and stem[-1] == stem[-2] else ""
