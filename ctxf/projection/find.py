"""What a parser is asked for a projection: which lines stay.

It runs where the tree is, maybe in a child process. `answer` takes and gives bytes, as every
task of `ctxf.protocol.parsers` does.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from dataclasses import fields as dataclass_fields
from typing import TYPE_CHECKING, Any, Final

from ctxf.projection.choose import Choice, Why, choose, is_bare_word
from ctxf.projection.cleanness import has_broken_neighbour, is_clean
from ctxf.projection.constants import find_constants
from ctxf.projection.definitions import Definition, ancestors
from ctxf.projection.extent import Extents, Rows, last_row
from ctxf.projection.lookup import Lookup, TooSlow
from ctxf.projection.question import read_question
from ctxf.projection.tables import TABLES, Table
from ctxf.protocol.comments import first_shifting_error
from ctxf.protocol.languages import Language

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

__all__ = ["TASK", "Finding", "Found", "answer", "request"]

TASK: Final = "ctxf.projection.find"
"""The name of this module, for `Parsers.ask`."""

_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Found:
    """A definition that stays: its node by bytes and kind, its rows with what belongs to it."""

    name: str
    line: int
    start: int
    end: int
    kind: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Finding:
    """Which rows stay and why, or why the source does (`why`, `detail`)."""

    definitions: tuple[Found, ...] = ()
    rows: tuple[Rows, ...] = ()
    constants: int = 0
    constants_left_out: int = 0
    why: Why | None = None
    detail: str = ""
    matched: tuple[str, ...] = ()

    @classmethod
    def from_answer(cls, payload: bytes) -> "Finding":
        """What `answer` encoded."""
        fields: dict[str, Any] = json.loads(payload)
        fields["definitions"] = tuple(Found(**one) for one in fields["definitions"])
        fields["rows"] = tuple(Rows(*one) for one in fields["rows"])
        fields["why"] = Why(fields["why"]) if fields["why"] else None
        fields["matched"] = tuple(fields["matched"])
        return cls(**fields)

    def to_answer(self) -> bytes:
        """The encoding that `from_answer` reads.

        Not `asdict` of the whole, which copies each row: that took a quarter of the search.
        """
        fields = {one.name: getattr(self, one.name) for one in dataclass_fields(self)}
        fields["definitions"] = [asdict(one) for one in self.definitions]
        return json.dumps(fields).encode("ascii")


def request(question: str, *, whole: bool = False) -> bytes:
    """The payload for `answer`; with `whole` a source with any error in it is not clean."""
    return json.dumps([question, whole]).encode("ascii")


def answer(tree: "Tree", data: bytes, language: Language, payload: bytes) -> bytes:
    """A Finding for the question in `payload`."""
    question, whole = json.loads(payload)
    if whole and tree.root_node.has_error:
        finding = Finding(why=Why.NOT_CLEAN, detail="it does not parse")
        return finding.to_answer()
    try:
        finding = _find(tree, data, TABLES[language.name], language, question)
    except TooSlow:
        finding = Finding(why=Why.PARSER, detail=f"it took longer than {_SECONDS:g} s to look through")
    return finding.to_answer()


def _find(tree: "Tree", data: bytes, table: Table, language: Language, question: str) -> Finding:
    mentions = read_question(question)
    names = {one.name for one in mentions if one.qualifiers or not is_bare_word(one)}
    lookup = Lookup(tree, data, table, names, _SECONDS)
    choice = choose(mentions, lookup, overloads=table.overloads)
    if choice.why is not None:
        return Finding(why=choice.why, detail=choice.detail, matched=choice.matched)
    extents = Extents(tree.root_node, data, table)
    if fault := _unclean(tree, data, language, table, choice.group, extents):
        detail = f"the file does not parse cleanly around {fault}"
        return Finding(why=Why.NOT_CLEAN, detail=detail, matched=choice.matched)
    return _keep(tree, data, table, choice, extents)


def _keep(tree: "Tree", data: bytes, table: Table, choice: Choice, extents: Extents) -> Finding:
    root = tree.root_node
    found, rows, kept, levels = [], [], [], {root.id: root}
    for one in choice.group:
        node = one.node
        own = extents.of_definition(node)
        rows += [own, *extents.around(node)]
        outer = extents.outermost(node)
        kept.append(data[outer.start_byte : outer.end_byte])
        levels |= {around.id: around for around in ancestors(node)[:-1] if around.type in table.levels}
        found.append(
            Found(one.path, one.line, node.start_byte, node.end_byte, node.type, own.first, own.last)
        )
    constants = find_constants(levels.values(), data, table, kept)
    return Finding(
        tuple(found),
        tuple(merged([*rows, *constants.rows, *_opening_tag(root)])),
        len(constants.rows),
        constants.left_out,
        matched=choice.matched,
    )


def merged(rows: Sequence[Rows]) -> list[Rows]:
    """The same rows, in order, none touching another."""
    result: list[Rows] = []
    for one in sorted(rows):
        if result and one.first <= result[-1].last + 1:
            result[-1] = Rows(result[-1].first, max(result[-1].last, one.last))
        else:
            result.append(one)
    return result


def _opening_tag(root: "Node") -> list[Rows]:
    """PHP: the lines up to the first `<?php`, before which nothing is a comment."""
    tag = next((one for one in root.children[:2] if one.type == "php_tag"), None)
    return [Rows(0, last_row(tag))] if tag else []


def _unclean(
    tree: "Tree",
    data: bytes,
    language: Language,
    table: Table,
    group: Sequence[Definition],
    extents: Extents,
) -> Definition | None:
    """The first of `group` that a parse error may have cut, joined or moved."""
    last = extents.outermost(group[-1].node)
    doubt = first_shifting_error(tree, data, last.start_byte, language) if tree.root_node.has_error else None
    for one in group:
        outer = extents.outermost(one.node)
        if doubt is not None and doubt < outer.start_byte:
            return one
        if not is_clean(outer, data, table) or has_broken_neighbour(outer, data, table):
            return one
        if any(around.is_error for around in ancestors(outer)):
            return one
    return None
