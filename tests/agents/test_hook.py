"""`ctxf hook` as clients call it: what it answers, and that it never stops their tools by a failure."""

import json
import os
import re
import sqlite3
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ctxf.archive import Archive, NewBody
from ctxf.conversations.scopes import install_secret, session_scope
from tests.kit.cli import BODY, NOTES, Cli, id_of

CLIENTS = ("claude-code", "codex", "gemini")
SESSION = "5e55-10"
REFERENCE = f"[[cf:v2:{id_of(BODY)}]]"
MISSING = "[[cf:v2:000000000000]]"


def hook(cli: Cli, client: str, event: Any, **run: Any) -> Any:
    data = event if isinstance(event, bytes) else json.dumps(event).encode()
    ran = cli.run("hook", client, stdin=data, **run)
    assert ran.status == 0
    assert b"Traceback" not in ran.stderr
    return json.loads(ran.stdout) if ran.stdout else None


def start(cli: Cli, client: str, source: str = "startup", **run: Any) -> str:
    event = {"hook_event_name": "SessionStart", "session_id": SESSION, "source": source}
    answer = hook(cli, client, event, **run)
    assert answer["hookSpecificOutput"].keys() == {"hookEventName", "additionalContext"}
    context = answer["hookSpecificOutput"]["additionalContext"]
    assert isinstance(context, str)
    return context


def scope_in(text: str) -> str:
    (scope,) = set(re.findall(r"c-[0-9a-f]{32}", text))
    assert isinstance(scope, str)
    return scope


@pytest.fixture
def folded(cli: Cli) -> Cli:
    """A home in which NOTES are folded in the scope of the session, for all three clients."""
    for client in CLIENTS:
        scope = scope_in(start(cli, client))
        assert cli.run("--scope", scope, stdin=NOTES).status == 0
    return cli


def tool(cli: Cli, client: str, name: str, tool_input: Any, **run: Any) -> Any:
    event = "BeforeTool" if client == "gemini" else "PreToolUse"
    return hook(
        cli,
        client,
        {"hook_event_name": event, "session_id": SESSION, "tool_name": name, "tool_input": tool_input},
        **run,
    )


def new_input(answer: Any) -> Any:
    specific = answer["hookSpecificOutput"]
    return specific.get("updatedInput") or specific.get("tool_input")


def denial(answer: Any) -> str:
    if "decision" in answer:
        assert answer["decision"] == "deny"
        return str(answer["reason"])
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    return str(answer["hookSpecificOutput"]["permissionDecisionReason"])


@pytest.mark.parametrize("client", CLIENTS)
def test_a_session_gets_guidance_with_a_scope_of_its_own(cli: Cli, client: str) -> None:
    context = start(cli, client)
    scope = scope_in(context)
    home = cli.root / "home" / ".local" / "share" / "ctxf"
    assert scope == session_scope(install_secret(home / "secret"), client, SESSION)
    assert "first write your conclusion" in context
    assert "context_read" in context
    assert f"--scope {scope} --id ID --restore" in context
    assert start(cli, client) == context
    assert len(context) < 9_000  # more, and Claude Code puts it into a file
    other = hook(cli, client, {"hook_event_name": "SessionStart", "session_id": "other"})
    assert scope_in(json.dumps(other)) != scope


def test_the_name_that_setup_has_for_a_client(cli: Cli) -> None:
    assert start(cli, "claude") == start(cli, "claude-code")


def test_a_name_that_is_no_clients(cli: Cli) -> None:
    said = b"ctxf hook: 'foo' is no client; use claude-code, codex, gemini\n"
    assert cli.run("hook", "foo", stdin=b"{}") == (b"", said, 0)


def test_what_the_guidance_prints_reads_back(folded: Cli) -> None:
    context = start(folded, "codex")
    (line,) = [line for line in context.split("\n") if "--restore" in line]
    words = line.replace(" ID ", f" {id_of(BODY)} ").split()
    assert folded.run(*words[1:]).stdout == BODY


