"""What a node of a syntax tree defines: a function, a method or a type, its name and what it stands in.

Nothing here recurses or walks a whole tree: from one name it goes up through the nodes around it.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from ctxf.projection.tables import Table

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["Definition", "Definitions", "Sort", "ancestors"]

_DEEPEST_NAME: Final = 12  # nodes between a name and its definition


class Sort(StrEnum):
    """What is defined. A constructor is named as its type, a signature has no body."""

    FUNCTION = "function"
    SIGNATURE = "signature"
    CONSTRUCTOR = "constructor"
    TYPE = "type"


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition; `scopes` are the names that each scope around it goes by, outermost first."""

    name: str
    sort: Sort
    scopes: tuple[tuple[str, ...], ...]
    node: "Node"

    @property
    def key(self) -> tuple[str, ...]:
        """The same for definitions that belong together: overloads, conditional ones."""
        around = self.node.parent
        # An object literal has no name: the functions of two are no alternatives of one.
        literal = str(around.start_byte) if around and around.type == "object" else ""
        return (*("/".join(scope) for scope in self.scopes), literal, self.name)

    @property
    def path(self) -> str:
        """As a person would write it."""
        return ".".join((*(scope[-1] for scope in self.scopes), self.name))

    @property
    def line(self) -> int:
        return self.node.start_point[0] + 1

    def __str__(self) -> str:
        return f"{self.path} line {self.line}"


class Definitions:
    """Says of places in one source what they define."""

    def __init__(self, data: bytes, table: Table) -> None:
        self._data = data
        self._table = table

    def at(self, leaf: "Node") -> Definition | None:
        """The definition whose name is `leaf`."""
        table = self._table
        node: Node | None = leaf
        for _step in range(_DEEPEST_NAME):
            node = node.parent if node else None
            if node is None:
                return None
            kind = node.type
            sort = self._sort(node, kind)
            if sort:
                name = self._name_node(node)
                if name is None or not name.start_byte <= leaf.start_byte < name.end_byte:
                    return None
                return self._definition(node, sort, self._text(name))
            if kind not in table.name_path and kind not in table.bindings:
                return None
        return None

    def is_imported(self, leaf: "Node") -> bool:
        """Whether a name stands in an import."""
        node: Node | None = leaf
        for _step in range(_DEEPEST_NAME):
            node = node.parent if node else None
            if node is None:
                return False
            if node.type in self._table.imports:
                return True
        return False

    def _sort(self, node: "Node", kind: str) -> Sort | None:
        table = self._table
        if kind in table.functions:
            return Sort.FUNCTION
        if kind in table.bindings:
            return Sort.FUNCTION if _is_function(_value(node), table) else None
        if kind in table.signatures:
            return Sort.SIGNATURE if _declares_function(node) else None
        if kind in table.types:
            has_body = not kind.endswith("_specifier") or node.child_by_field_name("body")
            return Sort.TYPE if has_body else None
        return None

    def _name_node(self, node: "Node") -> "Node | None":
        """The node that holds the bare name, without what qualifies it."""
        name = _first_field(node, ("name", "declarator", "key", "left", "property"))
        while name and (name.type in self._table.name_path or name.type.endswith("_declarator")):
            if name.type == "destructor_name":
                return name
            inner = _first_field(name, ("declarator", "name", "property"))
            name = inner or (name.named_children[-1] if name.named_children else None)
        return name

    def _definition(self, node: "Node", sort: Sort, name: str) -> Definition:
        scopes = self._own_scopes(node)
        for around in ancestors(node):
            scopes += self._scopes_of(around)
        if scopes and sort is Sort.FUNCTION and scopes[0][-1] == name:
            sort = Sort.CONSTRUCTOR
        return Definition(name, sort, tuple(reversed(scopes)), node)

    def _scopes_of(self, around: "Node") -> list[tuple[str, ...]]:
        """The scopes that a node makes for what is inside it, innermost first."""
        table = self._table
        if fields := table.scopes.get(around.type):
            named = [child for field in fields if (child := around.child_by_field_name(field))]
            names = tuple(word for child in named for word in _words(self._text(child)))
            return [names] if names else []
        if around.type in table.functions or around.type in table.bindings:
            name = self._name_node(around)
            names = tuple(_words(self._text(name))) if name else ()
            return [names, *self._own_scopes(around)] if names else []
        return []

    def _own_scopes(self, node: "Node") -> list[tuple[str, ...]]:
        """What a definition says itself that it belongs to, innermost first: `func (c *Cache)`."""
        if owner := self._table.owners.get(node.type):
            child = node.child_by_field_name(owner)
            if owner == "left":  # `Store.prototype.get = function`
                child = child.child_by_field_name("object") if child else None
            names = tuple(_words(self._text(child).strip("()"))) if child else ()
            return [names] if names else []
        declarator = node.child_by_field_name("declarator")
        while declarator and declarator.type != "qualified_identifier":
            declarator = declarator.child_by_field_name("declarator")
        scopes = []
        while declarator and declarator.type == "qualified_identifier":
            scope = declarator.child_by_field_name("scope")
            names = tuple(_words(self._text(scope))) if scope else ()
            scopes += [names] if names else []
            declarator = declarator.child_by_field_name("name")
        return scopes[::-1]

    def _text(self, node: "Node") -> str:
        return self._data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _value(node: "Node") -> "Node | None":
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    while value and value.type in _AROUND_VALUES:
        value = value.named_children[0] if value.named_children else None
    return value


_AROUND_VALUES: Final = frozenset(
    {"expression_list", "parenthesized_expression", "as_expression", "satisfies_expression"}
)


def _is_function(value: "Node | None", table: Table) -> bool:
    """Whether a value is a function, or one that is wrapped in a call: `memo(() => ...)`."""
    if value is None:
        return False
    if value.type == "call_expression":
        arguments = value.child_by_field_name("arguments")
        return arguments is not None and any(one.type in table.values for one in arguments.named_children)
    return value.type in table.values


def _declares_function(node: "Node") -> bool:
    """Whether what C calls a declaration is one of a function; everywhere else signatures are."""
    declarator = node.child_by_field_name("declarator")
    if node.type not in ("declaration", "field_declaration"):
        return True
    while declarator and declarator.type in ("pointer_declarator", "reference_declarator"):
        declarator = declarator.child_by_field_name("declarator") or (
            declarator.named_children[-1] if declarator.named_children else None
        )
    return declarator is not None and declarator.type == "function_declarator"


def _first_field(node: "Node", fields: tuple[str, ...]) -> "Node | None":
    return next((child for name in fields if (child := node.child_by_field_name(name))), None)


_BRACKETS: Final = re.compile(r"<[^<>]*>|\([^()]*\)|\[[^\[\]]*\]")
_WORD: Final = re.compile(r"[^\W\d][\w$]*")
_NO_SCOPE: Final = frozenset({"self", "this", "prototype", "exports", "module", "mut", "dyn", "const"})
_LONGEST_HEADER: Final = 1000


def _words(text: str) -> list[str]:
    """The names in a scope's own text, arguments of types left aside: `fmt::Display` and `Foo<T>`."""
    text, count = text[:_LONGEST_HEADER], 1
    while count:
        text, count = _BRACKETS.subn("", text)
    return [word for word in _WORD.findall(text) if word not in _NO_SCOPE]


def ancestors(node: "Node") -> "list[Node]":
    """The nodes around `node`, innermost first, the root last."""
    found = []
    parent = node.parent
    while parent:
        found.append(parent)
        parent = parent.parent
    return found
