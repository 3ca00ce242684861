"""`ctxf fold` in a pipe: what folds, what passes, what is said, which status."""

import os
import pty
import subprocess

import pytest

from tests.kit.cli import BODY, CTXF, FOLDED, NOTES, SUMMARY, Cli, folded, id_of, log, marked

BAD_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}
BEGIN, END = b"<!-- @context-fold begin a -->\n", b"<!-- @context-fold end a -->\n"

# Texts without a block that folds: all must come out as they went in.
UNCHANGED: dict[str, bytes] = {
    "empty": b"",
    "one byte": b"x",
    "no final newline": b"a\nb",
    "CRLF": b"a\r\nb\r\n",
    "mixed line ends": b"a\r\nb\nc\rd\n",
    "NUL": b"a\0b\n\0",
    "invalid UTF-8": b"\xff\xfe\xc3(\n",
    "BOM": b"\xef\xbb\xbftext\n",
    "separators of str.splitlines": "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\n".encode(),
    "a line of 5 MB": b"x" * 5_000_000,
    "a line of 5 MB that begins like a marker": BEGIN[:-1] + b" " * 5_000_000 + b"\n" + BODY + END,
    "3,000 unclosed begins": BEGIN * 3000,
    "3,000 stray ends": END * 3000,
    "unclosed": BEGIN + BODY,
    "stray end": BODY + END,
    "mismatched": BEGIN + BODY + END.replace(b" a ", b" b "),
    "crossing": BEGIN + BEGIN.replace(b" a ", b" b ") + BODY + END + END.replace(b" a ", b" b "),
    "an unclosed begin inside": marked(b"b", BODY + BEGIN),
    "fenced": b"```\n" + BEGIN + BODY + END + b"```\n",
    "in a longer comment": b"<!--\n" + BEGIN[5:] + BODY + END,
    "glued": BODY[:-1] + BEGIN + BODY + END,
    "more on the line": BEGIN[:-1] + b" x\n" + BODY + END,
    "too small": BEGIN + b"tiny\n" + END,
    "empty block": BEGIN + END,
    "zero-width joiner in the label": marked("a\u200db".encode(), BODY),
    "bidi override in the label": marked("a\u202eb".encode(), BODY),
    "DEL in the label": marked(b"a\x7fb", BODY),
    "escape in the label": marked(b"a\x1b[31mb", BODY),
    "holds a reference": marked(b"a", BODY + folded(b"b", BODY)),
}

# Blocks that fold: what stands before, the body, and what stands behind.
FOLDING: dict[str, bytes] = {
    "LF": BODY,
    "CRLF inside": BODY.replace(b"\n", b"\r\n"),
    "NUL": BODY + b"\0\n",
    "invalid UTF-8": b"\xff\xfe\n" + BODY,
    "BOM inside": b"\xef\xbb\xbf" + BODY,
    "separators of str.splitlines": BODY
    + "\u2028<!-- @context-fold end log -->\u2028\x0b\x0c\x85\n".encode(),
    "trailing blanks": BODY + b"  \n\t\n" + b"\n" * 10,
    "escape sequences": BODY + b"\x1b[2J\x1b]0;title\x07\x9b31m\n",
    "a quoted reference": BODY + b"see [[cf:v2:0123456789ab]] there\n",
    "a line of 5 MB": b"x" * 5_000_000 + b"\n",
}


def restored(cli: Cli, text: bytes) -> bytes:
    return cli.run("restore", stdin=text).stdout


@pytest.mark.parametrize("text", UNCHANGED.values(), ids=UNCHANGED.keys())
def test_it_passes_on_what_does_not_fold(cli: Cli, text: bytes) -> None:
    ran = cli.run(stdin=text)
    assert ran.stdout == text
    assert ran.status == 0
    assert ran.stderr.count(b"\n") <= 2  # a misspelled marker has a line of its own
    assert ran.stderr.replace(b"\n", b"").decode("ascii").isprintable()
    assert not cli.archive.exists()  # nothing to store: no archive is made