def test_a_resumed_session_is_told_only_the_scope(cli: Cli) -> None:
    context = start(cli, "claude-code", "resume")
    assert scope_in(context) == scope_in(start(cli, "claude-code"))
    assert context.count("\n") == 1


def test_a_scope_that_is_set_is_taken(cli: Cli) -> None:
    assert "--scope mine --id" in start(cli, "codex", env={"CTXF_SCOPE": "mine"})


def test_no_guidance_where_folding_is_off(cli: Cli) -> None:
    event = {"hook_event_name": "SessionStart", "session_id": SESSION}
    assert hook(cli, "codex", event, env={"CTXF_ENABLED": "0"}) is None


WRITES = [
    ("claude-code", "Write", "content", {"file_path": "/x/a.txt"}),
    ("claude-code", "NotebookEdit", "new_source", {"notebook_path": "/x/a.ipynb"}),
    ("gemini", "write_file", "content", {"file_path": "/x/a.txt"}),
]


@pytest.mark.parametrize(("client", "name", "field", "more"), WRITES)
def test_a_written_reference_becomes_the_original(
    folded: Cli, client: str, name: str, field: str, more: dict[str, str]
) -> None:
    answer = tool(folded, client, name, {**more, field: f"a\n{REFERENCE}\nb", "kept": [1, None]})
    assert new_input(answer) == {**more, field: f"a\n{BODY.decode()}b", "kept": [1, None]}
    assert "permissionDecision" not in answer["hookSpecificOutput"]
    assert "decision" not in answer


@pytest.mark.parametrize(("client", "name"), [("claude-code", "Edit"), ("gemini", "replace")])
def test_an_edit(folded: Cli, client: str, name: str) -> None:
    path = folded.write("file.py", b"before\n" + BODY + b"after\n")
    tool_input = {"file_path": str(path), "old_string": "before", "new_string": f"x\n{REFERENCE}"}
    changed = new_input(tool(folded, client, name, tool_input))
    assert changed["new_string"] == f"x\n{BODY.decode()}".removesuffix("\n")
    # The model has seen the file folded: what it wants to replace is the original.
    tool_input = {"file_path": str(path), "old_string": f"{REFERENCE}\nafter", "new_string": "after"}
    assert new_input(tool(folded, client, name, tool_input))["old_string"] == f"{BODY.decode()}after"
    path.write_text(f"{REFERENCE}\nafter\n")  # a placeholder that is really there
    assert tool(folded, client, name, tool_input) is None


def end_in_no_line_end(cli: Cli) -> tuple[str, str]:
    """A body without a last line end that is archived for all clients: its reference and itself."""
    body = (b"line\n" * 100).removesuffix(b"\n")
    reference = f"[[cf:v2:{id_of(body)}]]"
    for client in CLIENTS:
        with Archive.open(cli.archive) as archive:
            archive.put(scope_in(start(cli, client)), [[NewBody(body, sha256(body).digest(), b"x")]])
    return reference, body.decode()


NO_LINE_BEHIND: list[tuple[str, str, dict[str, str]]] = [
    ("claude-code", "Write", {"file_path": "a", "content": "top\n{}\nmore\n"}),
    (
        "claude-code",
        "Write",
        {
            "file_path": "a.md",
            "content": "<!-- @context-fold begin n -->\n{}\n<!-- @context-fold end n -->\n",
        },
    ),
    ("claude-code", "Edit", {"file_path": "a", "old_string": "x\n", "new_string": "{}\n"}),
    ("gemini", "replace", {"file_path": "a", "old_string": "x", "new_string": "{}\ny"}),
    ("codex", "apply_patch", {"command": "*** Begin Patch\n*** Add File: a\n+{}\n*** End Patch\n"}),
    ("claude-code", "Bash", {"command": "cat > made.py <<'EOF'\n{}\nEOF\necho after"}),
    ("codex", "Bash", {"command": "apply_patch <<'EOF'\n*** Begin Patch\n+{}\n*** End Patch\nEOF\n"}),
]


