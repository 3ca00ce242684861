"""`ctxf completion`: the script, and what a real bash makes of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.cli import TIMEOUT, Cli

# What bash does when Tab is pressed behind the words.
PRESS_TAB = """
eval "$(ctxf completion bash)"
COMP_WORDS=(%s) COMP_CWORD=%d
_ctxf_completion ctxf
printf '%%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_asks_ctxf(cli: Cli, shell: str) -> None:
    ran = cli.run("completion", shell)
    assert f"_CTXF_COMPLETE={shell}_complete".encode() in ran.stdout
    assert (ran.stderr, ran.status) == (b"", 0)
    assert ran.stdout.rstrip() == cli.run(env={"_CTXF_COMPLETE": f"{shell}_source"}).stdout.rstrip()


@pytest.mark.parametrize("args", [(), ("powershell",), ("bash", "zsh")])
def test_other_shells_are_a_mistake(cli: Cli, args: tuple[str, ...]) -> None:
    ran = cli.run("completion", *args)
    assert (ran.stdout, ran.status) == (b"", 2)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ctxf", "ver"], ["verify"]),
        (["ctxf", "comp"], ["completion"]),
        (["ctxf", "completion", ""], ["bash", "zsh", "fish"]),
        (["ctxf", "verify", "--de"], ["--deep"]),
        (["ctxf", "request", "f"], ["fold"]),
        (["ctxf", "setup", "c"], ["claude", "codex"]),
        (["ctxf", "verify", "--no-such"], [""]),
    ],
)
def test_in_a_real_bash(cli: Cli, words: list[str], expected: list[str]) -> None:
    command = PRESS_TAB % (" ".join(word or "''" for word in words), len(words) - 1)
    ran = subprocess.run(
        ["bash", "--norc", "-c", command],
        capture_output=True,
        env=cli.environment({"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}),
        cwd=cli.cwd,
        timeout=TIMEOUT,
        check=False,
    )
    assert ran.stdout.decode().split("\n")[:-1] == expected
    assert ran.stderr == b""
