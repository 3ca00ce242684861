"""Source reads inside requests: which are projected, when, and that every byte comes back."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

import ctxf
from ctxf.archive import Archive
from ctxf.protocol.parsers import Parsers
from ctxf.requests import RequestPolicy, RequestResult, fold_request, restore_request
from ctxf.requests.readers import read_source
from tests.projection.test_laws import _FailingStore

FILLER = "".join(f"# line {n} of what nobody has asked for here\n" for n in range(9))
SOURCE = f"LIMIT = 5\n\n{FILLER}\nclass Store:\n    def get(self):\n        return LIMIT\n\n{FILLER}"
NUMBERED = "".join(f"{n:6}\u2192{line}\n" for n, line in enumerate(SOURCE.splitlines(), 1))
QUESTION = "What does Store.get return?"
POLICY = RequestPolicy(delay_requests=0, min_savings_tokens=0, project_reads=True)


def anthropic(tool: str, arguments: Any, text: Any, question: str = QUESTION) -> dict[str, Any]:
    return {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": question}]},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "t1", "name": tool, "input": arguments}],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": text}]},
        ]
    }


def chat(tool: str, arguments: Any, text: Any, question: str = QUESTION) -> dict[str, Any]:
    call = {"id": "t1", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    return {
        "messages": [
            {"role": "user", "content": question},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "t1", "content": text},
        ]
    }


def responses(tool: str, arguments: Any, text: Any, question: str = QUESTION) -> dict[str, Any]:
    return {
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": question}]},
            {"type": "function_call", "call_id": "t1", "name": tool, "arguments": json.dumps(arguments)},
            {"type": "function_call_output", "call_id": "t1", "output": text},
        ]
    }


def gemini(tool: str, arguments: Any, text: Any, question: str = QUESTION) -> dict[str, Any]:
    answer = {"id": "t1", "name": tool, "response": {"output": text}}
    return {
        "contents": [
            {"role": "user", "parts": [{"text": question}]},
            {"role": "model", "parts": [{"functionCall": {"id": "t1", "name": tool, "args": arguments}}]},
            {"role": "user", "parts": [{"functionResponse": answer}]},
        ]
    }


READS = [
    ("anthropic", anthropic("Read", {"file_path": "/a/store.py"}, NUMBERED)),
    ("anthropic", anthropic("Read", {"file_path": "/a/store.py"}, [{"type": "text", "text": NUMBERED}])),
    ("anthropic", anthropic("Read", {"file_path": "/a/store.py"}, NUMBERED + "\n<system-reminder>x</system-reminder>\n")),
    ("anthropic", anthropic("Bash", {"command": "cat store.py"}, SOURCE)),
    ("anthropic", anthropic("Bash", {"command": "cat -n 'a b/store.py'"}, NUMBERED.replace("\u2192", "\t"))),
    ("chat", chat("bash", {"command": "sed -n 1,400p store.py"}, SOURCE)),
    ("chat", chat("read_file", {"path": "store.py"}, [{"type": "text", "text": SOURCE}])),
    ("responses", responses("exec_command", {"cmd": "cat store.py"}, f"Wall time: 0.1 seconds\nOutput:\n{SOURCE}")),
    ("responses", responses("shell", {"command": ["bash", "-lc", "nl -ba store.py"]}, NUMBERED.replace("\u2192", "\t"))),
    ("gemini", gemini("read_file", {"absolute_path": "/a/store.py"}, SOURCE)),
    ("gemini", gemini("run_shell_command", {"command": "cat store.py"}, SOURCE)),
]  # fmt: skip
READ = READS[0][1]


def _changed(body: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return body | fields


LEFT = [
    ("another tool", anthropic("Grep", {"file_path": "store.py"}, SOURCE)),
    ("no question", anthropic("Read", {"file_path": "store.py"}, NUMBERED, " ")),
    ("a question for two", anthropic("Bash", {"command": "cat store.py"}, SOURCE + "def load_plan():\n    pass\n", "Store.get or load_plan?")),
    ("a question in a reminder", anthropic("Read", {"file_path": "store.py"}, NUMBERED, f"Go.<system-reminder>{QUESTION}</system-reminder>")),
    ("no known language", anthropic("Read", {"file_path": "store.txt"}, NUMBERED)),
    ("numbers that jump", anthropic("Read", {"file_path": "store.py"}, NUMBERED.replace("     5\u2192", "     6\u2192"))),
    ("no Python", anthropic("Read", {"file_path": "store.py"}, SOURCE + ")))\n")),
    ("a pipe", anthropic("Bash", {"command": "cat store.py | head"}, SOURCE)),
    ("two files", anthropic("Bash", {"command": "cat store.py other.py"}, SOURCE)),
    ("two commands", anthropic("Bash", {"command": "cat store.py; ls"}, SOURCE)),
    ("a redirection", anthropic("Bash", {"command": "cat store.py > x"}, SOURCE)),
    ("an option", anthropic("Bash", {"command": "cat -A store.py"}, SOURCE)),
    ("an image beside it", anthropic("Read", {"file_path": "store.py"}, [{"type": "text", "text": NUMBERED}, {"type": "image"}])),
    ("arguments of no kind", anthropic("Read", ["store.py"], NUMBERED)),
    ("a file of no name", anthropic("Read", {"file_path": 7}, NUMBERED)),
]  # fmt: skip


@pytest.fixture(scope="module")
def parsers() -> Iterator[Parsers]:
    with Parsers() as parsers:
        yield parsers


def fold(
    body: Any, protocol: str, archive: Archive, parsers: Parsers, policy: RequestPolicy = POLICY
) -> RequestResult[Any]:
    result = fold_request(body, protocol, archive, policy=policy, parser=parsers)
    assert restore_request(result.body, protocol, archive).body == body, "L1"
    again = fold_request(result.body, protocol, archive, policy=policy, parser=parsers)
    assert again.body == result.body, "L2"
    return result


@pytest.mark.parametrize(("protocol", "body"), READS)
def test_a_read_is_projected(protocol: str, body: dict[str, Any], parsers: Parsers) -> None:
    archive, before = Archive.memory(), copy.deepcopy(body)
    result = fold(body, protocol, archive, parsers)
    assert body == before
    (read,) = result.reads
    assert read.definitions == ("Store.get",)
    assert len(read.ids) == 2
    shown = json.dumps(result.body)
    assert "return LIMIT" in shown
    assert "line 3 of" not in shown
    assert "@context-fold omit lines-2-12" in shown
    raw = json.dumps(body, indent=1).encode()
    assert json.loads(fold(raw, protocol, archive, parsers).body) == result.body


def test_numbers_stay(parsers: Parsers) -> None:
    folded = fold(READ, "anthropic", Archive.memory(), parsers).body
    lines = folded["messages"][2]["content"][0]["content"].split("\n")
    assert lines[0] == "     1\u2192LIMIT = 5"
    assert lines[1].startswith("# @context-fold omit lines-2-12 [[cf:v2:")
    assert lines[2] == "    13\u2192class Store:"


@pytest.mark.parametrize(("name", "body"), LEFT, ids=[name for name, _body in LEFT])
def test_what_is_not_certain_stays(name: str, body: dict[str, Any], parsers: Parsers) -> None:
    result = fold(body, "anthropic", Archive.memory(), parsers)
    assert result.body is body
    assert not result.reads


def test_only_where_it_is_wanted(parsers: Parsers) -> None:
    policy = RequestPolicy(delay_requests=0, min_savings_tokens=0)
    assert fold(READ, "anthropic", Archive.memory(), parsers, policy).body is READ


def test_an_error_result_stays(parsers: Parsers) -> None:
    body = copy.deepcopy(READ)
    body["messages"][2]["content"][0]["is_error"] = True
    assert fold(body, "anthropic", Archive.memory(), parsers).body is body


def test_no_way_back(parsers: Parsers) -> None:
    recovery = ctxf.Recovery(shell_tools=("Bash",))
    policy = RequestPolicy(0, 0, recovery, project_reads=True)
    body = READ | {"tools": [{"name": "Read"}]}
    assert fold(body, "anthropic", Archive.memory(), parsers, policy).body is body
    body = READ | {"tools": [{"name": "Bash"}]}
    assert fold(body, "anthropic", Archive.memory(), parsers, policy).reads


def test_the_delay_and_growing_conversations(parsers: Parsers) -> None:
    archive = Archive.memory()
    policy = RequestPolicy(delay_requests=1, min_savings_tokens=0, project_reads=True)
    more = [
        {"role": "assistant", "content": "It returns LIMIT."},
        {"role": "user", "content": "And what does Store.put do, or load_plan()?"},
        {"role": "assistant", "content": "There is none."},
        {"role": "user", "content": "Go on."},
    ]
    seen = None
    for count in range(len(more) + 1):
        body = {"messages": READ["messages"] + more[:count]}
        result = fold(body, "anthropic", archive, parsers, policy)
        due = count >= 2  # one full look: a reply, and what the user says then
        assert bool(result.reads) == due
        if due:
            now = result.body["messages"][2]
            assert seen in (None, now)
            seen = now


def test_an_archive_that_fails(parsers: Parsers) -> None:
    result = fold_request(READ, "anthropic", Archive(_FailingStore()), policy=POLICY, parser=parsers)
    assert result.body is READ
    assert result.failure is not None
    policy = RequestPolicy(0, 0, project_reads=True, capacity=10)
    result = fold_request(READ, "anthropic", Archive.memory(), policy=policy, parser=parsers)
    assert result.body is READ or result.body == READ
    assert not result.reads


def test_savings(parsers: Parsers) -> None:
    policy = RequestPolicy(0, 100_000, project_reads=True)
    assert not fold(READ, "anthropic", Archive.memory(), parsers, policy).reads


def test_other_readers(parsers: Parsers) -> None:
    policy = RequestPolicy(0, 0, project_reads=True, readers={"open_it": ("target",)})
    body = anthropic("open_it", {"target": "store.py"}, SOURCE)
    archive = Archive.memory()
    result = fold_request(body, "anthropic", archive, policy=policy, parser=parsers)
    assert result.reads
    assert restore_request(result.body, "anthropic", archive).body == result.body
    assert restore_request(result.body, "anthropic", archive, readers=policy.readers).body == body


HOSTILE: list[Any] = [None, 7, [], {}, "", "\x00", "a" * 5000, "cat", "cat '", ["cat"], ["cat", 7], {"a": 1}]


@pytest.mark.parametrize("value", HOSTILE)
def test_arguments_of_any_kind(value: Any) -> None:
    assert read_source("Bash", {"command": value}, SOURCE) is None
    assert read_source("Bash", {}, SOURCE) is None


@pytest.mark.parametrize("protocol", ["anthropic", "chat", "responses", "gemini"])
@pytest.mark.parametrize("value", HOSTILE)
def test_bodies_of_any_kind(protocol: str, value: Any, parsers: Parsers) -> None:
    for make in (anthropic, chat, responses, gemini):
        for body in (make("Read", {"file_path": "a.py"}, value), make("Read", value, NUMBERED)):
            fold(body, protocol, Archive.memory(), parsers)
    for key in ("messages", "input", "contents"):
        fold({key: value}, protocol, Archive.memory(), parsers)
        fold(
            {key: [value, {"role": "user", "content": value, "parts": value}]},
            protocol,
            Archive.memory(),
            parsers,
        )


@pytest.mark.parametrize("piece", ["\n", "<system-reminder>", "Output:\n", "     1\u2192\n", "A: b\n", " "])
def test_long_texts_cost_little(piece: str, parsers: Parsers) -> None:
    text = piece * 50_000  # quadratic cost would take minutes
    read_source("Bash", {"command": "cat store.py"}, text)
    fold(
        anthropic("Read", {"file_path": "store.py"}, text, f"get() {text}"),
        "anthropic",
        Archive.memory(),
        parsers,
    )
