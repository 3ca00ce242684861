"""The core against the naive second implementation, on documents of near-misses (PROTOCOL.md §2 to §8)."""

from itertools import pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from ctxf.protocol.markers import BOM
from ctxf.protocol.restore import Kind, find_references
from ctxf.protocol.scan_text import TextScanner, scan_text
from tests.kit import naive
from tests.kit.in_memory import Scope, fold, restore

LABELS = [*"aaabb", "b/c.d-e", "é", "हिन्दी", "a" * 128, "a" * 129, "a--b", "-a", "½", "a\u200d"]
BLANKS = ["", " ", "", " ", "", " ", "", " ", "  ", "\t", "\u00a0", "\f"]
GAPS = [" "] * 12 + ["  ", "\t", " \t ", "", "\u00a0", "\f"]
WORDS = ["begin"] * 6 + ["end"] * 8 + ["omit"] * 3 + ["Begin", "end end"]
HTML = [("<!--", "-->")] * 20 + [("<!--", "--->"), ("<!-", "-->"), ("<!--", "-- >")]
FORMS = [*HTML, ("#", ""), ("##", ""), ("//", ""), ("--", ""), (";;", ""), ("/*", "*/"), ("/*", "*/}")]
PREFIXES = [
    "",
    "",
    "",
    "",
    " ",
    "\t",
    "   ",
    "> ",
    ">",
    "- ",
    "* ",
    "+\t",
    "-",
    "12. ",
    "1) ",
    "1234567890. ",
]
PREFIXES += ["> > - ", "- > ", "- - ", ">" * 300 + " ", "\ufeff", "x"]
REFERENCES = ["[[cf:v2:0123456789ab]]"] * 6 + ["[[cf:v2:" + "e" * 64 + "]]", "[[cf:v2:" + "0" * 65 + "]]"]
REFERENCES += ["[[cf:v2:0123456789AB]]", "[[cf:v1:0123456789ab]]", "[[cf:v2:0123456789a]]"]
RUNS = ["```", "```", "~~~", "~~~", "````", "~~~~", "``", "~~", "```" * 20]
INFOS = ["", "", "", " ", "html", " a b", " `x`", "~", "\t", "\r"]
COMMENTS = ["<!--", "<!-- x", "-->", "x -->", "<!-->", "<!--->", "<!---->", "--> <!--", "<!-- ``` -->"]
PROSE = [
    "",
    "x",
    "Text that is long enough to be worth a reference line.",
    "a\rb",
    "c\u2028d",
    "\0",
    "\v\f\x85",
]
EOLS = ["\n"] * 16 + ["\r\n"] * 4 + ["\r", "\n\n", "\r\r\n", "", "\u0085"]


def marker(rng: Random) -> str:
    opener, closer = rng.choice(FORMS)
    word, label = rng.choice(WORDS), rng.choice(LABELS)
    if word == "omit":
        label = f"{label} {rng.choice(REFERENCES)}"
    inside = f"{rng.choice(BLANKS)}@context-fold{rng.choice(GAPS)}{word}{rng.choice(GAPS)}{label}"
    return f"{rng.choice(PREFIXES)}{opener}{inside}{rng.choice(BLANKS)}{closer}{rng.choice(BLANKS)}"


def plain_marker(rng: Random) -> str:
    return f"<!-- @context-fold {rng.choice(['begin', 'end'])} {rng.choice('ab')} -->"


def reference_line(rng: Random) -> str:
    opener, closer = rng.choice([("", ""), ("", ""), *FORMS])
    blank, reference = rng.choice([" ", " ", " ", "", "\t"]), rng.choice(REFERENCES)
    wrapped = f"{opener}{blank}{reference}{blank}{closer}" if closer else f"{opener}{blank}{reference}"
    return rng.choice(PREFIXES) + (wrapped if opener else reference)


def fence(rng: Random) -> str:
    return rng.choice(PREFIXES) + rng.choice(RUNS) + rng.choice(INFOS)


def comment(rng: Random) -> str:
    return rng.choice(COMMENTS)