@pytest.mark.parametrize(("client", "name", "tool_input"), NO_LINE_BEHIND)
def test_lines_are_never_joined(cli: Cli, client: str, name: str, tool_input: dict[str, str]) -> None:
    reference, _body = end_in_no_line_end(cli)
    filled = {key: text.replace("{}", reference) for key, text in tool_input.items()}
    reason = denial(tool(cli, client, name, filled))
    assert reference in reason
    assert "no line can stand behind it" in reason
    assert "write the text itself" in reason


def test_at_the_very_end_a_body_without_a_line_end_is_exact(cli: Cli) -> None:
    reference, body = end_in_no_line_end(cli)
    for content in (f"top\n{reference}", f"top\n{reference}\n"):
        answer = tool(cli, "claude-code", "Write", {"file_path": "a", "content": content})
        assert new_input(answer)["content"] == f"top\n{body}"


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_what_the_edited_file_holds_already_stays(folded: Cli, line_end: str) -> None:
    text = f"a\n{REFERENCE}\nb\nin {MISSING} line\n".replace("\n", line_end)
    path = folded.write("file.md", text.encode())
    for old, new in (
        (f"{REFERENCE}\nb", f"{REFERENCE}\nc"),
        ("a\n", f"{REFERENCE}\n"),
        (f"in {MISSING} line", f"at {MISSING} line"),
    ):
        tool_input = {"file_path": str(path), "old_string": old, "new_string": new}
        assert tool(folded, "claude-code", "Edit", tool_input) is None
        edits = {"file_path": str(path), "edits": [{"old_string": old, "new_string": new}]}
        assert tool(folded, "claude-code", "MultiEdit", edits) is None


@pytest.mark.parametrize(("client", "name", "field", "more"), WRITES)
def test_what_the_file_that_is_written_anew_holds_already_stays(
    folded: Cli, client: str, name: str, field: str, more: dict[str, str]
) -> None:
    (path_name,) = more
    path = folded.write("file.py", f"# {REFERENCE}\n# {MISSING}\n".encode())
    tool_input = {path_name: str(path), field: f"# {MISSING}\n\n# {REFERENCE}\nmore = 1\n"}
    assert tool(folded, client, name, tool_input) is None
    path.write_bytes(f"# {MISSING}\n".encode())  # only what stands there now
    changed = new_input(tool(folded, client, name, tool_input))
    assert changed[field] == f"# {MISSING}\n\n{BODY.decode()}more = 1\n"
    path.unlink()
    assert MISSING in denial(tool(folded, client, name, tool_input))


def test_a_file_that_is_none_is_not_waited_for(folded: Cli) -> None:
    path = folded.cwd / "pipe"
    os.mkfifo(path)
    for place in (path, folded.cwd, "/dev/zero", "\0"):
        tool_input = {"file_path": str(place), "content": f"{REFERENCE}\n"}
        assert new_input(tool(folded, "claude-code", "Write", tool_input))["content"] == BODY.decode()


def test_many_edits(folded: Cli) -> None:
    edits = [{"old_string": "a\n", "new_string": f"{REFERENCE}\n"}, {"old_string": "b", "new_string": "c"}]
    changed = new_input(tool(folded, "claude-code", "MultiEdit", {"file_path": "/x", "edits": edits}))
    assert changed["edits"] == [{"old_string": "a\n", "new_string": BODY.decode()}, edits[1]]


def test_a_patch(folded: Cli) -> None:
    patch = f"*** Begin Patch\n*** Add File: a\n+x\n+{REFERENCE}\n*** End Patch\n"
    answer = tool(folded, "codex", "apply_patch", {"command": patch})
    added = "".join(f"+{line}\n" for line in BODY.decode().splitlines())
    assert new_input(answer) == {"command": patch.replace(f"+{REFERENCE}\n", added)}


SHELLS = [("claude-code", "Bash"), ("codex", "Bash"), ("gemini", "run_shell_command")]


