"""What the benchmarks publish is what they measured; and what they measure with keeps every byte itself."""

import ast
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxf
from benchmarks import chart, figures, picture
from benchmarks.__main__ import PUBLISHED, main
from benchmarks.peers import rows
from benchmarks.peers.drivers.loop import as_text
from benchmarks.peers.environments import Tool, Unavailable, prepare, tools
from benchmarks.peers.process import Driver, Failure, Runner
from benchmarks.peers.rows import Peer, Scale
from benchmarks.peers.texts import KINDS, hard_bodies, marked, messages
from benchmarks.results import Results, load, rounded

ROOT = Path(__file__).parents[2]
SPEED = ROOT / "docs" / "speed.md"
BENCHMARKS = ROOT / "benchmarks"
DRIVERS = BENCHMARKS / "peers" / "drivers"
CTXF = Runner(sys.executable, "ctxf")
SMALL = Scale(messages=4, message_bytes=2048, repeat=1, writes=2, many=5)
SVG = "{http://www.w3.org/2000/svg}"


def test_the_page_says_what_was_measured() -> None:
    assert figures.section(load(PUBLISHED)) in SPEED.read_text()


def test_the_chart_shows_what_was_measured() -> None:
    assert PUBLISHED.with_suffix(".svg").read_text() == chart.draw(load(PUBLISHED))
    assert f"(../{PUBLISHED.with_suffix('.svg').relative_to(ROOT).as_posix()})" in SPEED.read_text()


def test_what_is_published_is_a_whole_run() -> None:
    results = load(PUBLISHED)
    assert not results["run"]["quick"]
    assert min(row["runs"] for row in results["rows"]) >= 5
    assert {cell["tool"] for cell in results["peers"]["cells"]} >= {
        "ctxf",
        "headroom-ai",
        "furl-ctx",
        "slimctx",
    }
    assert results == rounded(results)


def test_inserting_again_changes_nothing(tmp_path: Path) -> None:
    copy = tmp_path / "speed.md"
    copy.write_text(SPEED.read_text())
    figures.insert(load(PUBLISHED), copy)
    assert copy.read_text() == SPEED.read_text()


def _results(*, value: float | None, error: str | None, label: str) -> Results:
    cell = {"row": "fold", "tool": label, "words": "", "value": value, "unit": "MB/s", "group": "<g> & co"}
    own = {**cell, "tool": "ctxf", "value": 10.0, "runs": [9.0, 11.0], "error": None}
    row = {"name": "a `row` & <more>", "floor": "nothing", "target": None, "ratio": 1.0, "seconds": 2.0}
    return {
        "run": {"ctxf": "0", "python": "3", "cores": 2, "machine": "<m>", "quick": True},
        "rows": [{**row, "fastest": 1.0, "slowest": 3.0, "floor_seconds": 2.0, "runs": 1, "peak_kib": 0}],
        "peers": {
            "tools": [{"name": "ctxf", "version": "0"}, {"name": label, "version": "<1>"}],
            "cells": [own, {**cell, "runs": [] if value is None else [value], "error": error}],
        },
    }


