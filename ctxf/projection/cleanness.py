"""Whether a definition's lines can be believed: no parse error may have cut, joined or moved it (§14.3).

is_clean(node, data, table)    the node itself
has_broken_neighbour(...)      what stands before and behind it
"""

import re
from typing import TYPE_CHECKING, Final

from ctxf.projection.tables import Table

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["has_broken_neighbour", "is_clean"]

_NEIGHBOURS: Final = 200  # siblings that are looked at
# What C's parser skips at an unknown macro: plain words shift neither strings nor comments.
_WORDS: Final = re.compile(rb"[\w\s:]*+", re.ASCII)


def is_clean(node: "Node", data: bytes, table: Table) -> bool:
    """Whether no error is in a node, unknown macros aside."""
    if not node.has_error:
        return True
    cursor = node.walk()
    while (here := cursor.node) is not None:
        if _is_broken(here, data, table):
            return False
        if here.has_error and not here.is_error and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return True
    return True


def has_broken_neighbour(node: "Node", data: bytes, table: Table) -> bool:
    """Whether an error stands between a definition and those before and behind it.

    Behind it: where a stray brace has ended a definition early, its rest follows as statements.
    """
    if node.parent is None or not node.parent.has_error:
        return False
    # All at once: `prev_sibling` counts from the first one at every step.
    siblings = node.parent.children
    place = next(number for number, sibling in enumerate(siblings) if sibling.id == node.id)
    for before in reversed(siblings[:place]):
        if _is_broken(before, data, table):
            return True
        if before.is_named and not before.is_extra:
            break
    stops = table.functions | table.types | table.wrappers | table.constants | table.imports
    for behind in siblings[place + 1 : place + 1 + _NEIGHBOURS]:
        if _is_broken(behind, data, table):
            return True
        if behind.type in stops:
            return False
    return False


def _is_broken(node: "Node", data: bytes, table: Table) -> bool:
    if node.is_error and table.has_macros:
        return _WORDS.fullmatch(data, node.start_byte, node.end_byte) is None
    return node.is_error or node.is_missing
