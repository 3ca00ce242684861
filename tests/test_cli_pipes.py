"""Pipes that behave as pipes do: readers that leave, descriptors that do not block, lines that come late."""

import os
import select
import subprocess

import pytest

from tests.cli import BODY, CTXF, FOLDED, NOTES, TIMEOUT, Cli, folded, id_of, log, marked

LONG_BODY = log(40_000)  # more than any pipe holds
LONG = b"long\n" + marked(b"log", LONG_BODY)


@pytest.fixture
def stocked(cli: Cli) -> Cli:
    """With an archive whose bodies, and whose list, are longer than a pipe."""
    many = b"".join(marked(b"b%d/%b" % (n, b"x" * 100), log(30, f"b{n}")) for n in range(800))
    cli.write("long.md", LONG)
    cli.write("many.md", many)
    cli.write("plain.txt", LONG_BODY)
    for name in ("long", "many"):
        cli.write(f"{name}.folded", cli.run("-q", f"{name}.md").stdout)
    return cli


GONE: list[tuple[str, ...]] = [
    ("fold", "many.md"),
    ("fold", "plain.txt"),
    ("restore", "long.folded"),
    ("read", "--id", id_of(LONG_BODY), "--restore"),
    ("read", "--id", id_of(LONG_BODY), "--json"),
    ("list",),
    ("list", "--json"),
]


def test_a_reader_that_goes_away_ends_it_quietly(stocked: Cli) -> None:
    for args in GONE:
        child = stocked.start("-q", *args)
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdin.close()
        assert child.stdout.read(10) != b"", args
        child.stdout.close()
        said = child.stderr.read()
        child.stderr.close()
        assert child.wait(TIMEOUT) == 0, args
        assert said == b"", args
