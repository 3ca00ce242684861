"""Near misses of an id: language models mistype hashes (a digit wrong, missing, doubled or swapped).

Every guess is an indexed look-up; nothing is scanned, and only the reader's own scope is asked.
"""

from collections.abc import Iterator

from ctxf.archive.base import Store
from ctxf.errors import ArchiveError
from ctxf.protocol.references import ID_DIGITS, MAX_ID_DIGITS

__all__ = ["edit_distance", "suggest_ids"]

_DIGITS = "0123456789abcdef"
_MOST = 3
_UNIQUE_PREFIX_DIGITS = 6
# Ids that share their first four digits with a typo are few: 16 where a scope holds a million.
_NEIGHBOUR_DIGITS = 4
_MOST_NEIGHBOURS = 64
_MOST_EDITS = 3


def suggest_ids(store: Store, scope: str, id: str) -> list[str]:
    """At most three ids of the scope that `id` may have been meant to be, likeliest first."""
    try:
        # A lengthened id whose tail got lost, or a tail that should not be there.
        close = store.known_prefix(scope, id, _MOST) + store.known(scope, _shorter(id))
        close += store.known(scope, set(_one_edit_away(id)))
        if not close:
            close = _neighbours(store, scope, id)
        if not close:
            prefixed = store.known_prefix(scope, id[:_UNIQUE_PREFIX_DIGITS], 2)
            close = prefixed if len(prefixed) == 1 else []
    except ArchiveError:
        return []  # without suggestions the caller still reports that the id was not found
    return list(dict.fromkeys(close))[:_MOST]


def edit_distance(one: str, other: str) -> int:
    """Digits to change, add, drop or swap with the next one (optimal string alignment)."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, digit in enumerate(one, 1):
        row = [i]
        for j, there in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (digit != there))
            if i > 1 and j > 1 and digit == other[j - 2] and one[i - 2] == there:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]


def _neighbours(store: Store, scope: str, id: str) -> list[str]:
    """Ids that begin alike and are a few edits away, nearest first."""
    begin_alike = store.known_prefix(scope, id[:_NEIGHBOUR_DIGITS], _MOST_NEIGHBOURS)
    ranked = sorted((edit_distance(id, one), one) for one in begin_alike)
    return [one for edits, one in ranked if edits <= _MOST_EDITS]


def _shorter(id: str) -> list[str]:
    return [id[:length] for length in range(ID_DIGITS, len(id))]


def _one_edit_away(id: str) -> Iterator[str]:
    for i in range(len(id) + 1):
        head, tail = id[:i], id[i:]
        for digit in _DIGITS:
            if len(id) < MAX_ID_DIGITS:
                yield head + digit + tail
            if tail:
                yield head + digit + tail[1:]
        if tail and len(id) > ID_DIGITS:
            yield head + tail[1:]
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
