"""Lines of archived bodies: what matches, what stands around it, and what cannot be read."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxf.archive import Archive
from ctxf.archive.search import Line, Search, compile_pattern
from ctxf.errors import BodyDamaged, BodyNotFound, InvalidPattern, InvalidScope
from tests.kit.archive import put


def found(body: bytes, pattern: str, *, is_fixed: bool = False, ignore_case: bool = False) -> list[int]:
    with Archive.memory() as archive:
        put(archive, "s", body)
        search = archive.search("s", pattern, is_fixed=is_fixed, ignore_case=ignore_case)
        return [line.number for line in search]


@pytest.mark.parametrize(
    ("body", "pattern", "numbers"),
    [
        (b"one\ntwo\nthree\n", "t", [2, 3]),
        (b"one\ntwo", "^two$", [2]),  # no line end at the end
        (b"one\r\ntwo\r\n", "^one$", [1]),  # CRLF is no part of a line
        (b"a\n\nb\n", "^$", [2]),  # nor is there a line behind the last line end
        (b"", "", []),
        (b"\n", "", [1]),
        (b"a\nb\n", "a\nb", []),  # never across lines
        (b"a\nb\n", r"a\s", []),
        (b"a\rb\x0bc\xe2\x80\xa8d\x85e\n", "e", [1]),  # no other line ends
        ("caf\u00e9\n".encode(), "^caf.$", [1]),  # one character
        ("caf\u00e9\n".encode(), "[\u00e8\u00e9]", [1]),
        ("caf\u00ea\n".encode(), "[\u00e8\u00e9]", []),  # and not one of its bytes
        (b"\xff\xfe bad\n", "bad", [1]),
        (b"\xff\n", "\udcff", [1]),  # any bytes can be found
        (b"\0nul\n", "nul", [1]),
        (b"2*(3)\n23\n", "2+(3)", [2]),
    ],
)
def test_what_matches(body: bytes, pattern: str, numbers: list[int]) -> None:
    assert found(body, pattern) == numbers


def test_a_fixed_text() -> None:
    assert found(b"2*(3)\n23\n", "2*(3)", is_fixed=True) == [1]
    assert found(b"2*(3)\n23\n", "", is_fixed=True) == [1, 2]


def test_case() -> None:
    assert found("\u00c9COLE\nno\n".encode(), "\u00e9cole") == []
    assert found("\u00c9COLE\nno\n".encode(), "\u00e9cole", ignore_case=True) == [1]
    assert found(b"A.B\n", "a.b", is_fixed=True, ignore_case=True) == [1]


def test_the_text_comes_back_as_it_is() -> None:
    with Archive.memory() as archive:
        (id,) = put(archive, "s", b"x \xff\xc3\xa9\r\n")
        assert list(archive.search("s", "x")) == [Line(id, 1, b"x \xff\xc3\xa9")]


def test_one_body_or_all_in_order() -> None:
    with Archive.memory() as archive:
        ids = put(archive, "s", b"b hit\n", b"a hit\n", b"none\n")
        put(archive, "other", b"hit\n")
        assert [line.id for line in archive.search("s", "hit")] == ids[:2]
        assert [line.id for line in archive.search("s", "hit", id=ids[1].upper())] == [ids[1]]
        assert list(archive.search("unused", "hit")) == []


@pytest.mark.parametrize("pattern", ["(", "[", "*", "(?P<a", "a{99999999999}"])
def test_what_is_no_expression(pattern: str) -> None:
    with Archive.memory() as archive, pytest.raises(InvalidPattern) as caught:
        archive.search("s", pattern)
    assert caught.value.pattern == pattern


def test_an_unknown_id_or_scope() -> None:
    with Archive.memory() as archive:
        with pytest.raises(BodyNotFound):
            archive.search("s", "x", id="0" * 12)
        with pytest.raises(InvalidScope):
            archive.search("a b", "x")


def test_a_damaged_body_is_passed_over_and_told(tmp_path: Path) -> None:
    with Archive.open(tmp_path / "archive.db") as archive:
        ids = put(archive, "s", b"1 hit\n", b"2 hit\n", b"3 hit\n")
    with closing(sqlite3.connect(tmp_path / "archive.db")) as connection:
        connection.execute("UPDATE bodies SET payload = x'00' WHERE key = 2")
        connection.commit()
    with Archive.open(tmp_path / "archive.db") as archive:
        search = archive.search("s", "hit")
        assert [line.id for line in search] == [ids[0], ids[2]]
        assert [(type(error), error.id) for error in search.unreadable] == [(BodyDamaged, ids[1])]


@given(
    st.lists(st.sampled_from(["x", "."]), max_size=12),
    st.integers(0, 4),
)
def test_context_shows_each_line_once_in_order(marks: list[str], context: int) -> None:
    body = "".join(f"{mark}\n" for mark in marks).encode()
    lines = list(Search(["id"], lambda _id: body, compile_pattern("x"), context))
    matches = [number for number, mark in enumerate(marks, 1) if mark == "x"]
    expected = [
        number
        for number in range(1, len(marks) + 1)
        if any(abs(number - match) <= context for match in matches)
    ]
    assert [line.number for line in lines] == expected
    assert [line.number for line in lines if line.is_match] == matches
    assert [line.follows for line in lines] == [number - 1 in expected for number in expected]


@given(st.binary(max_size=60), st.sampled_from([b"a", b"\n", b"\r", b"\xc3"]))
def test_any_body_gives_lines_that_it_holds(body: bytes, addition: bytes) -> None:
    body = body + addition + body
    lines = list(Search(["id"], lambda _id: body, compile_pattern("")))
    assert b"\n".join(line.text for line in lines) == re.sub(rb"\r(?=\n|\Z)", b"", body).removesuffix(
        b"\n"
    ) or (body.endswith(b"\r\n"))
    assert all(b"\n" not in line.text for line in lines)
