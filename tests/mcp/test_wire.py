"""`ctxf mcp` answers every request, also malformed ones."""

import io
import json
import os
import subprocess
import sys
import threading
from typing import Any

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxf.mcp.deferred import deferred_models
from ctxf.mcp.lines import refusals
from ctxf.mcp.wire import LONGEST_LINE, Incoming, Outgoing
from tests.kit.cli import Cli

PARSE, INVALID = -32700, -32600
PING = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}'
INITIALIZE = (
    b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
    b'"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n'
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
)


def nested(depth: int) -> bytes:
    return b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":%b%b}}' % (b"[" * depth, b"]" * depth)


REFUSED: list[tuple[bytes, list[tuple[Any, int]]]] = [
    (b"not json", [(None, PARSE)]),
    (b"[]", [(None, INVALID)]),
    (b"[" + PING % 7 + b"," + PING % 8 + b",5]", [(7, INVALID), (8, INVALID), (None, INVALID)]),
    (b"null", [(None, INVALID)]),
    (b'{"id":7,"method":"ping"}', [(7, INVALID)]),
    (b'{"jsonrpc":"1.0","id":"a","method":"ping"}', [("a", INVALID)]),
    (b'{"jsonrpc":"2.0","id":7,"method":5}', [(7, INVALID)]),
    (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}', [(7, INVALID)]),
    (b'{"jsonrpc":"2.0","id":7}', [(7, INVALID)]),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', [(None, INVALID)]),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', [(None, INVALID)]),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', [(None, INVALID)]),
    (b'{"jsonrpc":"2.0","id":[],"method":"ping"}', [(None, INVALID)]),
    (nested(300), [(7, PARSE)]),
    (nested(100_000), [(7, PARSE)]),
    (b'{"method":"ping","params":{"id":1,"x":' + b"9" * 9000 + b'},"id":"last"}', [("last", PARSE)]),
    (PING % 7 + b" x", [(7, PARSE)]),
    (PING % 7 + PING % 8, [(7, PARSE)]),
    ((PING % 7)[:-1], [(7, PARSE)]),
    (b'{"jsonrpc":"2.0","id":7,\0"method":"ping"}', [(7, PARSE)]),
    (b"\xef\xbb\xbf" + PING % 7, [(7, PARSE)]),
    (b'{"jsonrpc":"2.0","id":1e5,"method":"ping"', [(None, PARSE)]),
    (b'{"jsonrpc":"2.0","id":"\x01","method":"ping"', [(None, PARSE)]),
    (b'{"jsonrpc":"2.0","method":"ping","params":"x"}', []),
    (b'{"jsonrpc":"2.0","id":7,"result":"x"}', []),
    (b"", []),
    (b" \t ", []),
]
TAKEN = [
    PING % 7,
    PING % 7 + b"\r",
    b'{"jsonrpc":"2.0",\r"id":7,\r"method":"ping"}',
    b'{"jsonrpc":"2.0","id":6,"id":7,"method":"nope","method":"ping"}',
    b'{"jsonrpc":"2.0","id":7,"method":"ping","x":"\xff\xe2\x80\xa8"}',
    b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":{"x":NaN}}}',
]


@pytest.mark.parametrize(("line", "expected"), REFUSED)
def test_a_line_that_is_no_message_is_answered(line: bytes, expected: list[tuple[Any, int]]) -> None:
    answers = [json.loads(answer) for answer in refusals(line + b"\n") or []]
    assert [(answer["id"], answer["error"]["code"]) for answer in answers] == expected
    assert all(answer["jsonrpc"] == "2.0" and answer["error"]["message"] for answer in answers)


@pytest.mark.parametrize("line", TAKEN)
def test_a_message_is_left_to_the_sdk(line: bytes) -> None:
    assert refusals(line + b"\n") is None


@given(st.binary(max_size=200) | st.binary(max_size=30).map(lambda some: b'{"id":7,' + some))
def test_any_line_is_taken_or_refused(line: bytes) -> None:
    for answer in refusals(line) or []:
        assert json.loads(answer)["error"]["code"] in (PARSE, INVALID)


