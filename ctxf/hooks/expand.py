"""Puts originals in place of references in a text that is about to become a file, or a part of one.

By its lines alone: a line that holds a reference and nothing else, bare or in a comment, stands for the
lines of its body, whether it is the middle of a reference block, an omission line or was written alone. A
reference within other text is left for the model to resolve, since a body is whole lines.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from ctxf.errors import CtxfError

__all__ = ["HEAD", "Expansion", "NotText", "expand_patch", "expand_text", "reference_ids"]

HEAD: Final = "[[cf:v2:"

_REFERENCE = re.compile(r"\[\[cf:v2:([0-9a-f]{12,64})\]\]")
# A comment form's opener or nothing, perhaps an omission's words, the reference, perhaps a closer.
_LINE = re.compile(
    r"[ \t]*+(?:(?:#++|//|--|;++|%++|/\*|<!--|\(\*|\{-|\{/\*)[ \t]*+"
    r"(?:@context-fold[ \t]++omit[ \t]++[^ \t\[]++[ \t]++)?)?"
    r"\[\[cf:v2:([0-9a-f]{12,64})\]\][ \t]*+(?:\*/\}?|-->|\*\)|-\})?[ \t]*+(\r?\n|\Z)"
)
_FENCE = re.compile(r"[ \t>]*+(?:(?:[-*+]|[0-9]{1,9}+[.)])[ \t]++)?+(`{3,}+|~{3,}+)")

Lookup = Callable[[str], bytes]
"""The body of an id; raises CtxfError."""


class NotText(CtxfError):
    """The body of `id` is not UTF-8, so it cannot go through a tool's input."""

    def __init__(self, id: str) -> None:
        self.id = id
        super().__init__(f"{id}: its original is not UTF-8 text")


class Expansion(NamedTuple):
    """`text` with the bodies in it, and what could not be put in.

    `expanded`: ids that were. `missing`: why each of the others on a line of their own was not. `quoted`:
    ids on lines of their own in fenced code that do not resolve. `inline`: ids within other text.
    """

    text: str
    expanded: tuple[str, ...] = ()
    missing: tuple[tuple[str, CtxfError], ...] = ()
    quoted: tuple[str, ...] = ()
    inline: tuple[str, ...] = ()


def reference_ids(text: str) -> list[str]:
    """The ids of all well-formed references in `text`."""
    return _REFERENCE.findall(text)


def expand_text(text: str, lookup: Lookup, *, is_markdown: bool = False, ends_line: bool = True) -> Expansion:
    """Expand a text. `ends_line`: what comes behind it begins a new line.

    Where that is not so, a reference at the very end gives its body without the last line end.
    """
    if HEAD not in text:
        return Expansion(text)
    return _Expander(lookup, ends_line).run(text, _fenced(text) if is_markdown else ())


def expand_patch(patch: str, lookup: Lookup) -> Expansion:
    """Expand the lines that a patch adds (`+` before each), as `apply_patch` takes it."""
    if HEAD not in patch:
        return Expansion(patch)
    return _Expander(lookup, True, added="+").run(patch, ())


class _Expander:
    def __init__(self, lookup: Lookup, ends_line: bool, added: str = "") -> None:
        self._lookup = lookup
        self._ends_line = ends_line
        self._added = added
        self._expanded: list[str] = []
        self._missing: list[tuple[str, CtxfError]] = []
        self._quoted: list[str] = []
        self._inline: list[str] = []

    def run(self, text: str, fenced: "tuple[tuple[int, int], ...]") -> Expansion:
        pieces: list[str] = []
        position = 0
        for start, end in _lines_with_reference(text):
            pieces.append(text[position:start])
            is_fenced = any(first <= start < last for first, last in fenced)
            pieces.append(self._expand_line(text[start:end], is_fenced))
            position = end
        pieces.append(text[position:])
        return Expansion(
            "".join(pieces),
            tuple(self._expanded),
            tuple(self._missing),
            tuple(self._quoted),
            tuple(self._inline),
        )

    def _expand_line(self, line: str, is_fenced: bool) -> str:
        if self._added and not line.startswith(self._added):
            return line  # context, or what the patch takes away
        match = _LINE.fullmatch(line, len(self._added))
        if match is None:
            self._inline += reference_ids(line)
            return line
        id, line_end = match[1], match[2]
        try:
            body = self._body(id)
        except CtxfError as error:
            if is_fenced:
                self._quoted.append(id)
            else:
                self._missing.append((id, error))
            return line
        self._expanded.append(id)
        if self._added:
            return "".join(self._added + one for one in body.splitlines_lf())
        if not line_end and not self._ends_line:
            return body.text.removesuffix("\n").removesuffix("\r")
        return body.text

    def _body(self, id: str) -> "_Body":
        body = self._lookup(id)
        try:
            return _Body(body.decode("utf-8"))
        except UnicodeDecodeError:
            raise NotText(id) from None


class _Body(NamedTuple):
    text: str

    def splitlines_lf(self) -> list[str]:
        """Its lines, each with its line end; no other character ends a line (PROTOCOL.md §2.2)."""
        return re.findall(r"[^\n]*\n|[^\n]+\Z", self.text)


def _lines_with_reference(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    while (head := text.find(HEAD, position)) >= 0:
        start = max(position, text.rfind("\n", position, head) + 1)
        position = text.find("\n", head) + 1 or len(text)
        yield start, position


def _fenced(text: str) -> tuple[tuple[int, int], ...]:
    """Where fenced code is, by the rules of PROTOCOL.md §4.1; longer comments left aside."""
    found: list[tuple[int, int]] = []
    run, begin, position = "", 0, 0
    while position < len(text):
        end = text.find("\n", position) + 1 or len(text)
        match = _FENCE.match(text, position, end)
        if match and not run:
            is_fence = match[1][0] == "~" or "`" not in text[match.end() : end]
            run, begin = (match[1], end) if is_fence else ("", 0)
        elif match and match[1].startswith(run) and not text[match.end() : end].strip(" \t\r\n"):
            found.append((begin, position))
            run = ""
        position = end
    if run:
        found.append((begin, len(text)))
    return tuple(found)
