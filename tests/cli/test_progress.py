"""The bar of long work: at a terminal, behind two seconds, on stderr; a pipe never gets a byte of it."""

import pytest

from tests.kit.cli import NOTES, Cli, log, marked
from tests.kit.terminal import fast_clock, run_at_terminal

FILES = tuple(f"{n}.md" for n in range(40))
WORK: dict[str, tuple[str, ...]] = {
    "Folding": ("fold", "--in-place", "--recursive", "tree"),
    "Verifying": ("verify",),
    "Exporting": ("export", "package.zip"),
    "Importing": ("import", "--scope", "other", "there.zip"),
    "Copying": ("backup", "copy.db"),
}


@pytest.fixture
def busy(cli: Cli) -> Cli:
    """An archive with 40 folds, a package of them, and a tree of 40 files more."""
    cli.run(stdin=b"".join(marked(b"log", log(60, f"worker {n}")) for n in range(40)))
    cli.run("export", "there.zip")
    for number, name in enumerate(FILES):
        cli.write(f"tree/{name}", b"Notes.\n" + marked(b"log", log(60, f"file {number}")))
    return cli


@pytest.mark.parametrize("label", WORK)
def test_long_work_shows_how_far_it_is(busy: Cli, label: str) -> None:
    ran = run_at_terminal(busy, *WORK[label], terminal=("stderr",), env=fast_clock(busy))
    assert f"\r{label} [".encode() in ran.screen
    assert b"100 %" in ran.screen
    assert b"\x1b" not in ran.screen
    assert (ran.stdout, ran.status) == (b"", 0)
    *_, last = ran.screen.split(b"\r")
    assert b"[" not in last  # the bar's line is empty again, and what there is to say stands there


@pytest.mark.parametrize("label", WORK)
def test_what_is_soon_done_shows_nothing(busy: Cli, label: str) -> None:
    assert b"\r" not in run_at_terminal(busy, *WORK[label], terminal=("stderr",)).screen


@pytest.mark.parametrize("label", WORK)
def test_no_pipe_gets_a_bar(busy: Cli, label: str) -> None:
    ran = run_at_terminal(busy, *WORK[label], terminal=("stdout",), env=fast_clock(busy))
    assert (ran.screen, ran.status) == (b"", 0)
    assert ran.stderr
    assert b"\r" not in ran.stderr
    assert label.encode() not in ran.stderr


@pytest.mark.parametrize("label", WORK)
def test_who_wants_quiet_sees_none(busy: Cli, label: str) -> None:
    ran = run_at_terminal(busy, *WORK[label], "-q", terminal=("stderr",), env=fast_clock(busy))
    assert (ran.screen, ran.status) == (b"", 0)


@pytest.mark.parametrize("columns", [20, 80])
def test_the_bar_stays_on_its_line(busy: Cli, columns: int) -> None:
    ran = run_at_terminal(
        busy, *WORK["Verifying"], terminal=("stderr",), columns=columns, env=fast_clock(busy)
    )
    bars = [piece for piece in ran.screen.split(b"\r") if piece.startswith(b"Verifying")]
    assert bars
    assert max(map(len, bars)) < columns


def test_messages_stand_on_lines_of_their_own(busy: Cli) -> None:
    ran = run_at_terminal(busy, *WORK["Folding"], terminal=("stderr",), env=fast_clock(busy))
    lines = [line.split(b"\r")[-1] for line in ran.screen.split(b"\n")]
    assert sum(b": 1 block folded" in line for line in lines) == len(FILES)
    assert all(line.startswith(b"ctxf: ") for line in lines if b"folded" in line)


def test_a_text_that_flows_by_shows_none(busy: Cli) -> None:
    ran = run_at_terminal(busy, "fold", terminal=("stderr",), env=fast_clock(busy), stdin=NOTES)
    assert b"\r" not in ran.screen
