"""`ctxf restore`: what resolves, what stays, which status."""

import sqlite3

import pytest

from tests.kit.cli import BODY, FOLDED, NOTES, Cli, folded, id_of, log, marked

UNCHANGED: dict[str, bytes] = {
    "empty": b"",
    "no final newline": b"a\r\nb",
    "binary": b"\0\xff\xfe\r\n\x1b[31m",
    "a line of 5 MB": b"x" * 5_000_000,
    "upper case": FOLDED.replace(id_of(BODY).encode(), id_of(BODY).upper().encode()),
    "eleven digits": FOLDED.replace(id_of(BODY).encode(), id_of(BODY)[:11].encode()),
    "unclosed": FOLDED.replace(b"]]", b"]"),
    "blank before": FOLDED.replace(b"[[", b" [["),
    "blank behind": FOLDED.replace(b"]]", b"]] "),
    "zero-width joiner in the id": FOLDED.replace(b"]]", "\u200d]]".encode()),
    "full-width brackets": FOLDED.replace(b"[[", "\uff3b\uff3b".encode()),
    "another version": FOLDED.replace(b"cf:v2", b"cf:v3"),
    "in a fence": b"```\n" + FOLDED + b"```\n",
    "labels differ": FOLDED.replace(b"end log", b"end other"),
    "a line more": FOLDED.replace(b"]]\n", b"]]\n\n"),
}


@pytest.mark.parametrize("text", UNCHANGED.values(), ids=UNCHANGED.keys())
def test_it_passes_on_what_is_no_reference(cli: Cli, text: bytes) -> None:
    cli.run(stdin=NOTES)
    ran = cli.run("restore", stdin=text)
    assert ran.stdout == text
    assert ran.stderr.count(b"\n") <= 1
    assert ran.status == 0


RESTORED: list[tuple[bytes, bytes]] = [
    (FOLDED, NOTES),
    (FOLDED.replace(b"]]\n", b"]]\r\n"), NOTES),  # a reference whose line end was converted
    (FOLDED * 3, NOTES * 3),
    (b"\xef\xbb\xbf" + FOLDED[16:], b"\xef\xbb\xbf" + NOTES[16:]),
    (b"> [[cf:v2:0123456789ab]] quoted\n" + FOLDED, b"> [[cf:v2:0123456789ab]] quoted\n" + NOTES),
]


@pytest.mark.parametrize(("text", "expected"), RESTORED)
def test_it_gives_every_byte_back(cli: Cli, text: bytes, expected: bytes) -> None:
    cli.run(stdin=NOTES)
    assert cli.run("restore", stdin=text)[::2] == (expected, 0)
    cli.write("folded.md", text)
    assert cli.run("restore", "folded.md")[::2] == (expected, 0)


def test_it_says_what_stands_outside_a_block(cli: Cli) -> None:
    text = b"one\nsee [[cf:v2:%b]]\n" % id_of(BODY).encode()
    said = b"ctxf: line 2: [[cf:v2:%b]] stands outside a block: left as text\n" % id_of(BODY).encode()
    assert cli.run("restore", stdin=text) == (text, said, 0)
    assert cli.run("restore", "-q", stdin=text) == (text, b"", 0)
    many = cli.run("restore", stdin=text * 100)
    assert many[::2] == (text * 100, 0)
    assert many.stderr.endswith(b"97 more references outside a block: left as text\n")


@pytest.mark.parametrize("options", [(), ("-q",)])
def test_what_does_not_resolve_stays(cli: Cli, options: tuple[str, ...]) -> None:
    cli.run(stdin=NOTES)
    unknown = folded(b"other", log(50))
    ran = cli.run("restore", *options, stdin=unknown + FOLDED)
    assert ran.stdout == unknown + NOTES
    assert ran.stderr.startswith(b"ctxf: line 2: other stays folded: ")
    assert ran.stderr.count(b"\n") == 1
    assert ran.status == 1


