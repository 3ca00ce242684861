"""The laws for projections of sources that are cut, spliced and made hostile; and what may fail there."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ctxf
from ctxf.archive import Archive, NewBody, Refused
from ctxf.archive.in_memory import MemoryStore
from ctxf.errors import ArchiveError
from ctxf.protocol.parsers import Failure, Parsers, Problem

FOLDER = Path(__file__).parents[1] / "vectors"
ROWS = [
    row
    for path in sorted(FOLDER.glob("project-*.json"))
    for row in json.loads(path.read_text())
    if row["language"] not in ("css", "text")
]
# Pieces that upset a lexer, a parser or the protocol.
PIECES = (
    *("'", '"', '"""', "`", "/*", "*/", "//", "#", "\\\n", "{", "}", "(", ")", "<?php", "?>", "end", "<<E\n"),
    *(
        "\r",
        "\r\n",
        "\0",
        "\f",
        "\u2028",
        "\ufeff",
        "\n",
        "    ",
        "#if 0\n",
        "#endif\n",
        "=begin\n",
        "__END__\n",
    ),
    *(
        "@context-fold begin x\n",
        "# @context-fold omit x [[cf:v2:0123456789ab]]\n",
        "[[cf:v2:0123456789ab]]\n",
    ),
    "// @context-fold begin x\n// [[cf:v2:0123456789ab]]\n// @context-fold end x\n",
    "<!-- @context-fold begin x -->\n[[cf:v2:0123456789ab]]\n<!-- @context-fold end x -->\n",
)


@pytest.fixture(scope="module")
def parsers() -> Iterator[Parsers]:
    with Parsers() as parsers:
        yield parsers


def assert_laws(source: bytes, question: str, language: str, parsers: Parsers) -> ctxf.ProjectResult[bytes]:
    archive = Archive.memory()
    result = ctxf.project(source, question, language, archive, parser=parsers)
    for kind in (language, None):
        before = ctxf.restore(source, archive, language=kind).text
        assert ctxf.restore(result.text, archive, language=kind).text == before, "L1"
    if result.why is None:
        assert len(result.text) < len(source)
        lines = source.split(b"\n")
        for kept in result.definitions:
            assert b"\n".join(lines[kept.first - 1 : kept.last]) in result.text, "L3"
        again = ctxf.project(result.text, question, language, archive, parser=parsers)
        assert again.text == result.text, "L2"
        twin = ctxf.project(source, question, language, Archive.memory(), parser=parsers)
        assert twin == result, "L7"
    else:
        assert result.text == source
        assert not result.omissions
    return result


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_spliced_sources(parsers: Parsers, data: st.DataObject) -> None:
    row = data.draw(st.sampled_from(ROWS))
    source: str = row["input"]
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(source)))
        cut = data.draw(st.sampled_from((0, 0, 0, 1, 5, 40)))
        source = source[:at] + data.draw(st.sampled_from(PIECES)) + source[at + cut :]
    assert_laws(source.encode("utf-8", "surrogatepass"), row["question"], row["language"], parsers)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_bytes(parsers: Parsers, data: st.DataObject) -> None:
    language = data.draw(st.sampled_from(sorted({row["language"] for row in ROWS})))
    pieces = st.sampled_from(
        (*PIECES, "def f():\n", "f() {\n", "function f() {\n", "x = 1\n", "// aaaaaaaa\n" * 9)
    )
    source = "".join(data.draw(st.lists(pieces, max_size=30))).encode()
    assert_laws(source, "f()", language, parsers)


def test_str_and_bytes_give_the_same(parsers: Parsers) -> None:
    row = ROWS[0]
    text = row["input"] + "# \udcff\n"
    one = ctxf.project(text, row["question"], row["language"], Archive.memory(), parser=parsers)
    data = text.encode("utf-8", "surrogatepass")
    two = ctxf.project(data, row["question"], row["language"], Archive.memory(), parser=parsers)
    assert one.text.encode("utf-8", "surrogatepass") == two.text


PROJECTED = next(row for row in ROWS if row["name"] == "python: a method of one of two classes")


class _FailingStore(MemoryStore):
    def put(self, scope: str, groups: object, capacity: int | None) -> "list[tuple[str, ...] | Refused]":
        raise ArchiveError(":memory:", "is full")


def test_an_archive_that_fails(parsers: Parsers) -> None:
    archive = Archive(_FailingStore())
    result = ctxf.project(PROJECTED["input"], PROJECTED["question"], "python", archive, parser=parsers)
    assert (result.text, result.why) == (PROJECTED["input"], ctxf.Why.ARCHIVE)
    assert isinstance(result.failure, ArchiveError)


