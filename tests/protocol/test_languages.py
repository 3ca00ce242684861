"""Names, files and grammars: which language is meant, and who can parse it."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ctxf.protocol.grammars import Grammar, MissingGrammar, available, find_language, load_grammar
from ctxf.protocol.languages import LANGUAGES, Language, is_text_name, language_for_file, language_of
from ctxf.protocol.model import CommentForm
from tests.kit.source import named

CORE = 18


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("python", "python"),
        ("PY", "python"),
        ("js", "javascript"),
        ("JavaScript", "javascript"),
        ("ts", "typescript"),
        ("tsx", "tsx"),
        ("c++", "cpp"),
        ("C#", "csharp"),
        ("cs", "csharp"),
        ("sh", "bash"),
        ("rs", "rust"),
        ("yml", "yaml"),
        ("rb", "ruby"),
        ("emacs-lisp", "elisp"),
        ("tex", "latex"),
    ],
)
def test_name(name: str, expected: str) -> None:
    assert named(name).name == expected


@pytest.mark.parametrize("name", ["text", "Markdown", "md", "", "nonsense", "tree_sitter", "py thon", "../x"])
def test_name_of_no_language(name: str) -> None:
    assert language_of(name) is None
    assert find_language(name) is None
    assert is_text_name(name) == (name.lower() in {"text", "markdown", "md"})


@pytest.mark.parametrize(
    ("filename", "first_line", "expected"),
    [
        ("a.py", b"", "python"),
        ("dir.d/A.PY", b"", "python"),
        ("a.h", b"", "c"),
        ("a.tsx", b"", "tsx"),
        ("Makefile", b"", "make"),
        ("sub/Dockerfile.dev", b"", "dockerfile"),
        ("Rakefile", b"", "ruby"),
        ("x.vue", b"", "vue"),
        ("README.md", b"#!/bin/sh\n", None),
        ("notes.txt", b"#!/usr/bin/python\n", None),
        ("notes", b"plain words\n", None),
        ("tool", b"#!/usr/bin/env python3\n", "python"),
        ("tool", b"#!/usr/bin/env -S python3.11 -I\r\n", "python"),
        ("tool", b"#!/usr/bin/env -S A=1 node --x\n", "javascript"),
        ("tool", b"#! /bin/sh -e\nrest", "bash"),
        ("tool", b"\xef\xbb\xbf#!/usr/local/bin/ruby\n", "ruby"),
        ("tool", b"#!/usr/bin/perl5.36\n", "perl"),
        ("tool", b"#!/usr/bin/unheard-of\n", None),
        ("tool", b"#!\n", None),
        ("tool", b"#!/usr/bin/env", None),
        (".bashrc", b"", "bash"),
        ("", b"", None),
    ],
)
def test_file(filename: str, first_line: bytes, expected: str | None) -> None:
    language = language_for_file(filename, first_line)
    assert (language.name if language else None) == expected


def test_hostile_hashbang_is_read_once() -> None:
    assert language_for_file("x", b"#!/usr/bin/env " + b"-S " * 200_000) is None
    assert language_for_file("x", b"#!" + b"/" * 500_000) is None


def test_no_name_and_no_file_belongs_to_two() -> None:
    names = [name for row in LANGUAGES for name in (row.name, *row.aliases)]
    assert len(names) == len(set(names))
    assert all(name == name.lower() and not is_text_name(name) for name in names)
    for field in ("extensions", "filenames", "hashbangs"):
        values = [value for row in LANGUAGES for value in getattr(row, field)]
        assert len(values) == len(set(values)), field


def test_names_cost_no_parser() -> None:
    code = (
        "import sys, ctxf.protocol.languages, ctxf.protocol.grammars, ctxf.protocol.plan_source;"
        "print([name for name in sys.modules if name.startswith('tree_sitter')])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert result.stdout.strip() == b"[]"


def test_core_grammars_are_here() -> None:
    for language in LANGUAGES[:CORE]:
        grammar = load_grammar(language)
        assert isinstance(grammar, Grammar), grammar
        assert grammar.provider == language.wheel


def test_available_names_provider_and_version() -> None:
    found = {entry.language: entry for entry in available()}
    assert found["python"].provider == "tree-sitter-python"
    assert found["python"].version[0].isdigit()
    assert {row.name for row in LANGUAGES[:CORE]} <= found.keys()
    assert list(found) == sorted(found)


def test_missing_grammar_names_its_wheel() -> None:
    gone = Language("klingon", (CommentForm(b"#"),), "tree-sitter-klingon")
    assert load_grammar(gone) == MissingGrammar(
        "klingon", "tree-sitter-klingon", "tree-sitter-klingon is not installed"
    )
    grammarless = load_grammar(named("latex"))
    assert grammarless == MissingGrammar("latex", None, "no package has its grammar")


def test_broken_grammar_is_a_value() -> None:
    broken = replace(named("python"), function="no_such_function", bundled=None)
    grammar = load_grammar(broken)
    assert isinstance(grammar, MissingGrammar)
    assert "tree-sitter-python does not work" in grammar.problem


def test_wheel_that_raises_on_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tree_sitter_klingon.py").write_text("raise RuntimeError('damaged')")
    monkeypatch.syspath_prepend(str(tmp_path))
    language = find_language("klingon")
    assert language is not None
    assert language.isolate
    grammar = load_grammar(language)
    assert isinstance(grammar, MissingGrammar)
    assert "damaged" in grammar.problem
    assert "klingon" not in {entry.language for entry in available()}


def test_wheel_outside_the_table_is_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "from tree_sitter_python import language"
    (tmp_path / "tree_sitter_klingon.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    language = find_language("Klingon")
    assert language is not None
    assert isinstance(load_grammar(language), Grammar)
    assert "klingon" in {entry.language for entry in available()}


def test_grammars_that_export_addresses_and_the_bundle() -> None:
    """Older wheels and the bundled library, where they are installed."""
    tried = 0
    for language in (*LANGUAGES, *(replace(row, wheel=None) for row in LANGUAGES if row.bundled)):
        grammar = load_grammar(language)
        if isinstance(grammar, Grammar):
            tried += 1
            tree = grammar.parse(b"x\n")
            assert tree is not None
            assert tree.root_node.end_byte <= 2
    assert tried >= CORE
