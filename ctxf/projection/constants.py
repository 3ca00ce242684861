"""The literal constants of a file (PROTOCOL.md §14.3): names for values that stand there as they are."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ctxf.projection.extent import Rows, last_row
from ctxf.projection.tables import Table

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["MOST_BYTES", "Constants", "find_constants"]

# PROTOCOL.md §14.3: beyond this a file's constants are data, and only those stay that the definition names.
MOST_BYTES: Final = 4096

_PASSED: Final = frozenset(
    {
        *("lexical_declaration", "variable_declaration", "expression_statement", "export_statement"),
        *("var_spec_list", "enumerator_list", "variable_assignments", "argument"),
    }
)
_VALUELESS: Final = frozenset({"const_spec", "enumerator"})  # these count on from the one before
_UNNAMED_VALUE: Final = frozenset({"variable_declarator", "const_element"})  # C# and PHP have no field for it
_PREPROCESSOR_LITERAL: Final = re.compile(
    rb"""(?:\s++|[-+~!()|&^*/%<>,{}]|L?"(?:\\.|[^"\\])*+"|'(?:\\.|[^'\\])*+'|//.*+|/\*.*?\*/"""
    rb"""|(?:0[xX][0-9a-fA-F]++|\d[\d.]*+(?:[eE][-+]?\d++)?)[uUlLfF]*+)+""",
    re.DOTALL,
)
_WORD: Final = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*+")


@dataclass(frozen=True, slots=True)
class Constants:
    """The rows of those that stay, and how many do not."""

    rows: list[Rows]
    left_out: int


def find_constants(levels: Iterable["Node"], data: bytes, table: Table, kept: Sequence[bytes]) -> Constants:
    """The constants among the members of `levels`; `kept` is the text of what is kept anyway.

    All of them if they have MOST_BYTES or less together, else those that `kept` names.
    """
    named = None
    total, found = 0, []
    for level in levels:
        for node in level.named_children:
            if node.type not in table.constants:
                continue
            size = node.end_byte - node.start_byte
            if size > MOST_BYTES:  # a value of this size is looked into only where somebody asks for it
                named = named if named is not None else _words(kept)
                if not named.intersection(_names(node, data, table)):
                    total += size
                    continue
            if _is_constant(node, data, table):
                total += size
                found.append(node)
    stays = found
    if total > MOST_BYTES:
        words = named if named is not None else _words(kept)
        stays = [one for one in found if words.intersection(_names(one, data, table))]
    rows = [Rows(one.start_point[0], last_row(one)) for one in stays]
    return Constants(rows, len(found) - len(stays))


def _words(texts: Iterable[bytes]) -> set[bytes]:
    return {word for text in texts for word in _WORD.findall(text)}


def _is_constant(node: "Node", data: bytes, table: Table) -> bool:
    head = table.constant_head
    if node.type == "preproc_def":
        value = node.child_by_field_name("value")
        text = data[value.start_byte : value.end_byte] if value else b""
        return _PREPROCESSOR_LITERAL.fullmatch(text) is not None
    if head and not head.match(data, node.start_byte, node.end_byte):
        return False
    bindings = list(_bindings(node, table))
    for binding in bindings:
        value = _value(binding)
        if value is None and binding.type in _VALUELESS:
            continue
        if value is None or not _is_literal(value, data, table):
            return False
    return bool(bindings)


def _bindings(node: "Node", table: Table) -> Iterator["Node"]:
    pending = [node]
    while pending:
        one = pending.pop()
        if one.type in table.constant_bindings:
            yield one
        if one is node or one.type in _PASSED:
            pending += reversed(one.named_children)


def _value(binding: "Node") -> "Node | None":
    if binding.type == "function_call_expression":  # PHP's define('NAME', value)
        arguments = binding.child_by_field_name("arguments")
        return arguments.named_children[-1] if arguments and arguments.named_child_count == 2 else None
    value = binding.child_by_field_name("value") or binding.child_by_field_name("right")
    if value is None and binding.type in _UNNAMED_VALUE and binding.named_child_count > 1:
        value = binding.named_children[-1]
    while value and value.type == "assignment":  # A = B = 9
        value = value.child_by_field_name("right")
    return value


def _is_literal(value: "Node", data: bytes, table: Table) -> bool:
    """Whether nothing in a value has to be looked up: no name, no call, no interpolation."""
    if value.type in ("call", "call_expression"):  # %w[a b].freeze, Object.freeze([...])
        return _is_frozen_literal(value, data, table)
    cursor = value.walk()
    while True:
        node = cursor.node
        if node is None or (node.is_named and node.type not in table.literals):
            return False
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return True


def _is_frozen_literal(call: "Node", data: bytes, table: Table) -> bool:
    receiver, method = call.child_by_field_name("receiver"), call.child_by_field_name("method")
    if receiver and method:
        return data[method.start_byte : method.end_byte] == b"freeze" and _is_literal(receiver, data, table)
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if function is None or arguments is None or arguments.named_child_count != 1:
        return False
    is_freeze = data[function.start_byte : function.end_byte] == b"Object.freeze"
    return is_freeze and _is_literal(arguments.named_children[0], data, table)


def _names(node: "Node", data: bytes, table: Table) -> tuple[bytes, ...]:
    """The words on the left of a constant's values; more than its names, which does no harm."""
    bindings = [node] if node.type == "preproc_def" else list(_bindings(node, table))
    names: list[bytes] = []
    for binding in bindings:
        name = binding.child_by_field_name("name") or binding.child_by_field_name("left")
        name = name or binding.child_by_field_name("declarator") or binding.named_children[0]
        names += _WORD.findall(data[name.start_byte : name.end_byte])
    return tuple(names)
