"""Help, names of commands, and options that stand before or behind them."""

import pytest

from tests.kit.cli import BODY, FOLDED, NOTES, Cli, id_of

COMMANDS = (
    *("fold", "restore", "read", "project", "request", "list", "guide", "config", "demo", "doctor"),
    *("setup", "mcp", "hook", "run", "gateway", "completion"),
)


@pytest.mark.parametrize(
    "command",
    [
        (),
        *((name,) for name in COMMANDS),
        ("config", "show"),
        ("config", "check"),
        ("request", "fold"),
        ("request", "restore"),
    ],
)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_has_an_example(cli: Cli, command: tuple[str, ...], option: str) -> None:
    ran = cli.run(*command, option)
    assert ran.stdout.startswith(b" ".join([b"Usage: ctxf", *(word.encode() for word in command)]))
    usage, _, examples = ran.stdout.partition(b"Example")
    assert b"  ctxf" in examples
    assert usage.count(b"\n") >= 3
    assert ran.stdout.isascii()
    assert ran.stderr == b""
    assert ran.status == 0


def test_help_lists_all_commands(cli: Cli) -> None:
    shown = cli.run("--help").stdout
    assert all(b"\n  %b " % name.encode() in shown for name in COMMANDS)


def test_version(cli: Cli) -> None:
    ran = cli.run("--version")
    assert ran.stdout.startswith(b"ctxf 0.")
    assert (ran.stderr, ran.status) == (b"", 0)


@pytest.mark.parametrize("redirect", [">&-", ">/dev/full"])
def test_help_that_cannot_be_written(cli: Cli, redirect: str) -> None:
    ran = cli.run("--help", redirect=redirect)
    assert ran.stdout == b""
    assert b"Traceback" not in ran.stderr
    assert ran.status in (0, 74)


PLACES: list[tuple[str, ...]] = [
    ("--scope", "run-7", "list"),
    ("list", "--scope", "run-7"),
    ("--scope=run-7", "list"),
    ("-q", "--scope", "run-7", "-v", "list"),
    ("-qv", "--scope", "run-7", "list"),
    ("list", "-qv", "--scope", "run-7"),
]


@pytest.mark.parametrize("args", PLACES)
def test_common_options_stand_before_or_behind(cli: Cli, args: tuple[str, ...]) -> None:
    cli.run("--scope", "run-7", stdin=NOTES)
    ran = cli.run(*args)
    assert ran.stdout.startswith(id_of(BODY).encode())
    assert (ran.stderr, ran.status) == (b"", 0)


@pytest.mark.parametrize(
    "args",
    [
        ("--scope", "run-7", "config", "show"),
        ("config", "show", "--scope", "run-7"),
        ("-q", "--scope=run-7", "config", "show"),
    ],
)
def test_common_options_of_a_command_in_two_words(cli: Cli, args: tuple[str, ...]) -> None:
    ran = cli.run(*args)
    assert b"scope                run-7                    option\n" in ran.stdout
    assert (ran.stderr, ran.status) == (b"", 0)


def test_a_value_that_is_named_as_a_command(cli: Cli) -> None:
    assert cli.run("--scope", "list", stdin=NOTES).stdout == FOLDED
    assert cli.run("list", "--scope", "list").stdout.count(b"\n") == 1


def test_a_file_that_is_named_as_a_command(cli: Cli) -> None:
    cli.write("list", NOTES)
    assert cli.run("fold", "list").stdout == FOLDED
    assert cli.run("./list").stdout == FOLDED


@pytest.mark.parametrize(
    "args",
    [
        ("--archive",),
        ("--no-such-option",),
        ("list", "extra"),
        ("read",),
        ("read", "--id"),
        ("config", "no-such-word"),
        ("--scope", "\x1b[31m", "list"),
        ("list", "\x1b[31m\u202e"),
        ("list", "--\x1b[31m\u202e"),
        ("list", b"\xff\x9b31m"),
    ],
)
def test_wrong_usage(cli: Cli, args: tuple[str | bytes, ...]) -> None:
    ran = cli.run(*args)
    assert ran.stdout == b""
    assert b"Error: " in ran.stderr
    assert ran.status == 2
    assert not set(ran.stderr.decode()) & set("\x1b\u202e\x9b")


def test_completion_script(cli: Cli) -> None:
    ran = cli.run(env={"_CTXF_COMPLETE": "bash_source"})
    assert b"_CTXF_COMPLETE=bash_complete" in ran.stdout
    assert ran.status == 0
    words = {"COMP_WORDS": "ctxf re", "COMP_CWORD": "1", "_CTXF_COMPLETE": "bash_complete"}
    assert cli.run(env=words).stdout.split() == [b"plain,restore", b"plain,read", b"plain,request"]


@pytest.mark.parametrize(("word", "meant"), [("restroe", b"restore"), ("lst", b"list"), ("verfy", b"verify")])
def test_a_mistyped_command_is_not_taken_for_a_file(cli: Cli, word: str, meant: bytes) -> None:
    ran = cli.run(word, "notes.md")
    assert (ran.stdout, ran.status) == (b"", 2)
    assert b"Did you mean '%b'?" % meant in ran.stderr


def test_a_file_called_like_a_mistyped_command(cli: Cli) -> None:
    cli.write("restor", b"text\n")
    assert cli.run("restor") == (b"text\n", b"", 0)
    assert cli.run("no-such-file").status == 74


def test_help_by_its_name(cli: Cli) -> None:
    assert cli.run("help") == cli.run("--help")
