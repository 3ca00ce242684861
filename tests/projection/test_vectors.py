"""The vectors of PROTOCOL.md's section on projection, and the laws for each."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ctxf
from ctxf.protocol.parsers import Parsers
from tests.kit.build_project_vectors import build

FOLDER = Path(__file__).parents[1] / "vectors"
VECTORS = [row for path in sorted(FOLDER.glob("project-*.json")) for row in json.loads(path.read_text())]


@pytest.fixture(scope="module")
def parsers() -> Iterator[Parsers]:
    with Parsers() as parsers:
        yield parsers


@pytest.mark.parametrize("row", VECTORS, ids=[row["name"] for row in VECTORS])
def test_vector(row: dict[str, Any], parsers: Parsers) -> None:
    archive = ctxf.Archive.memory()
    language, question = row["language"], row["question"]
    result = ctxf.project(row["input"], question, language, archive, parser=parsers)
    assert result.text == row["output"]
    assert result.why == row["why"]
    assert bool(result.detail) == bool(row["why"])
    omissions = [{"first": one.first, "last": one.last, "id": one.id} for one in result.omissions]
    assert omissions == row["omissions"]
    assert result.failure is None
    for kind in (language, None):
        before = ctxf.restore(row["input"], archive, language=kind).text
        assert ctxf.restore(result.text, archive, language=kind).text == before, "L1"
    again = ctxf.project(result.text, question, language, archive, parser=parsers)
    assert again.text == result.text, "L2"


def test_as_many_stay_whole_as_a_careful_user_would_want() -> None:
    whole = [row for row in VECTORS if row["why"]]
    assert len(VECTORS) - len(whole) >= 40
    assert len(whole) >= 20
    assert len({row["language"] for row in VECTORS if not row["why"]}) >= 13


def test_files_are_what_the_builder_builds() -> None:
    assert [row for _language, rows in sorted(build().items()) for row in rows] == VECTORS
