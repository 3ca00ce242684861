"""The bundled transcript of `ctxf demo` shows what it is meant to show."""

from importlib.resources import files

import pytest

import ctxf
from ctxf.protocol.references import REFERENCE_HEAD
from ctxf.protocol.scan_text import scan_text


@pytest.fixture(scope="module")
def demo() -> bytes:
    return files("ctxf").joinpath("cli/demo.md").read_bytes()


def test_its_size_and_encoding(demo: bytes) -> None:
    assert 14_000 <= len(demo) <= 20_000
    assert not demo.decode("utf-8").isascii()
    assert b"\r" not in demo
    assert REFERENCE_HEAD not in demo


def test_three_blocks_fold_one_is_inside_and_one_is_too_small(demo: bytes) -> None:
    result = ctxf.fold(demo, ctxf.Archive.memory())
    assert [fold.label for fold in result.folds] == [
        "test-log/stress-48-runs",
        "comparison/timer-before-and-after",
        "dead-end/undici",
    ]
    assert [[inner.label for inner in fold.inner] for fold in result.folds] == [[], ["etag-buffering"], []]
    assert [(kept.label, kept.reason) for kept in result.kept] == [
        ("aside", ctxf.Reason.TOO_SMALL),
        ("retry-path", ctxf.Reason.FENCED),
    ]


def test_the_fenced_example_stays(demo: bytes) -> None:
    assert [marker.label for marker in scan_text(demo).quoted] == [b"retry-path"]


def test_it_repeats_no_filler(demo: bytes) -> None:
    """Prose and log lines are all different; only short lines of code and tables come back."""
    lines = [line for line in demo.split(b"\n") if len(line) > 40]
    repeated = {line for line in lines if lines.count(line) > 1}
    assert all(
        line.lstrip().startswith((b"return {", b"const reply", b"async function")) for line in repeated
    )
