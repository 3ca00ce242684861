"""Runs the examples of PROTOCOL.md §13: JSON blocks whose info string says what they are."""

import json
import re

import pytest

from ctxf.archive import Archive
from ctxf.requests import PROTOCOLS, RequestPolicy, fold_request, restore_request
from ctxf.requests.formats import find_format
from ctxf.requests.slots import _BONDS
from tests.protocol.test_protocol_examples import PROTOCOL

FENCED = re.compile(r"^```json (request-unchanged|request|folded) (.*)\n((?:.*\n)*?)```\n", re.MULTILINE)
SECTION = PROTOCOL.read_text("utf-8").partition("\n## 13. ")[2]
EXAMPLES = [
    (match[1], dict(word.split("=") for word in match[2].split()), match[3].encode())
    for match in FENCED.finditer(SECTION)
]


@pytest.mark.parametrize(
    ("sort", "settings", "body"),
    [pytest.param(*one, id=one[1]["name"]) for one in EXAMPLES if one[0] != "folded"],
)
def test_example(sort: str, settings: dict[str, str], body: bytes) -> None:
    archive = Archive.memory()
    policy = RequestPolicy(int(settings["delay"]), int(settings["min_savings"]))
    expected = [
        text for kind, other, text in EXAMPLES if kind == "folded" and other["name"] == settings["name"]
    ]
    folded = fold_request(body, settings["protocol"], archive, policy=policy)
    assert [folded.body] == (expected or [body])
    assert bool(expected) == (sort == "request")
    assert restore_request(folded.body, settings["protocol"], archive).body == body
    tree = fold_request(json.loads(body), settings["protocol"], archive, policy=policy)
    assert tree.body == json.loads(folded.body)


def test_there_are_examples() -> None:
    assert {sort for sort, _settings, _body in EXAMPLES} == {"request", "request-unchanged", "folded"}


def test_every_format_and_every_bond_is_in_the_protocol() -> None:
    tables = SECTION.partition("### 13.8")[2]
    assert all(f"**`{name}`**" in tables for name in PROTOCOLS)
    assert all(find_format(name) for name in PROTOCOLS)
    assert all(f"`{bond}`" in SECTION for bond in _BONDS)