def test_a_scope_without_room(parsers: Parsers) -> None:
    archive = Archive.memory()
    question = PROJECTED["question"]
    result = ctxf.project(PROJECTED["input"], question, "python", archive, capacity=20, parser=parsers)
    assert (result.text, result.why, result.failure) == (PROJECTED["input"], ctxf.Why.CAPACITY, None)


def test_an_id_that_is_taken(parsers: Parsers) -> None:
    archive = Archive.memory()
    body = PROJECTED["input"].encode()[11:90]
    digest = bytes.fromhex(PROJECTED["omissions"][0]["id"]) + bytes(26)
    archive.put("default", [[NewBody(body, digest, b"x")]])  # another body owns the twelve digits
    result = ctxf.project(PROJECTED["input"], PROJECTED["question"], "python", archive, parser=parsers)
    assert len(result.omissions[0].id) == 13
    assert ctxf.restore(result.text, archive).text == PROJECTED["input"]


def test_scopes_are_apart(parsers: Parsers) -> None:
    archive = Archive.memory()
    result = ctxf.project(PROJECTED["input"], PROJECTED["question"], "python", archive, "a", parser=parsers)
    assert ctxf.restore(result.text, archive, scope="a").text == PROJECTED["input"]
    assert ctxf.restore(result.text, archive, scope="b").text == result.text


def test_wrong_arguments() -> None:
    with pytest.raises(ctxf.InvalidScope):
        ctxf.project("", "", "python", Archive.memory(), "no scope")
    with pytest.raises(ctxf.UnknownLanguage):
        ctxf.project("", "", "nonsense", Archive.memory())


def test_a_private_method_of_the_same_name() -> None:
    private = "  #move(i) {\n    return i;\n  }\n"
    public = "  steps() {\n    return { move: (i) => this.#move(i) };\n  }\n"
    source = f"class A {{\n{private}{public}}}\n" + "// x\n" * 99
    result = ctxf.project(source, "What does move() do?", "javascript", Archive.memory())
    assert (result.text, result.why) == (source, ctxf.Why.AMBIGUOUS)
    source = source.replace("move: (i) => this.#move(i)", "")
    assert "#move(i)" in ctxf.project(source, "What does move() do?", "javascript", Archive.memory()).text


class _DeadParsers(Parsers):
    def ask(self, *_arguments: object) -> bytes | Failure:
        return Failure(Problem.CRASH, "the parser process crashed")


def test_a_parser_that_crashes() -> None:
    result = ctxf.project("x = 1\n", "f()", "python", Archive.memory(), parser=_DeadParsers())
    assert (result.text, result.why) == ("x = 1\n", ctxf.Why.PARSER)
    assert isinstance(result.failure, ctxf.SourceNotParsed)


def test_in_a_child_process() -> None:
    with Parsers(isolate=True) as parsers:
        for row in ROWS[:10]:
            result = ctxf.project(
                row["input"], row["question"], row["language"], Archive.memory(), parser=parsers
            )
            assert result.text == row["output"]


HOSTILE = {
    "many definitions": ("python", b"def f():\n    pass\n" * 20_000),
    "deep": (
        "python",
        b"".join(b" " * depth + b"def f():\n" for depth in range(300)) + b" " * 300 + b"pass\n",
    ),
    "deep braces": ("javascript", b"function f() {" * 20_000 + b"}" * 20_000),
    "deep parentheses": ("python", b"x = " + b"(" * 100_000 + b"f" + b")" * 100_000 + b"\n"),
    "many calls": ("c", b"int f(void) { return 1; }\n" + b"int x = f() + f();\n" * 40_000),
    "one line": ("javascript", b"function f() { return 1 }; " * 40_000),
    "blank lines": ("go", b"package p\n" + b"\n" * 300_000 + b"func f() {}\n" + b"\n" * 300_000),
    "comments above": ("c", b"// x\n" * 60_000 + b"int f(void) { return 1; }\n" + b"// x\n" * 9),
    "too large": ("python", b"def f():\n    pass\n" + b"# x\n" * (9 << 18)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_sources(name: str, parsers: Parsers) -> None:
    language, source = HOSTILE[name]
    archive = Archive.memory()
    result = ctxf.project(source, "f()", language, archive, parser=parsers)
    assert ctxf.restore(result.text, archive).text == source
    if name == "too large":
        assert result.why is ctxf.Why.TOO_LARGE