def test_every_request_over_the_pipe_is_answered(cli: Cli) -> None:
    sent = [line for line, _answers in REFUSED] + TAKEN + [b"x" * (LONGEST_LINE + 100)]
    sent.append(b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"' + b"x" * LONGEST_LINE + b'"}}')
    process = cli.start("mcp")
    assert process.stdin is not None
    assert process.stdout is not None
    writer = threading.Thread(
        target=process.stdin.write, args=(INITIALIZE + b"\n".join([*sent, PING % 9999]) + b"\n",)
    )
    writer.start()
    answers: list[dict[str, Any]] = []
    with os.fdopen(os.dup(process.stdout.fileno()), "rb") as stdout:
        while not answers or answers[-1].get("id") != 9999:
            answers.append(json.loads(stdout.readline()))
    writer.join()
    rest, complaints = process.communicate(timeout=60)
    failed = sorted((str(answer["id"]), answer["error"]["code"]) for answer in answers if "error" in answer)
    expected = [answer for _line, answers in REFUSED for answer in answers] + [(None, PARSE), (7, PARSE)]
    assert failed == sorted((str(id), code) for id, code in expected)
    assert sum(answer.get("result") == {} for answer in answers) == len(TAKEN) + 1
    assert (rest, complaints, process.returncode) == (b"", b"", 0)


def test_our_answers_come_between_the_messages_of_the_sdk() -> None:
    reader, writer = os.pipe()
    outgoing = Outgoing(writer)
    outgoing.write(b'{"half":')
    outgoing.answer(b"ours\n")
    outgoing.write(b"1}\n")
    outgoing.answer(b"ours too\n")
    assert os.read(reader, 100) == b'{"half":1}\nours\nours too\n'
    os.close(reader)
    os.close(writer)


def test_what_is_printed_does_not_get_among_the_messages(cli: Cli) -> None:
    code = "import os, subprocess, sys\nfrom ctxf.mcp.wire import take_over\ntake_over()\n"
    code += "print('printed'); os.write(1, b'written\\n'); subprocess.run(['echo', 'echoed'])\n"
    code += "sys.stdout.buffer.write(b'message\\n')\n"
    code += "assert os.read(0, 1) == b''; assert sys.stdin.readline() == ''"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        input=b"garbage\n",
        capture_output=True,
        env=cli.environment(),
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, b"printed\nwritten\nechoed\n")
    assert [line[:9] for line in ran.stdout.splitlines()] == [b"message", b'{"jsonrpc']


def test_nobody_reads_an_answer() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    incoming = Incoming(io.BytesIO(b"garbage\n" + PING % 7 + b"\n"), Outgoing(writer))
    assert incoming.readall() == PING % 7 + b"\n"
    os.close(writer)


@pytest.mark.parametrize("command", [("mcp",), ("fold",), ("request", "fold", "--protocol", "chat")])
@pytest.mark.parametrize("redirect", ["<&-", "<&- >&-"])
def test_without_stdin(cli: Cli, command: tuple[str, ...], redirect: str) -> None:
    ran = cli.run(*command, redirect=redirect)
    assert (ran.stdout, ran.status) == (b"", 74)
    assert b"stdin: is closed\n" in ran.stderr
    assert cli.run(*command, redirect="<&- 2>&-").status == 74
    assert cli.run(*command, redirect="<&- >&- 2>&-").status == 74


def test_without_stdout(cli: Cli) -> None:
    ran = cli.run("mcp", redirect=">&-", stdin=INITIALIZE)
    assert (ran.status, ran.stderr) == (74, b"ctxf: stdout: is closed\n")
    assert cli.run("guide", redirect=">&-").stderr == b"ctxf: output: is closed\n"
    ran = cli.run("mcp", redirect=">/dev/full", stdin=INITIALIZE)
    assert (ran.status, ran.stderr) == (74, b"ctxf: output: No space left on device\n")
    for redirect in ("<&-", ">&-", "<&- >&-", "<&- >&- 2>&-"):
        assert cli.run("hook", "claude-code", redirect=redirect).status == 0


def test_a_client_that_is_gone(cli: Cli) -> None:
    process = cli.start("mcp")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.close()
    process.stdin.write(INITIALIZE)
    process.stdin.close()
    with process:
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_models_are_deferred_within_and_not_behind() -> None:
    with deferred_models():

        class Within(pydantic.BaseModel):
            x: int

        adapter = pydantic.TypeAdapter(list[int] | Within)
        assert not Within.__pydantic_complete__
    assert adapter.validate_json("[5]") == [5]
    assert adapter.validate_json('{"x": 5}') == Within(x=5)

    class Behind(pydantic.BaseModel):
        x: int

    assert Behind.__pydantic_complete__
    assert pydantic.TypeAdapter(list[int]).pydantic_complete


def test_a_program_that_serves_for_itself_has_pydantic_as_it_is(cli: Cli) -> None:
    code = "import ctxf.mcp.server, mcp_types, sys\nprint(mcp_types.Tool.__pydantic_complete__)"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env=cli.environment(), check=False
    )
    assert ran.stdout == b"True\n"
