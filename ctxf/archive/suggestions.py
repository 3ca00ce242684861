"""Near misses of an id: language models mistype hashes (one digit wrong, missing, doubled or swapped).

Every guess is one indexed look-up; nothing is scanned, and only the reader's own scope is asked.
"""

from collections.abc import Iterator

from ctxf.archive.base import Store
from ctxf.errors import ArchiveError
from ctxf.protocol.references import ID_DIGITS, MAX_ID_DIGITS

__all__ = ["suggest_ids"]

_DIGITS = "0123456789abcdef"
_MOST = 3
_PREFIX_DIGITS = 6


def suggest_ids(store: Store, scope: str, id: str) -> list[str]:
    """At most three ids of the scope that `id` may have been meant to be, likeliest first."""
    try:
        # A lengthened id whose tail got lost, or a tail that should not be there.
        close = store.known_prefix(scope, id, _MOST) + store.known(scope, _shorter(id))
        close += store.known(scope, set(_one_edit_away(id)))
        if not close:
            prefixed = store.known_prefix(scope, id[:_PREFIX_DIGITS], 2)
            close = prefixed if len(prefixed) == 1 else []
    except ArchiveError:
        return []  # the miss itself is the news
    return list(dict.fromkeys(close))[:_MOST]


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
