"""Every example of the README, run in its order in one empty folder, with the output that stands there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ctxf.config import Settings
from ctxf.config.fields import FIELDS, VARIABLES

README = Path(__file__).parents[1] / "README.md"
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
AGENTS = re.compile(r"^```console agents\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _commands(block: str) -> list[tuple[str, str]]:
    """The commands of a console block (here-documents included), each with the output behind it."""
    found: list[tuple[str, str]] = []
    here_document = False
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:], ""))
            here_document = "<<'END'" in line
        elif here_document:
            found[-1] = (found[-1][0] + line, "")
            here_document = line != "END\n"
        else:
            found[-1] = (found[-1][0], found[-1][1] + line)
    return found


def test_console_examples(tmp_path: Path) -> None:
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("CTXF_", "XDG_"))},
        "HOME": str(tmp_path / "home"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    commands = [pair for block in CONSOLE.findall(README.read_text()) for pair in _commands(block)]
    assert len(commands) > 5
    for command, output in commands:
        run = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        assert run.stdout.decode() == output, command


def test_agents_examples(tmp_path: Path) -> None:
    """Their own home, empty, with ctxf installed where `pipx` puts it."""
    program = tmp_path / "home" / ".local" / "bin" / "ctxf"
    program.parent.mkdir(parents=True)
    program.symlink_to(Path(sys.executable).with_name("ctxf"))
    (tmp_path / "tmp").mkdir()
    environ = {"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path / "tmp")}
    environ["PATH"] = f"{program.parent}:{os.environ['PATH']}"
    (block,) = AGENTS.findall(README.read_text())
    for command, output in _commands(block):
        run = subprocess.run(["bash", "-c", command], env=environ, capture_output=True, check=False)
        assert (run.stdout.decode(), run.stderr) == (output, b""), command


def test_python_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "before\n<!-- @context-fold begin a -->\n" + "x\n" * 999 + "<!-- @context-fold end a -->\n"
    Path("notes.md").write_text(text)
    examples = PYTHON.findall(README.read_text())
    assert examples
    for example in examples:
        source = example.replace("ctxf.Archive.open()", f"ctxf.Archive.open({str(tmp_path / 'a.db')!r})")
        exec(compile(source, "README.md", "exec"), {"text": text})


def test_the_whole_configuration_is_there() -> None:
    section = README.read_text().split("\n## Configuration\n")[1].split("\n## ")[0]
    assert {name for name in VARIABLES if name not in section} == set()
    defaults = Settings()._asdict()
    for field in FIELDS.values():
        if field.table:
            line = re.search(rf"^(# )?{field.name} = (\S+)", section, re.MULTILINE)
            assert line, field.name
            default = defaults[field.name]
            assert bool(line[1]) == (default is None)
            assert default is None or line[2] == str(default).lower()