@pytest.mark.parametrize(("client", "name"), SHELLS)
def test_a_here_document(folded: Cli, client: str, name: str) -> None:
    command = f"cat > x <<'END'\n{REFERENCE}\nEND\necho done"
    changed = new_input(tool(folded, client, name, {"command": command}))
    assert changed == {"command": command.replace(f"{REFERENCE}\n", BODY.decode())}


@pytest.mark.parametrize(
    "command",
    [
        f"ctxf read --id '{REFERENCE}' --restore",
        f"grep -rF '{REFERENCE}' .",
        f"echo '\n{REFERENCE}\n'",
        f"x $(cat <<'END'\n{REFERENCE}\nEND\n)",
        f"cat <<END\nin a {REFERENCE} line\nEND",
    ],
)
def test_what_stands_elsewhere_in_a_command_stays(folded: Cli, command: str) -> None:
    assert tool(folded, "claude-code", "Bash", {"command": command}) is None


def test_a_here_document_that_cannot_hold_the_original(cli: Cli) -> None:
    body = b"$(rm -rf /)\n" * 200
    scope = scope_in(start(cli, "codex"))
    cli.run(
        "--scope", scope, stdin=b"<!-- @context-fold begin a -->\n" + body + b"<!-- @context-fold end a -->\n"
    )
    text = f"cat > x <<END\n[[cf:v2:{id_of(body)}]]\nEND"
    assert "cannot hold its original" in denial(tool(cli, "codex", "Bash", {"command": text}))
    quoted = new_input(tool(cli, "codex", "Bash", {"command": text.replace("<<END", "<<'END'")}))
    assert body.decode() in quoted["command"]


@pytest.mark.parametrize("client", CLIENTS)
def test_what_does_not_resolve_is_not_written(folded: Cli, client: str) -> None:
    name, field = {
        "claude-code": ("Write", "content"),
        "codex": ("apply_patch", "command"),
        "gemini": ("write_file", "content"),
    }[client]
    mistyped = REFERENCE.replace(id_of(BODY)[-2:], id_of(BODY)[-2:][::-1])
    text = "*** Begin Patch\n+{}\n" if client == "codex" else "{}\n"
    reason = denial(tool(folded, client, name, {field: text.format(mistyped)}))
    assert f"did you mean {id_of(BODY)}?" in reason
    assert "does not resolve" in denial(tool(folded, client, name, {field: text.format(MISSING)}))
    inside = denial(tool(folded, client, name, {field: text.format(f"see {REFERENCE}")}))
    assert "within a line" in inside


@pytest.mark.parametrize(
    ("name", "tool_input"),
    [
        ("Write", {"file_path": "a", "content": "nothing"}),
        ("Write", {"file_path": "a", "content": f"an example: {MISSING}\n"}),
        ("Read", {"file_path": REFERENCE}),
        ("Grep", {"pattern": REFERENCE}),
        ("mcp__ctxf__context_read", {"id": REFERENCE}),
        ("Write", {"file_path": REFERENCE}),
        ("Write", {"content": [REFERENCE]}),
        ("Edit", {"old_string": REFERENCE}),
        ("MultiEdit", {"edits": REFERENCE}),
        ("MultiEdit", {"edits": [REFERENCE]}),
        ("Bash", {"command": None, "x": REFERENCE}),
        ("Edit", {"file_path": "a", "old_string": MISSING, "new_string": f"x\n{MISSING}"}),
    ],
)
def test_what_is_left_alone(folded: Cli, name: str, tool_input: Any) -> None:
    answer = tool(folded, "claude-code", name, tool_input)
    assert answer is None or answer["hookSpecificOutput"].keys() == {"hookEventName", "additionalContext"}


def test_an_example_in_a_fence_is_written_and_told(folded: Cli) -> None:
    answer = tool(folded, "claude-code", "Write", {"file_path": "a.md", "content": f"```\n{MISSING}\n```\n"})
    assert answer["hookSpecificOutput"].keys() == {"hookEventName", "additionalContext"}
    assert "written as it stands" in answer["hookSpecificOutput"]["additionalContext"]


