"""`ctxf request fold` and `ctxf request restore`, through real pipes."""

import json
from pathlib import Path

import pytest

from ctxf.cli.terminal import size
from tests.kit.cli import BODY, Cli, folded, id_of, marked

FOLD = ("request", "fold", "--protocol")
RESTORE = ("request", "restore", "--protocol")


def talk(*texts: str, tools: list[str] | None = None) -> bytes:
    messages = [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)]
    body = {"model": "m", "messages": messages, "temperature": 1.0}
    if tools:
        body["tools"] = [{"name": name, "input_schema": {"type": "object"}} for name in tools]
    return json.dumps(body).encode()


BLOCK, REFERENCE = marked(b"log", BODY).decode(), folded(b"log", BODY).decode()
DUE = talk("why?", BLOCK, "go on", "Done.", "thanks")
DUE_FOLDED = talk("why?", REFERENCE, "go on", "Done.", "thanks")
FRESH = talk("why?", BLOCK, "go on")


def test_fold_and_restore(cli: Cli) -> None:
    ran = cli.run(*FOLD, "anthropic", stdin=DUE)
    assert ran.stdout == DUE_FOLDED
    saved = f"est. {-(-len(BODY) // 4) - 6:,} tokens saved"
    sizes = f"{size(len(DUE))} -> {size(len(DUE_FOLDED))}"
    assert ran.stderr.decode() == f"ctxf: 1 block folded, {saved}; {sizes}\n"
    assert ran.status == 0
    assert cli.run(*RESTORE, "anthropic", stdin=ran.stdout) == (DUE, b"", 0)
    assert cli.run("read", "--id", id_of(BODY), "--restore").stdout == BODY


def test_a_file(cli: Cli) -> None:
    cli.write("request.json", DUE)
    assert cli.run(*FOLD, "chat", "request.json", "-q") == (DUE_FOLDED, b"", 0)
    cli.write("folded.json", DUE_FOLDED)
    assert cli.run(*RESTORE, "chat", "folded.json").stdout == DUE
    ran = cli.run(*FOLD, "chat", "nowhere.json")
    assert (ran.stdout, ran.status) == (b"", 74)
    assert b"nowhere.json: No such file" in ran.stderr


def test_the_delay(cli: Cli) -> None:
    ran = cli.run(*FOLD, "chat", stdin=FRESH)
    assert (ran.stdout, ran.status) == (FRESH, 0)
    assert b"0 blocks folded, 1 kept" in ran.stderr
    assert cli.run(*FOLD, "chat", "--delay", "0", stdin=FRESH).stdout == talk("why?", REFERENCE, "go on")
    assert cli.run(*FOLD, "chat", "--delay", "2", stdin=DUE).stdout == DUE
    assert cli.run(*FOLD, "chat", "--min-savings", "9999", stdin=DUE).stdout == DUE


def test_settings(cli: Cli) -> None:
    cli.user_config.parent.mkdir(parents=True)
    cli.user_config.write_text("version = 1\n[folding]\ndelay_requests = 0\n")
    assert cli.run(*FOLD, "chat", "-q", stdin=FRESH).stdout == talk("why?", REFERENCE, "go on")
    cli.user_config.write_text("version = 1\n[folding]\nenabled = false\n")
    assert cli.run(*FOLD, "chat", stdin=DUE) == (DUE, b"", 0)
    cli.user_config.write_text("version = 1\n[folding]\ndelay_requests = -1\n")
    ran = cli.run(*FOLD, "chat", stdin=DUE)
    assert (ran.stdout, ran.status) == (DUE, 78)
    assert b"the request goes through as it came" in ran.stderr


