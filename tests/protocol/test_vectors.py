"""Runs tests/vectors/*.json, which another implementation could run as well (see the README there)."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from tests.kit.in_memory import Scope, fold, restore

Vector = dict[str, Any]

TESTS = Path(__file__).parents[1]
VECTORS: dict[str, Vector] = {
    f"{path.stem}: {vector['name']}": vector
    for path in sorted(TESTS.glob("vectors/*.json"))
    if not path.name.startswith(("source-", "project-", "requests-"))  # for who has grammars, and formats
    for vector in json.loads(path.read_text("utf-8"))
}


def vectors(op: str) -> list[ParameterSet]:
    return [pytest.param(vector, id=name) for name, vector in VECTORS.items() if vector["op"] == op]


def read_bytes(vector: Vector, field: str) -> bytes:
    """The bytes that `field`, or its base64 form, stands for."""
    if (encoded := vector.get(f"{field}_base64")) is not None:
        return base64.b64decode(encoded)
    value = vector[field]
    parts = [value] if isinstance(value, str) else value
    return b"".join(
        part.encode() if isinstance(part, str) else part["text"].encode() * part["repeat"] for part in parts
    )


def read_output(vector: Vector) -> bytes:
    return read_bytes(vector, "input" if vector.get("unchanged") else "output")


def read_scope(vector: Vector) -> Scope:
    scope = Scope()
    for entry in vector.get("archive", []):
        body = base64.b64decode(entry["base64"]) if "base64" in entry else entry["text"].encode()
        id = scope.put(body)
        assert id == entry.get("id", id)
        if entry.get("forgotten"):
            scope.forget(id)
    return scope


@pytest.mark.parametrize("vector", vectors("fold"))
def test_fold(vector: Vector) -> None:
    text, scope = read_bytes(vector, "input"), read_scope(vector)
    folded = fold(text, scope, vector["settings"]["min_savings_tokens"])
    assert folded.text == read_output(vector)
    assert folded.folds == [(one["label"], one["line"], one["id"]) for one in vector["folds"]]
    assert folded.kept == [(one["line"], one["reason"]) for one in vector["kept"]]
    assert folded.archived == set(vector.get("archived", folded.archived))
    for kind in ("text", "unknown"):
        assert restore(folded.text, scope, kind).text == restore(text, scope, kind).text
    again = fold(folded.text, scope, vector["settings"]["min_savings_tokens"])
    assert (again.text, again.folds) == (folded.text, [])


@pytest.mark.parametrize("vector", vectors("restore"))
def test_restore(vector: Vector) -> None:
    restored = restore(read_bytes(vector, "input"), read_scope(vector), vector["kind"])
    assert restored.text == read_output(vector)
    assert restored.unresolved == vector["unresolved"]


def test_every_vector_is_run_and_names_a_section_of_the_protocol() -> None:
    protocol = (TESTS.parent / "PROTOCOL.md").read_text("utf-8")
    sections = {f"§{number.rstrip('.')}" for number in re.findall(r"^#+ ([0-9.]+) ", protocol, re.MULTILINE)}
    assert {vector["section"] for vector in VECTORS.values()} <= sections
    assert {vector["op"] for vector in VECTORS.values()} == {"fold", "restore"}
