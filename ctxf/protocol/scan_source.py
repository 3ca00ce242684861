"""Finds the live marker lines of source (PROTOCOL.md §11): those that are comments of the language.

A line that looks like a marker costs a parse, a text without one costs a search for `@context-fold`. The
grammar says what is a comment; this module says where a grammar cannot be believed.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ctxf.protocol.comments import COMMENT, NO_COMMENT, Span
from ctxf.protocol.languages import Language
from ctxf.protocol.markers import BOM, KEYWORD, parse_marker
from ctxf.protocol.model import CommentForm, Marker
from ctxf.protocol.parsers import Failure, Problem, SourceParser
from ctxf.protocol.scan_text import MAX_LINE_BYTES

__all__ = ["MAX_SOURCE_BYTES", "SourceScan", "find_marker_lines", "is_misread", "scan_source"]

# PROTOCOL.md §11.4: a larger source stays as it is. It bounds memory (a tree takes some thirty times the
# bytes of its text) where the time limit bounds time.
MAX_SOURCE_BYTES: Final = 8 << 20

# Grammars take a lone CR for a blank, many languages for the end of a line, and so of a comment; and a NUL
# is what generated lexers take for the end of the input.
_MISREAD = re.compile(rb"\0|\r(?!\n)")

# A C compiler splices such lines too, comments included, where grammars only know backslash and LF.
_SPLICE = re.compile(rb"\\[ \t\r]++\n\Z")
_SPLICING: Final = CommentForm(b"//")
_LONGEST_SPLICE: Final = 64


@dataclass(frozen=True, slots=True)
class SourceScan:
    """The marker lines of a source, each in one of three lists and each list in order.

    `live` are comments for certain, `doubtful` those that look like comments where the lexical state is in
    doubt, `quoted` no comments: they stand in a string or in a longer comment. With a `failure` nothing
    could be told and all are `doubtful`. `extra` tells for each extra span whether it is a comment,
    in doubt or not.
    """

    live: tuple[Marker, ...] = ()
    doubtful: tuple[Marker, ...] = ()
    quoted: tuple[Marker, ...] = ()
    extra: tuple[bool, ...] = ()
    failure: Failure | None = None


def scan_source(
    data: bytes, language: Language, parser: SourceParser, extra: Sequence[Span] = ()
) -> SourceScan:
    """Scan a whole source. Lossless: it reads `data` and changes nothing. Never raises for what is in it.

    `extra` are more spans to look at, in order: references whose lines ought to be comments.
    """
    markers = find_marker_lines(data, language)
    if not markers:
        return SourceScan()
    if len(data) > MAX_SOURCE_BYTES:
        megabytes = MAX_SOURCE_BYTES >> 20
        failure = Failure(Problem.TOO_LARGE, f"the source is larger than {megabytes} MiB")
        return SourceScan(doubtful=markers, failure=failure)

    spans = sorted([*(_comment_span(data, marker) for marker in markers), *extra])
    verdicts = parser.judge(data, spans, language)
    if isinstance(verdicts, Failure):
        return SourceScan(doubtful=markers, failure=verdicts)
    verdict_at = {span.start: verdict for span, verdict in zip(spans, verdicts, strict=True)}

    live: list[Marker] = []
    doubtful: list[Marker] = []
    quoted: list[Marker] = []
    for marker, is_in_doubt in zip(markers, _doubts(data, language, markers), strict=True):
        verdict = verdict_at[marker.start + len(marker.indent)]
        if verdict == NO_COMMENT:
            quoted.append(marker)
        elif verdict == COMMENT and not is_in_doubt:
            live.append(marker)
        else:
            doubtful.append(marker)
    return SourceScan(
        tuple(live),
        tuple(doubtful),
        tuple(quoted),
        tuple(verdict_at[span.start] != NO_COMMENT for span in extra),
    )


def is_misread(data: bytes) -> bool:
    """Whether grammars and languages may read `data` differently: it holds a NUL or a lone CR."""
    return _MISREAD.search(data) is not None


def find_marker_lines(data: bytes, language: Language) -> tuple[Marker, ...]:
    """The lines that have the shape of a marker in a comment form of `language`, wherever they stand."""
    return tuple(_marker_lines(data, language))


def _marker_lines(data: bytes, language: Language) -> Iterator[Marker]:
    position = len(BOM) if data.startswith(BOM) else 0
    line, counted = 1, 0
    while (keyword := data.find(KEYWORD, position)) >= 0:
        start = max(position, data.rfind(b"\n", position, keyword) + 1)
        newline = data.find(b"\n", keyword)
        position = len(data) if newline < 0 else newline + 1
        if position - start > MAX_LINE_BYTES:
            continue
        marker = parse_marker(data, start, position)
        if marker and _plain_form(marker.form) in language.forms:
            line += data.count(b"\n", counted, start)
            counted = start
            yield marker._replace(line=line)


def _plain_form(form: CommentForm) -> CommentForm:
    """The form in the language table: `##`, `;;;` and `%%` are `#`, `;` and `%`."""
    return CommentForm(form.opener[:1]) if form.opener[:1] in (b"#", b";", b"%") else form


def _comment_span(data: bytes, marker: Marker) -> Span:
    start = marker.start + len(marker.indent)
    return Span(start, len(data[start : marker.end].rstrip(b" \t\r\n")) + start)


def _doubts(data: bytes, language: Language, markers: Sequence[Marker]) -> Iterator[bool]:
    """For each marker whether something else than its grammar puts it in doubt."""
    misread = _MISREAD.search(data)
    doubt = misread.start() if misread else len(data)
    regions = re.finditer(language.doubt, data) if language.doubt else iter(())
    region = next(regions, None)
    for marker in markers:
        while region and region.end() <= marker.start:
            region = next(regions, None)
        is_inside = region is not None and region.start() <= marker.start
        yield marker.start >= doubt or is_inside or _may_be_spliced(data, language, marker)


def _may_be_spliced(data: bytes, language: Language, marker: Marker) -> bool:
    if _SPLICING not in language.forms:
        return False
    return _SPLICE.search(data, max(0, marker.start - _LONGEST_SPLICE), marker.start) is not None
