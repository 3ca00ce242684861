"""`ctxf gateway` and `ctxf run` as people start them."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from ctxf.cli.extras import extra_command
from ctxf.gateway.clients import current_urls, launch
from tests.kit.cli import BODY, CTXF, Cli, id_of, marked
from tests.kit.gateway import (
    TIMEOUT,
    FakeProvider,
    Received,
    Running,
    Wire,
    echo,
    provider,
    request_bytes,
)

CONVERSATION: Final = {
    "system": "Be brief.",
    "tools": [{"name": "Bash", "input_schema": {}}],
    "messages": [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": marked(b"log", BODY).decode() + "Done."},
        {"role": "user", "content": "And?"},
        {"role": "assistant", "content": "Nothing."},
        {"role": "user", "content": "Sure?"},
    ],
}
# A token for four bytes, before and after.
TOKENS: Final = -(-len(BODY) // 4) - -(-len(b"[[cf:v2:123456789abc]]\n") // 4)
SAVED: Final = f"1 request, 1 block folded, about {TOKENS:,} input tokens saved (estimate)\n".encode()


class Started:
    """`ctxf gateway` in a process, and what it said."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stderr is not None
        self.process = process
        self.greeting = process.stderr.readline().decode()
        found = re.search(r"http://127\.0\.0\.1:([0-9]+)/-/#?(\S*)\n", self.greeting)
        assert found, self.greeting + process.stderr.read().decode()
        self.port, self.key = int(found[1]), found[2]

    def stop(self, number: int = signal.SIGTERM) -> bytes:
        """The rest of what it says, once it has ended."""
        self.process.send_signal(number)
        return self.process.communicate(timeout=TIMEOUT)[1]


@contextlib.contextmanager
def started(cli: Cli, upstream: FakeProvider, *args: str, **environ: str) -> Iterator[Started]:
    command = (
        "gateway",
        "--listen",
        "127.0.0.1:0",
        "--anthropic",
        f"http://127.0.0.1:{upstream.port}",
        *args,
    )
    process = cli.start(*command, env=environ)
    try:
        yield Started(process)
    finally:
        process.kill()
        process.communicate()


def client(port: int) -> Running:
    """Only what it takes to send."""
    return Running(port, None, None)  # type: ignore[arg-type]


def test_a_gateway_from_start_to_end(cli: Cli) -> None:
    with provider(echo) as upstream, started(cli, upstream, "-v") as gateway:
        one = client(gateway.port)
        reply = one.send(
            b"/anthropic/v1/messages?key=secret",
            json.dumps(CONVERSATION).encode(),
            [(b"x-api-key", b"sk-fake")],
        )
        assert f"[[cf:v2:{id_of(BODY)}]]" in reply.body.decode()
        stats = json.loads(one.send(b"/-/stats", headers=[(b"X-Ctxf-Key", gateway.key.encode())]).body)
        assert [block["label"] for block in stats["latest"]] == ["log"]
        one.close()
        said = gateway.stop()
        status = gateway.process.returncode
    assert said.endswith(b"ctxf: " + SAVED)
    assert b"ctxf: anthropic /v1/messages: 200, complete; folded 1 block, " in said
    assert b"secret" not in said
    assert b"sk-fake" not in said
    assert status == 0
    # The model reads it back with what the guidance told it to type.
    found = re.search(
        r"    (ctxf|\S+/ctxf|\S+ -m ctxf) (read .*) --id ID --restore", json.loads(reply.body)["system"]
    )
    assert found
    assert cli.run(*found[2].split(), "--id", id_of(BODY), "--restore") == (BODY, b"", 0)
    assert {path.name for path in cli.root.iterdir()} == {"archive.db", "home", "tmp", "work"}


def test_a_gateway_that_is_killed_in_an_answer_sends_the_same_when_started_again(cli: Cli) -> None:
    def stall(request: Received, wire: Wire) -> None:
        if len(upstream.requests) > 1:
            return echo(request, wire)
        wire.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n")
        return None

    target, body = b"/anthropic/v1/messages", json.dumps(CONVERSATION).encode()
    with provider(stall) as upstream:
        with started(cli, upstream) as gateway:
            running = client(gateway.port)
            wire = running.connect()
            wire.send(request_bytes(b"POST", target, body))
            answered = wire.head()
            assert answered is not None
            gateway.process.kill()
            assert wire.body(answered[1], to_the_end=True)[1] is False
            running.close()
        with started(cli, upstream) as gateway:
            client(gateway.port).send(target, body)
    first, second = upstream.requests
    assert first.body == second.body != body


def test_ctrl_c_ends_a_gateway(cli: Cli) -> None:
    with provider(echo) as upstream, started(cli, upstream) as gateway:
        assert (
            gateway.stop(signal.SIGINT)
            == b"ctxf: 0 requests, 0 blocks folded, about 0 input tokens saved (estimate)\n"
        )
        assert gateway.process.returncode == 130


