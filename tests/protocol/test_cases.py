"""Folds whole documents that broke tools of this kind: tests/cases/text/*/, see expect.json there.

`folds` are the labels that fold, `kept` how many markers stay for each reason, `stays` texts of the result.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.kit.in_memory import Scope, fold, restore

CASES = sorted((Path(__file__).parents[1] / "cases" / "text").iterdir())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Path) -> None:
    (path,) = case.glob("input.*")
    text, expected = path.read_bytes(), json.loads((case / "expect.json").read_text("utf-8"))
    scope = Scope()
    folded = fold(text, scope, min_savings_tokens=0)
    assert [label for label, _line, _id in folded.folds] == expected["folds"]
    assert Counter(reason for _line, reason in folded.kept) == expected["kept"]
    assert (folded.text == text) == (not expected["folds"])
    for stays in expected.get("stays", []):
        assert stays.encode() in folded.text
    for kind in ("text", "unknown"):
        assert restore(folded.text, scope, kind).text == text
        assert restore(text, Scope(), kind).text == text


def test_there_are_cases() -> None:
    assert len(CASES) == 20
