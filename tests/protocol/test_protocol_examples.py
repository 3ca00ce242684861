"""Runs every example of PROTOCOL.md: each fenced block whose info string says what it is."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import ctxf
from ctxf.protocol.markers import parse_marker
from tests.kit.in_memory import Scope, fold, restore

PROTOCOL = Path(__file__).parents[2] / "PROTOCOL.md"

FENCED = re.compile(r"^(`{3,})text ([a-z]\S*)(.*)\n((?:.*\n)*?)\1\n", re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """One fenced block: ```text SORT name=NAME key=value ..."""

    sort: str
    settings: dict[str, str]
    text: bytes
    line: int

    @property
    def name(self) -> str:
        return self.settings.get("name", f"line {self.line}")


def read_examples() -> list[Example]:
    document = PROTOCOL.read_text("utf-8")
    return [
        Example(
            match[2],
            dict(word.split("=") for word in match[3].split()),
            match[4].encode(),
            document.count("\n", 0, match.start()) + 1,
        )
        for match in FENCED.finditer(document)
    ]


EXAMPLES = read_examples()


def of_sort(*sorts: str) -> list[object]:
    return [pytest.param(one, id=one.name) for one in EXAMPLES if one.sort in sorts]


def partner(example: Example, sort: str) -> Example | None:
    partners = [one for one in EXAMPLES if one.sort == sort and one.name == example.name]
    assert len(partners) <= 1
    return partners[0] if partners else None


def scope_after(names: str) -> Scope:
    """The scope in which the bodies of these examples have been archived, one after the other."""
    scope = Scope()
    for name in names.split(",") if names else []:
        (example,) = [one for one in EXAMPLES if one.name == name and one.sort in ("fold-input", "body")]
        if example.sort == "body":
            scope.put(example.text)
        else:
            fold(example.text, scope, int(example.settings["min_savings"]))
    return scope


def test_there_are_examples_of_every_sort_and_no_others() -> None:
    sorts = {one.sort for one in EXAMPLES}
    assert sorts == {
        *("fold-input", "fold-output", "fold-unchanged", "archived", "body"),
        *("project-input", "project-output", "project-unchanged"),
        *("restore-input", "restore-output", "restore-unchanged"),
        *("markers-valid", "markers-invalid", "labels-valid", "labels-invalid"),
    }
    inputs = {one.name for one in EXAMPLES if one.sort.endswith("-input")}
    assert inputs == {one.name for one in EXAMPLES if one.sort.endswith("-output")}


@pytest.mark.parametrize("example", of_sort("fold-input", "fold-unchanged"))
def test_fold(example: Example) -> None:
    scope = Scope()
    folded = fold(example.text, scope, int(example.settings["min_savings"]))
    expected = partner(example, "fold-output")
    assert folded.text == (expected.text if expected else example.text)
    assert bool(folded.folds) == bool(expected)
    assert restore(folded.text, scope, "text").text == example.text
    assert restore(folded.text, scope, "unknown").text == example.text
    if archived := partner(example, "archived"):
        assert folded.archived == set(archived.text.decode().split())


@pytest.mark.parametrize("example", of_sort("restore-input", "restore-unchanged"))
def test_restore(example: Example) -> None:
    scope = scope_after(example.settings.get("after", ""))
    restored = restore(example.text, scope, example.settings["kind"])
    expected = partner(example, "restore-output")
    assert restored.text == (expected.text if expected else example.text)


@pytest.mark.parametrize("example", of_sort("project-input", "project-unchanged"))
def test_project(example: Example) -> None:
    archive = ctxf.Archive.memory()
    settings = example.settings
    result = ctxf.project(example.text, settings["question"], settings["language"], archive)
    expected = partner(example, "project-output")
    assert result.text == (expected.text if expected else example.text)
    assert bool(result.why) != bool(expected)
    assert ctxf.restore(result.text, archive).text == example.text


@pytest.mark.parametrize("example", of_sort("markers-valid", "markers-invalid"))
def test_marker_lines(example: Example) -> None:
    for line in example.text.splitlines(keepends=True):
        is_marker = parse_marker(line, 0, len(line)) is not None
        assert is_marker == (example.sort == "markers-valid"), line


@pytest.mark.parametrize("example", of_sort("labels-valid", "labels-invalid"))
def test_labels(example: Example) -> None:
    for label in example.text.splitlines():
        line = b"<!-- @context-fold begin " + label + b" -->\n"
        is_marker = parse_marker(line, 0, len(line)) is not None
        assert is_marker == (example.sort == "labels-valid"), label