def test_a_token_opens_the_gateway(cli: Cli) -> None:
    token = "0123456789abcdef"
    with provider(echo) as upstream, started(cli, upstream, CTXF_GATEWAY_TOKEN=token) as gateway:
        one = client(gateway.port)
        assert gateway.key == ""
        assert one.send(b"/anthropic/v1/models").status == 401
        assert one.send(b"/anthropic/v1/models", headers=[(b"X-Ctxf-Token", token.encode())]).status == 200
        one.close()


@pytest.mark.parametrize(
    ("args", "status", "said"),
    [
        (("--listen", "0.0.0.0:0"), 78, b"CTXF_GATEWAY_TOKEN"),
        (("--listen", "8788"), 2, b"is not HOST:PORT"),
        (("--listen", "127.0.0.1:65536"), 2, b"is not HOST:PORT"),
        (("--listen", "127.0.0.1:x"), 2, b"is not HOST:PORT"),
        (("--listen", "192.0.2.1:0"), 78, b"CTXF_GATEWAY_TOKEN"),
        (("--anthropic", "api.example"), 78, b"is no URL of a provider"),
        (("--openai", "https://me:secret@api.example"), 78, b"no user, query or fragment"),
        (("--max-body", "-1"), 2, b"--max-body"),
        (("extra",), 2, b"extra"),
    ],
)
def test_wrong_options(cli: Cli, args: tuple[str, ...], status: int, said: bytes) -> None:
    ran = cli.run("gateway", *args)
    assert (ran.stdout, ran.status) == (b"", status)
    assert said in ran.stderr
    assert b"secret" not in ran.stderr
    assert b"Traceback" not in ran.stderr


def test_a_secret_that_is_none(cli: Cli) -> None:
    secret = cli.root / "home" / ".local" / "share" / "ctxf" / "secret"
    secret.parent.mkdir(parents=True)
    secret.write_bytes(b"no secret")
    ran = cli.run("gateway", "--listen", "127.0.0.1:0")
    assert ran.stdout == b""
    assert b"is not what ctxf wrote" in ran.stderr
    assert ran.status != 0


@pytest.mark.parametrize("command", [("gateway",), ("run", "sh")])
def test_without_the_extra(cli: Cli, command: tuple[str, ...]) -> None:
    cli.write("httpcore2.py", b"raise ModuleNotFoundError('no', name='httpcore2')\n")
    ran = cli.run(*command, env={"PYTHONPATH": str(cli.cwd)})
    assert ran.stderr == (
        b"ctxf: the gateway needs the package httpcore2, which is not installed "
        b"(run: %b)\n" % extra_command("gateway").encode()
    )
    assert (ran.stdout, ran.status) == (b"", 78)


def test_an_agent_that_is_not_there_is_said_before_a_missing_extra(cli: Cli) -> None:
    cli.write("httpcore2.py", b"raise ModuleNotFoundError('no', name='httpcore2')\n")
    ran = cli.run("run", "no-such-agent", env={"PYTHONPATH": str(cli.cwd)})
    assert ran == (
        b"",
        b"ctxf: no-such-agent: no such program in PATH; install it, or name it by its path\n",
        127,
    )


@pytest.mark.parametrize(("tool", "is_advised"), [("Bash", False), ("my_shell", True)])
def test_the_summary_advises_where_no_way_back_was_offered(cli: Cli, tool: str, is_advised: bool) -> None:
    body = json.dumps({**CONVERSATION, "tools": [{"name": tool, "input_schema": {}}]}).encode()
    with provider(echo) as upstream, started(cli, upstream) as gateway:
        one = client(gateway.port)
        one.send(b"/anthropic/v1/messages", body)
        one.close()
        said = gateway.stop()
    assert said.startswith(b"ctxf: 1 request, ")
    assert (b"ctxf: 1 request offered no way to read back" in said) == is_advised
    assert (b"[magpie] shell_tool_name" in said) == is_advised


# An agent: sends the conversation to where its environment says, and reads a body back with its shell.
AGENT: Final = """
import json, os, re, subprocess, sys, urllib.request
url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
request = urllib.request.Request(url, {conversation!r}, {{"X-Claude-Code-Session-Id": "8a1c"}})
opener = urllib.request.build_opener()  # heeds the proxies that the environment names
answer = json.load(opener.open(request))
command = re.search(r"    (.* --id) ID --restore", answer["system"])[1]
print(answer["messages"][1]["content"])
sys.stdout.flush()
command += " {id} --restore --lines 1:1"
print(subprocess.run(command, shell=True, capture_output=True, text=True).stdout, end="")
sys.exit(int(sys.argv[1]))
"""


def agent(cli: Cli, name: str = "agent") -> Path:
    text = AGENT.format(conversation=json.dumps(CONVERSATION).encode(), id=id_of(BODY))
    return cli.write(name, f"#!{sys.executable}\n{text}".encode(), 0o755)