def test_another_scope_does_not_resolve(cli: Cli) -> None:
    cli.run("--scope", "mine", stdin=NOTES)
    ran = cli.run("restore", stdin=FOLDED)
    assert ran[::2] == (FOLDED, 1)
    assert b"mine" not in ran.stderr
    assert cli.run("restore", "--scope", "mine", stdin=FOLDED) == (NOTES, b"", 0)
    assert cli.run("restore", stdin=FOLDED, env={"CTXF_SCOPE": "mine"}) == (NOTES, b"", 0)


def damage(cli: Cli, id: str) -> None:
    with sqlite3.connect(cli.archive) as connection:
        connection.execute(
            "UPDATE bodies SET payload = zeroblob(length(payload)) WHERE key ="
            " (SELECT body FROM folds WHERE id = ?)",
            (id,),
        )
    connection.close()


def test_a_damaged_body_stays_and_weighs_more_than_a_missing_one(cli: Cli) -> None:
    other = log(50)
    cli.run(stdin=NOTES + marked(b"other", other))
    damage(cli, id_of(BODY))
    text = FOLDED + folded(b"missing", log(60)) + folded(b"other", other)
    ran = cli.run("restore", stdin=text)
    assert ran.stdout == FOLDED + folded(b"missing", log(60)) + marked(b"other", other)
    assert ran.stderr.count(b"\n") == 2
    assert b"damaged in the archive" in ran.stderr
    assert ran.status == 65
    assert cli.run("read", "--id", id_of(BODY))[::2] == (b"", 65)
    # Folding the same text again mends it.
    assert cli.run(stdin=NOTES)[::2] == (FOLDED, 0)
    assert cli.run("restore", stdin=FOLDED) == (NOTES, b"", 0)


def test_several_files_end_with_the_weightiest_status(cli: Cli) -> None:
    cli.run(stdin=NOTES)
    cli.write("fine.md", FOLDED)
    cli.write("missing.md", folded(b"missing", log(60)))
    assert cli.run("restore", "--in-place", "fine.md", "missing.md").status == 1
    assert cli.run("restore", "--in-place", "missing.md", "nowhere.md", "fine.md").status == 74
    cli.write("damaged.md", FOLDED)
    damage(cli, id_of(BODY))
    assert cli.run("restore", "--in-place", "missing.md", "damaged.md", "nowhere.md").status == 65
    assert (cli.cwd / "fine.md").read_bytes() == NOTES
    assert (cli.cwd / "damaged.md").read_bytes() == FOLDED


def test_max_output_is_checked_before_anything_is_written(cli: Cli) -> None:
    cli.run(stdin=NOTES)
    path = cli.write("folded.md", FOLDED)
    limit = str(len(NOTES) - 1)
    ran = cli.run("restore", "--max-output", limit, stdin=FOLDED)
    assert ran[::2] == (b"", 1)
    assert ran.stderr.startswith(b"ctxf: stdin: would become 4.9 kB; nothing was written")
    assert cli.run("restore", "--max-output", limit, "--in-place", "folded.md")[::2] == (b"", 1)
    assert path.read_bytes() == FOLDED
    assert cli.run("restore", "--max-output", str(len(NOTES)), stdin=FOLDED) == (NOTES, b"", 0)


def test_nested_blocks_come_back_in_one_restore(cli: Cli) -> None:
    text = marked(b"outer", log(50) + marked(b"inner", log(60)) + log(10))
    ran = cli.run(stdin=text)
    assert ran.stdout.count(b"[[cf:v2:") == 1
    assert cli.run("restore", stdin=ran.stdout) == (text, b"", 0)


@pytest.mark.parametrize("option", ["-v", "-qv"])
def test_verbose(cli: Cli, option: str) -> None:
    cli.run(stdin=NOTES)
    said = b"ctxf: 2 blocks restored\n" if option == "-v" else b""
    assert cli.run("restore", option, stdin=FOLDED * 2) == (NOTES * 2, said, 0)
