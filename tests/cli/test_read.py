"""`ctxf read`: raw bytes, ranges of lines, JSON; every kind of failure to find the id."""

import base64
import json

import pytest

from tests.kit.cli import BODY, FOLDED, NOTES, Cli, folded, id_of, log, marked

ID = id_of(BODY)
RAW = b"one\r\n\x1b[31mtwo\x1b[0m\n\0\xff\xfe\n" + "\u202e\u2028".encode() + b"\nlast\n" + log(40)


@pytest.fixture
def stocked(cli: Cli) -> Cli:
    assert cli.run("-q", stdin=NOTES + marked(b"raw", RAW)).status == 0
    return cli


@pytest.mark.parametrize("id", [ID, ID.upper(), f"[[cf:v2:{ID}]]", f" {ID}\n", f"[[CF:V2:{ID.upper()}]]"])
@pytest.mark.parametrize("options", [(), ("--restore",)])
def test_an_id_in_any_spelling(stocked: Cli, id: str, options: tuple[str, ...]) -> None:
    assert stocked.run("read", "--id", id, *options) == (BODY, b"", 0)


@pytest.mark.parametrize("env", [{}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}])
def test_bytes_come_raw(stocked: Cli, env: dict[str, str]) -> None:
    assert stocked.run("read", "--id", id_of(RAW), "--restore", env=env) == (RAW, b"", 0)


LINES = RAW.split(b"\n")[:-1]
TOTAL = len(LINES)
WINDOWS: list[tuple[str, int, int]] = [
    ("1:1", 0, 1),
    ("1", 0, 1),
    ("2:3", 1, 3),
    (":2", 0, 2),
    (":", 0, TOTAL),
    ("1:", 0, TOTAL),
    (f"{TOTAL}:", TOTAL - 1, TOTAL),
    (f"{TOTAL}:{TOTAL + 9}", TOTAL - 1, TOTAL),
    ("3:999999999999999999", 2, TOTAL),
    ("0000000000000002", 1, 2),
]


@pytest.mark.parametrize(("window", "first", "last"), WINDOWS)
def test_lines(stocked: Cli, window: str, first: int, last: int) -> None:
    expected = b"".join(line + b"\n" for line in LINES[first:last])
    assert stocked.run("read", "--id", id_of(RAW), "--restore", "--lines", window) == (expected, b"", 0)


@pytest.mark.parametrize(
    "window",
    [
        "",
        "0",
        "0:1",
        "2:1",
        "-1",
        "1:2:3",
        "a:b",
        "1-2",
        "1 :2",
        "\u0661:\u0662",
        "9" * 19,
        "0" * 18 + "5",
        "\x1b[31m",
    ],
)
def test_lines_that_are_none(stocked: Cli, window: str) -> None:
    ran = stocked.run("read", "--id", ID, f"--lines={window}")
    assert ran.stdout == b""
    assert b"Error: --lines " in ran.stderr
    assert b"\x1b" not in ran.stderr
    assert ran.status == 2


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_lines_behind_the_end(stocked: Cli, options: tuple[str, ...]) -> None:
    ran = stocked.run("read", "--id", ID, "--lines", "101:", *options)
    assert ran == (b"", b"ctxf: %b: has only 100 lines\n" % ID.encode(), 1)


def test_json(stocked: Cli) -> None:
    ran = stocked.run("read", "--id", ID, "--json")
    fields = json.loads(ran.stdout)
    assert ran.stdout.count(b"\n") == 1
    assert (ran.stderr, ran.status) == (b"", 0)
    assert fields.pop("created").startswith("20")
    assert fields.pop("sha256").startswith(ID)
    assert fields == {"scope": "default", "id": ID, "label": "log", "size": len(BODY), "text": BODY.decode()}


def test_json_of_bytes_that_are_no_text(stocked: Cli) -> None:
    ran = stocked.run("read", "--id", id_of(RAW), "--restore", "--json")
    assert base64.b64decode(json.loads(ran.stdout)["base64"], validate=True) == RAW
    part = stocked.run("read", "--id", id_of(RAW), "--json", "--lines", "2")
    assert json.loads(part.stdout)["text"] == "\x1b[31mtwo\x1b[0m\n"
    assert part.stdout.rstrip(b"\n").decode("ascii").isprintable()