@pytest.mark.parametrize("body", FOLDING.values(), ids=FOLDING.keys())
def test_it_folds_and_gives_every_byte_back(cli: Cli, body: bytes) -> None:
    before, behind = "\ufeffvorher \U0001f600\r\n".encode(), b"no newline \xff\0"
    ran = cli.run(stdin=before + marked(b"log", body) + behind)
    assert ran.stdout == before + folded(b"log", body) + behind
    assert ran.stderr.startswith(b"ctxf: 1 block folded; ")
    assert ran.status == 0
    assert restored(cli, ran.stdout) == before + marked(b"log", body) + behind


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_markers_keep_their_line_ends(cli: Cli, end: bytes, bom: bytes) -> None:
    eol = end or b"\n"
    text = bom + BEGIN.replace(b"\n", eol) + BODY + END.removesuffix(b"\n") + end
    ran = cli.run(stdin=text)
    assert ran.stdout.count(b"[[cf:v2:") == 1
    assert b"]]" + eol in ran.stdout
    assert ran.stdout.endswith(b"-->" + end)
    assert restored(cli, ran.stdout) == text


@pytest.mark.parametrize("args", [(), ("fold",), ("fold", "-"), ("-",), ("--", "-")])
def test_every_way_to_fold_stdin(cli: Cli, args: tuple[str, ...]) -> None:
    assert cli.run(*args, stdin=NOTES) == (FOLDED, SUMMARY, 0)


@pytest.mark.parametrize("args", [("notes.md",), ("fold", "notes.md"), ("fold", "--", "notes.md")])
def test_every_way_to_fold_a_file(cli: Cli, args: tuple[str, ...]) -> None:
    cli.write("notes.md", NOTES)
    assert cli.run(*args) == (FOLDED, SUMMARY, 0)
    assert (cli.cwd / "notes.md").read_bytes() == NOTES


def test_a_second_fold_changes_nothing(cli: Cli) -> None:
    assert cli.run(stdin=cli.run(stdin=NOTES).stdout) == (FOLDED, b"", 0)


def test_the_locale_changes_nothing(cli: Cli) -> None:
    text = marked("größe/日本".encode(), BODY) + "ünmarked \ud800\n".encode("utf-8", "surrogatepass")
    usual, bare = cli.run(stdin=text), cli.run(stdin=text, env=BAD_LOCALE)
    assert bare.stdout == usual.stdout
    assert bare.status == usual.status == 0
    assert bare.stderr == usual.stderr
    cli.write("ö.md", text)
    assert cli.run("ö.md", env=BAD_LOCALE) == usual
    assert cli.run("restore", stdin=usual.stdout, env=BAD_LOCALE).stdout == text


SAYS: list[tuple[tuple[str, ...], bytes, bytes]] = [
    ((), b"nothing marked\n", b""),
    ((), NOTES, SUMMARY),
    (("-q",), NOTES, b""),
    (("-v",), b"nothing marked\n", b"ctxf: 0 blocks folded; 15 B -> 15 B\n"),
    (
        ("-v",),
        NOTES,
        b"ctxf: line 2: log folded as %b (4.8 kB, saves about 1,194 tokens)\n" % id_of(BODY).encode()
        + SUMMARY,
    ),
    (
        (),
        BEGIN + b"tiny\n" + END,
        b"ctxf: 0 blocks folded, 1 kept (line 1: saves -4 tokens, needs 256); 65 B -> 65 B\n",
    ),
    ((), BEGIN, b"ctxf: 0 blocks folded, 1 kept (line 1: has no end); 31 B -> 31 B\n"),
    (
        (),
        BEGIN * 3000,
        b"ctxf: 0 blocks folded, 3,000 kept (line 1: has no end, line 2: has no end, line 3: has no end,"
        b" and 2,997 more); 93.0 kB -> 93.0 kB\n",
    ),
]


@pytest.mark.parametrize(("options", "text", "said"), SAYS)
def test_it_says_one_line(cli: Cli, options: tuple[str, ...], text: bytes, said: bytes) -> None:
    ran = cli.run("fold", *options, stdin=text)
    assert ran.stderr == said
    assert ran.status == 0


def test_min_savings(cli: Cli) -> None:
    text = marked(b"a", b"sixty bytes are more than a reference line, but not by much.\n")
    assert cli.run(stdin=text).stdout == text
    assert cli.run("--min-savings", "0", stdin=text).stdout.count(b"[[cf:") == 1
    assert cli.run(stdin=text, env={"CTXF_MIN_SAVINGS_TOKENS": "5"}).stdout.count(b"[[cf:") == 1
    assert cli.run("--min-savings", "0", stdin=BEGIN + END).stdout == BEGIN + END


