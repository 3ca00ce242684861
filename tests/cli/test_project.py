"""`ctxf project` through real pipes."""

import json

import pytest

from tests.kit.cli import Cli

FILLER = "".join(f"# line {n} of what nobody has asked for here\n" for n in range(5))
SOURCE = f"LIMIT = 5\n\n{FILLER}\nclass Store:\n    def get(self):\n        return LIMIT\n\n{FILLER}".encode()
QUESTION = ("--question", "What does Store.get return?")


def test_project_and_restore(cli: Cli) -> None:
    file = cli.write("store.py", SOURCE)
    ran = cli.run("project", file, *QUESTION)
    assert ran.status == 0
    lines = ran.stdout.decode().splitlines()
    assert lines[0] == "LIMIT = 5"
    assert lines[1].startswith("# @context-fold omit lines-2-8 [[cf:v2:")
    assert lines[2:5] == ["class Store:", "    def get(self):", "        return LIMIT"]
    assert lines[5].startswith("# @context-fold omit lines-12-17 [[cf:v2:")
    sizes = b"%d B -> %d B" % (len(SOURCE), len(ran.stdout))
    assert ran.stderr == b"ctxf: Store.get kept, 2 stretches left out; %b\n" % sizes
    assert cli.run("restore", stdin=ran.stdout).stdout == SOURCE
    assert cli.run("restore", "--language", "python", stdin=ran.stdout).stdout == SOURCE


def test_what_was_left_out_can_be_found_and_read(cli: Cli) -> None:
    cli.run("project", cli.write("store.py", SOURCE), *QUESTION)
    found = cli.run("grep", "-F", "line 3 of").stdout.splitlines()
    assert len(found) == 2
    id_ = found[0].split(b":")[0]
    assert b"line 3 of what nobody" in cli.run("read", "--id", id_, "--restore").stdout
    assert b"lines-2-8" in cli.run("list").stdout


def test_explain(cli: Cli) -> None:
    ran = cli.run("project", cli.write("store.py", SOURCE), *QUESTION, "--explain")
    said = ran.stderr.decode().splitlines()
    assert said[0] == "ctxf: Store.get (bare): Store.get line 10"
    assert said[1] == "ctxf: kept Store.get, lines 10 to 11"
    assert said[2] == "ctxf: kept 1 of 1 literal constant"
    assert said[3].startswith("ctxf: left out lines-2-8 as ")
    assert ran.stdout == cli.run("project", "store.py", *QUESTION).stdout


def test_json(cli: Cli) -> None:
    ran = cli.run("project", cli.write("store.py", SOURCE), *QUESTION, "--json")
    fields = json.loads(ran.stdout)
    assert fields["why"] is None
    assert fields["definitions"] == [{"name": "Store.get", "line": 10, "first": 10, "last": 11}]
    assert [(one["first"], one["last"]) for one in fields["omissions"]] == [(2, 8), (12, 17)]
    assert fields["text"].encode() == cli.run("project", "store.py", *QUESTION).stdout


UNCHANGED = [
    ("what is this?", b"ctxf: kept whole: the question names no function or method of this file\n"),
    ("what do we get?", b"ctxf: kept whole: get is a plain word, too: write get(), `get` or Type.get\n"),
    ("", b"ctxf: kept whole: the question names no function or method of this file\n"),
    ("\x1b[31m `evil\u202e` ", b"ctxf: kept whole: the question names no function or method of this file\n"),
]


@pytest.mark.parametrize(("question", "said"), UNCHANGED)
def test_the_whole_file_when_the_question_names_nothing(cli: Cli, question: str, said: bytes) -> None:
    ran = cli.run("project", cli.write("store.py", SOURCE), "--question", question)
    assert (ran.stdout, ran.stderr, ran.status) == (SOURCE, said, 0)
    assert not cli.archive.exists()


def test_ambiguous(cli: Cli) -> None:
    source = SOURCE + b"class Cache:\n    def get(self): pass\n"
    ran = cli.run("project", cli.write("store.py", source), "--question", "get()")
    assert (ran.stdout, ran.status) == (source, 0)
    assert ran.stderr == b"ctxf: kept whole: two definitions of get: Store.get line 10, Cache.get line 19\n"


def test_stdin_needs_a_language(cli: Cli) -> None:
    ran = cli.run("project", *QUESTION, stdin=SOURCE)
    assert (ran.stdout, ran.status) == (SOURCE, 0)
    assert b"projection knows no functions of text" in ran.stderr
    assert b"omit lines-2-8" in cli.run("project", "--language", "py", *QUESTION, stdin=SOURCE).stdout


def test_a_language_without_a_table(cli: Cli) -> None:
    ran = cli.run("project", cli.write("a.css", b".a {}\n"), *QUESTION)
    assert (ran.stdout, ran.status) == (b".a {}\n", 0)
    assert b"projection knows no functions of css" in ran.stderr


def test_an_archive_that_cannot_store(cli: Cli) -> None:
    file = cli.write("store.py", SOURCE)
    ran = cli.run("--archive", "/dev/null/archive.db", "project", file, *QUESTION)
    assert (ran.stdout, ran.status) == (SOURCE, 75)
    assert b"the text went through as it came" in ran.stderr
    garbage = cli.write("garbage.db", b"no archive" * 100)
    ran = cli.run("--archive", garbage, "project", file, *QUESTION)
    assert ran.stdout == SOURCE
    assert ran.status in (65, 75)
    assert garbage.read_bytes() == b"no archive" * 100


def test_switched_off(cli: Cli) -> None:
    cli.write(".context-folding.toml", b"version = 1\n[folding]\nenabled = false\n")
    ran = cli.run("project", cli.write("store.py", SOURCE), *QUESTION)
    assert (ran.stdout, ran.status) == (SOURCE, 0)
    assert ran.stderr == b"ctxf: kept whole: folding is switched off\n"


def test_a_broken_configuration(cli: Cli) -> None:
    cli.write(".context-folding.toml", b"nonsense")
    ran = cli.run("project", cli.write("store.py", SOURCE), *QUESTION)
    assert (ran.stdout, ran.status) == (SOURCE, 78)


def test_usage(cli: Cli) -> None:
    assert cli.run("project", "no-such-file.py", *QUESTION).status == 74
    assert cli.run("project", cli.write("store.py", SOURCE)).status == 2
    assert cli.run("project", "--language", "nonsense", *QUESTION).status == 2


def test_bytes_that_are_no_text(cli: Cli) -> None:
    source = SOURCE.replace(b"line 3", b"line \xff\x0c\xe2\x80\xa8") + b"# no line end"
    ran = cli.run("project", cli.write("store.py", source), *QUESTION)
    assert b"omit" in ran.stdout
    assert cli.run("restore", stdin=ran.stdout).stdout == source
    fields = json.loads(cli.run("project", "store.py", "--question", "?", "--json").stdout)
    assert set(fields) >= {"base64", "why"}
