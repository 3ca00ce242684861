"""`ctxf fold` and `restore` on source files: languages, many files, directories."""

import json
from pathlib import Path

import pytest

from tests.kit.cli import BODY, FOLDED, NOTES, Cli, id_of

PY_BODY = b"    table = [\n" + b"".join(b"        %d,\n" % n for n in range(300)) + b"    ]\n"
PYTHON = (
    b"def f():\n    # @context-fold begin table\n"
    + PY_BODY
    + b"    # @context-fold end table\n    return table\n"
)
FOLDED_PYTHON = PYTHON.replace(PY_BODY, b"    # [[cf:v2:%b]]\n" % id_of(PY_BODY).encode())
QUOTED = b'a = """\n# @context-fold begin x\n' + b"text\n" * 500 + b'# @context-fold end x\n"""\n'
# The same text is markers and a body to one language and code to another.
BLOCK = b"// @context-fold begin x\n" + b"int a;\n" * 300 + b"// @context-fold end x\n"


@pytest.mark.parametrize(
    ("name", "first_line"),
    [
        ("m.py", b""),
        ("M.PYI", b""),
        ("tool", b"#!/usr/bin/env python3\n"),
        ("wscript", b""),
        ("x.bin", b"#!/bin/pypy\n"),
    ],
)
def test_a_file_is_known_by_its_name_or_hashbang(cli: Cli, name: str, first_line: bytes) -> None:
    cli.write(name, first_line + PYTHON)
    ran = cli.run("fold", name)
    assert ran.stdout == first_line + FOLDED_PYTHON
    assert ran.status == 0
    cli.write(name, ran.stdout)
    assert cli.run("restore", name).stdout == first_line + PYTHON


@pytest.mark.parametrize(
    ("name", "data"), [("q.py", QUOTED), ("notes.md", PYTHON), ("notes", PYTHON), ("b.py", BLOCK)]
)
def test_what_is_no_comment_of_its_language_stays(cli: Cli, name: str, data: bytes) -> None:
    cli.write(name, data)
    ran = cli.run("fold", name)
    assert (ran.stdout, ran.status) == (data, 0)
    assert not cli.archive.exists()


def test_why_a_quoted_block_stays(cli: Cli) -> None:
    cli.write("q.py", QUOTED)
    assert b"1 kept (line 2: is quoted" in cli.run("fold", "q.py").stderr


@pytest.mark.parametrize("language", ["python", "py", "Python", "PY"])
def test_stdin_is_text_unless_a_language_is_named(cli: Cli, language: str) -> None:
    assert cli.run("fold", stdin=PYTHON).stdout == PYTHON
    assert cli.run("fold", "--language", language, stdin=PYTHON).stdout == FOLDED_PYTHON
    assert cli.run("restore", "--language", language, stdin=FOLDED_PYTHON).stdout == PYTHON
    assert cli.run("restore", stdin=FOLDED_PYTHON).stdout == PYTHON


def test_text_by_name_in_a_source_file(cli: Cli) -> None:
    cli.write("page.html", NOTES)
    ran = cli.run("fold", "--language", "text", "page.html")
    assert ran.stdout == FOLDED
    cli.write("page.html", ran.stdout)
    assert cli.run("restore", "--language", "text", "page.html").stdout == NOTES
    # By its name it is source, where a bare reference is none.
    restored = cli.run("restore", "page.html")
    assert restored.stdout == FOLDED
    assert id_of(BODY).encode() in restored.stderr


@pytest.mark.parametrize("command", ["fold", "restore"])
def test_a_language_that_nobody_knows_is_wrong_usage(cli: Cli, command: str) -> None:
    ran = cli.run(command, "--language", "klingon", stdin=PYTHON)
    assert (ran.stdout, ran.status) == (b"", 2)
    assert b"`ctxf languages` lists them" in ran.stderr


def test_a_language_without_a_grammar_passes_through(cli: Cli) -> None:
    page = (
        b"<template>\n<!-- @context-fold begin x -->\n"
        + b"<p>a</p>\n" * 200
        + b"<!-- @context-fold end x -->\n</template>\n"
    )
    cli.write("page.vue", page)
    ran = cli.run("fold", "page.vue")
    assert (ran.stdout, ran.status) == (page, 75)
    assert b"vue: no package has its grammar" in ran.stderr
    assert cli.run("fold", "--language", "vue", stdin=b"<p>no marker</p>\n") == (
        b"<p>no marker</p>\n",
        b"",
        0,
    )


