"""Which lines belong to a definition (PROTOCOL.md §14.3), and which lines say what it stands in.

Rows count from 0 and end with LF, in tree-sitter as in the protocol.
"""

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from ctxf.projection.definitions import ancestors
from ctxf.projection.tables import Table

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["Extents", "Rows", "last_row"]


class Rows(NamedTuple):
    """Whole lines, both ends included."""

    first: int
    last: int


# What begins the inside of a class, a function, a branch.
_BODIES: Final = frozenset(
    {
        *(
            "block",
            "body_statement",
            "class_body",
            "declaration_list",
            "statement_block",
            "compound_statement",
        ),
        *("object", "object_type", "field_declaration_list", "enum_body", "interface_body", "statement_list"),
        *("annotation_type_body", "enum_declaration_list", "switch_body", "do_block", "colon_block"),
        "constructor_body",
    }
)
_OPENERS: Final = frozenset({"{", "(", "["})
_INSIDE_BEHIND: Final = frozenset({"then", "do", "else"})  # bash: statements without a node around them
_BRANCHES: Final = frozenset({"try_statement", "if_statement"})
_COMMENT_DEPTH: Final = 6
_MOST_ABOVE: Final = 500
_COMMENT: Final = re.compile("comment")


class Extents:
    """Rows of one source."""

    def __init__(self, root: "Node", data: bytes, table: Table) -> None:
        self._root = root
        self._data = data
        self._table = table

    def outermost(self, node: "Node") -> "Node":
        """The definition with what belongs to its statement: decorators, `export const`, `template <...>`."""
        while (around := node.parent) is not None and around.type in self._table.wrappers:
            node = around
        return node

    def of_definition(self, node: "Node") -> Rows:
        """Its lines, with the comments and attributes right above it."""
        outer = self.outermost(node)
        top = outer
        for _step in range(_MOST_ABOVE):  # a look into the tree may cost as much as a node has siblings
            above = self._belonging_above(top)
            if above is None:
                break
            top = above
        return Rows(top.start_point[0], last_row(outer))

    def around(self, node: "Node") -> list[Rows]:
        """The header lines of all that it stands in, and the lines that close them."""
        rows = []
        inner = self.outermost(node)
        for around in ancestors(inner)[:-1]:
            if around.type not in self._table.wrappers or around.type == "template_declaration":
                rows += self._header(around, inner)
                rows += self._closer(around, inner)
            if around.type in _BRANCHES:
                rows += self._later_clauses(around, inner)
            inner = around
        return rows

    def _belonging_above(self, node: "Node") -> "Node | None":
        """The comment or attribute that ends in the row above `node` and is alone on its lines."""
        line_start = node.start_byte - node.start_point[1]
        above = self._data.rfind(b"\n", 0, max(0, line_start - 1)) + 1
        line = self._data[above:line_start].rstrip()
        if not line:
            return None
        end = above + len(line)
        inner = self._root.descendant_for_byte_range(end - 1, end)
        belongs = None
        for _step in range(_COMMENT_DEPTH):
            if inner is None:
                break
            if _COMMENT.search(inner.type) or inner.type in self._table.attributes:
                belongs = inner
            elif belongs:
                break
            inner = inner.parent
        if belongs is None:
            return None
        before = self._data[belongs.start_byte - belongs.start_point[1] : belongs.start_byte]
        return None if before.strip(b" \t\f\xef\xbb\xbf") else belongs

    def _header(self, around: "Node", inner: "Node") -> list[Rows]:
        first = around.start_point[0]
        children = iter(around.children)
        child = next(children)
        if child.type in _OPENERS:
            return [Rows(first, first)]
        if around.type in _BODIES:
            return []
        last = first
        is_inside = False
        while child.start_byte < inner.start_byte and child.type not in _BODIES and not is_inside:
            last = last if child.is_extra else max(last, last_row(child))
            is_inside = child.type in _INSIDE_BEHIND or child.type == "\n"
            condition = around.type.startswith("preproc_") and child.is_named
            child = next(children, inner)
            if condition:
                break
        return [Rows(first, last)]

    def _closer(self, around: "Node", inner: "Node") -> list[Rows]:
        last = around.children[-1]
        if last.is_named or last.start_byte < inner.end_byte:
            return []
        return [Rows(last.start_point[0], last_row(around))]

    def _later_clauses(self, around: "Node", inner: "Node") -> list[Rows]:
        """The header and closing lines of `catch`, `except`, `else`, without which a `try` would be none."""
        rows = []
        for clause in around.children:
            if clause.type.endswith("_clause") and clause.start_byte >= inner.end_byte:
                last = clause.children[-1]
                rows += self._header(clause, last)
                while last.children:
                    last = last.children[-1]
                if not last.is_named:
                    rows.append(Rows(last.start_point[0], last_row(last)))
        return rows


def last_row(node: "Node") -> int:
    """The last row that a node has a byte in: some end with their line's end."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row
