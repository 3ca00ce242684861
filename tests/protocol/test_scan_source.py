"""Which marker lines of a source are comments, and what a source folds to."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxf.protocol.fold import FoldRules
from ctxf.protocol.grammars import available
from ctxf.protocol.languages import LANGUAGES, Language
from ctxf.protocol.model import CommentForm, Marker, Reason
from ctxf.protocol.parsers import Failure, Parsers, Problem
from ctxf.protocol.plan_source import MAX_ROUNDS, plan_source
from ctxf.protocol.scan_source import MAX_SOURCE_BYTES, SourceScan, scan_source
from tests.kit.source import assert_laws, fold_source, named, restore_source

CASES = sorted(Path(__file__).parents[1].glob("cases/source/*"))

# What must stand before a comment for its language to read it as one.
PREAMBLES = {"php": b"<?php\n", "xml": b"<a>\n", "dockerfile": b"FROM x\n", "powershell": b"$x = 1\n"}
POSTAMBLES = {"xml": b"</a>\n"}


@pytest.fixture(scope="module")
def parsers() -> Iterator[Parsers]:
    with Parsers() as parsers:
        yield parsers


class NoParser:
    """A parser that must not be needed."""

    def judge(self, data: bytes, spans: object, language: Language) -> bytes | Failure:
        raise AssertionError("nothing here needs a parse")


def marker_line(form: CommentForm, word: str, label: str = "x", eol: bytes = b"\n") -> bytes:
    closer = b" " + form.closer if form.closer else b""
    return form.opener + f" @context-fold {word} {label}".encode() + closer + eol


def block(form: CommentForm, body: bytes, label: str = "x", eol: bytes = b"\n", indent: bytes = b"") -> bytes:
    begin = indent + marker_line(form, "begin", label, eol)
    return begin + body + indent + marker_line(form, "end", label, eol)


HASH, SLASHES, STAR = CommentForm(b"#"), CommentForm(b"//"), CommentForm(b"/*", b"*/")
ANGLE = CommentForm(b"<!--", b"-->")
LONG_BODY = b"# filler words that go on for a while\n" * 40


def scan(data: bytes, name: str, parsers: Parsers) -> SourceScan:
    return scan_source(data, named(name), parsers)


# --- cost ---


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x = 1\n",
        b'print("@context-fold begin x")\n',
        b"// @context-fold begin x\n",  # a comment form of other languages
        b"# @context-fold begin x and more\n",
        b"x = 1  # @context-fold begin x\n",
        b"#" * 5000 + b"@context-fold\n",
    ],
)
def test_files_without_markers_cost_no_parse(data: bytes) -> None:
    assert scan_source(data, named("python"), NoParser()) == SourceScan()
    plan = plan_source(data, named("python"), FoldRules(), NoParser())
    assert (plan.folds, plan.kept, plan.failure) == ((), (), None)


def test_marker_fields(parsers: Parsers) -> None:
    data = "\ufeff# é\r\n\t## @context-fold begin a-b.c\t\r\nx\r\n\t## @context-fold end a-b.c".encode()
    begin, end = scan(data, "python", parsers).live
    assert begin == Marker("begin", b"a-b.c", CommentForm(b"##"), 9, 41, 2, b"\t", b"\r\n")
    assert end == Marker("end", b"a-b.c", CommentForm(b"##"), 44, len(data), 4, b"\t", b"")


def test_marker_on_the_first_line_after_a_byte_order_mark(parsers: Parsers) -> None:
    data = b"\xef\xbb\xbf" + block(HASH, LONG_BODY)
    text, plan, _bodies = assert_laws(data, named("python"), parsers)
    assert len(plan.folds) == 1
    assert text.startswith(b"\xef\xbb\xbf# @context-fold begin x\n# [[cf:v2:")


# --- the reference line is a comment, in every language and form ---


AVAILABLE = {one.language for one in available()}  # the rest has no package, or none for this Python
LANGUAGES_AND_FORMS = [
    (language.name, form) for language in LANGUAGES if language.name in AVAILABLE for form in language.forms
]


@pytest.mark.parametrize("eol", [b"\n", b"\r\n"])
@pytest.mark.parametrize("indent", [b"", b"    "])
@pytest.mark.parametrize(("name", "form"), LANGUAGES_AND_FORMS)
def test_reference_line_is_one_comment(
    name: str, form: CommentForm, indent: bytes, eol: bytes, parsers: Parsers
) -> None:
    language = named(name)
    if form.opener == b"{/*":
        body = indent + b"<p>filler</p>" + eol
        data = b"a = <div>" + eol + block(form, body * 40, eol=eol, indent=indent) + b"</div>" + eol
    else:
        comment = b" ".join(filter(None, (form.opener, b"filler", form.closer)))
        body = indent + comment + eol
        data = PREAMBLES.get(name, b"") + block(form, body * 40, eol=eol, indent=indent)
        data += block(form, body * 40, "later", eol, indent) + POSTAMBLES.get(name, b"")

    text, plan, _bodies = assert_laws(data, language, parsers, min_savings_tokens=0)
    assert len(plan.folds) == data.count(b"@context-fold begin")
    # assert_laws does not say that the parser agrees: a reference that is no comment would count for
    # restore, and keep the block from folding again all the same.
    after = scan_source(text, language, parsers)
    assert [(m.kind, m.label) for m in after.live] == [
        (m.kind, m.label) for m in scan_source(data, language, parsers).live
    ]
    references = [line for line in text.split(b"\n") if b"[[cf:v2:" in line]
    as_marker = [
        line.replace(line[line.index(b"[[") : line.index(b"]]") + 2], b"@context-fold begin r")
        for line in references
    ]
    for reference, marker in zip(references, as_marker, strict=True):
        text = text.replace(reference, marker)
    assert len(scan_source(text, language, parsers).live) == len(after.live) + len(references)


# --- doubt ---


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("python", b"x = 'unclosed\n" + block(HASH, LONG_BODY)),
        ("python", b"x = (1, [\n" + b"y = \xe2\x80\x9cquoted\n'" + block(HASH, LONG_BODY)),
        ("python", block(HASH, LONG_BODY + b"x = 'unclosed\n")),
        ("python", b"x = 1\0\n" + block(HASH, LONG_BODY)),
        ("python", b"# a\rx = '''\n" + block(HASH, LONG_BODY)),
        ("javascript", b"x = `a ${\n" + block(SLASHES, LONG_BODY.replace(b"#", b"//")) + b"1} b`\n"),
        ("c", b"// a \\ \n" + block(SLASHES, LONG_BODY.replace(b"#", b"//"))),
        ("c", b"// a \\\r\n" + block(SLASHES, LONG_BODY.replace(b"#", b"//"))),
        ("html", b"<title>\n" + block(ANGLE, b"<p>filler</p>\n" * 100) + b"</title>\n"),
        ("html", b"<p\n" + block(ANGLE, b"class='filler'\n" * 100) + b">x</p>\n"),
        ("html", b"<plaintext>\n" + block(ANGLE, b"<p>filler</p>\n" * 100)),
        ("php", b"<?php\n__halt_compiler();\n" + block(HASH, LONG_BODY)),
        ("php", b"<?php\n// a ?>\n" + block(SLASHES, LONG_BODY.replace(b"#", b"//"))),
        (
            "html",
            b"<script><!-- <script> </script>\n" + block(ANGLE, b"<p>filler</p>\n" * 100) + b"--></script>\n",
        ),
        ("csharp", "// a\u2028b = @'\n".encode() + block(SLASHES, LONG_BODY.replace(b"#", b"//"))),
        ("css", b".a { b: url(\n" + block(STAR, b"/* filler words */\n" * 100) + b"); }\n"),
        ("bash", b"cat <<E\n$(\n" + block(HASH, LONG_BODY) + b")\nE\n"),
        ("ruby", b'x = "#{\n' + block(HASH, LONG_BODY) + b'1}"\n'),
    ],
)
def test_doubt_keeps(name: str, data: bytes, parsers: Parsers) -> None:
    text, plan, _bodies = assert_laws(data, named(name), parsers)
    assert text == data
    assert {keep.reason for keep in plan.kept} <= {Reason.IN_DOUBT, Reason.FENCED, Reason.STRAY_END}
    assert plan.kept


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("python", b"print 'two'\n" + block(HASH, LONG_BODY)),
        ("python", block(HASH, LONG_BODY) + b"x = 'unclosed\n"),
        ("python", block(HASH, LONG_BODY) + b"y\0\n"),
        ("c", b"}}} ((\n" + block(SLASHES, LONG_BODY.replace(b"#", b"//"))),
        ("html", b"<title>a</title>\n" + block(ANGLE, b"<p>filler</p>\n" * 100)),
    ],
)
def test_what_shifts_nothing_is_no_doubt(name: str, data: bytes, parsers: Parsers) -> None:
    _text, plan, _bodies = assert_laws(data, named(name), parsers)
    assert len(plan.folds) == 1


def test_doubtful_marker_makes_what_it_could_pair_with_doubtful(parsers: Parsers) -> None:
    inner = b"x = f'''{\n# @context-fold end a\n1}'''\n"
    data = b"# @context-fold begin a\n" * 2 + inner + LONG_BODY + b"# @context-fold end a\n" * 2
    text, _plan, _bodies = assert_laws(data, named("python"), parsers)
    assert text == data


@pytest.mark.parametrize("name", [row.name for row in LANGUAGES if row.doubt])
def test_doubtful_regions_are_found_in_linear_time(name: str) -> None:
    """What opens a region, over and over: the patterns must not look ahead from each of them."""
    language = named(name)
    assert language.doubt
    for piece in (
        b"<script ",
        b"<script><!--",
        b"<title ",
        b"<? ",
        b"//",
        b"# ",
        b"/*",
        b"$a$ ",
        b"url(\n",
        b"\t#",
    ):
        start = time.monotonic()
        for _match in re.finditer(language.doubt, piece * 200_000 + b"\n"):
            pass
        assert time.monotonic() - start < 5, piece


# --- eligibility ---


def test_body_with_a_reference_in_a_string_stays(parsers: Parsers) -> None:
    """Restore reads lines alone: it would find this one before the fold, and not after it."""
    quoted = b"# @context-fold begin q\n# [[cf:v2:0123456789ab]]\n# @context-fold end q\n"
    data = block(HASH, b'x = """\n' + quoted + b'"""\n' + LONG_BODY)
    text, plan, _bodies = assert_laws(data, named("python"), parsers)
    assert text == data
    assert Reason.HOLDS_REFERENCE in {keep.reason for keep in plan.kept}


def test_body_with_an_omission_stays(parsers: Parsers) -> None:
    data = block(HASH, b"# @context-fold omit f [[cf:v2:0123456789ab]]\n" + LONG_BODY)
    text, plan, _bodies = assert_laws(data, named("python"), parsers)
    assert text == data
    assert [keep.reason for keep in plan.kept] == [Reason.HOLDS_REFERENCE]


def test_inner_blocks_are_planned_with_the_outer(parsers: Parsers) -> None:
    data = block(HASH, block(HASH, LONG_BODY, "inner"), "outer")
    _text, plan, _bodies = assert_laws(data, named("python"), parsers)
    (fold,) = plan.folds
    assert [inner.block.begin.label for inner in fold.inner] == [b"inner"]


def test_refused_body_stays(parsers: Parsers) -> None:
    data = block(HASH, LONG_BODY, "a") + block(HASH, LONG_BODY + b"#\n", "b")
    language = named("python")
    first, second = plan_source(data, language, FoldRules(), parsers).folds
    plan = plan_source(data, language, FoldRules(), parsers, refused={first.digest})
    assert plan.folds == (second,)
    assert [(keep.marker.label, keep.reason) for keep in plan.kept] == [(b"a", Reason.CAPACITY)]


# --- planning again ---


class Moods:
    """A parser with prepared answers, one for each scan; the last one is repeated."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked = 0

    def judge(self, data: bytes, spans: object, language: Language) -> bytes | Failure:
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        count = len(spans)  # type: ignore[arg-type]
        return (answer + answer[-1] * count)[:count].encode()


