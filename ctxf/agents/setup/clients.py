"""What each client gets: which files, and what goes into each. Shapes as of the versions in `shapes.py`."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ctxf.agents.hooks.guard import GUARDED_TOOLS
from ctxf.agents.hooks.shapes import READ_TOOLS
from ctxf.agents.setup.jsonc import append_item, get_value, remove_items, remove_member, set_member
from ctxf.agents.setup.notes import add_note, has_note, remove_note
from ctxf.agents.setup.toml import get_table, remove_table, set_table
from ctxf.conversations.clients import CLAUDE_CODE, CODEX, GEMINI

__all__ = ["CLIENT_NAMES", "Client", "Edit", "Program", "client_edits"]

_Groups = Mapping[str, Mapping[str, Any]]  # of hooks, by event

_SERVER: Final = "ctxf"
_HOOK_SECONDS: Final = 10
_EMPTY_JSON: Final = "{}\n"


@dataclass(frozen=True, slots=True)
class Program:
    """How clients call ctxf: `path` with `options` behind the subcommand's name."""

    path: str
    options: tuple[str, ...] = ()

    def args(self, *words: str) -> list[str]:
        return [*words, *self.options]

    def shell(self, *words: str) -> str:
        return shlex.join([self.path, *self.args(*words)])


@dataclass(frozen=True, slots=True)
class Client:
    """A client: the word on the command line, its name, its executable, its name in hooks and scopes."""

    word: str
    title: str
    executable: str
    name: str
    next_step: str


