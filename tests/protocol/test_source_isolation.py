"""When a grammar crashes or does not end, only the text that it parsed stays unfolded."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ctxf.protocol import parsers as parsers_module
from ctxf.protocol.fold import FoldRules
from ctxf.protocol.grammars import PARSE_SECONDS
from ctxf.protocol.languages import LANGUAGES
from ctxf.protocol.model import Reason
from ctxf.protocol.parsers import Parsers, Problem
from ctxf.protocol.plan_source import plan_source
from tests.kit.source import assert_laws, fold_source, named, restore_source

BODY = b"filler words that go on for a while\n" * 60


def block(opener: bytes, closer: bytes = b"") -> bytes:
    body = b"".join(opener + b" " + line + closer + b"\n" for line in BODY.splitlines())
    begin = opener + b" @context-fold begin x" + closer + b"\n"
    return begin + body + opener + b" @context-fold end x" + closer + b"\n"


GOOD = block(b"#")


@pytest.fixture(scope="module")
def parsers() -> Iterator[Parsers]:
    with Parsers() as parsers:
        yield parsers


@pytest.fixture
def started() -> Callable[[], set[int]]:
    """A function that gives the processes started since the test began that have not ended."""
    before = children()
    return lambda: children() - before


def children() -> set[int]:
    command = ["ps", "-o", "pid=", "--ppid", str(os.getpid())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as ps:
        assert ps.stdout
        return {int(pid) for pid in ps.stdout.read().split()} - {ps.pid}


# What no one should have to parse, and whether the parse may fail or merely be in doubt.
HOSTILE = {
    "256 nested sequences": ("yaml", b"- " * 256 + b"\n" + block(b"#")),
    "80 KB of raw string openers": ("rust", b'r##"' * 20_000 + b"\n" + block(b"//")),
    "20,000 open tags": ("html", b"<a>" * 20_000 + b"\n" + block(b"<!--", b" -->")),
    "long brackets": ("lua", b"[=[" * 100_000 + b"\n" + block(b"--")),
    "70,000 here-documents": ("bash", b"cat <<E\n" * 70_000 + block(b"#")),
    "7,000 here-documents in a line": (
        "bash",
        b"cat " + b"".join(b"<<E%d " % n for n in range(7000)) + b"\n" + block(b"#"),
    ),
    "5 MB minified": ("javascript", b"var a={b:1,c:[2,3]};" * 250_000 + b"\n" + block(b"//")),
    "100 MB": ("python", b"x = 1234567\n" * (100 * 1_000_000 // 12) + block(b"#")),
}


@pytest.mark.parametrize("isolate", [False, True])
@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_text_stays(what: str, isolate: bool) -> None:
    name, data = HOSTILE[what]
    # Sound text folds where the machine parses it in time: so that it never does, less time.
    seconds = 0.2 if what == "5 MB minified" else PARSE_SECONDS
    with Parsers(isolate=isolate, seconds=seconds) as parsers:
        plan = plan_source(data, named(name), FoldRules(), parsers)
        assert plan.folds == ()
        failed = {Reason.PARSER, Reason.TOO_LARGE}
        doubted = {Reason.IN_DOUBT, Reason.FENCED, Reason.UNCLOSED, Reason.STRAY_END}
        assert plan.kept
        assert {keep.reason for keep in plan.kept} <= (failed if plan.failure else doubted)

        # the run goes on
        assert len(plan_source(GOOD, named("yaml"), FoldRules(), parsers).folds) == 1


OPENERS = {
    "python": b"#",
    "javascript": b"//",
    "rust": b"//",
    "bash": b"#",
    "yaml": b"#",
    "cpp": b"//",
    "json": b"//",
    "toml": b"#",
}


@pytest.mark.parametrize("bracket", [b"(", b"[", b"{"])
@pytest.mark.parametrize("name", OPENERS)
def test_open_brackets(name: str, bracket: bytes, parsers: Parsers) -> None:
    data = b"x = " + bracket * 40_000 + b"\n" + block(OPENERS[name])
    start = time.monotonic()
    assert_laws(data, named(name), parsers)
    assert time.monotonic() - start < 10


def test_segmentation_fault_is_a_crash(parsers: Parsers) -> None:
    name, data = HOSTILE["256 nested sequences"]
    failure = plan_source(data, named(name), FoldRules(), parsers).failure
    assert failure
    assert failure.problem is Problem.CRASH


def test_timeout_in_a_scanner(parsers: Parsers) -> None:
    name, data = HOSTILE["80 KB of raw string openers"]
    failure = plan_source(data, named(name), FoldRules(), parsers).failure
    assert failure
    assert failure.problem is Problem.TIMEOUT


def test_timeout_in_this_process(started: Callable[[], set[int]]) -> None:
    data = b"x = [" + b"1, " * 300_000 + b"]\n" + GOOD
    with Parsers(seconds=0.02) as parsers:
        plan = plan_source(data, named("python"), FoldRules(), parsers)
        assert started() == set()
    assert plan.failure
    assert plan.failure.problem is Problem.TIMEOUT


@pytest.mark.parametrize("name", ["python", "javascript", "go", "c", "ruby", "toml"])
def test_isolated_and_not_are_the_same(name: str, parsers: Parsers) -> None:
    form = named(name).forms[0]
    data = b"\xef\xbb\xbf" + block(form.opener) * 2 + b"'''\n" + block(form.opener)
    with Parsers(isolate=True) as isolated:
        assert fold_source(data, named(name), isolated) == fold_source(data, named(name), parsers)


def test_one_child_serves_the_run_and_ends_with_it(started: Callable[[], set[int]]) -> None:
    with Parsers(isolate=True) as parsers:
        for name in ("python", "yaml", "python", "c"):
            assert fold_source(GOOD, named(name), parsers)
            assert len(started()) == 1
    assert started() == set()


def test_no_child_without_need(started: Callable[[], set[int]]) -> None:
    with Parsers() as parsers:
        fold_source(GOOD, named("python"), parsers)
        fold_source(b"a: 1\n", named("yaml"), parsers)  # nothing marked
        assert started() == set()


def test_a_killed_child_is_replaced(started: Callable[[], set[int]]) -> None:
    with Parsers(isolate=True) as parsers:
        for _time in range(3):
            text, _plan, bodies = fold_source(GOOD, named("python"), parsers)
            assert restore_source(text, bodies) == GOOD != text
            (child,) = started()
            os.kill(child, signal.SIGKILL)
            time.sleep(0.05)


def test_what_is_closed_for_good_starts_no_child(started: Callable[[], set[int]]) -> None:
    parsers = Parsers(isolate=True)
    assert fold_source(GOOD, named("python"), parsers)
    parsers.close_for_good()
    plan = plan_source(GOOD, named("python"), FoldRules(), parsers)
    assert plan.failure
    assert plan.failure.problem is Problem.CRASH
    assert started() == set()


def test_a_stopped_child_is_a_timeout(started: Callable[[], set[int]]) -> None:
    with Parsers(isolate=True, seconds=0.3) as parsers:
        fold_source(GOOD, named("python"), parsers)
        (child,) = started()
        os.kill(child, signal.SIGSTOP)
        plan = plan_source(GOOD, named("python"), FoldRules(), parsers)
        assert plan.failure
        assert plan.failure.problem is Problem.TIMEOUT
    assert started() == set()


def test_no_interpreter_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with Parsers(isolate=True) as parsers:
        plan = plan_source(GOOD, named("python"), FoldRules(), parsers)
    assert plan.failure
    assert plan.failure.problem is Problem.CRASH


def test_child_that_cannot_import_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, started: Callable[[], set[int]]
) -> None:
    monkeypatch.setattr(parsers_module, "_START_CODE", "raise SystemExit(3)")
    with Parsers(isolate=True) as parsers:
        plan = plan_source(GOOD, named("python"), FoldRules(), parsers)
    assert plan.failure
    assert plan.failure.problem is Problem.CRASH
    assert started() == set()


def test_threads_take_turns() -> None:
    results = []
    with Parsers(isolate=True) as parsers:

        def work() -> None:
            for _time in range(5):
                results.append(len(plan_source(GOOD, named("python"), FoldRules(), parsers).folds))

        threads = [threading.Thread(target=work) for _n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == [1] * 40


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with Parsers(isolate=True) as parsers:
        for name, data in (HOSTILE["256 nested sequences"], ("python", GOOD)):
            plan_source(data, named(name), FoldRules(), parsers)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("flags", [[], ["-I"]])
def test_starts_from_anywhere(flags: list[str], tmp_path: Path) -> None:
    """From another folder, with ctxf on the path in whatever way it is there."""
    root = Path(parsers_module.__file__).parents[2]
    code = (
        f"import sys; sys.path.insert(0, {str(root)!r})\n"
        "from ctxf.protocol.fold import FoldRules\n"
        "from ctxf.protocol.languages import language_of\n"
        "from ctxf.protocol.parsers import Parsers\n"
        "from ctxf.protocol.plan_source import plan_source\n"
        f"data = {GOOD!r}\n"
        "with Parsers(isolate=True) as parsers:\n"
        "    print(len(plan_source(data, language_of('python'), FoldRules(), parsers).folds))\n"
    )
    result = subprocess.run(
        [sys.executable, *flags, "-c", code], capture_output=True, check=True, cwd=tmp_path
    )
    assert (result.stdout.strip(), result.stderr) == (b"1", b"")


def test_child_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, os, signal\n"
        "from ctxf.protocol.languages import language_of\n"
        "from ctxf.protocol.comments import Span\n"
        "from ctxf.protocol.parsers import Parsers\n"
        "parsers = Parsers(isolate=True)\n"
        "parsers.judge(b'# x\\n', [Span(0, 3)], language_of('python'))\n"
        "print(parsers._child.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(parsers_module.__file__).parents[2]
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, cwd=root, text=True
    )
    child = int(result.stdout)
    for _try in range(50):
        if not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().split()[2]:
            return
        time.sleep(0.1)
    pytest.fail("the child outlived its parent")


def test_every_row_with_a_slow_scanner_is_isolated() -> None:
    isolated = {language.name for language in LANGUAGES if language.isolate}
    assert {"yaml", "html", "rust", "lua", "bash", "vue", "svelte"} <= isolated
    assert not {"python", "javascript", "go", "c", "java"} & isolated
