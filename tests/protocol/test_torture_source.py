"""Marker pairs at random lines of real source files, and another lexer's opinion of what was folded.

Minutes: run with `-m long`. CTXF_TORTURE_FILES says how many files per language, CTXF_TORTURE_ROOTS adds
folders to look in (separated by `:`), CTXF_TORTURE_REPORT names a file for the disagreements.

The oracle is `tokenize` for Python and Pygments for the rest. Pygments knows less about its languages than
the grammars do, so a disagreement is a question, not yet a fault: the test reports it, and fails for
Python's alone.
"""

import io
import os
import random
import re
import sysconfig
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment

from ctxf.protocol.languages import language_for_file
from ctxf.protocol.model import Reason
from ctxf.protocol.parsers import Parsers
from tests.kit.source import assert_laws, named

FILES = int(os.environ.get("CTXF_TORTURE_FILES", "400"))
LARGEST = 60_000

ROOTS = [
    sysconfig.get_path("stdlib"),
    "/usr/include",
    "/usr/lib/node_modules",
    "/usr/share",
    "/usr/lib",
    "/usr/bin",
    "/etc",
]

# Name: opener and closer of a marker there, Pygments's lexer.
TORTURED = {
    "python": ("#", "", ""),
    "javascript": ("//", "", "javascript"),
    "typescript": ("//", "", "typescript"),
    "go": ("//", "", "go"),
    "rust": ("//", "", "rust"),
    "c": ("//", "", "c"),
    "cpp": ("/*", " */", "cpp"),
    "java": ("//", "", "java"),
    "ruby": ("#", "", "ruby"),
    "php": ("//", "", "php"),
    "perl": ("#", "", "perl"),
    "bash": ("#", "", "bash"),
    "html": ("<!--", " -->", "html"),
    "css": ("/*", " */", "css"),
    "yaml": ("#", "", "yaml"),
    "toml": ("#", "", "toml"),
    "lua": ("--", "", "lua"),
    "sql": ("--", "", "sql"),
}


class Case(NamedTuple):
    """A file with markers in it, and where they are."""

    path: str
    text: bytes
    markers: tuple[tuple[str, int], ...]  # label and offset of the opener


@pytest.mark.long
@pytest.mark.parametrize("name", TORTURED)
def test_nothing_but_comments_folds(name: str, request: pytest.FixtureRequest) -> None:
    opener, closer, lexer = TORTURED[name]
    language = named(name)
    rng = random.Random(name)
    counts: Counter[str] = Counter()
    report = []
    with Parsers() as parsers:
        for path in source_files(name, rng):
            case = with_markers(path, opener, closer, rng)
            if case is None:
                continue
            _text, plan, _bodies = assert_laws(case.text, language, parsers, min_savings_tokens=0)
            comments = python_comments(case.text) if not lexer else pygments_comments(case.text, lexer)
            counts["files"] += 1
            if plan.failure:
                counts[plan.failure.problem] += 1
            if comments is None:
                counts["no oracle"] += 1
            folded = {fold.block.begin.label.decode() for fold in plan.folds}
            kept = {keep.marker.label.decode(): keep.reason for keep in plan.kept}
            for label in sorted({label for label, _offset in case.markers}):
                at = [offset for name_, offset in case.markers if name_ == label]
                counts["pairs"] += 1
                counts["folded" if label in folded else f"kept: {kept.get(label, 'pair broken')}"] += 1
                if comments is None:
                    continue
                are_comments = all(offset in comments for offset in at)
                if label in folded and not are_comments:
                    counts["DISAGREED: folded"] += 1
                    report.append(f"folded {path} {label} {at}")
                elif are_comments and kept.get(label) == Reason.FENCED:
                    counts["DISAGREED: taken for no comment"] += 1
                    report.append(f"missed {path} {label} {at}")
    print(f"\n{name}: {dict(counts)}")
    if target := os.environ.get("CTXF_TORTURE_REPORT"):
        with Path(target).open("a") as file:
            file.writelines(f"{name} {line}\n" for line in [str(dict(counts)), *report])
    if not lexer:  # the language's own tokenizer: no disagreement is acceptable
        assert not counts["DISAGREED: folded"]


def source_files(name: str, rng: random.Random) -> Iterator[str]:
    roots = [*os.environ.get("CTXF_TORTURE_ROOTS", "").split(":"), *ROOTS]
    found: list[str] = []
    seen: set[int] = set()
    for root in filter(None, roots):
        for folder, folders, files in os.walk(root):
            folders.sort()
            for file in sorted(files):
                path = os.path.join(folder, file)
                language = language_for_file(file, b"" if "." in file else first_bytes(path))
                if language and language.name == name and os.path.isfile(path):
                    found.append(path)
    rng.shuffle(found)
    yielded = 0
    for path in found:
        if yielded == FILES:
            return
        text = Path(path).read_bytes()
        if 200 < len(text) <= LARGEST and hash(text) not in seen and b"@context-fold" not in text:
            seen.add(hash(text))
            yielded += 1
            yield path


def first_bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(80)
    except OSError:
        return b""


def with_markers(path: str, opener: str, closer: str, rng: random.Random) -> Case | None:
    """The file with one to four pairs at random lines, none inside another."""
    lines = Path(path).read_bytes().split(b"\n")
    if len(lines) < 12:
        return None
    eol = b"\r\n" if lines[0].endswith(b"\r") else b"\n"
    pairs = rng.randint(1, min(4, len(lines) // 6))
    places = sorted(rng.sample(range(1, len(lines)), 2 * pairs))
    pieces: list[bytes] = []
    markers = []
    position = size = 0
    for index, place in enumerate(places):
        label = f"block-{index // 2}"
        word = "end" if index % 2 else "begin"
        indent = lines[place][: len(lines[place]) - len(lines[place].lstrip(b" \t"))]
        before = b"".join(line + b"\n" for line in lines[position:place])
        marker = f"{opener} @context-fold {word} {label}{closer}".encode()
        markers.append((label, size + len(before) + len(indent)))
        pieces += [before, indent, marker, eol]
        size += len(before) + len(indent) + len(marker) + len(eol)
        position = place
    pieces.append(b"\n".join(lines[position:]))
    return Case(path, b"".join(pieces), tuple(markers))


def python_comments(text: bytes) -> set[int] | None:
    """Offsets of comments; None where it is no Python 3."""
    offsets = [0]
    for line in text.split(b"\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    found = set()
    try:
        # Latin-1: a character is a byte. What matters is ASCII in it.
        for token in tokenize.generate_tokens(io.StringIO(text.decode("latin-1"), newline="\n").readline):
            if token.type == tokenize.COMMENT:
                found.add(offsets[token.start[0] - 1] + token.start[1])
    except (tokenize.TokenError, SyntaxError):
        return None
    return found


def pygments_comments(text: bytes, lexer: str) -> set[int] | None:
    """Offsets where a comment begins."""
    found = set()
    inside = False
    for offset, kind, value in get_lexer_by_name(lexer).get_tokens_unprocessed(text.decode("latin-1")):
        kinds = kind.split()
        if Comment not in kinds or Comment.Preproc in kinds:
            inside = False
            continue
        if not inside or value.startswith(("#", "//", "--", "<!--")):
            found.add(offset)
        inside = True
        if value.startswith(("#", "//", "--")):  # a run of comment lines may be one token
            ends = [offset + i + 1 for i, character in enumerate(value) if character == "\n"]
            found.update(end + count_blanks(value, end - offset) for end in ends)
    return found


def count_blanks(text: str, start: int) -> int:
    match = re.compile(r"[ \t]*").match(text, start)
    return len(match[0]) if match else 0