@pytest.mark.parametrize(
    "args",
    [
        ("--min-savings", "-1"),
        ("--min-savings", "many"),
        ("--min-savings", str(2**63)),
        ("--capacity", "-1"),
        ("--archive",),
        ("--output-dir", ""),
        ("--output-dir", "", "a.md"),
        ("--in-place", "-"),
        ("--scope", "two words"),
        ("--scope", ""),
        ("--no-such-option",),
        ("--in-place",),
        ("--in-place", "--output-dir", "d", "a.md"),
        ("--output-dir", "d"),
        ("a.md", "b.md"),
    ],
)
def test_usage_errors_write_nothing(cli: Cli, args: tuple[str, ...]) -> None:
    ran = cli.run("fold", *args, stdin=NOTES)
    assert ran.stdout == b""
    assert b"Error: " in ran.stderr
    assert ran.status == 2
    assert cli.files() == set()


def test_capacity_keeps_the_block_that_has_no_room(cli: Cli) -> None:
    small, large = log(60, "small"), log(300, "large")
    text = marked(b"large", large) + marked(b"small", small)
    ran = cli.run("--capacity", str(len(small)), stdin=text)
    assert ran.stdout == marked(b"large", large) + folded(b"small", small)
    assert ran.stderr.startswith(b"ctxf: 1 block folded, 1 kept (line 1: needs ")
    assert ran.status == 75


def test_what_is_archived_already_needs_no_room(cli: Cli) -> None:
    assert cli.run(stdin=NOTES).status == 0
    assert cli.run("--capacity", "0", stdin=NOTES) == (FOLDED, SUMMARY, 0)


def test_a_conversation_has_a_limit(cli: Cli) -> None:
    conversation, limit = "c-" + "0" * 32, {"CTXF_MAX_SESSION_BYTES": "100"}
    assert cli.run("--scope", conversation, stdin=NOTES, env=limit)[::2] == (NOTES, 75)
    assert cli.run("--scope", "other", stdin=NOTES, env=limit)[::2] == (FOLDED, 0)


# What cannot be read, by a shell's redirection or as a FILE: nothing comes out, the input is named.
UNREADABLE: list[tuple[tuple[str, ...], str, bytes]] = [
    (("fold",), "<&-", b"ctxf: stdin: is closed\n"),
    (("fold", "-"), "<&-", b"ctxf: stdin: is closed\n"),
    (("restore",), "<&-", b"ctxf: stdin: is closed\n"),
    (("fold",), "0>/dev/null", b"ctxf: stdin: is closed\n"),
    (("fold", "nowhere.md"), "", b"ctxf: nowhere.md: No such file or directory\n"),
    (("restore", "nowhere.md"), "", b"ctxf: nowhere.md: No such file or directory\n"),
    (("fold", ""), "", b"ctxf: : No such file or directory\n"),
    (("fold", "."), "", b"ctxf: .: Is a directory (for all files in it: --recursive)\n"),
    (("restore", "."), "", b"ctxf: .: Is a directory (for all files in it: --recursive)\n"),
    (("fold", "a\x1b[31m\u202e.md"), "", b"ctxf: a\\x1b[31m\\u202e.md: No such file or directory\n"),
]


@pytest.mark.parametrize(("args", "redirect", "said"), UNREADABLE)
def test_input_that_cannot_be_read(cli: Cli, args: tuple[str, ...], redirect: str, said: bytes) -> None:
    assert cli.run(*args, redirect=redirect) == (b"", said, 74)


@pytest.mark.parametrize("command", ["fold", "restore"])
@pytest.mark.parametrize(
    ("redirect", "said"), [(">&-", b"is closed"), (">/dev/full", b"No space left on device")]
)
def test_output_that_cannot_be_written(cli: Cli, command: str, redirect: str, said: bytes) -> None:
    ran = cli.run(command, stdin=NOTES, redirect=redirect)
    assert ran == (b"", b"ctxf: output: " + said + b"\n", 74)


@pytest.mark.parametrize("redirect", ["2>&-", "2>/dev/full"])
def test_stderr_that_cannot_be_written(cli: Cli, redirect: str) -> None:
    assert cli.run(stdin=NOTES, redirect=redirect)[::2] == (FOLDED, 0)
    garbage = cli.write("garbage", b"not an archive\n" * 100)
    assert cli.run("--archive", garbage, stdin=NOTES, redirect=redirect)[::2] == (NOTES, 75)
    assert cli.run("nowhere.md", redirect=redirect)[::2] == (b"", 74)
    assert cli.run("--no-such-option", redirect=redirect)[::2] == (b"", 2)


