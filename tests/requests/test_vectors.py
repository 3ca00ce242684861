"""Runs tests/vectors/requests-*.json (see the README there)."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from ctxf.archive import Archive
from ctxf.requests import PROTOCOLS, Recovery, RequestPolicy, fold_request, restore_request
from tests.kit.build_request_vectors import FORMATS, SCENARIOS, vector_of

Vector = dict[str, Any]

TESTS = Path(__file__).parents[1]
VECTORS: dict[str, list[Vector]] = {
    protocol: json.loads((TESTS / "vectors" / f"requests-{protocol}.json").read_text("utf-8"))
    for protocol in PROTOCOLS
}


def vectors() -> list[ParameterSet]:
    return [
        pytest.param(vector, id=f"{protocol}: {vector['name']}")
        for protocol, found in VECTORS.items()
        for vector in found
    ]


@pytest.mark.parametrize("vector", vectors())
def test_vector(vector: Vector) -> None:
    settings, archive = dict(vector["settings"]), Archive.memory()
    tools = settings.pop("read_tools", None)
    recovery = Recovery() if tools is None else Recovery("", read_tools=tuple(tools))
    policy = RequestPolicy(**settings, recovery=recovery)
    body, protocol = vector["body"], vector["protocol"]
    result = fold_request(body, protocol, archive, policy=policy)
    assert result.body == (body if vector.get("unchanged") else vector["folded"])
    assert [
        {
            "label": fold.label,
            "path": fold.path,
            "line": fold.line,
            "parts": [{"path": part.path, "id": part.id} for part in fold.parts],
        }
        for fold in result.folds
    ] == vector["folds"]
    assert [{"path": one.path, "line": one.line, "reason": one.reason} for one in result.kept] == vector[
        "kept"
    ]
    assert result.refusal == vector.get("refusal")
    assert restore_request(result.body, protocol, archive).body == body
    assert fold_request(result.body, protocol, archive, policy=policy).body is result.body
    raw = json.dumps(body).encode()
    assert json.loads(fold_request(raw, protocol, archive, policy=policy).body) == result.body


def test_the_vectors_are_those_of_the_builder() -> None:
    for protocol in FORMATS:
        built = [vector_of(scenario, protocol) for scenario in SCENARIOS]
        assert json.loads(json.dumps(built)) == VECTORS[protocol]


def test_there_are_enough_and_they_name_sections_of_the_protocol() -> None:
    protocol = (TESTS.parent / "PROTOCOL.md").read_text("utf-8")
    sections = {f"§{number.rstrip('.')}" for number in re.findall(r"^#+ ([0-9.]+) ", protocol, re.MULTILINE)}
    for found in VECTORS.values():
        assert len({vector["name"] for vector in found}) == len(found) >= 25
        assert {vector["section"] for vector in found} <= sections
