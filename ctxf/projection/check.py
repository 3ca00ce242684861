"""What a parser is asked of a projected source: are its omission lines comments, are its definitions whole.

Runs where the tree is, like `ctxf.projection.find`.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from ctxf.projection.cleanness import is_clean
from ctxf.projection.tables import TABLES
from ctxf.protocol.comments import COMMENT, Span, judge_spans
from ctxf.protocol.languages import Language

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

__all__ = ["TASK", "Place", "answer", "faults", "request"]

TASK: Final = "ctxf.projection.check"
"""The name of this module, for `Parsers.ask`."""

_GOOD: Final = b"g"
_BAD: Final = b"b"


class Place(NamedTuple):
    """A node: its bytes and its kind."""

    start: int
    end: int
    kind: str


def request(omissions: Sequence[Span], definitions: Sequence[Place]) -> bytes:
    """The payload for `answer`: spans of comments, in order, and nodes that must be there."""
    return json.dumps([omissions, definitions]).encode("ascii")


def answer(tree: "Tree", data: bytes, language: Language, payload: bytes) -> bytes:
    """A byte for each span, then for each node: see `faults`."""
    omissions, definitions = json.loads(payload)
    verdicts = judge_spans(tree, data, [Span(*one) for one in omissions], language)
    good = [verdict == COMMENT for verdict in verdicts]
    good += [_is_there(tree.root_node, data, language, Place(*one)) for one in definitions]
    return b"".join(_GOOD if one else _BAD for one in good)


def faults(payload: bytes) -> list[int]:
    """The numbers of what is not as it should be."""
    return [index for index in range(len(payload)) if payload[index : index + 1] != _GOOD]


def _is_there(root: "Node", data: bytes, language: Language, place: Place) -> bool:
    node = root.descendant_for_byte_range(place.start, place.end)
    while node and (node.start_byte, node.end_byte) == (place.start, place.end):
        if node.type == place.kind:
            return is_clean(node, data, TABLES[language.name])
        node = node.parent
    return False
