"""The core against the naive second implementation, on documents of near-misses (PROTOCOL.md §2 to §8)."""

from itertools import pairwise

import naive
from hypothesis import given
from hypothesis import strategies as st
from in_memory import Scope, fold, restore

from ctxf.protocol.restore import Kind, find_references
from ctxf.protocol.scan_text import TextScanner, scan_text

LABELS = [
    "a",
    "a",
    "a",
    "b",
    "b",
    "b/c.d-e",
    "é",
    "हिन्दी",
    "a" * 128,
    "a" * 129,
    "a--b",
    "-a",
    "½",
    "a\u200d",
]
BLANKS = ["", "", " ", " ", " ", "  ", "\t", "\u00a0", "\f"]
WORDS = ["begin"] * 6 + ["end"] * 8 + ["Begin", "omit", "omit a", "end end"]
FORMS = [("<!--", "-->")] * 24 + [
    ("#", ""),
    ("##", ""),
    ("//", ""),
    ("--", ""),
    (";;", ""),
    ("/*", "*/"),
    ("{/*", "*/}"),
    ("<!--", "--->"),
    ("<!-", "-->"),
    ("<!--", "-- >"),
    ("/*", "*/}"),
]
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
REFERENCES = ["[[cf:v2:0123456789ab]]", "[[cf:v2:" + "e" * 64 + "]]", "[[cf:v2:0123456789a]]"]
REFERENCES += ["[[cf:v2:0123456789AB]]", "[[cf:v2:" + "0" * 65 + "]]", "[[cf:v1:0123456789ab]]"]
RUNS = ["```", "```", "~~~", "~~~", "````", "~~~~", "``", "~~", "```" * 20]
INFOS = ["", "", "", " ", "html", " a b", " `x`", "~", "\t", "\r"]
COMMENTS = [
    "<!--",
    "<!-- x",
    "-->",
    "x -->",
    "<!-->",
    "<!--->",
    "<!---->",
    "<!-- x -->",
    "--> <!--",
    "<!-- ``` -->",
]
PROSE = [
    "",
    "",
    "x",
    "Text that is long enough to be worth a reference line.",
    "a\rb",
    "c\u2028d",
    "\0",
    "\v\f\x85",
]
EOLS = ["\n"] * 12 + ["\r\n"] * 4 + ["\r", "\n\n", "\r\r\n", "", "\u0085"]


@st.composite
def markers(draw: st.DrawFn) -> str:
    def pick(choices: list[str]) -> str:
        return draw(st.sampled_from(choices))

    opener, closer = draw(st.sampled_from(FORMS))
    label = pick(LABELS)
    if pick(WORDS) == "omit":
        label = f"{label} {pick(REFERENCES)}"
    indent = pick(PREFIXES)
    inside = f"{pick(BLANKS)}@context-fold{pick(BLANKS[2:])}{pick(WORDS)}{pick(BLANKS[2:])}{label}"
    return f"{indent}{opener}{inside}{pick(BLANKS[:7])}{closer}{pick(BLANKS[:5])}"


@st.composite
def plain_markers(draw: st.DrawFn) -> str:
    word = draw(st.sampled_from(["begin", "begin", "end", "end", "end"]))
    return f"<!-- @context-fold {word} {draw(st.sampled_from('ab'))} -->"


@st.composite
def omissions(draw: st.DrawFn) -> str:
    opener, closer = draw(st.sampled_from(FORMS))
    return f"{opener} @context-fold omit a {draw(st.sampled_from(REFERENCES))} {closer}"


@st.composite
def reference_lines(draw: st.DrawFn) -> str:
    reference = draw(st.sampled_from(REFERENCES))
    opener, closer = draw(st.sampled_from([("", ""), ("", ""), *FORMS]))
    prefix, blank = draw(st.sampled_from(PREFIXES)), draw(st.sampled_from([" ", " ", " ", "", "\t"]))
    wrapped = f"{opener}{blank}{reference}{blank}{closer}" if closer else f"{opener}{blank}{reference}"
    return prefix + (wrapped if opener else reference)


@st.composite
def fences(draw: st.DrawFn) -> str:
    return "".join(draw(st.sampled_from(choices)) for choices in (PREFIXES, RUNS, INFOS))


lines: st.SearchStrategy[str] = st.one_of(
    plain_markers(),
    plain_markers(),
    markers(),
    fences(),
    reference_lines(),
    omissions(),
    st.sampled_from(COMMENTS),
    st.sampled_from(PROSE),
)


@st.composite
def fragments(draw: st.DrawFn) -> str:
    """One line, a block around some lines, or a reference block that is right or nearly so."""
    eol = draw(st.sampled_from(EOLS))
    shape = draw(st.integers(0, 9))
    if shape < 6:
        return draw(lines) + eol
    opener, closer = draw(st.sampled_from([("<!--", "-->"), ("<!--", "-->"), ("#" * 80, ""), ("//", "")]))
    label, tail = draw(st.sampled_from("ab")), f" {closer}" if closer else ""
    begin, end = (f"{opener} @context-fold {word} {label}{tail}{eol}" for word in ("begin", "end"))
    if shape < 8:
        reference = draw(st.sampled_from(REFERENCES))
        bare = draw(st.booleans())
        return (
            begin + (reference if bare else f"{opener} {reference}{tail}") + draw(st.sampled_from(EOLS)) + end
        )
    return begin + "".join(line + eol for line in draw(st.lists(lines, max_size=4))) + end


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    text = "".join(draw(st.lists(fragments(), max_size=14)))
    bom = draw(st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf", b"\xff"]))
    depth = draw(st.sampled_from([0] * 20 + [1, 15, 16, 17]))
    around = [f"<!-- @context-fold {word} n -->\n" * depth for word in ("begin", "end")]
    return bom + (around[0] + text + around[1]).encode()


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
        assert not find_references(scope.bodies[id], Kind.UNKNOWN)


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
