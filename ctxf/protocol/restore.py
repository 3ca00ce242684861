"""Finds the references of a text and puts bodies in their place (PROTOCOL.md §6, §8).

Where references count depends on the kind of text: in `text` bare reference blocks in live HTML
comments, in `source` wrapped ones and omission lines, by their lines alone (no grammar is needed), and
in a text of unknown kind both, each by its rule.
"""

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from itertools import pairwise

from ctxf.protocol.markers import BOM, parse_marker, parse_omission
from ctxf.protocol.model import Reference
from ctxf.protocol.references import LONGEST_REFERENCE, REFERENCE, REFERENCE_HEAD, parse_reference_line
from ctxf.protocol.scan_text import MAX_LINE_BYTES, scan_text

__all__ = ["Kind", "find_loose_references", "find_references", "restored_pieces"]


class Kind(StrEnum):
    """What a text is, as far as references are concerned."""

    TEXT = "text"
    SOURCE = "source"
    UNKNOWN = "unknown"


def find_references(text: bytes, kind: Kind) -> list[Reference]:
    """All references of `text` in their order; no two overlap."""
    if REFERENCE_HEAD not in text:
        return []
    bare = [] if kind is Kind.SOURCE else list(_bare_references(text))
    wrapped = [] if kind is Kind.TEXT else list(_wrapped_references(text))
    return sorted(bare + wrapped, key=lambda reference: reference.start)


def find_loose_references(text: bytes, references: Iterable[Reference]) -> Iterator[tuple[str, int]]:
    """Id and line of each well-formed reference that is none of `references`: text, but worth a word."""
    taken = {reference.end for reference in references}  # a reference has its line to itself
    line, counted, line_end = 1, 0, 0
    for match in REFERENCE.finditer(text):
        if match.start() >= line_end:
            line_end = _line_end(text, match.end())
        if line_end in taken:
            continue
        line += text.count(b"\n", counted, match.start())
        counted = match.start()
        yield match[1].decode("ascii"), line


def restored_pieces(
    text: bytes, references: Iterable[Reference], body_of: Callable[[Reference], bytes | None]
) -> Iterator[bytes]:
    """`text` with each reference's body in its place, in pieces; where `body_of` gives None it stays.

    One pass: what is put in is never looked at (PROTOCOL.md §8.1).
    """
    position = 0
    for reference in references:
        body = body_of(reference)
        if body is not None:
            yield text[position : reference.start]
            yield body
            position = reference.end
    yield text[position:]


def _bare_references(text: bytes) -> Iterator[Reference]:
    for begin, end in pairwise(scan_text(text).markers):
        is_pair = begin.kind == "begin" and end.kind == "end" and begin.label == end.label
        if is_pair and end.start - begin.end <= LONGEST_REFERENCE:
            id_ = parse_reference_line(begin, text[begin.end : end.start], wrapped=False)
            if id_:
                yield Reference(id_, begin.label, begin.end, end.start, begin.line + 1)


def _wrapped_references(text: bytes) -> Iterator[Reference]:
    position = len(BOM) if text.startswith(BOM) else 0
    line, counted = 1, 0
    while (head := text.find(REFERENCE_HEAD, position)) >= 0:
        start = max(position, text.rfind(b"\n", position, head) + 1)
        end = position = _line_end(text, head)
        if end - start > MAX_LINE_BYTES:
            continue
        line += text.count(b"\n", counted, start)
        counted = start
        reference = parse_omission(text, start, end, line=line) or _wrapped_block(text, start, end, line)
        if reference:
            yield reference


def _wrapped_block(text: bytes, start: int, end: int, line: int) -> Reference | None:
    """The reference block whose reference line is `text[start:end]`."""
    first_byte = len(BOM) if text.startswith(BOM) else 0
    if start <= first_byte:
        return None
    before = max(first_byte, text.rfind(b"\n", 0, start - 1) + 1)
    after = _line_end(text, end)
    if start - before > MAX_LINE_BYTES or after - end > MAX_LINE_BYTES:
        return None
    begin = parse_marker(text, before, start)
    if begin is None or begin.kind != "begin":
        return None
    id_ = parse_reference_line(begin, text[start:end], wrapped=True)
    if id_ is None:
        return None
    closing = parse_marker(text, end, after)
    if closing is None or closing.kind != "end" or (closing.label, closing.form) != (begin.label, begin.form):
        return None
    return Reference(id_, begin.label, start, end, line)


def _line_end(text: bytes, position: int) -> int:
    newline = text.find(b"\n", position)
    return len(text) if newline < 0 else newline + 1
