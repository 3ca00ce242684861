"""Configuration as the command line sees it: shown, checked, and no harm to a pipe when faulty."""

import json

import pytest

from tests.kit.cli import FOLDED, NOTES, SUMMARY, Cli

OFF = b"version = 1\n[folding]\nenabled = false\n"
BAD = b"version = 1\n\n[folding]\nenabled = 1\nmode = 'auto'\n\x1b = 2\n"

# What is wrong, and where the message must say so.
FAULTS: list[tuple[bytes, bytes]] = [
    (b"version = 2\n", b":1: version must be the integer 1, not 2"),
    (b"version = 1\n[folding]\nenabled = 1\n", b":3: enabled must be true or false, not 1"),
    (b"version = 1\n[folding]\nenabeld = true\n", b":3: unknown field or table enabeld"),
    (b"version = 1\nmode = 'auto'\n", b":2: mode was removed after 0.3"),
    (b"version = 1\n[folding\n", b":2: is not valid TOML"),
    (b"version = 1\n\xff\n", b":2: byte 0xff is not UTF-8"),
    (b'version = 1\n["\\u001b[31m\\u202e"]\n', b":2: unknown field or table"),
]


def configure(cli: Cli, text: bytes) -> None:
    cli.user_config.parent.mkdir(parents=True)
    cli.user_config.write_bytes(text)


@pytest.mark.parametrize(("text", "said"), FAULTS)
def test_a_broken_configuration_does_not_break_the_pipe(cli: Cli, text: bytes, said: bytes) -> None:
    configure(cli, text)
    ran = cli.run(stdin=NOTES)
    assert ran.stdout == NOTES
    assert ran.stderr.startswith(b"ctxf: %b" % bytes(cli.user_config) + said)
    assert ran.stderr.endswith(b"; the text goes through as it came\n")
    assert ran.stderr.rstrip(b"\n").decode().isprintable()
    assert ran.status == 78
    assert not cli.archive.exists()


@pytest.mark.parametrize("args", [("read", "--id", "0123456789ab"), ("list",), ("restore",), ("guide",)])
def test_the_other_commands_stop(cli: Cli, args: tuple[str, ...]) -> None:
    configure(cli, FAULTS[1][0])
    ran = cli.run(*args, stdin=NOTES)
    assert ran.stdout == b""
    assert ran.stderr == b"ctxf: %b:3: enabled must be true or false, not 1\n" % bytes(cli.user_config)
    assert ran.status == 78


def test_in_place_leaves_the_file_when_the_configuration_is_broken(cli: Cli) -> None:
    configure(cli, FAULTS[0][0])
    path = cli.write("notes.md", NOTES)
    assert cli.run("fold", "--in-place", "notes.md")[::2] == (b"", 78)
    assert path.read_bytes() == NOTES


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("CTXF_MIN_SAVINGS_TOKENS", "many"),
        ("CTXF_MIN_SAVINGS_TOKENS", "-1"),
        ("CTXF_ENABLED", "yes"),
        ("CTXF_SCOPE", "two words"),
        ("CTXF_CONFIG", "/nowhere/config.toml"),
    ],
)
def test_a_broken_variable(cli: Cli, variable: str, value: str) -> None:
    ran = cli.run(stdin=NOTES, env={variable: value})
    assert ran[::2] == (NOTES, 78)
    assert (value if variable == "CTXF_CONFIG" else variable).encode() in ran.stderr
    assert ran.stderr.count(b"\n") == 1


def test_layers(cli: Cli) -> None:
    configure(cli, OFF)
    assert cli.run(stdin=NOTES) == (NOTES, b"", 0)
    cli.write(".context-folding.toml", b"version = 1\n[folding]\nenabled = true\n")
    assert cli.run(stdin=NOTES) == (FOLDED, SUMMARY, 0)
    assert cli.run(stdin=NOTES, env={"CTXF_ENABLED": "false"}) == (NOTES, b"", 0)
    other = cli.write("other.toml", b"version = 1\n[folding]\nmin_savings_tokens = 99999\n")
    assert cli.run("--config", other, stdin=NOTES)[::2] == (NOTES, 0)
    assert cli.run("--config", other, "--min-savings", "1", stdin=NOTES)[::2] == (FOLDED, 0)


def test_a_project_may_not_say_what_is_run(cli: Cli) -> None:
    cli.write(".context-folding.toml", b"version = 1\n[magpie]\nrecovery_command = 'rm'\n")
    ran = cli.run("guide")
    assert ran.stdout == b""
    assert b".context-folding.toml:2: " in ran.stderr
    assert ran.status == 78


def test_show(cli: Cli) -> None:
    configure(cli, OFF)
    ran = cli.run("config", "show", "--scope", "run-7")
    lines = {line.split()[0]: line.split()[1:] for line in ran.stdout.splitlines()}
    assert lines[b"enabled"] == [b"false", b"%b:3" % bytes(cli.user_config)]
    assert lines[b"scope"] == [b"run-7", b"option"]
    assert lines[b"min_savings_tokens"] == [b"256", b"default"]
    assert lines[b"archive"] == [bytes(cli.archive), b"environment", b"CTXF_ARCHIVE"]
    assert (ran.stderr, ran.status) == (b"", 0)
    shown = json.loads(cli.run("config", "show", "--json").stdout)
    assert shown["enabled"] == {"value": False, "from": f"{cli.user_config}:3"}


@pytest.mark.parametrize("command", ["show", "check"])
def test_all_faults_are_told(cli: Cli, command: str) -> None:
    configure(cli, b"version = 1\n[folding]\nenabled = 1\nmode = 'auto'\n")
    ran = cli.run("config", command, "-q", env={"CTXF_SCOPE": "two words"})
    assert [line.split(b": ")[1] for line in ran.stderr.splitlines()] == [
        b"%b:3" % bytes(cli.user_config),
        b"%b:4" % bytes(cli.user_config),
        b"CTXF_SCOPE",
    ]
    assert ran.status == 78


def test_check_of_nothing(cli: Cli) -> None:
    ran = cli.run("config", "check")
    assert ran.stdout == b""
    *files, verdict = ran.stderr.splitlines()
    assert all(line.endswith(b": not there") for line in files)
    assert verdict == b"ctxf: the configuration is good"
    assert ran.status == 0
    assert cli.run("config", "check", "-q") == (b"", b"", 0)


def test_check_of_variables_that_nothing_reads(cli: Cli) -> None:
    env = {
        "CTXF_SCOP": "x",
        "CTXF_\x1b[31m": "x",
        "CTXF_GATEWAY_TOKEN": "x",
        "_CTXF_OTHER": "x",
        "CTXFX": "x",
    }
    ran = cli.run("config", "check", env=env)
    assert [line for line in ran.stderr.splitlines() if b"warning" in line] == [
        b"ctxf: warning: CTXF_\\x1b[31m: ctxf knows no such variable",
        b"ctxf: warning: CTXF_SCOP: ctxf knows no such variable; did you mean CTXF_SCOPE?",
    ]
    assert (ran.stdout, ran.status) == (b"", 0)


@pytest.mark.parametrize("redirect", [">&-", ">/dev/full"])
def test_output_that_cannot_be_written(cli: Cli, redirect: str) -> None:
    assert cli.run("config", "show", redirect=redirect).status == 74
