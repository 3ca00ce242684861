"""Puts originals in place of references in a text that is about to become a file, or a part of one.

The text is read line by line. A line that holds a reference and nothing else, bare or in a comment, is
replaced by the lines of its body, whether it is part of a reference block, an omission line or alone. A
reference within other text is left for the model to resolve, since a body is whole lines. A body that does
not end with a line end is put in only where nothing follows: the next line would be joined to its last one.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from ctxf.errors import ArchiveError, BodyNotFound, CtxfError

__all__ = [
    "HEAD",
    "Behind",
    "Expansion",
    "NoLineEnd",
    "NotText",
    "TooLarge",
    "expand_patch",
    "expand_text",
    "reference_ids",
]

HEAD: Final = "[[cf:v2:"

_REFERENCE = re.compile(r"\[\[cf:v2:([0-9a-f]{12,64})\]\]")
# Optional comment opener, optional keyword and label of an omission line, reference, optional closer.
_LINE = re.compile(
    r"[ \t]*+(?:(?:#++|//|--|;++|%++|/\*|<!--|\(\*|\{-|\{/\*)[ \t]*+"
    r"(?:@context-fold[ \t]++omit[ \t]++[^ \t\[]++[ \t]++)?)?"
    r"\[\[cf:v2:([0-9a-f]{12,64})\]\][ \t]*+(?:\*/\}?|-->|\*\)|-\})?[ \t]*+(\r?\n|\Z)"
)
_FENCE = re.compile(r"[ \t>]*+(?:(?:[-*+]|[0-9]{1,9}+[.)])[ \t]++)?+(`{3,}+|~{3,}+)")
_FILE = re.compile(r"^(?=\*\*\* (?:Add|Update|Delete) File: )", re.MULTILINE)

_MOST_EXPANDED: Final = 32 << 20

Lookup = Callable[[str], bytes]
"""The body of an id; raises CtxfError."""

Behind = Literal["nothing", "line", "rest"]
"""What follows a text where it is put: the end of the file, a new line, or the rest of its last line."""


class NotText(CtxfError):
    """The body of `id` is not UTF-8, so it cannot go through a tool's input."""

    def __init__(self, id: str) -> None:
        self.id = id
        super().__init__(f"{id}: its original is not UTF-8 text")


class TooLarge(CtxfError):
    """With the body of `id` the text would become larger than a tool's input ever should."""

    def __init__(self, id: str) -> None:
        self.id = id
        super().__init__(f"{id}: with its original the text becomes too large")


class NoLineEnd(CtxfError):
    """The body of `id` has no line end at its end, and something follows."""

    def __init__(self, id: str) -> None:
        self.id = id
        super().__init__(f"{id}: its original has no line end at its end, so no line can stand behind it")


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


def expand_text(
    text: str,
    lookup: Lookup,
    *,
    is_markdown: bool = False,
    behind: Behind = "nothing",
    held: Collection[str] = (),
) -> Expansion:
    """Expand a text. Before the rest of a line, a reference at the very end gives its body without the last
    line end. `held` are ids to be left alone. Raises ArchiveError: then nothing is known of any reference.
    """
    if HEAD not in text:
        return Expansion(text)
    return _Expander(lookup, behind, held).run(text, _fenced(text) if is_markdown else ())


def expand_patch(patch: str, lookup: Lookup) -> Expansion:
    """Expand the lines that a patch adds (`+` before each), as `apply_patch` takes it; raises ArchiveError.

    What a file's other lines in the patch hold is in that file already and is left alone.
    """
    if HEAD not in patch:
        return Expansion(patch)
    parts = []
    for part in _FILE.split(patch):
        others = [id for line in part.split("\n") if line[:1] in ("-", " ") for id in reference_ids(line)]
        parts.append(_Expander(lookup, "line", others, added="+").run(part, ()))
    return Expansion(
        "".join(part.text for part in parts),
        tuple(id for part in parts for id in part.expanded),
        tuple(one for part in parts for one in part.missing),
        inline=tuple(id for part in parts for id in part.inline),
    )


class _Expander:
    def __init__(self, lookup: Lookup, behind: Behind, held: Collection[str], added: str = "") -> None:
        self._lookup = lookup
        self._behind = behind
        self._held = frozenset(held)
        self._added = added
        self._expanded: list[str] = []
        self._missing: list[tuple[str, CtxfError]] = []
        self._quoted: list[str] = []
        self._inline: list[str] = []
        self._room = _MOST_EXPANDED

    def run(self, text: str, fenced: Sequence[tuple[int, int]]) -> Expansion:
        pieces: list[str] = []
        position = 0
        for start, end in _lines_with_reference(text):
            pieces.append(text[position:start])
            fence = bisect_right(fenced, (start, len(text))) - 1
            is_fenced = fence >= 0 and start < fenced[fence][1]
            behind = "line" if end < len(text) else self._behind
            pieces.append(self._expand_line(text[start:end], behind, is_fenced))
            position = end
        pieces.append(text[position:])
        return Expansion(
            "".join(pieces),
            tuple(self._expanded),
            tuple(self._missing),
            tuple(self._quoted),
            tuple(self._inline),
        )

    def _expand_line(self, line: str, behind: Behind, is_fenced: bool) -> str:
        if self._added and not line.startswith(self._added):
            return line  # context, or what the patch takes away
        match = _LINE.fullmatch(line, len(self._added))
        if match is None:
            self._inline += (id for id in reference_ids(line) if id not in self._held)
            return line
        id, line_end = match[1], match[2]
        if id in self._held:
            return line
        keeps_line_end = not line_end and behind == "rest"  # a line of the file itself follows
        try:
            body = self._body(id)
            if behind != "nothing" and not keeps_line_end and body and not body.endswith("\n"):
                raise NoLineEnd(id)
        except ArchiveError:
            raise
        except CtxfError as error:
            if is_fenced and isinstance(error, BodyNotFound):
                self._quoted.append(id)
            else:
                self._missing.append((id, error))
            return line
        self._expanded.append(id)
        if self._added:
            return "".join(f"{self._added}{one}\n" for one in _lines(body))
        if keeps_line_end:
            return body.removesuffix("\n").removesuffix("\r")
        return body

    def _body(self, id: str) -> str:
        body = self._lookup(id)
        self._room -= len(body)
        if self._room < 0:
            raise TooLarge(id)
        try:
            return body.decode("utf-8")
        except UnicodeDecodeError:
            raise NotText(id) from None


def _lines(body: str) -> list[str]:
    """Its lines without their LF; nothing else ends a line (PROTOCOL.md §2.2), so a CR before it stays."""
    return body.split("\n")[:-1]


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