def test_inner_blocks_are_shown_folded_unless_restored(cli: Cli) -> None:
    inner = log(60)
    outer = log(50) + marked(b"inner", inner)
    cli.run(stdin=marked(b"outer", outer))
    assert cli.run("read", "--id", id_of(outer)) == (log(50) + folded(b"inner", inner), b"", 0)
    assert cli.run("read", "--id", id_of(outer), "--restore") == (outer, b"", 0)
    assert cli.run("read", "--id", id_of(inner)) == (inner, b"", 0)


@pytest.mark.parametrize(
    "id", ["", "xyz", "12345", "f" * 65, "[[cf:v2:", "[[cf:v1:0123456789ab]]", "\x1b[31m\u202e"]
)
def test_what_is_no_id(stocked: Cli, id: str) -> None:
    ran = stocked.run("read", "--id", id)
    assert ran.stdout == b""
    assert b"is no id" in ran.stderr
    assert ran.stderr.rstrip(b"\n").decode("ascii").isprintable()
    assert ran.status == 2


MISSES: list[tuple[str, bool]] = [
    ("0123456789ab", False),
    (ID[:-1] + ("0" if ID[-1] != "0" else "1"), True),  # a wrong digit
    (ID[:-1], True),  # a missing one
    (ID[:6], True),  # a prefix
    (ID[1] + ID[0] + ID[2:], True),  # swapped
]


@pytest.mark.parametrize(("id", "is_near"), MISSES)
def test_a_miss_suggests_what_was_meant(stocked: Cli, id: str, is_near: bool) -> None:
    ran = stocked.run("read", "--id", id)
    assert ran.stdout == b""
    assert (f"did you mean {ID}?".encode() in ran.stderr) == is_near
    assert ran.stderr.count(b"\n") == 1
    assert ran.status == 1


def test_a_miss_tells_nothing_of_other_scopes(cli: Cli) -> None:
    cli.run("--scope", "secret", stdin=NOTES)
    known, unknown = cli.run("read", "--id", ID), cli.run("read", "--id", "0123456789ab")
    assert known.stderr == unknown.stderr.replace(b"0123456789ab", ID.encode())
    assert known[::2] == unknown[::2] == (b"", 1)
    assert cli.run("read", "--scope", "secret", "--id", ID) == (BODY, b"", 0)


def test_without_an_archive(cli: Cli) -> None:
    ran = cli.run("read", "--id", ID)
    assert ran.stdout == b""
    assert ran.stderr.startswith(b"ctxf: archive %b: does not exist" % bytes(cli.archive))
    assert ran.status == 1
    assert not cli.archive.exists()


@pytest.mark.parametrize(
    ("redirect", "status"), [(">&-", 74), (">/dev/full", 74), ("2>&-", 0), ("<&-", 0), ("<&- 2>&-", 0)]
)
def test_closed_descriptors(stocked: Cli, redirect: str, status: int) -> None:
    ran = stocked.run("read", "--id", ID, redirect=redirect)
    assert ran.stdout == (b"" if status else BODY)
    assert ran.status == status


def test_a_second_reader_gets_the_same(stocked: Cli) -> None:
    assert stocked.run("restore", stdin=FOLDED).stdout == NOTES


@pytest.mark.parametrize(("redirect", "problem"), [(">/dev/full", b"No space left"), (">&-", b"is closed")])
@pytest.mark.parametrize("args", [("--restore",), ()])
def test_stdout_that_takes_nothing(cli: Cli, args: tuple[str, ...], redirect: str, problem: bytes) -> None:
    cli.run("fold", stdin=NOTES)
    ran = cli.run("read", *args, "--id", id_of(BODY), redirect=redirect)
    assert (ran.stdout, ran.status) == (b"", 74)
    assert problem in ran.stderr
    assert ran.stderr.count(b"\n") == 1
