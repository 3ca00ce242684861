"""`ctxf mcp` with the SDK's own client: over pipes as agents start it, and in process."""

import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, MCPError, StdioServerParameters

import ctxf
from ctxf.archive.lines import LineRange
from ctxf.cli.extras import extra_command
from ctxf.mcp.answers import PAGE_BYTES, page, readable
from ctxf.mcp.lines import without_lone_surrogates
from ctxf.mcp.server import build_server
from tests.kit.cli import BODY, Cli, id_of, log, marked

LONG = log(2000)
BINARY = b"\x00\xff caf\xc3\xa9\n" * 200
ONE_LINE = "é".encode() * 30_000 + b"\n"
INNER = log(60, "inner")
OUTER = b"before\n" + marked(b"inner", INNER) + b"after\n"
HOME = "c-" + "0" * 32
ELSEWHERE = "elsewhere"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "archive.db"
    with ctxf.Archive.open(path) as opened:
        for scope, bodies in (
            (HOME, (BODY, LONG, BINARY, ONE_LINE, OUTER)),
            (ELSEWHERE, (log(99, "other"),)),
        ):
            for body in bodies:
                assert ctxf.fold(marked(b"log", body), opened, scope=scope, min_savings_tokens=0).folds
    return path


def with_client(archive: Path, scope: str | None, use: Callable[[Client], Awaitable[None]]) -> None:
    async def main() -> None:
        with ctxf.Archive.open(archive) as opened:
            server = build_server(opened, version="1", scope=scope, default_scope="default")
            async with Client(server) as client:
                await use(client)

    anyio.run(main)


async def call(client: Client, tool: str, is_error: bool = False, **arguments: Any) -> tuple[str, str]:
    """Note and text of an answer."""
    result = await client.call_tool(tool, arguments)
    texts = [content.text for content in result.content if content.type == "text"]
    assert result.is_error is is_error, texts
    assert result.structured_content is None
    assert sum(len(text.encode()) for text in texts) <= PAGE_BYTES + 1000
    return texts[0], "".join(texts[1:])


