"""Says of given spans of a source text whether they are comments, by its syntax tree (PROTOCOL.md §11.2).

The tree is only asked, never edited. Nothing here recurses: trees are as deep as their texts want them.
Both walks go forward through the tree once, whatever the number of spans.
"""

import re
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from ctxf.protocol.languages import Language
from ctxf.protocol.model import CommentForm

if TYPE_CHECKING:
    from tree_sitter import Node, Tree, TreeCursor

__all__ = [
    "COMMENT",
    "IN_DOUBT",
    "NO_COMMENT",
    "TASK",
    "Span",
    "answer",
    "first_shifting_error",
    "judge_spans",
    "request",
]

TASK: Final = "ctxf.protocol.comments"
"""The name of this module, for `Parsers.ask`."""

# One byte per span, so that a child process answers with bytes as they are.
NO_COMMENT: Final = ord("n")
COMMENT: Final = ord("c")
IN_DOUBT: Final = ord("d")


class Span(NamedTuple):
    """Where a comment may be: from its opener to behind its last byte, blanks excluded."""

    start: int
    end: int


# What a comment inside such a node is, depends on the version and the dialect of its language: the
# replacement field of an f-string, the substitution of a template (PROTOCOL.md §11.3). And in a tag of
# HTML or XML there are no comments, whatever the grammars say.
_QUOTING = re.compile(
    r"(?<!concatenated_)string|interpol|heredoc|template_(?:string|substitution|literal|interpolation|expr)"
    r"|quoted_|quasi|regex|raw_text|sigil|_tag$|^(?:STag|ETag|EmptyElemTag|doctype|doctypedecl)$"
)

# A missing token of these kinds shifts no string and no comment: the parser went on as if it were there.
_HARMLESS: Final = frozenset(")]};,:>.") | {
    "identifier",
    "type_identifier",
    "field_identifier",
    "end",
    "newline",
}


def request(spans: Sequence[Span]) -> bytes:
    """The payload for `answer`."""
    numbers = [number for span in spans for number in span]
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def answer(tree: "Tree", data: bytes, language: Language, payload: bytes) -> bytes:
    """`judge_spans` of the spans in `payload`."""
    numbers = struct.unpack(f"<{len(payload) // 8}Q", payload)
    spans = [Span(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)]
    return judge_spans(tree, data, spans, language)


def judge_spans(tree: "Tree", data: bytes, spans: Sequence[Span], language: Language) -> bytes:
    """COMMENT, IN_DOUBT or NO_COMMENT for each of `spans`, which are in order and do not overlap.

    A span is a comment when the outermost comment at it covers exactly the span (an indentation or a line
    end that the grammar counts in does not matter). It is in doubt inside a quoting node, and everywhere
    behind a parse error that may have shifted strings or comments.
    """
    if not spans:
        return b""
    doubt = first_shifting_error(tree, data, spans[-1].end, language)
    finder = _Finder(tree, data, language)
    verdicts = bytearray()
    for span in spans:
        verdict = finder.judge(span)
        verdicts.append(IN_DOUBT if verdict == COMMENT and span.start >= doubt else verdict)
    return bytes(verdicts)


class _Finder:
    """A cursor that is moved forward to one span after the other.

    `_path` holds the nodes from the root to the cursor's, as their ends and whether they quote.
    """

    def __init__(self, tree: "Tree", data: bytes, language: Language) -> None:
        self._data = data
        self._language = language
        self._cursor: TreeCursor = tree.walk()
        self._path = [self._here()]
        self._gap_end = 0  # up to here, no child of the cursor's node holds anything

    def judge(self, span: Span) -> int:
        if span.start < self._gap_end or not self._advance(span.start):
            return NO_COMMENT
        while True:
            node = self._cursor.node
            if node is None or node.start_byte > span.start:
                return NO_COMMENT
            if self._is_comment(node):
                return self._judge_comment(node, span)
            if node.type == "jsx_expression" and (node.start_byte, node.end_byte) == span:
                # `{/* ... */}` is how a comment stands between elements: an expression that is nothing else.
                span = Span(span.start + 1, span.end - 1)
            if self._cursor.goto_first_child_for_byte(span.start) is None:
                self._gap_end = node.end_byte
                return NO_COMMENT
            self._path.append(self._here())

    def _advance(self, position: int) -> bool:
        """Move to the next node in the tree's order that ends behind `position`, upwards or aside only."""
        cursor, path = self._cursor, self._path
        while path[-1][0] <= position:
            if cursor.goto_next_sibling():
                path[-1] = self._here()
            elif len(path) > 1 and path[-2][0] <= position:
                cursor.goto_parent()
                path.pop()
            else:
                return False  # behind the last child of a node, or behind the root: no node is there
        return True

    def _here(self) -> tuple[int, bool]:
        node = self._cursor.node
        return (node.end_byte, _QUOTING.search(node.type) is not None) if node else (0, False)

    def _is_comment(self, node: "Node") -> bool:
        kind = node.type
        if kind in self._language.not_comments or not node.is_named:
            return False
        return "comment" in kind.lower() or kind in self._language.also_comments

    def _judge_comment(self, node: "Node", span: Span) -> int:
        start, end = node.start_byte, node.end_byte
        is_exact = start == span.start and span.end <= end
        if is_exact and self._data[span.end : end].strip(b" \t\r\n"):
            is_exact = False
        if not is_exact and not (self._language.joined and self._is_joined(start, end, span)):
            return NO_COMMENT
        return IN_DOUBT if any(quotes for _end, quotes in self._path) else COMMENT

    def _is_joined(self, start: int, end: int, span: Span) -> bool:
        """Whether a node is line comments only, one of them at `span`."""
        opener = self._data[span.start : span.start + 1]
        lines = self._data[start:end].split(b"\n")
        return all(line.lstrip(b" \t\f").startswith(opener) or not line.strip() for line in lines)


def first_shifting_error(tree: "Tree", data: bytes, limit: int, language: Language) -> int:
    """Where the first parse error starts that may have shifted strings or comments; `limit` if none does.

    The parser skips what it cannot place. Braces and words in what it skipped do not matter, quotes and
    comment openers do: from there on, inside may have become outside. Comments that have a line for
    themselves are left out of account, or no block inside a skipped stretch could ever fold.
    """
    openers = re.compile(b"|".join([b"[\"'`]", *(re.escape(form.opener) for form in language.forms)]))
    comment_lines = re.compile(b"(?m:^[ \\t]*+(?:%b))" % b"|".join(map(_line_of, language.forms)))
    cursor = tree.walk()
    checked = 0  # errors before this are parts of one that has been searched already
    while True:
        node = cursor.node
        if node is None or node.start_byte >= limit:
            return limit
        if node.is_missing:
            if language.strict or node.type not in _HARMLESS:
                return node.start_byte
        elif node.is_error and node.end_byte > checked:
            skipped = comment_lines.sub(b"", data[node.start_byte : node.end_byte])
            if language.strict or openers.search(skipped):
                return node.start_byte
            checked = node.end_byte
        if node.has_error and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return limit


def _line_of(form: CommentForm) -> bytes:
    """A pattern for the rest of a line that is one comment of this form."""
    if not form.closer:
        return re.escape(form.opener) + rb"[^\n]*+"
    return rb"%b[^\n]*?%b[ \t\r]*+$" % (re.escape(form.opener), re.escape(form.closer))
