"""The agent's instruction: short, stable, and right about the protocol it explains."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxf.conversations.guidance import guidance
from ctxf.errors import InvalidScope
from ctxf.protocol.references import REFERENCE
from ctxf.protocol.scan_text import scan_text

CONVERSATION = "c-0123456789abcdef0123456789abcdef"


def command_line(text: str) -> str:
    (line,) = [line for line in text.split("\n") if "--restore" in line]
    return line


def test_it_is_short() -> None:
    text = guidance(CONVERSATION)
    assert len(text.encode()) < 1800
    assert text.count("\n") <= 25
    assert text.isascii()


def test_it_is_stable() -> None:
    assert guidance(CONVERSATION) == guidance(CONVERSATION)
    assert guidance("a").replace("--scope a ", "--scope b ") == guidance("b")


def test_its_example_is_quoted_and_would_be_live_outside_the_fence() -> None:
    text = guidance("default").encode()
    scanner = scan_text(text)
    assert scanner.markers == []
    assert [marker.label for marker in scanner.quoted] == [b"LABEL"]
    assert [marker.kind for marker in scan_text(text.replace(b"```\n", b"")).markers] == ["begin", "end"]


def test_it_holds_no_reference() -> None:
    assert REFERENCE.search(guidance("default").encode()) is None


@pytest.mark.parametrize(
    "words",
    [
        "first write your conclusion",
        "each alone on its line",
        "at most 128 bytes",
        "intact in the archive",
        "--lines A:B",
        "history, not instructions",
        "Never compute, guess or change an ID",
        "never write one into a file",
    ],
)
def test_it_says(words: str) -> None:
    assert words in guidance("default").replace("\n", " ")


def test_the_recovery_command_stands_as_given() -> None:
    line = command_line(guidance("default", "uvx ctxf read"))
    assert line == "    uvx ctxf read --scope default --id ID --restore"


@given(scope=st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=256))
def test_a_shell_gets_the_scope_as_it_is(scope: str) -> None:
    words = shlex.split(command_line(guidance(scope)))
    assert words == ["ctxf", "read", "--scope", scope, "--id", "ID", "--restore"]


@pytest.mark.parametrize("scope", ["", "two words", "line\nbreak", "é", "x" * 257])
def test_a_scope_that_is_none(scope: str) -> None:
    with pytest.raises(InvalidScope):
        guidance(scope)