@pytest.mark.parametrize("redirect", ["<&- >&- 2>&-", "<&- 2>&-", ">&- 2>&-"])
def test_all_descriptors_closed(cli: Cli, redirect: str) -> None:
    """A closed standard descriptor must not be reused for a file of ours, which output would then go to."""
    cli.write("notes.md", NOTES)
    assert cli.run("fold", "--in-place", "notes.md", redirect=redirect) == (b"", b"", 0)
    assert (cli.cwd / "notes.md").read_bytes() == FOLDED
    assert cli.run("restore", "notes.md").stdout == NOTES


def test_what_was_read_before_an_error_comes_out(cli: Cli) -> None:
    """A directory behind a pipe cannot be; a pseudo-terminal whose other side goes away can."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [*CTXF, "fold", "-q", f"/dev/fd/{theirs}"],
        pass_fds=[theirs],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=cli.environment(),
        cwd=cli.cwd,
    )
    assert child.stdout is not None
    os.write(ours, b"first line\n")
    assert child.stdout.readline() == b"first line\n"
    os.close(theirs)
    os.close(ours)
    rest, said = child.communicate(timeout=60)
    assert rest == b""
    assert said.endswith(b": Input/output error\n") or said == b""
    assert child.returncode == (74 if said else 0)


def test_alone_on_a_terminal_it_shows_its_help(cli: Cli) -> None:
    ours, theirs = pty.openpty()
    done = subprocess.run(
        CTXF, stdin=theirs, capture_output=True, env=cli.environment(), cwd=cli.cwd, timeout=60, check=False
    )
    os.close(ours)
    os.close(theirs)
    assert done.stdout.startswith(b"Usage: ctxf ")
    assert done.stderr == b""
    assert done.returncode == 0


def test_switched_off_everything_passes(cli: Cli) -> None:
    for env in ({"CTXF_ENABLED": "false"}, {"CTXF_ENABLED": "0"}):
        assert cli.run(stdin=NOTES, env=env) == (NOTES, b"", 0)
    cli.write(".context-folding.toml", b"version = 1\n[folding]\nenabled = false\n")
    assert cli.run(stdin=NOTES) == (NOTES, b"", 0)
    assert not cli.archive.exists()
    assert cli.run(stdin=NOTES, env={"CTXF_ENABLED": "true"})[::2] == (FOLDED, 0)


def test_in_a_directory_that_is_gone(cli: Cli) -> None:
    gone = cli.root / "gone"
    gone.mkdir()
    script = 'rmdir ../gone && exec "$@"'
    done = subprocess.run(
        ["sh", "-c", script, "sh", *CTXF],
        input=NOTES,
        capture_output=True,
        env={**cli.environment(), "PYTHONSAFEPATH": "1"},
        cwd=gone,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == (FOLDED, SUMMARY, 0)


HINT = (
    b": looks like a marker and is none (begin or end, then a label of letters, digits and _ joined by"
    b" single . - /, and nothing else on the line)\n"
)


@pytest.mark.parametrize(
    "line",
    [
        b"<!-- @context-fold begin pg log -->",
        b"  <!--@context-fold begin notes - a long story-->",
        b"<!-- @context-fold start x -->",
        b"<!-- @context-fold begin x --> hi",
        b"<!-- @context-fold begin -x -->\r",
    ],
)
def test_a_misspelled_marker_is_told(cli: Cli, line: bytes) -> None:
    text = b"a\n" + line + b"\n" + BODY
    assert cli.run("fold", stdin=text) == (text, b"ctxf: line 2" + HINT, 0)
    assert cli.run("fold", "-q", stdin=text) == (text, b"", 0)
    assert cli.run("fold", stdin=(line + b"\n") * 5).stderr == b"ctxf: line 1, 2, 3 and 2 more" + HINT


@pytest.mark.parametrize(
    "line",
    [
        b"To start a region type `<!-- @context-fold begin demo x -->` in your text.",
        b"```\n<!-- @context-fold begin pg log -->\n```",
        b"<!-- @context-fold omit a [[cf:v2:0123456789ab]] -->",
        b"# @context-fold begin x y",
        b"<!-- context-fold begin pg log -->",
    ],
)
def test_what_does_not_look_like_a_marker_is_not_told(cli: Cli, line: bytes) -> None:
    ran = cli.run("fold", stdin=line + b"\n")
    assert ran.stdout == line + b"\n"
    assert HINT not in ran.stderr