CLIENT_NAMES: Final = {
    client.word: client
    for client in (
        Client(
            "claude",
            "Claude Code",
            "claude",
            CLAUDE_CODE,
            "start a new session; Claude Code asks before it first uses a tool",
        ),
        Client(
            "codex",
            "Codex",
            "codex",
            CODEX,
            "start a new session, and review the hooks with /hooks: Codex runs none that you did not trust",
        ),
        Client(
            "gemini",
            "Gemini CLI",
            "gemini",
            GEMINI,
            "start a new session; Gemini CLI asks before it uses a tool",
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Edit:
    """What is ours in one file: `add` puts it into the file's text, `remove` takes it out again.

    `what` says it in words; `missing` is the text of a file that is not there; `is_there` tells whether
    all of it stands in a text. All three raise ValueError for a text that they cannot read. `is_private`:
    the file is made for its owner alone.
    """

    path: Path
    what: str
    add: Callable[[str], str]
    remove: Callable[[str], str]
    is_there: Callable[[str], bool]
    missing: str = ""
    is_private: bool = True


def client_edits(
    client: Client, program: Program, environ: Mapping[str, str], home: Path, project: Path | None
) -> list[Edit]:
    """The edits that set up a client, for the user or for one project."""
    edits = _BUILDERS[client.name](program, environ, home, project)
    return [replace(edit, is_private=project is None) for edit in edits]


def _claude(program: Program, environ: Mapping[str, str], home: Path, project: Path | None) -> list[Edit]:
    named = environ.get("CLAUDE_CONFIG_DIR", "")
    folder = Path(named) if named else home / ".claude"
    servers = (folder if named else home) / ".claude.json"
    settings, note = folder / "settings.json", folder / "CLAUDE.md"
    if project is not None:
        servers, note = project / ".mcp.json", project / "CLAUDE.md"
        settings = project / ".claude" / "settings.local.json"
    hook = {
        "type": "command",
        "command": program.path,
        "args": program.args("hook", CLAUDE_CODE),
        "timeout": _HOOK_SECONDS,
    }
    groups: _Groups = {
        "SessionStart": {"hooks": [hook]},
        "SubagentStart": {"hooks": [hook]},
        "PreToolUse": {"matcher": "|".join(GUARDED_TOOLS[CLAUDE_CODE]), "hooks": [hook]},
    }
    server = {"type": "stdio", "command": program.path, "args": program.args("mcp"), "alwaysLoad": True}
    return [
        _json_server(servers, server),
        _json_hooks(settings, groups, CLAUDE_CODE, program.path),
        _note(note, READ_TOOLS[CLAUDE_CODE], program),
    ]


def _codex(program: Program, environ: Mapping[str, str], home: Path, project: Path | None) -> list[Edit]:
    named = environ.get("CODEX_HOME", "")
    folder = Path(named) if named else home / ".codex"
    note = folder / "AGENTS.md"
    if project is not None:
        folder, note = project / ".codex", project / "AGENTS.md"
    hook = {"type": "command", "command": program.shell("hook", CODEX), "timeout": _HOOK_SECONDS}
    groups: _Groups = {
        "SessionStart": {"hooks": [hook]},
        "PreToolUse": {"matcher": "|".join(GUARDED_TOOLS[CODEX]), "hooks": [hook]},
    }
    server = {"command": program.path, "args": program.args("mcp")}
    path = ("mcp_servers", _SERVER)
    return [
        Edit(
            folder / "config.toml",
            "the server of context_read, context_grep and context_list",
            lambda text: set_table(text, path, server),
            lambda text: remove_table(text, path),
            lambda text: get_table(text, path) == server,
        ),
        _json_hooks(folder / "hooks.json", groups, CODEX, program.path),
        _note(note, READ_TOOLS[CODEX], program),
    ]


def _gemini(program: Program, environ: Mapping[str, str], home: Path, project: Path | None) -> list[Edit]:
    named = environ.get("GEMINI_CLI_HOME", "")
    folder = (Path(named) if named else home) / ".gemini"
    note = folder / "GEMINI.md"
    if project is not None:
        folder, note = project / ".gemini", project / "GEMINI.md"
    hook = {
        "name": "ctxf",
        "type": "command",
        "command": program.shell("hook", GEMINI),
        "timeout": _HOOK_SECONDS * 1000,  # this client counts in milliseconds
    }
    groups: _Groups = {
        "SessionStart": {"hooks": [hook]},
        "BeforeTool": {"matcher": "|".join(GUARDED_TOOLS[GEMINI]), "hooks": [hook]},
    }
    server = {"command": program.path, "args": program.args("mcp"), "timeout": 30_000}
    settings = folder / "settings.json"
    tools, hooks = _json_server(settings, server), _json_hooks(settings, groups, GEMINI, program.path)
    both = Edit(
        settings,
        f"{tools.what}; {hooks.what}",
        lambda text: hooks.add(tools.add(text)),
        lambda text: tools.remove(hooks.remove(text)),
        lambda text: tools.is_there(text) and hooks.is_there(text),
        _EMPTY_JSON,
    )
    return [both, _note(note, READ_TOOLS[GEMINI], program)]


_BUILDERS: Final = {CLAUDE_CODE: _claude, CODEX: _codex, GEMINI: _gemini}


def _json_server(path: Path, server: Mapping[str, Any]) -> Edit:
    place = ("mcpServers", _SERVER)

    def remove(text: str) -> str:
        shorter = remove_member(text, place)
        return text if shorter == text else _without_empty(shorter, place[:1])

    return Edit(
        path,
        "the server of context_read, context_grep and context_list",
        lambda text: set_member(text, place, dict(server)),
        remove,
        lambda text: get_value(text, place) == server,
        _EMPTY_JSON,
    )


def _json_hooks(path: Path, groups: _Groups, client: str, program: str) -> Edit:
    """One group for each event, behind those that are there."""

    def is_ours(group: Any) -> bool:
        hooks = group.get("hooks") if isinstance(group, dict) else None
        return (
            isinstance(hooks, list)
            and bool(hooks)
            and all(_is_our_hook(hook, client, program) for hook in hooks)
        )

    def add(text: str) -> str:
        for event, group in groups.items():
            text = append_item(text, ("hooks", event), group)
        return text

    def remove(text: str) -> str:
        hooks = get_value(text, ("hooks",))
        cleaned = text
        for event in hooks if isinstance(hooks, dict) else ():
            shorter = remove_items(cleaned, ("hooks", event), is_ours)
            if shorter != cleaned:
                cleaned = _without_empty(shorter, ("hooks", event))
        return text if cleaned == text else _without_empty(cleaned, ("hooks",))

    def is_there(text: str) -> bool:
        return all(group in (get_value(text, ("hooks", event)) or ()) for event, group in groups.items())

    return Edit(path, f"the hooks {', '.join(groups)}", add, remove, is_there, _EMPTY_JSON)


def _is_our_hook(hook: Any, client: str, program: str) -> bool:
    """Whether a hook runs `ctxf hook CLIENT`, wherever ctxf is, or `program` is in its place."""
    if not isinstance(hook, dict) or not isinstance(hook.get("command"), str):
        return False
    words: Sequence[Any] = [hook["command"], *hook["args"]] if isinstance(hook.get("args"), list) else ()
    if not words:
        try:
            words = shlex.split(hook["command"])
        except ValueError:
            return False
    if len(words) < 3 or list(words[1:3]) != ["hook", client]:
        return False
    return words[0] == program or Path(str(words[0])).stem == "ctxf"


def _without_empty(text: str, path: tuple[str, ...]) -> str:
    """`text` without the object or array at `path` if nothing is in it."""
    return remove_member(text, path) if get_value(text, path) in ({}, []) else text


def _note(path: Path, tool: str, program: Program) -> Edit:
    return Edit(
        path,
        "a note on folded text",
        lambda text: add_note(text, tool=tool, program=shlex.quote(program.path)),
        remove_note,
        has_note,
    )
