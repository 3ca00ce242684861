"""Finds the definitions of given names in a source: a search for the bytes, then a look at the tree there.

Rejected: a tree-sitter query over all definitions, which costs as much as the parse where this costs nothing.
"""

import re
from collections.abc import Iterable, Iterator
from time import monotonic
from typing import TYPE_CHECKING, Final

from ctxf.projection.definitions import Definition, Definitions, Sort
from ctxf.projection.tables import Table

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

__all__ = ["Lookup", "TooSlow"]

_FEW: Final = 32  # names that are searched one by one; more of them in one pass over all words
_WORD: Final = re.compile(rb"[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*+")
_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\WA-Z_]+")
_FIRST_IMPORTS: Final = 50


class TooSlow(Exception):
    """A source that was made so that looking at it takes too long."""


class Lookup:
    """The definitions of one source by name. Raises TooSlow after `seconds`."""

    def __init__(self, tree: "Tree", data: bytes, table: Table, names: Iterable[str], seconds: float) -> None:
        self._root: Node = tree.root_node
        self._data = data
        self._definitions = Definitions(data, table)
        self._give_up = monotonic() + seconds
        wanted = {name.encode("utf-8", "surrogatepass") for name in names}
        self._places = _index(data, wanted) if len(wanted) > _FEW else None
        self._lower = b""
        self._lower_places: dict[bytes, list[int]] | None = None
        self._known: dict[str, list[Definition]] = {}

    def exact(self, name: str) -> list[Definition]:
        """What is defined under this very name, in text order."""
        if name not in self._known:
            raw = name.encode("utf-8", "surrogatepass")
            places = self._places.get(raw, []) if self._places is not None else _find(self._data, raw)
            found = self._defined(places, len(raw))
            # Who asks for `get` may mean `#get` as well.
            self._known[name] = [one for one in found if one.name.removeprefix("#") == name] or found
        return self._known[name]

    def otherwise_spelled(self, name: str) -> list[Definition]:
        """What is defined under this name in another case, or with or without underscores."""
        parts = [part.lower() for part in _PARTS.findall(name)]
        if not parts:
            return []
        self._lower = self._lower or self._data.lower()
        places = set()
        spellings = {"_".join(parts), "".join(parts)}
        for spelling in spellings:
            raw = spelling.encode("utf-8", "surrogatepass")
            places |= {(place, len(raw)) for place in self._lower_find(raw)}
        found = (one for place, size in sorted(places) for one in self._defined([place], size))
        return [one for one in found if one.name.lower().replace("_", "") == "".join(parts)]

    def is_imported(self, name: str) -> bool:
        """Whether an import brings the name in."""
        raw = name.encode("utf-8", "surrogatepass")
        for number, place in enumerate(_find(self._data, raw)):
            if number == _FIRST_IMPORTS:
                break
            if self._definitions.is_imported(self._leaf(place, len(raw))):
                return True
        return False

    def is_type(self, name: str) -> bool:
        """Whether the file defines a type of this name."""
        return any(one.sort is Sort.TYPE for one in self.exact(name))

    def _lower_find(self, raw: bytes) -> Iterable[int]:
        if self._places is None:
            return _find(self._lower, raw)
        if self._lower_places is None:  # many names: one pass here, too
            self._lower_places = _index(self._lower, None)
        return self._lower_places.get(raw, [])

    def _defined(self, places: Iterable[int], size: int) -> list[Definition]:
        found: dict[int, Definition] = {}
        for place in places:
            if monotonic() > self._give_up:
                raise TooSlow
            leaf = self._leaf(place, size)
            if leaf.end_byte - leaf.start_byte > size + 2:  # `#get`, `save!`: not a comment, not a string
                continue
            definition = self._definitions.at(leaf)
            if definition:
                found.setdefault(definition.node.start_byte, definition)
        return list(found.values())

    def _leaf(self, place: int, size: int) -> "Node":
        return self._root.descendant_for_byte_range(place, place + size) or self._root


def _find(data: bytes, name: bytes) -> Iterator[int]:
    """Where `name` stands as a whole word."""
    position = data.find(name)
    while position >= 0:
        end = position + len(name)
        if not (_is_word(data[position - 1 : position]) or _is_word(data[end : end + 1])):
            yield position
        position = data.find(name, end)


def _is_word(byte: bytes) -> bool:
    return byte.isalnum() or byte in (b"_", b"$") or byte >= b"\x80"


def _index(data: bytes, wanted: set[bytes] | None) -> dict[bytes, list[int]]:
    places: dict[bytes, list[int]] = {}
    for match in _WORD.finditer(data):
        if wanted is None or match[0] in wanted:
            places.setdefault(match[0], []).append(match.start())
    return places
