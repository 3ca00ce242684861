"""The README and the pages of docs/: every example runs in its order, each page in an empty folder.

What stands behind a command is what it printed. Commands, options, settings: all are on their pages.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from ctxf.cli.app import app
from ctxf.cli.manual import manual
from ctxf.config import Settings
from ctxf.config.fields import FIELDS, VARIABLES

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = (README, *sorted(DOCS.glob("*.md")))
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
AGENTS = re.compile(r"^```console agents\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def _with(examples: re.Pattern[str]) -> list[Path]:
    return [page for page in PAGES if examples.search(page.read_text())]


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


def test_there_are_pages_with_examples() -> None:
    assert {page.name for page in _with(CONSOLE)} >= {"README.md", "source.md", "requests.md"}
    assert _with(AGENTS)
    assert _with(PYTHON)


@pytest.mark.parametrize("page", _with(CONSOLE), ids=lambda page: page.name)
def test_console_examples(page: Path, tmp_path: Path) -> None:
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("CTXF_", "XDG_"))},
        "HOME": str(tmp_path / "home"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    for block in CONSOLE.findall(page.read_text()):
        for command, output in _commands(block):
            run = subprocess.run(
                ["bash", "-c", command],
                cwd=tmp_path,
                env=environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
            )
            assert run.stdout.decode() == output, command


@pytest.mark.parametrize("page", _with(AGENTS), ids=lambda page: page.name)
def test_agents_examples(page: Path, tmp_path: Path) -> None:
    """Their own home, empty, with ctxf installed where `pipx` puts it."""
    program = tmp_path / "home" / ".local" / "bin" / "ctxf"
    program.parent.mkdir(parents=True)
    program.symlink_to(Path(sys.executable).with_name("ctxf"))
    (tmp_path / "tmp").mkdir()
    environ = {"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path / "tmp")}
    environ["PATH"] = f"{program.parent}:{os.environ['PATH']}"
    for block in AGENTS.findall(page.read_text()):
        for command, output in _commands(block):
            run = subprocess.run(["bash", "-c", command], env=environ, capture_output=True, check=False)
            assert (run.stdout.decode(), run.stderr) == (output, b""), command


@pytest.mark.parametrize("page", _with(PYTHON), ids=lambda page: page.name)
def test_python_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "before\n<!-- @context-fold begin a -->\n" + "x\n" * 999 + "<!-- @context-fold end a -->\n"
    Path("notes.md").write_text(text)
    for example in PYTHON.findall(page.read_text()):
        source = example.replace("ctxf.Archive.open()", f"ctxf.Archive.open({str(tmp_path / 'a.db')!r})")
        exec(compile(source, page.name, "exec"), {"text": text})


def test_the_readme_is_short_and_leads_to_every_page() -> None:
    text = README.read_text()
    assert text.count("\n") <= 150
    assert {f"docs/{page.name}" for page in PAGES[1:]} <= set(LINK.findall(text))
    assert LINK.findall(text)[0] == "docs/before-after.svg"


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.name)
def test_a_page_begins_with_what_it_is_for(page: Path) -> None:
    title, blank, purpose = page.read_text().split("\n")[:3]
    assert title.startswith("# ")
    assert blank == ""
    assert purpose.startswith("For ")


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "PROTOCOL.md", ROOT / "CHANGELOG.md"], ids=lambda page: page.name
)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(FENCED.sub("", page.read_text())):
        if not link.startswith(("https://", "#")):
            assert (page.parent / link.split("#")[0]).exists(), link


def _options(command: click.Command) -> Iterator[click.Option]:
    yield from (parameter for parameter in command.params if isinstance(parameter, click.Option))
    if isinstance(command, click.Group):
        context = click.Context(command)
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            yield from _options(found)


def test_every_command_and_option_is_on_its_page() -> None:
    page = (DOCS / "commands.md").read_text()
    commands = [name for name in app.list_commands(click.Context(app)) if name != "fold"]
    assert [name for name in commands if f"`ctxf {name}" not in page] == []
    assert "`ctxf [fold] " in page
    long = {word for option in _options(app) for word in option.opts if word.startswith("--")}
    assert sorted(word for word in long if not re.search(rf"(?<![\w-]){word}(?![\w-])", page)) == []


def test_the_whole_configuration_is_there() -> None:
    section = (DOCS / "configuration.md").read_text().split("\n## Configuration\n")[1].split("\n## ")[0]
    assert {name for name in VARIABLES if name not in section} == set()
    defaults = Settings()._asdict()
    for field in FIELDS.values():
        if field.table:
            line = re.search(rf"^(# )?{field.name} = (\S+)", section, re.MULTILINE)
            assert line, field.name
            default = defaults[field.name]
            assert bool(line[1]) == (default is None)
            assert default is None or line[2] == str(default).lower()


def test_the_manual_page_is_what_the_commands_say() -> None:
    assert (DOCS / "ctxf.1").read_text() == manual(), "run: python -m ctxf.cli.manual > docs/ctxf.1"