def test_another_sessions_reference_does_not_resolve(folded: Cli) -> None:
    event = {
        "hook_event_name": "PreToolUse",
        "session_id": "another",
        "tool_name": "Write",
        "tool_input": {"file_path": "a", "content": f"{REFERENCE}\n"},
    }
    assert "does not resolve" in denial(hook(folded, "claude-code", event))


def test_a_body_that_is_no_text(cli: Cli) -> None:
    body = b"\xff" * 2000 + b"\n"
    scope = scope_in(start(cli, "claude-code"))
    cli.run(
        "--scope", scope, stdin=b"<!-- @context-fold begin a -->\n" + body + b"<!-- @context-fold end a -->\n"
    )
    content = {"file_path": "a", "content": f"[[cf:v2:{id_of(body)}]]\n"}
    reason = denial(tool(cli, "claude-code", "Write", content))
    assert f"--scope {scope} --id {id_of(body)} --restore > FILE" in reason


HOSTILE = [
    b"",
    b"not json",
    b"[1]",
    b"null",
    b"{}",
    b"\xff\xfe",
    b'{"hook_event_name": 1, "session_id": []}',
    b'{"hook_event_name": "SessionStart"}',
    b'{"hook_event_name": "SessionStart", "session_id": ""}',
    b'{"hook_event_name": "Stop", "session_id": "x"}',
    b'{"hook_event_name": "PreToolUse", "session_id": "x", "tool_name": {}, "tool_input": "y"}',
    b"[" * 100_000,
    b'{"session_id": "\\ud800", "hook_event_name": "PreToolUse", "tool_name": "Write", '
    b'"tool_input": {"content": "\\ud800\\n[[cf:v2:000000000000]]"}}',
]


@pytest.mark.parametrize("data", HOSTILE)
def test_whatever_comes_in(cli: Cli, data: bytes) -> None:
    for client in CLIENTS:
        assert hook(cli, client, data) is None or b"ud800" in data


@pytest.mark.parametrize(
    "args",
    [
        ("hook",),
        ("hook", "no-such-client"),
        ("hook", "codex", "--no-such-option"),
        ("hook", "codex", "--archive"),
        ("hook", "codex", "--scope", "no scope"),
        ("hook", "codex", "--config", "/no/such/file"),
    ],
)
def test_whatever_it_is_called_with(cli: Cli, args: tuple[str, ...]) -> None:
    event = {"hook_event_name": "PreToolUse", "session_id": "1", "tool_name": "x", "tool_input": {}}
    ran = cli.run(*args, stdin=json.dumps(event).encode())
    assert (ran.stdout, ran.status) == (b"", 0)
    assert b"Traceback" not in ran.stderr


def garbage(cli: Cli) -> None:
    cli.archive.write_bytes(b"garbage\n" * 1000)


def gone(cli: Cli) -> None:
    cli.archive.unlink()


def no_secret(cli: Cli) -> None:
    (cli.root / "home/.local/share/ctxf/secret").write_bytes(b"x")


def bad_config(cli: Cli) -> None:
    cli.write(".context-folding.toml", b"version = [")


def locked(cli: Cli) -> Any:
    other = sqlite3.connect(cli.archive, isolation_level=None)
    other.execute("PRAGMA journal_mode = DELETE")
    other.execute("BEGIN EXCLUSIVE")
    return other


def test_a_here_document_with_what_was_forgotten(folded: Cli) -> None:
    with Archive.open(folded.archive) as archive:
        archive.forget(scope_in(start(folded, "codex")))
    command = f"cat > x <<'END'\n{REFERENCE}\nEND"
    assert "forgotten on" in denial(tool(folded, "codex", "Bash", {"command": command}))
    never = tool(folded, "codex", "Bash", {"command": command.replace(REFERENCE, MISSING)})
    assert "written as it stands" in never["hookSpecificOutput"]["additionalContext"]


