"""The vectors of PROTOCOL.md's source section: input, output, folds and what is kept."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxf.protocol.parsers import Parsers, Problem
from tests.kit.build_source_vectors import build
from tests.kit.source import assert_laws, named

FOLDER = Path(__file__).parents[1] / "vectors"
VECTORS = [row for path in sorted(FOLDER.glob("source-*.json")) for row in json.loads(path.read_text())]


@pytest.fixture(scope="module")
def parsers() -> Iterator[Parsers]:
    with Parsers() as parsers:
        yield parsers


@pytest.mark.parametrize("row", VECTORS, ids=[row["name"] for row in VECTORS])
def test_vector(row: dict[str, Any], parsers: Parsers) -> None:
    language = named(row["language"])
    data, output = bytes_of(row, "input"), bytes_of(row, "output")
    text, plan, _bodies = assert_laws(data, language, parsers, min_savings_tokens=row["min_savings"])
    if language.wheel is None and plan.failure and plan.failure.problem is Problem.NO_GRAMMAR:
        assert text == data  # its only grammar has no wheel for Python 3.13 and newer
        return
    assert plan.failure is None
    folds = [{"label": f.block.begin.label.decode(), "line": f.block.begin.line} for f in plan.folds]
    kept = [{"line": k.marker.line, "reason": str(k.reason)} for k in plan.kept if k.marker.kind == "begin"]
    assert (folds, kept, text) == (row["folds"], row["kept"], output)


def bytes_of(row: dict[str, Any], field: str) -> bytes:
    if field in row:
        return str(row[field]).encode("utf-8")
    return base64.b64decode(row[f"{field}_base64"])


def test_there_are_enough() -> None:
    folded = sum(1 for row in VECTORS if row["folds"])
    assert len(VECTORS) >= 150
    assert len({row["language"] for row in VECTORS}) >= 20
    assert len(VECTORS) - folded >= 0.4 * len(VECTORS)
    assert len({row["name"] for row in VECTORS}) == len(VECTORS)


def test_files_are_what_the_builder_builds() -> None:
    assert [row for _language, rows in sorted(build().items()) for row in rows] == VECTORS
