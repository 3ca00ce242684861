"""Projects whole files that broke tools of this kind: tests/cases/projection/*/, see expect.json there."""

import json
from pathlib import Path

import pytest

import ctxf

CASES = sorted((Path(__file__).parents[1] / "cases" / "projection").iterdir())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Path) -> None:
    (path,) = case.glob("input.*")
    source, expected = path.read_bytes(), json.loads((case / "expect.json").read_text("utf-8"))
    archive = ctxf.Archive.memory()
    result = ctxf.project(source, expected["question"], expected["language"], archive)
    assert (result.text == source) == (expected["expect"] == "unchanged")
    assert bool(result.omissions) == (expected["expect"] == "projected")
    for stays in expected.get("must_contain", []):
        assert stays.encode() in result.text
    for goes in expected.get("must_not_contain", []):
        assert goes.encode() not in result.text
    assert ctxf.restore(result.text, archive, language=expected["language"]).text == source


def test_there_are_cases() -> None:
    assert len(CASES) == 7