HOLDING: list[tuple[str, str, dict[str, str]]] = [
    ("claude-code", "Write", {"file_path": "a", "content": f"{REFERENCE}\n{MISSING}\n"}),
    ("claude-code", "Write", {"file_path": "a.md", "content": f"```\n{REFERENCE}\n```\n"}),
    ("claude-code", "Edit", {"file_path": "a", "old_string": "x", "new_string": REFERENCE}),
    ("codex", "apply_patch", {"command": f"*** Begin Patch\n+{REFERENCE}\n"}),
    ("gemini", "run_shell_command", {"command": f"cat > a <<'END'\n{REFERENCE}\nEND\n"}),
]


@pytest.mark.parametrize(("client", "name", "tool_input"), HOLDING)
@pytest.mark.parametrize("spoil", [garbage, gone, locked])
def test_nothing_is_written_while_the_archive_cannot_be_read(
    folded: Cli, spoil: Any, client: str, name: str, tool_input: dict[str, str]
) -> None:
    other = spoil(folded)
    reason = denial(tool(folded, client, name, tool_input))
    assert str(folded.archive) in reason
    assert ("stays locked by another process" in reason) == (other is not None)
    if other is not None:
        other.close()


@pytest.mark.parametrize("spoil", [garbage, gone, no_secret])
def test_whatever_is_broken(folded: Cli, spoil: Any) -> None:
    spoil(folded)
    answer = tool(folded, "claude-code", "Write", {"file_path": "a", "content": f"{REFERENCE}\n"})
    assert answer is None or denial(answer)


def test_a_project_with_a_broken_configuration(folded: Cli) -> None:
    bad_config(folded)
    answer = tool(folded, "claude-code", "Write", {"file_path": "a", "content": f"{REFERENCE}\n"})
    assert new_input(answer)["content"] == BODY.decode()


@pytest.mark.parametrize("redirect", [">&-", ">/dev/full", "2>&-", "<&-"])
def test_descriptors_that_are_closed(cli: Cli, redirect: str) -> None:
    event = json.dumps({"hook_event_name": "SessionStart", "session_id": "1"}).encode()
    assert cli.run("hook", "codex", stdin=event, redirect=redirect).status == 0


def test_a_scope_that_is_set_needs_no_secret(cli: Cli) -> None:
    assert cli.run("--scope", "mine", stdin=NOTES).status == 0
    content = {"file_path": "a", "content": f"{REFERENCE}\n"}
    for _ in range(2):
        answer = tool(cli, "claude-code", "Write", content, env={"CTXF_SCOPE": "mine"})
        assert new_input(answer)["content"] == BODY.decode()
        start(cli, "claude-code", env={"CTXF_SCOPE": "mine"})
    assert not (cli.root / "home/.local/share/ctxf/secret").exists()


def test_the_guard_alone_makes_nothing(cli: Cli) -> None:
    before = set(cli.root.rglob("*"))
    assert tool(cli, "claude-code", "Write", {"content": f"{REFERENCE}\n"}) is None
    assert set(cli.root.rglob("*")) == before


def test_it_loads_neither_click_nor_an_archive_for_nothing(cli: Cli, tmp_path: Path) -> None:
    code = (
        "import sys, runpy; sys.argv = ['ctxf', 'hook', 'codex']\n"
        "try: runpy.run_module('ctxf', run_name='__main__')\n"
        "except SystemExit as leave: assert leave.code == 0\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    import subprocess  # noqa: PLC0415
    import sys  # noqa: PLC0415

    ran = subprocess.run(
        [sys.executable, "-c", code], input=b"{}", capture_output=True, env=cli.environment(), check=True
    )
    loaded = set(ran.stderr.decode().split())
    assert loaded.isdisjoint(
        {"click", "sqlite3", "dataclasses", "ctxf.conversations.guidance", "ctxf.agents.hooks.guard"}
    )