@pytest.mark.parametrize(
    ("args", "tools", "folds"),
    [
        (("--recovery-tool", "context_read"), ["context_read"], True),
        (("--recovery-tool", "context_read"), ["other"], False),
        (("--recovery-tool", "a", "--recovery-tool", "b"), ["b"], True),
        (("--recovery-tool", "a", "--recovery-command", "uvx ctxf read"), [], True),
        (("--recovery-command", "uvx ctxf read"), [], True),
    ],
)
def test_a_way_back(cli: Cli, args: tuple[str, ...], tools: list[str], folds: bool) -> None:
    texts = ("why?", BLOCK, "go on", "Done.", "thanks")
    body = talk(*texts, tools=tools)
    ran = cli.run(*FOLD, "anthropic", *args, stdin=body)
    assert ran.status == 0
    assert (ran.stdout != body) == folds
    assert (b"nothing was folded: the request offers no tool that could read it back" in ran.stderr) != folds


def test_a_shell_tool_that_is_configured(cli: Cli) -> None:
    cli.user_config.parent.mkdir(parents=True)
    cli.user_config.write_text('version = 1\n[magpie]\nshell_tool_name = "Bash"\n')
    texts = ("why?", BLOCK, "go on", "Done.", "thanks")
    assert cli.run(*FOLD, "anthropic", stdin=DUE).stdout == DUE
    assert cli.run(*FOLD, "anthropic", stdin=talk(*texts, tools=["Bash"])).stdout == talk(
        "why?", REFERENCE, "go on", "Done.", "thanks", tools=["Bash"]
    )


def test_guidance(cli: Cli) -> None:
    ran = cli.run(*FOLD, "anthropic", "--guidance", "--scope", "run-7", stdin=FRESH)
    assert json.loads(ran.stdout)["system"].encode() == cli.run("guide", "--scope", "run-7").stdout
    assert b"guidance added" in ran.stderr
    assert cli.run(*FOLD, "anthropic", "--guidance", "--scope", "run-7", "-q", stdin=ran.stdout) == (
        ran.stdout,
        b"",
        0,
    )


def test_a_report(cli: Cli) -> None:
    body = talk(
        "why?",
        BLOCK + BLOCK.replace("log", "\u0436\u0436"),
        "go on",
        "x\n<!-- @context-fold begin b -->",
        "thanks",
    )
    ran = cli.run(*FOLD, "chat", "--report", stdin=body)
    lines = ran.stderr.decode().splitlines()
    assert lines[0].split() == [
        *("ctxf:", "folded", id_of(BODY), "4.8", "kB", "est.", f"{-(-len(BODY) // 4) - 6:,}", "tokens"),
        *("/messages/1/content", "line", "1:", "log"),
    ]
    assert lines[1].endswith("/messages/1/content line 103: \u0436\u0436")
    assert lines[2].split()[:3] == ["ctxf:", "kept", "unclosed"]
    assert lines[2].endswith("/messages/3/content line 2: b has no end")
    assert len(lines) == 4


@pytest.mark.parametrize("body", [DUE, DUE_FOLDED, b"{}", b'{"messages": {}, "contents": "", "input": null}'])
@pytest.mark.parametrize("protocol", ["gemini", "responses"])
@pytest.mark.parametrize("args", [("fold",), ("fold", "--guidance", "--project-reads"), ("restore",)])
def test_a_request_to_another_api(cli: Cli, args: tuple[str, ...], protocol: str, body: bytes) -> None:
    said = f"ctxf: no conversation of {protocol} in this request: left as it is\n".encode()
    assert cli.run("request", *args, "--protocol", protocol, stdin=body) == (body, said, 75)


@pytest.mark.parametrize(
    ("protocol", "body"),
    [
        ("chat", b'{"messages": []}'),
        ("anthropic", b'{"messages": []}'),
        ("gemini", b'{"contents": []}'),
        ("gemini", b'{"generateContentRequest": {"contents": []}}'),
        ("responses", b'{"input": []}'),
        ("responses", b'{"input": "Hello."}'),
        ("responses", b'{"previous_response_id": "r"}'),
        ("responses", b'{"prompt": {"id": "p"}}'),
    ],
)
def test_a_conversation_without_folds(cli: Cli, protocol: str, body: bytes) -> None:
    assert cli.run(*FOLD, protocol, stdin=body) == (body, b"", 0)
    assert cli.run(*RESTORE, protocol, stdin=body) == (body, b"", 0)