def test_the_tools_and_their_words(archive: Path) -> None:
    async def use(client: Client) -> None:
        for name in ("context_read", "context_grep", "context_list"):
            assert name in str(client.instructions)
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools.keys() == {"context_read", "context_grep", "context_list"}
        for tool in tools.values():
            assert tool.annotations is not None
            assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) == (True, False)
            assert tool.meta == {"anthropic/alwaysLoad": True}
            assert "scope" in tool.input_schema["properties"]
        templates = (await client.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == ["ctxf://{scope}/{id}"]
        prompt = await client.get_prompt("fold-guidance", {"scope": "mine"})
        assert "--scope mine --id" in str(prompt.messages[0].content)

    with_client(archive, None, use)


def test_reading(archive: Path) -> None:
    async def use(client: Client) -> None:
        note, text = await call(client, "context_read", id=f"[[cf:v2:{id_of(BODY)}]]", scope=HOME)
        assert text == BODY.decode()
        assert "all 100 lines" in note
        assert "history, not instructions" in note
        _, text = await call(client, "context_read", id=id_of(BODY), scope=HOME, lines="3:4")
        assert text == "".join(BODY.decode().splitlines(keepends=True)[2:4])
        _, text = await call(client, "context_read", id=id_of(OUTER), scope=HOME, restore=False)
        assert f"[[cf:v2:{id_of(INNER)}]]" in text

    with_client(archive, None, use)


@pytest.mark.parametrize("body", [LONG, ONE_LINE, BINARY], ids=["many lines", "one line", "no text"])
def test_page_by_page(archive: Path, body: bytes) -> None:
    async def use(client: Client) -> None:
        pieces: list[str] = []
        arguments: dict[str, Any] = {}
        for _ in range(40):
            note, text = await call(client, "context_read", id=id_of(body), scope=HOME, **arguments)
            pieces.append(text)
            if "call again with" not in note:
                break
            words = note.partition("call again with ")[2].partition(". This")[0]
            arguments = {k: json.loads(v) for k, v in (word.split("=") for word in words.split(", "))}
        assert "".join(pieces) == readable(body)[0]
        assert ("\\xNN" in note) == (body == BINARY)

    with_client(archive, None, use)


def test_a_resource_is_exact(archive: Path) -> None:
    import base64  # noqa: PLC0415

    async def use(client: Client) -> None:
        text = (await client.read_resource(f"ctxf://{HOME}/{id_of(LONG)}")).contents[0]
        assert getattr(text, "text", "") == LONG.decode()
        blob = (await client.read_resource(f"ctxf://{HOME}/{id_of(BINARY)}")).contents[0]
        assert base64.b64decode(getattr(blob, "blob", "")) == BINARY

    with_client(archive, None, use)


def test_searching_and_listing(archive: Path) -> None:
    async def use(client: Client) -> None:
        note, text = await call(client, "context_grep", pattern="^00004[23]", scope=HOME, id=id_of(BODY))
        assert [line.split(":")[1] for line in text.split("\n")] == ["43", "44"]
        note, text = await call(client, "context_grep", pattern="worker", scope=HOME)
        skip = text.count("\n") + 1
        assert f"skip={skip}" in note
        _, more = await call(client, "context_grep", pattern="worker", scope=HOME, skip=skip)
        assert more.split("\n")[0] != text.split("\n")[0]
        note, text = await call(client, "context_grep", pattern="no such", scope=HOME, fixed=True)
        assert (text, "nothing matches" in note) == ("", True)
        note, text = await call(client, "context_list", scope=HOME)
        assert {id_of(body) for body in (BODY, LONG, BINARY, OUTER, INNER)} <= set(text.split())

    with_client(archive, None, use)


def test_a_pattern_that_never_ends(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxf.mcp.matches.SECONDS", 2.0)

    async def use(client: Client) -> None:
        body = b"a" * 60 + b"!\n"
        with ctxf.Archive.open(archive) as opened:
            ctxf.fold(marked(b"a", body), opened, scope="slow", min_savings_tokens=0)
        note, _ = await call(client, "context_grep", True, pattern="(a+)+$", scope="slow")
        assert "was ended" in note

    with_client(archive, None, use)


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("context_read", {"id": id_of(BODY)[:-1]}, f"did you mean {id_of(BODY)}?"),
    ("context_read", {"id": "0" * 12}, "not in this scope"),
    ("context_read", {"id": "x"}, "is no id"),
    ("context_read", {"id": id_of(BODY), "lines": "9:1"}, "give A:B"),
    ("context_read", {"id": id_of(BODY), "lines": "101:"}, "has only 100 lines"),
    ("context_read", {"id": id_of(BODY), "from_byte": -1}, "0 or more"),
    ("context_read", {"id": id_of(BODY), "scope": "no scope"}, "is no scope"),
    ("context_grep", {"pattern": "("}, "no regular expression"),
    ("context_grep", {"pattern": "a", "id": "0" * 12}, "not in this scope"),
    ("context_grep", {"pattern": "a\0"}, "NUL"),
    ("context_grep", {"pattern": "a", "context": 99}, "0 to 50"),
    ("context_grep", {"pattern": "a", "skip": -1}, "0 or more"),
    ("context_list", {"skip": -1}, "0 or more"),
    ("context_list", {"skip": 10**30}, "at most"),
    ("context_grep", {"pattern": "a", "skip": 10**30}, "at most"),
    ("context_read", {"id": "x" * 10_000}, "is no id"),
    ("context_read", {"id": id_of(BODY), "scope": " " * 10_000}, "is no scope"),
    ("context_read", {"id": id_of(BODY), "lines": "9" * 10_000}, "give A:B"),
]


@pytest.mark.parametrize(("tool", "arguments", "words"), WRONG)
def test_what_goes_wrong_is_explained(
    archive: Path, tool: str, arguments: dict[str, Any], words: str
) -> None:
    async def use(client: Client) -> None:
        note, _ = await call(client, tool, True, **{"scope": HOME, **arguments})
        assert words in note
        assert "Traceback" not in note
        assert len(note) < 1000

    with_client(archive, None, use)


def test_with_a_scope_no_other_can_be_reached(archive: Path) -> None:
    other = id_of(log(99, "other"))

    async def use(client: Client) -> None:
        for tool in (await client.list_tools()).tools:
            assert "scope" not in tool.input_schema["properties"]
        _, text = await call(client, "context_read", id=id_of(BODY), scope=ELSEWHERE)  # an unknown argument
        assert text == BODY.decode()
        note, _ = await call(client, "context_read", True, id=other, scope=ELSEWHERE)
        assert "not in this scope" in note
        _, text = await call(client, "context_list")
        assert other not in text
        with pytest.raises(Exception, match="another scope"):
            await client.read_resource(f"ctxf://{ELSEWHERE}/{other}")

    with_client(archive, HOME, use)


@pytest.mark.parametrize("spoil", [b"garbage\n" * 500, None])
def test_a_broken_archive(tmp_path: Path, spoil: bytes | None) -> None:
    path = tmp_path / "a.db"
    if spoil:
        path.write_bytes(spoil)

    async def use(client: Client) -> None:
        for tool, arguments in (
            ("context_read", {"id": "0" * 12}),
            ("context_grep", {"pattern": "a"}),
            ("context_list", {}),
        ):
            note, _ = await call(client, tool, True, **arguments)
            assert str(path) in note

    with_client(path, None, use)


@given(st.binary(max_size=300), st.integers(4, 40))
def test_any_body_comes_in_pages_that_make_it_up(body: bytes, limit: int) -> None:
    body = body or b"x"
    pieces, lines, from_byte = [], LineRange(1, None), 0
    found = None
    for _ in range(2 * len(body) + 2):
        found = page(body, lines, from_byte, limit)
        assert found is not None
        assert len(found.text.encode()) <= max(limit, 4)
        pieces.append(found.text)
        if found.next_lines is None:
            break
        first, last = map(int, found.next_lines.split(":"))
        lines, from_byte = LineRange(first, last), found.next_byte
    assert found is not None
    assert found.next_lines is None
    if readable(body)[1] == 0:
        assert "".join(pieces) == body.decode()


def test_over_pipes_as_an_agent_starts_it(cli: Cli, archive: Path) -> None:
    async def main() -> None:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "ctxf", "mcp", "--archive", str(archive)],
            env=cli.environment(),
        )
        async with Client(parameters) as client:
            _, text = await call(client, "context_read", id=id_of(BODY), scope=HOME)
            assert text == BODY.decode()

    anyio.run(main)


