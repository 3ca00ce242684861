"""The manual page: every command is on it, and nothing that a help says is taken for a macro or an escape."""

import re

import click

from ctxf.cli.app import app
from ctxf.cli.manual import manual

MACROS = {".TH", ".SH", ".SS", ".TP", ".PP", ".nf", ".fi"}


def test_every_command_is_on_the_page() -> None:
    page = manual()
    for name in app.list_commands(click.Context(app)):
        assert re.search(rf"^\.SS ctxf {name}\b", page, re.MULTILINE), name
    for words in ("config show", "config check", "request fold", "request restore"):
        assert f".SS ctxf {words}" in page


def test_no_line_of_text_is_a_macro_or_an_escape() -> None:
    for line in manual().splitlines():
        if line.startswith("."):
            assert line.split()[0] in MACROS
        assert not line.startswith("'")
        assert re.sub(r"\\(?:[e&-]|\((?:aq|ga|ha|ti)|f[BIR])", "", line).count("\\") == 0, line
        assert line == line.rstrip() or line.startswith(".TH")


def test_examples_keep_their_lines_and_their_characters() -> None:
    page = manual()
    assert ".nf\nExamples:\n  ctxf < notes.md > folded.md\n" in page
    assert r"  ctxf read \-\-id \(aq[[cf:v2:4db3a91c6e2f]]\(aq \-\-json" in page
    assert r"\&.context\-folding.toml" in page
    assert "x>=" not in page