def prose(rng: Random) -> str:
    return rng.choice(PROSE)


KINDS = [marker, marker, plain_marker, plain_marker, plain_marker, reference_line, fence, comment, prose]


def line(rng: Random) -> str:
    return rng.choice(KINDS)(rng) + rng.choice(EOLS)


def block(rng: Random) -> str:
    """A block around some lines, or a reference block that is right or nearly so."""
    opener, closer = rng.choice([("<!--", "-->"), ("<!--", "-->"), ("#" * 80, ""), ("//", "")])
    label, tail, eol = rng.choice("ab"), f" {closer}" if closer else "", rng.choice(EOLS)
    begin, end = (f"{opener} @context-fold {word} {label}{tail}{eol}" for word in ("begin", "end"))
    if rng.random() < 0.5:
        return begin + "".join(line(rng) for _ in range(rng.randrange(4))) + end
    reference = rng.choice(REFERENCES)
    wrapped = f"{opener} {reference}{tail}"
    return begin + rng.choice([reference, wrapped]) + rng.choice(EOLS) + end


def fragments(count: int) -> list[bytes]:
    """Always the same ones, so that a document is a few draws: ten times faster, and it shrinks well."""
    rng = Random(2026)
    return [rng.choice([line, line, block])(rng).encode() for _ in range(count)]


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    text = b"".join(draw(st.lists(st.sampled_from(FRAGMENTS), max_size=20)))
    bom = draw(st.sampled_from([b"", b"", b"", BOM, b"\xff"]))
    depth = draw(st.sampled_from([0] * 20 + [1, 15, 16, 17]))
    begins, ends = (b"<!-- @context-fold " + word + b" n -->\n" for word in (b"begin", b"end"))
    return bom + begins * depth + text + ends * depth


FRAGMENTS = fragments(10_000)


@given(documents(), st.sampled_from([0, 0, 0, 5, 256]))
def test_the_core_folds_as_the_naive_implementation_does(text: bytes, min_savings: int) -> None:
    scope = Scope()
    folded = fold(text, scope, min_savings)
    expected = naive.fold(text, min_savings)
    assert folded.text == expected.text
    assert [(label.encode(), line, id) for label, line, id in folded.folds] == expected.folds
    assert folded.kept == expected.kept
    assert {scope.bodies[id] for id in folded.archived} >= {*expected.stored}


@given(documents(), st.sampled_from(list(Kind)))
def test_the_core_finds_the_references_that_the_naive_implementation_finds(text: bytes, kind: Kind) -> None:
    found = [(one.start, one.end, one.line, one.id) for one in find_references(text, kind)]
    assert found == [
        (line.start, line.end, line.number, id) for line, id in naive.references(text, str(kind))
    ]


@given(documents(), st.sampled_from(["text", "unknown"]))
def test_restoring_the_folded_text_gives_what_restoring_the_text_gives(text: bytes, kind: str) -> None:
    scope = Scope({"0123456789ab": b"one\n", "e" * 64: b"another\n"})
    folded = fold(text, scope, 0)
    assert restore(folded.text, scope, kind) == restore(text, scope, kind)
    assert b"".join(naive.restore(folded.text, kind, scope.bodies)) == restore(text, scope, kind).text
    assert fold(folded.text, scope, 0).text == folded.text
    for id in folded.archived:
        assert not find_references(b"\n" + scope.bodies[id], Kind.UNKNOWN)  # no text starts there


@given(documents(), st.lists(st.integers(0, 40), max_size=8))
def test_windows_of_whole_lines_give_the_markers_of_the_whole(text: bytes, cuts: list[int]) -> None:
    pieces = [line + b"\n" for line in text.split(b"\n")]
    pieces[-1] = pieces[-1][:-1]
    scanner = TextScanner()
    borders = [0, *sorted(min(cut, len(pieces)) for cut in cuts), len(pieces)]
    for start, end in pairwise(borders):
        scanner.scan(b"".join(pieces[start:end]))
    whole = scan_text(text)
    assert (scanner.markers, scanner.quoted) == (whole.markers, whole.quoted)
