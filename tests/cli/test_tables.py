"""What `list` and `stats` show at a terminal; a pipe gets the same lines as ever, without a colour."""

import re
import sqlite3
import unicodedata
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxf.cli.tables import Column, Screen, age, bar, fit
from tests.kit.cli import BODY, NOTES, Cli, id_of, log, marked
from tests.kit.terminal import run_at_terminal

COMMANDS = [("list",), ("list", "--all-scopes"), ("stats",), ("stats", "--all-scopes")]
TABLES = [command for command in COMMANDS if command != ("stats",)]
NOW = datetime(2026, 12, 7, tzinfo=UTC)


@pytest.fixture
def full(cli: Cli) -> Cli:
    """Scopes with short names and long ones, labels of wide characters and long ones."""
    cli.run(stdin=NOTES + marked("größe/日本".encode(), log(60)) + marked(b"long-" * 20 + b"label", log(70)))
    cli.run("--scope", "run-7", stdin=marked(b"other", log(900)))
    cli.run("--scope", "a-name-" * 30 + "end", stdin=NOTES)
    cli.run("--scope", "c-" + "5a" * 16, stdin=NOTES)
    return cli


def width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_line_is_wider_than_the_terminal(full: Cli, command: tuple[str, ...], columns: int) -> None:
    ran = run_at_terminal(full, *command, columns=columns, env={"NO_COLOR": "1"})
    lines = ran.screen.decode().split("\n")
    assert len(lines) > 3
    assert max(map(width, lines)) < columns
    assert ran.status == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_gets_no_table_and_no_colour(full: Cli, command: tuple[str, ...]) -> None:
    piped = full.run(*command)
    assert piped == full.run(*command, env={"TERM": "xterm", "FORCE_COLOR": "1", "COLUMNS": "40"})
    assert b"\x1b" not in piped.stdout
    assert not re.search(rb"^(ID|SCOPE) ", piped.stdout)
    assert b"##" not in piped.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_json_is_the_same_at_a_terminal(full: Cli, command: tuple[str, ...]) -> None:
    assert run_at_terminal(full, *command, "--json").screen == full.run(*command, "--json").stdout


@pytest.mark.parametrize("command", TABLES)
@pytest.mark.parametrize(
    ("env", "has_colour"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_colour_where_a_terminal_shows_it(
    full: Cli, command: tuple[str, ...], env: dict[str, str], has_colour: bool
) -> None:
    assert (b"\x1b[" in run_at_terminal(full, *command, env=env).screen) == has_colour


def test_a_table_has_ids_sizes_ages_and_labels(full: Cli) -> None:
    with sqlite3.connect(full.archive) as connection:
        connection.execute(
            "UPDATE folds SET created = created - ? WHERE label = ?", (3 * 86400 * 1000, b"log")
        )
    connection.close()
    ran = run_at_terminal(full, "list", env={"NO_COLOR": "1"})
    heading, first, second, third = ran.screen.decode().splitlines()
    assert heading.split() == ["ID", "SIZE", "AGE", "LABEL"]
    assert first.split() == [id_of(BODY), "4.8", "kB", "3", "d", "log"]
    assert second.endswith("  größe/日本")
    assert third.endswith("...")


def test_the_bars_say_what_each_scope_saves(full: Cli) -> None:
    ran = run_at_terminal(full, "stats", "--all-scopes", env={"NO_COLOR": "1"})
    bars = {line.split()[0]: line.count("#") for line in ran.screen.decode().splitlines()[1:-2]}
    assert bars["run-7"] == max(bars.values()) > bars["default"] > 0
    assert sum(name == "conversation" for name in bars) == 1
    assert b"5a5a" not in ran.screen


def test_labels_from_anywhere_are_harmless(full: Cli) -> None:
    with sqlite3.connect(full.archive) as connection:
        connection.execute("UPDATE folds SET label = ?", (b"a\x1b[31m\r\x9b" + "\u202e".encode(),))
    connection.close()
    screen = run_at_terminal(full, "list", env={"NO_COLOR": "1"}).screen.decode()
    assert screen.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("past", "shown"),
    [
        (timedelta(0), "0 s"),
        (timedelta(seconds=-5), "0 s"),
        (timedelta(seconds=119), "119 s"),
        (timedelta(seconds=120), "2 min"),
        (timedelta(hours=1, minutes=59), "119 min"),
        (timedelta(hours=2), "2 h"),
        (timedelta(days=2), "2 d"),
        (timedelta(days=60), "60 d"),
        (timedelta(days=61), "2 months"),
        (timedelta(days=731), "2 years"),
    ],
)
def test_ages(past: timedelta, shown: str) -> None:
    assert age(NOW - past, NOW) == shown


@given(st.timedeltas(timedelta(0), timedelta(days=36500)))
def test_an_age_is_short(past: timedelta) -> None:
    assert len(age(NOW - past, NOW)) <= 9


@given(st.text(), st.integers(4, 100))
def test_what_is_cut_fits(text: str, columns: int) -> None:
    cut = fit(text, columns)
    assert cut == text or (cut.endswith("...") and text.startswith(cut[:-3]))
    assert width("".join(c for c in cut if not unicodedata.combining(c))) <= columns


@given(st.floats(0, 1), st.integers(1, 100))
def test_a_bar_is_no_longer_than_its_place(share: float, columns: int) -> None:
    assert (share > 0) <= len(bar(share, columns)) <= columns


@pytest.mark.parametrize("digits", [12, 13, 64])
def test_an_id_is_never_cut(digits: int) -> None:
    columns = (Column("ID", 12, is_whole=True), Column("LABEL", 0))
    _, row = Screen(80, has_colour=False).rows(columns, [("a" * digits, "label")])
    assert row.split() == [b"a" * digits, b"label"]
