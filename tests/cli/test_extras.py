"""Extras: which are here, and the command that adds one to this very installation."""

import sys
from pathlib import Path
from typing import Any

import pytest

from ctxf.cli.extras import EXTRAS, extra_command, missing_module, requirement
from tests.kit.cli import Cli

ORIGINS: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({}, ("ctxf[mcp]",)),
    ({"url": "file:///a%20b/c", "dir_info": {}}, ("/a b/c[mcp]",)),
    ({"url": "file:///c", "dir_info": {"editable": True}}, ("-e", "/c[mcp]")),
    (
        {"url": "https://host/ctxf.git", "vcs_info": {"vcs": "git", "commit_id": "a1b2"}},
        ("ctxf[mcp] @ git+https://host/ctxf.git@a1b2",),
    ),
    ({"url": "file:///d/ctxf.whl", "archive_info": {}}, ("ctxf[mcp] @ file:///d/ctxf.whl",)),
]


@pytest.mark.parametrize(("origin", "expected"), ORIGINS)
def test_an_extra_comes_from_where_ctxf_came_from(origin: dict[str, Any], expected: tuple[str, ...]) -> None:
    assert requirement(origin, "mcp") == expected


@pytest.mark.parametrize("extra", EXTRAS)
def test_all_are_here(extra: str) -> None:
    assert missing_module(extra) is None


def test_the_command_is_one_line_for_a_shell() -> None:
    command = extra_command("mcp")
    assert command.endswith(("[mcp]", "[mcp]'"))
    assert " pip install " in command
    assert "\n" not in command


@pytest.mark.parametrize(
    ("receipt", "tool"),
    [("pipx_metadata.json", "pipx install --force "), ("uv-receipt.toml", "uv tool install --force ")],
)
def test_a_tool_that_installs_anew_is_told_of_every_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, receipt: str, tool: str
) -> None:
    (tmp_path / receipt).touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert extra_command("mcp").startswith(tool)
    assert "[gateway,languages,mcp]" in extra_command("mcp")


def test_no_help_sends_anybody_to_an_index(cli: Cli) -> None:
    for command in ("mcp", "gateway", "run", "setup", "languages"):
        words = cli.run(command, "--help").stdout.split()
        shown = b" ".join(words)
        assert b"pip install" not in shown
        assert b"ctxf doctor" in shown