def test_folding_one_block_repairs_the_parse_of_the_next() -> None:
    data = block(HASH, LONG_BODY, "a") + block(HASH, LONG_BODY + b"#\n", "b")
    parser = Moods("ccdd", "ccccc", "cccccc")
    plan = plan_source(data, named("python"), FoldRules(), parser)
    assert [fold.block.begin.label for fold in plan.folds] == [b"a", b"b"]
    assert parser.asked == 3
    text, _plan, bodies = fold_source(data, named("python"), Moods("ccdd", "ccccc", "cccccc"))
    assert restore_source(text, bodies) == data


def test_reference_that_is_no_comment_keeps_its_block() -> None:
    data = block(HASH, LONG_BODY)
    plan = plan_source(data, named("python"), FoldRules(), Moods("cc", "cnc", "cc"))
    assert plan.folds == ()
    assert [keep.reason for keep in plan.kept] == [Reason.IN_DOUBT]


def test_text_that_does_not_settle_stays() -> None:
    blocks = b"".join(block(HASH, LONG_BODY + b"#\n" * n, f"b{n}") for n in range(MAX_ROUNDS + 1))
    answers = ["cc" + "d" * 8, "ccccc" + "d" * 6, "c" * 8 + "dddd", "c" * 11 + "dd", "c" * 15]
    plan = plan_source(blocks, named("python"), FoldRules(), Moods(*answers))
    assert plan.folds == ()
    assert {keep.reason for keep in plan.kept} == {Reason.IN_DOUBT}


