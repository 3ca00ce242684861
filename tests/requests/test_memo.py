"""The memo: it saves work, and never changes what comes out."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ctxf.archive import Archive
from ctxf.requests import Memo, RequestPolicy, fold_request, restore_request
from tests.kit.archive import STORES, bodies, put, run_python
from tests.kit.cli import id_of, marked

NOW = RequestPolicy(0, 0)


def history(number: int, seed: str = "") -> dict[str, Any]:
    messages = []
    for n, body in enumerate(bodies(number, seed=seed)):
        messages.append({"role": "assistant", "content": f"{n}\n{marked(b'log', body).decode()}"})
        messages.append({"role": "user", "content": "go on"})
    return {"messages": messages}


class Counting:
    """A store that counts what it is asked."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.puts = 0

    def put(self, *args: Any) -> Any:
        self.puts += 1
        return self.store.put(*args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Counting:
    return Counting(STORES[request.param](tmp_path))


def test_what_is_known_is_not_looked_up_again(store: Counting) -> None:
    archive, memo, body = Archive(store), Memo(), history(5)
    first = fold_request(body, "chat", archive, policy=NOW, memo=memo)
    second = fold_request(body, "chat", archive, policy=NOW, memo=memo)  # sees that nothing was written
    assert store.puts == 2
    third = fold_request(body, "chat", archive, policy=NOW, memo=memo)
    assert store.puts == 2
    assert first == second == third
    assert len(third.folds) == 5


@pytest.mark.parametrize("reopened", [False, True])
def test_what_was_forgotten_is_stored_again(store: Counting, reopened: bool) -> None:
    archive, memo, body = Archive(store), Memo(), history(3)
    for _ in range(3):
        result = fold_request(body, "chat", archive, policy=NOW, memo=memo)
    other = Archive.open(archive.path) if reopened and archive.path != ":memory:" else archive
    other.forget("default", [result.folds[1].id])
    again = fold_request(body, "chat", archive, policy=NOW, memo=memo)
    assert again == result
    assert restore_request(again.body, "chat", archive).body == body


def test_what_another_process_forgot_is_stored_again(tmp_path: Path) -> None:
    archive, memo, body = Archive.open(tmp_path / "a.db"), Memo(), history(3)
    for _ in range(3):
        result = fold_request(body, "chat", archive, policy=NOW, memo=memo)
    code = "import sys, ctxf; ctxf.Archive.open(sys.argv[1]).forget('default')"
    assert run_python(code, archive.path).returncode == 0
    again = fold_request(body, "chat", archive, policy=NOW, memo=memo)
    assert again == result
    assert restore_request(again.body, "chat", archive).body == body


def test_an_archive_that_was_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    archive, memo, body = Archive.open(path), Memo(), history(2)
    for _ in range(3):
        fold_request(body, "chat", archive, policy=NOW, memo=memo)
    path.rename(tmp_path / "b.db")
    again = fold_request(body, "chat", archive, policy=NOW, memo=memo)
    assert restore_request(again.body, "chat", archive).body == body


def test_an_archive_that_fails_later(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    archive, memo, body = Archive.open(tmp_path / "d" / "a.db"), Memo(), history(2)
    for _ in range(3):
        fold_request(body, "chat", archive, policy=NOW, memo=memo)
    archive.close()
    (tmp_path / "d" / "a.db").write_bytes(b"no database" * 999)
    result = fold_request(body, "chat", archive, policy=NOW, memo=memo)
    assert result.body is body
    assert result.failure is not None


def test_one_memo_for_many_archives_and_scopes() -> None:
    memo, body = Memo(), history(3)
    for _ in range(3):
        for archive in (Archive.memory(), Archive.memory()):
            for scope in ("one", "two"):
                for _ in range(3):
                    result = fold_request(body, "chat", archive, scope, NOW, memo)
                assert restore_request(result.body, "chat", archive, scope).body == body
            assert archive.known_ids("three", [fold.id for fold in result.folds]) == []


def test_the_threshold_is_not_remembered() -> None:
    archive, memo, body = Archive.memory(), Memo(), history(1)
    assert not fold_request(body, "chat", archive, policy=RequestPolicy(0, 9999), memo=memo).folds
    assert fold_request(body, "chat", archive, policy=NOW, memo=memo).folds
    assert not fold_request(body, "chat", archive, policy=RequestPolicy(0, 9999), memo=memo).folds


@pytest.mark.parametrize("limit", [0, 1, 7, 50])
def test_it_is_bounded(limit: int) -> None:
    archive, memo = Archive.memory(), Memo(limit)
    for n in range(5):
        body = history(9, str(n))
        for _ in range(3):
            result = fold_request(body, "chat", archive, policy=NOW, memo=memo)
        assert result == fold_request(body, "chat", Archive.memory(), policy=NOW)
        assert len(memo._texts) <= limit
        assert len(memo._ids) <= limit


def test_threads_share_it(tmp_path: Path) -> None:
    archive, memo = Archive.open(tmp_path / "a.db"), Memo(40)
    requests = [history(n, seed) for n in (2, 5, 9) for seed in "abc"]
    expected = [fold_request(body, "chat", Archive.memory(), policy=NOW).body for body in requests]
    start = threading.Barrier(4)

    def work(number: int) -> None:
        start.wait()
        for turn in range(20):
            at = (turn * 7 + number) % len(requests)
            scope = f"s{turn % 3}"
            result = fold_request(requests[at], "chat", archive, scope, NOW, memo)
            assert result.failure is None
            assert result.body == expected[at]
            if turn % 5 == 4:
                archive.forget(scope)

    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(work, number) for number in range(4)]:
            future.result()


def test_a_change_mark(store: Counting) -> None:
    archive = Archive(store)
    put(archive, "s", b"x" * 50)
    mark = archive.change_mark()
    assert mark == archive.change_mark()
    archive.read("s", id_of(b"x" * 50))
    put(archive, "s", b"x" * 50)  # it is there: nothing is written
    list(archive.entries("s"))
    assert archive.change_mark() == mark
    marks = [mark]
    for change in (
        lambda: put(archive, "s", b"y" * 50),
        lambda: archive.forget("s", [id_of(b"y" * 50)]),
        lambda: put(archive, "t", b"y" * 50),
        lambda: archive.forget("s"),
    ):
        change()
        marks.append(archive.change_mark())
    assert all(one != two for n, one in enumerate(marks) for two in marks[:n])


def test_the_marks_of_two_archives_differ(tmp_path: Path) -> None:
    one, two = Archive.open(tmp_path / "a.db"), Archive.open(tmp_path / "a.db")
    assert one.change_mark() is None
    put(one, "s", b"x")
    assert one.change_mark() != two.change_mark()
    mark = one.change_mark()
    put(two, "s", b"y")
    assert one.change_mark() != mark
    assert Archive.memory().change_mark() != Archive.memory().change_mark()


def test_json_and_dict_share_what_is_known() -> None:
    archive, memo, body = Archive.memory(), Memo(), history(3)
    folded = fold_request(body, "chat", archive, policy=NOW, memo=memo)
    raw = fold_request(json.dumps(body).encode(), "chat", archive, policy=NOW, memo=memo)
    assert json.loads(raw.body) == folded.body
    assert raw.folds == folded.folds