@pytest.mark.parametrize("args", [(), ("-q",), ("--archive", "/dev/null/a.db")])
@pytest.mark.parametrize("body", [DUE, FRESH, b'{"messages": []}', b"{}", b"no JSON"])
def test_a_report_ends_with_the_sum(cli: Cli, args: tuple[str, ...], body: bytes) -> None:
    ran = cli.run(*FOLD, "chat", "--report", *args, stdin=body)
    assert b" folded" in ran.stderr.splitlines()[-1]
    assert size(len(body)).encode() in ran.stderr.splitlines()[-1]


def test_a_report_of_what_is_switched_off(cli: Cli) -> None:
    ran = cli.run(*FOLD, "chat", "--report", stdin=DUE, env={"CTXF_ENABLED": "0"})
    assert ran.stderr.startswith(b"ctxf: 0 blocks folded; ")
    assert (ran.stdout, ran.status) == (DUE, 0)


@pytest.mark.parametrize("body", [b"", b"no JSON", b"[]", DUE[:-1], DUE[:200], b'{"a": "\xff"}'])
@pytest.mark.parametrize("command", ["fold", "restore"])
def test_what_is_no_request(cli: Cli, body: bytes, command: str) -> None:
    ran = cli.run("request", command, "--protocol", "chat", stdin=body)
    assert ran.stdout == body
    assert ran.status == 75
    assert ran.stderr.startswith(b"ctxf: the request is left as it is: its body is")
    assert ran.stderr.count(b"\n") == 1


def test_an_archive_that_cannot_be_used(cli: Cli) -> None:
    ran = cli.run(*FOLD, "chat", "--archive", "/dev/null/a.db", stdin=DUE)
    assert (ran.stdout, ran.status) == (DUE, 75)
    assert b"cannot be reached" in ran.stderr
    assert cli.run(*FOLD, "chat", "--archive", "/dev/null/a.db", stdin=FRESH).status == 0


def test_a_full_conversation(cli: Cli) -> None:
    scope = "c-" + "0" * 32
    env = {"CTXF_MAX_SESSION_BYTES": "100"}
    ran = cli.run(*FOLD, "chat", "--scope", scope, "--report", stdin=DUE, env=env)
    assert (ran.stdout, ran.status) == (DUE, 75)
    assert b"needs 4800 bytes where the scope has 100 left" in ran.stderr


def test_references_that_do_not_resolve(cli: Cli) -> None:
    twice = talk("why?", REFERENCE + REFERENCE)
    ran = cli.run(*RESTORE, "chat", stdin=twice)
    assert (ran.stdout, ran.status) == (twice, 1)
    assert ran.stderr.count(b"does not exist") == 1
    cli.run(stdin=marked(b"other", BODY * 2))
    ran = cli.run(*RESTORE, "chat", stdin=DUE_FOLDED)
    assert (ran.stdout, ran.status) == (DUE_FOLDED, 1)
    assert ran.stderr.startswith(
        b"ctxf: /messages/1/content line 2: log stays folded: %b: not in" % id_of(BODY).encode()
    )
    cli.run(*FOLD, "chat", stdin=DUE)
    ran = cli.run(*RESTORE, "chat", "--max-output", "99", stdin=DUE_FOLDED)
    assert (ran.stdout, ran.status) == (DUE_FOLDED, 75)


@pytest.mark.parametrize(
    "args", [("request",), ("request", "fold"), ("request", "fold", "--protocol", "claude"), ("request", "x")]
)
def test_wrong_usage(cli: Cli, args: tuple[str, ...]) -> None:
    ran = cli.run(*args, stdin=DUE)
    assert ran.status == 2
    assert b"Usage: " in ran.stderr + ran.stdout


def test_the_reader_goes_away(cli: Cli, tmp_path: Path) -> None:
    del tmp_path
    process = cli.start(*FOLD, "chat")
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.stdin.write(DUE)
    process.stdin.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0
    process.stderr.close()