@pytest.mark.parametrize(
    ("value", "error"), [(1e-9, None), (1e9, None), (10.0, None), (None, "<broken> & more " * 30)]
)
def test_a_chart_is_well_formed_and_stays_on_its_card(value: float | None, error: str | None) -> None:
    for results in (
        _results(value=value, error=error, label="<peer> & co"),
        {**_results(value=1, error=None, label="x"), "peers": {"tools": [], "cells": []}},
        {**_results(value=1, error=None, label="x"), "rows": []},
    ):
        root = ElementTree.fromstring(chart.draw(results))
        assert root.get("role") == "img"
        for name in ("title", "desc"):
            element = root.find(f"{SVG}{name}")
            assert element is not None
            assert element.text
        width, height = (float(root.get(name, "")) for name in ("width", "height"))
        for element in root.iter():
            assert 0 <= float(element.get("x", "0")) <= width
            assert 0 <= float(element.get("y", "0")) <= height
            assert float(element.get("width", "0")) >= 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--publish", "--quick", "--peers"), "not for a quick one"),
        (("--publish",), "add --peers"),
        (("--from", "nowhere.json"), "nowhere.json"),
        (("--from", str(SPEED)), "speed.md"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_measured(
    arguments: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert said in capsys.readouterr().err


def test_the_chart_asks_nothing_of_the_network() -> None:
    assert re.findall(r"https?://[^\"]*", chart.draw(load(PUBLISHED))) == ["http://www.w3.org/2000/svg"]


@given(st.binary() | st.text(st.characters()).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_reach_a_tool_that_takes_text_and_come_back(text: bytes) -> None:
    content, errors = as_text(text)
    assert content.encode("utf-8", errors) == text


@given(st.binary(max_size=200).map(lambda piece: piece * 40))
def test_a_marked_body_is_restored(body: bytes) -> None:
    archive = ctxf.Archive.memory()
    text = marked(body)
    assert body in text
    assert ctxf.restore(ctxf.fold(text, archive, min_savings_tokens=0).text, archive).text == text


def test_messages_are_the_same_in_every_run_and_all_different() -> None:
    for kind in KINDS:
        made = messages(kind, 20, 1000)
        assert made == messages(kind, 20, 1000)
        assert len(set(made)) == 20
        assert all(1000 <= len(message) < 1400 for message in made)
        assert not set(made) & set(messages(kind, 20, 1000, seed="other"))


def test_hard_bodies_are_hard() -> None:
    bodies = hard_bodies()
    assert len(bodies) == len(set(bodies.values())) == 14
    assert b"\n" not in bodies["lone CR"]
    assert not bodies["no final newline"].endswith(b"\n")
    assert max(map(len, bodies["5 MB line"].split(b"\n"))) == 5_000_000
    for name in ("invalid UTF-8", "lone surrogates"):
        with pytest.raises(UnicodeDecodeError):
            bodies[name].decode()


@pytest.mark.parametrize("row", rows.ROWS)
def test_ctxf_through_its_driver(row: str) -> None:
    cell = rows.ROWS[row](row, Peer("ctxf", CTXF, is_marked=True, has_clock=True), SMALL)
    assert cell.error is None
    expected: dict[str, Any] = {
        "hard bodies given back exactly": 14,
        "writes lost after kill -9": 0,
        "writes lost by 8 writers at once": 0,
        "messages still there": 5,
    }
    assert cell.value == expected.get(row, cell.value)
    assert set(cell.details.values()) <= {"exact", "exact, not folded", "there"}


def test_a_tool_that_breaks_shows_its_own_words() -> None:
    broken = Peer("broken", Runner(sys.executable, "no_such_driver"), is_marked=False, has_clock=True)
    cells = list(rows.measure([broken], SMALL))
    assert {cell.row for cell in cells} >= set(rows.ROWS)
    for cell in cells:
        if cell.row != "hard bodies given back exactly" and cell.value is None and cell.error is not None:
            assert "no_such_driver" in cell.error
        else:
            assert cell.value == 0
            assert all("no_such_driver" in found for found in cell.details.values())


def test_a_tool_that_does_not_answer_is_ended(tmp_path: Path) -> None:
    with Driver(CTXF, tmp_path, {}) as driver:
        driver.send_fold(messages("log", 300, 8192))
        with pytest.raises(Failure, match=r"no answer within 0\.01 s"):
            driver.receive_fold(timeout=0.01)
        with pytest.raises(Failure):
            driver.fold([b"x"])


def _imported(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return names | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}


@pytest.mark.parametrize("path", sorted(DRIVERS.glob("*.py")), ids=lambda path: path.stem)
def test_a_driver_needs_nothing_but_its_tool(path: Path) -> None:
    others = {
        name.split(".")[0]
        for name in _imported(path)
        if name.split(".")[0] not in sys.stdlib_module_names
        and not name.startswith("benchmarks.peers.drivers.")
    }
    assert others <= {{"furl": "furl_ctx"}.get(path.stem, path.stem)}


@pytest.mark.parametrize("path", sorted(BENCHMARKS.rglob("*.py")), ids=lambda path: path.stem)
def test_modules_are_small(path: Path) -> None:
    assert path.read_bytes().count(b"\n") <= 300


def test_peers_are_pinned_to_a_version() -> None:
    described = tools()
    assert described[0].name == "ctxf"
    for tool in described[1:]:
        assert tool.program or re.fullmatch(r"[\w-]+(\[\w+\])?==[\d.]+", tool.requirement or "")
        assert tool.path
        assert tool.disk
        assert tool.beyond


def test_a_tool_that_cannot_be_installed_says_why(tmp_path: Path) -> None:
    fields: dict[str, Any] = {"driver": "x", "path": "", "disk": "", "beyond": ""}
    with pytest.raises(Unavailable, match="nowhere"):
        prepare(Tool("missing", **fields, requirement=str(tmp_path / "nowhere")), tmp_path / "environments")
    with pytest.raises(Unavailable, match="no-such-program"):
        prepare(Tool("missing", **fields, program=("no-such-program",)), tmp_path)


def test_the_picture_is_what_ctxf_makes_of_the_text() -> None:
    assert picture.PICTURE.read_text() == picture.draw(picture.run()), "run: python -m benchmarks.picture"


def test_the_picture_is_well_formed_shows_the_reference_and_asks_nothing_of_the_network() -> None:
    drawn = picture.PICTURE.read_text()
    assert ElementTree.fromstring(drawn).get("role") == "img"
    assert re.findall(r"https?://[^\"]*", drawn) == ["http://www.w3.org/2000/svg"]
    assert re.findall(r"\[\[cf:v2:[0-9a-f]{12}\]\]", drawn)
    assert "prefers-color-scheme: dark" in drawn
