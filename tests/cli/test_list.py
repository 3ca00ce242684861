"""`ctxf list`: one line for each fold, harmless on a terminal whatever the archive holds."""

import json
import sqlite3

import pytest

from tests.kit.cli import BODY, NOTES, Cli, id_of, log, marked

BAD_LABEL = b"a\x1b[31m\x7f\r\n\x9b\xff" + "\u202e\u200b\u2028\ud7ff".encode()


def relabel(cli: Cli, label: bytes) -> None:
    """A label that no fold can make: archives may come from elsewhere."""
    with sqlite3.connect(cli.archive) as connection:
        connection.execute("UPDATE folds SET label = ?", (label,))
    connection.close()


def test_lines_and_json(cli: Cli) -> None:
    other = log(60)
    cli.run(stdin=NOTES)
    cli.run(stdin=marked("größe/日本".encode(), other) + NOTES)
    ran = cli.run("list")
    first, second = ran.stdout.decode().splitlines()
    assert first.split() == [id_of(BODY), "4.8", "kB", *first.split()[3:5], "log"]
    assert second.split()[0] == id_of(other)
    assert second.endswith("  größe/日本")
    assert (ran.stderr, ran.status) == (b"", 0)
    shown = [json.loads(line) for line in cli.run("list", "--json").stdout.splitlines()]
    assert [(one["id"], one["label"], one["size"]) for one in shown] == [
        (id_of(BODY), "log", 4800),
        (id_of(other), "größe/日本", len(other)),
    ]


def test_the_locale_changes_nothing(cli: Cli) -> None:
    cli.run(stdin=marked("größe".encode(), BODY))
    bare = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}
    assert cli.run("list", env=bare) == cli.run("list")
    assert cli.run("list", "--json", env=bare) == cli.run("list", "--json")


def test_bad_labels_are_shown_escaped(cli: Cli) -> None:
    cli.run(stdin=NOTES)
    relabel(cli, BAD_LABEL)
    ran = cli.run("list")
    assert ran.stdout.count(b"\n") == 1
    assert ran.stdout.decode().rstrip("\n").isprintable()
    assert b"a\\x1b[31m\\x7f\\x0d\\x0a" in ran.stdout
    assert (ran.stderr, ran.status) == (b"", 0)
    for args in (("list", "--json"), ("read", "--id", id_of(BODY), "--json")):
        ran = cli.run(*args)
        assert ran.stdout.rstrip(b"\n").decode("ascii").isprintable()
        assert json.loads(ran.stdout)["label"] == BAD_LABEL.decode("utf-8", "replace")


def test_scopes(cli: Cli) -> None:
    conversation = "c-" + "5a" * 16
    for scope in ("run-7", conversation):
        cli.run("--scope", scope, stdin=NOTES)
    cli.run("--scope", "run-7", stdin=marked(b"b", log(50)))
    assert cli.run("list") == (b"", b"", 0)
    ran = cli.run("list", "--all-scopes")
    assert ran.stdout.splitlines()[1] == b"       2 folds    7.2 kB  run-7"
    assert ran.stdout.count(b"\n") == 2
    assert conversation.encode() not in ran.stdout
    shown = [json.loads(line) for line in cli.run("list", "--all-scopes", "--json").stdout.splitlines()]
    assert [one["folds"] for one in shown] == [1, 2]
    assert not any(conversation in one["scope"] for one in shown)


def test_without_an_archive(cli: Cli) -> None:
    ran = cli.run("list")
    assert ran.stdout == b""
    assert b"does not exist" in ran.stderr
    assert ran.status == 1
    assert not cli.archive.exists()


@pytest.mark.parametrize("redirect", [">&-", ">/dev/full"])
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_output_that_cannot_be_written(cli: Cli, redirect: str, options: tuple[str, ...]) -> None:
    cli.run(stdin=NOTES)
    ran = cli.run("list", *options, redirect=redirect)
    assert ran.stdout == b""
    assert ran.stderr.startswith(b"ctxf: output: ")
    assert ran.status == 74