@pytest.mark.parametrize("status", [0, 7])
def test_one_run_of_an_agent(cli: Cli, status: int) -> None:
    with provider(echo) as upstream:
        environ = {
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{upstream.port}",
            "http_proxy": "http://127.0.0.1:9",
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        ran = cli.run("run", agent(cli), str(status), env=environ)
    assert (
        ran.stdout
        == marked(b"log", b"[[cf:v2:%b]]\n" % id_of(BODY).encode())
        + b"Done.\n"
        + BODY.split(b"\n")[0]
        + b"\n"
    )
    assert ran.stderr == b"ctxf: " + SAVED
    assert ran.status == status
    assert cli.files() == {"agent"}


def test_quiet_runs_and_other_archives(cli: Cli) -> None:
    with provider(echo) as upstream:
        environ = {
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{upstream.port}",
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        other = cli.root / "tmp" / "other archive.db"
        ran = cli.run("run", "-q", "--archive", other, "--scope", "team", agent(cli), "0", env=environ)
    assert ran.stdout.endswith(BODY.split(b"\n")[0] + b"\n")
    assert (ran.stderr, ran.status) == (b"", 0)
    assert (
        cli.run("read", "--archive", other, "--scope", "team", "--id", id_of(BODY), "--restore").stdout
        == BODY
    )


@pytest.mark.parametrize(
    ("script", "status"), [("exit 0", 0), ("exit 3", 3), ("kill -TERM $$", 143), ("kill -KILL $$", 137)]
)
def test_the_status_is_the_agents(cli: Cli, script: str, status: int) -> None:
    ran = cli.run("run", "sh", "-c", script)
    assert ran.status == status
    assert ran.stderr.startswith(b"ctxf: no request of sh came through the gateway")


@pytest.mark.parametrize("name", ["no-such-agent", "./no-such-agent", "no\x1b[31m"])
def test_an_agent_that_is_not_there(cli: Cli, name: str) -> None:
    ran = cli.run("run", name)
    assert (ran.stdout, ran.status) == (b"", 127)
    assert b"no such program" in ran.stderr
    assert b"\x1b" not in ran.stderr


def test_options_of_the_agent_are_its_own(cli: Cli) -> None:
    cli.write("show", b'#!/bin/sh\nprintf "%s\\n" "$@"\n', 0o755)
    ran = cli.run("-q", "run", "./show", "-q", "--scope", "x", "--", "--help", "-v")
    assert ran.stdout == b"-q\n--scope\nx\n--\n--help\n-v\n"
    assert ran.stderr == b""


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 21), (signal.SIGHUP, 22), (signal.SIGINT, 21)]
)
def test_signals_are_the_agents(cli: Cli, number: int, status: int) -> None:
    """What is sent to us goes to it; an interrupt, which a terminal sends to both, does not go twice."""
    traps = b"trap 'exit 21' TERM; trap 'exit 22' HUP; trap 'exit 23' INT"
    cli.write("waits", b"#!/bin/sh\n%b\necho up\nwhile :; do sleep 0.05; done\n" % traps, 0o755)
    process = cli.start("run", "-q", "./waits")
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    process.send_signal(number)
    if number == signal.SIGINT:
        time.sleep(0.3)  # were it passed on, the agent would be gone by now
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
    process.communicate(timeout=TIMEOUT)
    assert process.returncode == status


def test_an_interrupt_from_the_terminal_leaves_the_agent_alone(cli: Cli) -> None:
    """The agent ends by its own choice, and the line at the end still comes."""
    cli.write(
        "asks", b"#!/bin/sh\ntrap 'echo not yet' INT\necho up\nread answer\nread answer\nexit 5\n", 0o755
    )
    process = subprocess.Popen(
        [*CTXF, "run", "./asks"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=cli.environment(),
        cwd=cli.cwd,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(b"\n\n", timeout=TIMEOUT)
    assert process.returncode == 5
    assert said.startswith(b"ctxf: no request of ./asks")


def test_where_clients_are_sent() -> None:
    before = {"PATH": "/bin", "NO_PROXY": "corp.example", "ANTHROPIC_BASE_URL": "https://corp.example/a"}
    assert current_urls(before) == {"anthropic": "https://corp.example/a", "openai": None, "gemini": None}
    started = launch(("claude", "-p", "hi"), "http://127.0.0.1:1", before)
    assert started.command == ("claude", "-p", "hi")
    assert started.environ == {
        "PATH": "/bin",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:1/anthropic",
        "OPENAI_BASE_URL": "http://127.0.0.1:1/openai/v1",
        "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:1/gemini",
        "NO_PROXY": "corp.example,127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }


@pytest.mark.parametrize(
    ("environ", "login"),
    [({"OPENAI_API_KEY": "sk"}, 'env_key = "OPENAI_API_KEY"'), ({}, "requires_openai_auth = true")],
)
def test_codex_is_told_by_options(environ: dict[str, str], login: str) -> None:
    command = launch(("/opt/bin/codex", "exec", "-c", "x=1"), "http://127.0.0.1:1", environ).command
    assert command[:4] == ("/opt/bin/codex", "-c", 'model_provider="ctxf"', "-c")
    assert command[5:] == ("exec", "-c", "x=1")
    assert login in command[4]
    assert 'base_url = "http://127.0.0.1:1/openai/v1"' in command[4]