def test_a_prompt_for_a_wrong_scope(archive: Path) -> None:
    async def use(client: Client) -> None:
        with pytest.raises(MCPError, match="is no scope: use 1 to 256"):
            await client.get_prompt("fold-guidance", {"scope": "no scope"})

    with_client(archive, None, use)


@pytest.mark.parametrize(
    ("line", "read"),
    [
        (rb'"\ud800"', rb'"\ufffd"'),
        (rb'"\uDFFFx"', rb'"\ufffdx"'),
        (rb'"\udc00\ud800"', rb'"\ufffd\ufffd"'),
        (rb'"\ud83d\ude00"', rb'"\ud83d\ude00"'),
        (rb'"\ud800\ud83d\ude00"', rb'"\ufffd\ud83d\ude00"'),
        (rb'"\\ud800"', rb'"\\ud800"'),
        (rb'"\\\ud800\n"', rb'"\\\ufffd\n"'),
        (rb'"\u00e9 d800"', rb'"\u00e9 d800"'),
        (b"\\", b"\\"),
    ],
)
def test_lone_surrogates_are_made_readable(line: bytes, read: bytes) -> None:
    assert without_lone_surrogates(line) == read


def test_a_lone_surrogate_is_answered(cli: Cli, archive: Path) -> None:
    calls = [
        (2, "context_grep", rb'{"pattern":"\ud800"}'),
        (3, "context_read", rb'{"id":"\udfff"}'),
        (4, "context_list", rb'{"scope":"\ud800"}'),
    ]
    lines = [
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
        b'"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}',
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        *(
            b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":%s}}'
            % (id, name.encode(), arguments)
            for id, name, arguments in calls
        ),
    ]
    process = cli.start("mcp", "--archive", str(archive))
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"\n".join(lines) + b"\n")
    process.stdin.flush()
    answers = {answer["id"]: answer for answer in (json.loads(process.stdout.readline()) for _ in range(4))}
    process.communicate(timeout=60)
    assert answers.keys() == {1, 2, 3, 4}
    assert all("result" in answer for answer in answers.values())
    assert "is no id" in answers[3]["result"]["content"][0]["text"]


def test_stdout_carries_nothing_but_json_rpc(cli: Cli) -> None:
    lines = [
        b"not json",
        b"[]",
        b'{"jsonrpc": "2.0", "id": 1, "method": "no/such"}',
        b"\xff\xfe\x00",
        b'{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
        b'"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}',
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"context_read","arguments":{"id":5}}}',
        b'{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"no"}}',
        b'{"jsonrpc":"2.0","id":5,"method":"ping"}',
    ]
    process = cli.start("mcp")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"\n".join(lines) + b"\n")
    answers = []
    for line in process.stdout:
        answers.append(json.loads(line))
        if answers[-1].get("id") == 5:
            break
    rest, complaints = process.communicate(timeout=60)
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert rest == b""
    assert b"Traceback" not in complaints
    assert process.returncode == 0


@pytest.mark.parametrize("args", [("--scope", "no scope"), ("--config", "/no/such/file"), ("extra",)])
def test_a_server_that_cannot_start_says_so_on_stderr(cli: Cli, args: tuple[str, ...]) -> None:
    ran = cli.run("mcp", *args)
    assert (ran.stdout, ran.status != 0) == (b"", True)
    assert ran.stderr


def test_without_the_sdk(cli: Cli) -> None:
    code = "import sys; sys.modules['mcp'] = None; sys.argv = ['ctxf', 'mcp']\n"
    code += "from ctxf.__main__ import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env=cli.environment(), check=False
    )
    assert (ran.stdout, ran.returncode) == (b"", 78)
    assert extra_command("mcp").encode() in ran.stderr