def test_many_files_and_one_bad_one(cli: Cli) -> None:
    cli.write("a.py", PYTHON)
    cli.write("c/b.md", NOTES)
    cli.write("broken.py", b"x = '''\n" + PYTHON)
    ran = cli.run("fold", "--output-dir", "out", "a.py", "missing.py", "broken.py", "c/b.md")
    assert ran.status == 74
    assert b"missing.py: No such file or directory" in ran.stderr
    assert (cli.cwd / "out/a.py").read_bytes() == FOLDED_PYTHON
    assert (cli.cwd / "out/c/b.md").read_bytes() == FOLDED
    assert (cli.cwd / "out/broken.py").read_bytes() == b"x = '''\n" + PYTHON
    back = cli.run("restore", "--in-place", "--recursive", "out")
    assert (back.stdout, back.status) == (b"", 0)
    assert (cli.cwd / "out/a.py").read_bytes() == PYTHON
    assert (cli.cwd / "out/c/b.md").read_bytes() == NOTES


TREE = {
    ".gitignore": b"build/\n*.gen.py\n!keep.gen.py\r\n",
    "a.py": PYTHON,
    "x.gen.py": PYTHON,
    "keep.gen.py": PYTHON,
    "build/a.py": PYTHON,
    "sub/.gitignore": b"/only.py\n",
    "sub/only.py": PYTHON,
    "sub/deep/only.py": PYTHON,
    ".git/config.py": PYTHON,
    "plain.py": b"x = 1\n",
    "data.bin": bytes(range(256)),
}


def test_directories_without_what_git_ignores(cli: Cli) -> None:
    for name, data in TREE.items():
        cli.write(f"tree/{name}", data)
    (cli.cwd / "tree/link.py").symlink_to("plain.py")
    (cli.cwd / "tree/loop").symlink_to(".")
    ran = cli.run("fold", "--in-place", "--recursive", "tree")
    assert (ran.stdout, ran.status) == (b"", 0)
    changed = {name for name, data in TREE.items() if (cli.cwd / "tree" / name).read_bytes() != data}
    assert changed == {"a.py", "keep.gen.py", "sub/deep/only.py"}
    assert (cli.cwd / "tree/a.py").read_bytes() == FOLDED_PYTHON


@pytest.mark.parametrize(
    ("top", "changed"),
    [
        ("src", {"src/y.ts", "src/keep.min.ts"}),
        ("./src/../src", {"src/y.ts", "src/keep.min.ts"}),
        (".", {"src/y.ts", "src/keep.min.ts"}),
        ("src/build", {"src/build/b.ts"}),  # who names an ignored directory wants it
    ],
)
@pytest.mark.parametrize("is_absolute", [False, True])
def test_what_the_repository_ignores_above_the_directory(
    cli: Cli, top: str, changed: set[str], is_absolute: bool
) -> None:
    cli.write(".git/info/exclude", b"/src/secret.ts\n")
    cli.write(".gitignore", b"node_modules\nbuild/\n*.min.ts\n!keep.min.ts\n")
    names = (
        *("src/y.ts", "src/x.min.ts", "src/keep.min.ts", "src/secret.ts"),
        *("src/build/b.ts", "src/node_modules/c/d.ts"),
    )
    for name in names:
        cli.write(name, BLOCK)
    cli.run("fold", "--in-place", "--recursive", str(cli.cwd / top) if is_absolute else top)
    assert {name for name in names if (cli.cwd / name).read_bytes() != BLOCK} == changed


@pytest.mark.parametrize("args", [("tree",), ("--in-place", "tree")])
def test_a_directory_needs_recursive(cli: Cli, args: tuple[str, ...]) -> None:
    cli.write("tree/a.py", PYTHON)
    ran = cli.run("fold", *args)
    assert (ran.stdout, ran.status) == (b"", 74)
    assert (cli.cwd / "tree/a.py").read_bytes() == PYTHON


def test_a_scope_without_room_keeps_source_whole(cli: Cli) -> None:
    cli.write("m.py", PYTHON)
    ran = cli.run("fold", "--capacity", "100", "m.py")
    assert (ran.stdout, ran.status) == (PYTHON, 75)


def test_languages_lists_what_is_there(cli: Cli) -> None:
    rows = [json.loads(line) for line in cli.run("languages", "--json").stdout.split(b"\n") if line]
    known = {row["language"]: row["package"] for row in rows}
    assert known["python"] == "tree-sitter-python"
    assert len(known) > 16
    plain = cli.run("languages").stdout
    assert plain.count(b"\n") == len(rows)
    assert b"tree-sitter-rust" in plain


def test_unmarked_source_needs_no_grammar(cli: Cli, tmp_path: Path) -> None:
    """With a broken tree_sitter before the real one, a marker costs the fold and nothing else does."""
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/tree_sitter.py").write_text("raise RuntimeError('broken')\n")
    broken = {"PYTHONPATH": str(tmp_path / "bad")}
    cli.write("a.py", b"x = 1\n")
    assert cli.run("fold", "a.py", env=broken) == (b"x = 1\n", b"", 0)
    cli.write("m.py", PYTHON)
    ran = cli.run("fold", "m.py", env=broken)
    assert (ran.stdout, ran.status) == (PYTHON, 75)
    assert b"Traceback" not in ran.stderr