# --- failures ---


def test_large_source_stays() -> None:
    data = block(HASH, b"x = 1\n" * (MAX_SOURCE_BYTES // 6))
    plan = plan_source(data, named("python"), FoldRules(), NoParser())
    assert plan.failure
    assert plan.failure.problem is Problem.TOO_LARGE
    assert [keep.reason for keep in plan.kept] == [Reason.TOO_LARGE]


def test_missing_grammar_is_a_failure(parsers: Parsers) -> None:
    romulan = Language("romulan", (HASH,), "tree-sitter-romulan")
    plan = plan_source(block(HASH, LONG_BODY), romulan, FoldRules(), parsers)
    assert plan.failure == Failure(
        Problem.NO_GRAMMAR, "tree-sitter-romulan is not installed", "tree-sitter-romulan"
    )
    assert [keep.reason for keep in plan.kept] == [Reason.PARSER]


def test_many_markers_and_siblings_stay_linear(parsers: Parsers) -> None:
    """20,000 pairs between 20,000 statements: a search from the root for each would take minutes."""
    body = b"x = 1\n# @context-fold begin a\n# @context-fold end a\n" * 20_000
    assert len(scan(body, "python", parsers).live) == 40_000


@pytest.mark.parametrize("folder", CASES, ids=lambda p: p.name)
def test_case(folder: Path, parsers: Parsers) -> None:
    """The cases of bug-report families a and c, with what follows from each report."""
    expected = json.loads((folder / "expect.json").read_text())
    language = named(expected["language"])
    (path,) = folder.glob("input.*")
    data = path.read_bytes()
    text, plan, _bodies = assert_laws(data, language, parsers)
    result = "unchanged" if text == data else "folded"
    if language.name not in AVAILABLE:
        assert text == data
        assert plan.failure is None or plan.failure.problem is Problem.NO_GRAMMAR
        return
    assert expected["expect"] in (result, "safe") or result in expected.get("also_ok", ())
    if result == "folded":
        assert len(plan.folds) <= expected.get("folds", expected.get("folds_max"))
        assert all(line.encode() in text for line in expected.get("must_keep", ()))
