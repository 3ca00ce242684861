"""`ctxf hook CLIENT`: one JSON object on stdin, one or none on stdout, and always exit status 0.

To a client another status may mean "block", and words on stdout are shown to the model. So whatever goes
wrong is one line on stderr, and the client goes on as if there were no hook.
"""

import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ctxf.agents.hooks.shapes import (
    CLIENTS,
    OTHER_NAMES,
    READ_TOOLS,
    START_EVENTS,
    TOOL_EVENTS,
    context_answer,
    verdict_answer,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ctxf.config import Loaded

__all__ = ["HookOptions", "main", "run_hook"]

_WITH_VALUE: Final = ("--archive", "--scope", "--config")

# Clients wait 10 s for a hook and go on without its answer then.
_PATIENCE_SECONDS: Final = 2.0


class HookOptions(NamedTuple):
    """The options of the command, as they were typed."""

    archive: str | None = None
    scope: str | None = None
    config: str | None = None


def main(args: "Sequence[str]") -> int:
    """Run with the words behind `ctxf hook`; 0 whatever happens."""
    words = iter(args)
    options: dict[str, str] = {}
    client = ""
    for word in words:
        if word in _WITH_VALUE:
            options[word.removeprefix("--")] = next(words, "")
        elif not word.startswith("-"):
            client = word
    return run_hook(client, HookOptions(**options))


def run_hook(client: str, options: HookOptions) -> int:
    """Answer what stands on stdin; 0 whatever happens."""
    answer = None
    client = OTHER_NAMES.get(client, client)
    if client not in CLIENTS:
        _complain(f"{client!r} is no client; use {', '.join(CLIENTS)}")
        return 0
    try:
        answer = _answer(client, json.loads(_stdin()), options)
    except OSError as error:
        _complain(f"{error.filename or 'stdin'}: {error.strerror}")
    except BaseException as error:  # a hook must never stand in its client's way
        _complain(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
    try:
        if answer is not None:
            sys.stdout.flush()
            data = memoryview(json.dumps(answer).encode("ascii") + b"\n")
            while data:
                data = data[os.write(1, data) :]
    except BaseException as error:
        _complain(str(error))
    return 0


def _answer(client: str, event: Any, options: HookOptions) -> dict[str, Any] | None:
    if not isinstance(event, dict):
        raise ValueError("what came in is no JSON object")
    name, session = event.get("hook_event_name"), event.get("session_id")
    if not isinstance(name, str) or not isinstance(session, str) or not session:
        return None
    if name in START_EVENTS:
        return _start(client, name, session, event.get("source"), _settings(options), options)
    if name not in TOOL_EVENTS:
        return None
    tool, tool_input = event.get("tool_name"), event.get("tool_input")
    # Most calls of tools end here, before anything is imported.
    if not isinstance(tool, str) or not isinstance(tool_input, dict) or not _holds_reference(tool_input):
        return None
    return _tool(client, name, session, tool, tool_input, _settings(options), options)


def _holds_reference(tool_input: dict[str, Any]) -> bool:
    return "[[cf:v2:" in json.dumps(tool_input, ensure_ascii=False)


def _settings(options: HookOptions) -> "Loaded":
    from pathlib import Path  # noqa: PLC0415 - not for nothing

    from ctxf.config import check_settings  # noqa: PLC0415

    return check_settings(
        environ=os.environ,
        cwd=_working_directory(),
        config_file=Path(options.config) if options.config else None,
        options={"archive": options.archive, "scope": options.scope},
    )


def _start(
    client: str, name: str, session: str, source: object, loaded: "Loaded", options: HookOptions
) -> dict[str, Any] | None:
    if not loaded.settings.enabled:
        return None
    from ctxf.conversations.guidance import Recovery, guidance, recovery_phrases  # noqa: PLC0415 - not for the guard
    from ctxf.conversations.scopes import install_secret, secret_path, session_scope  # noqa: PLC0415

    scope = _set_scope(loaded) or session_scope(install_secret(secret_path(os.environ)), client, session)
    recovery = Recovery(_read_command(loaded, options), read_tools=(READ_TOOLS[client],))
    if source == "resume":  # the whole guidance is in the conversation already
        phrase = recovery_phrases(scope, recovery)[0]
        text = (
            f"ctxf: the scope of this session is {scope}. `{phrase} ID --restore` reads a folded text back.\n"
        )
    else:
        text = guidance(scope, recovery)
    return context_answer(name, text)


def _tool(
    client: str,
    name: str,
    session: str,
    tool: str,
    tool_input: dict[str, Any],
    loaded: "Loaded",
    options: HookOptions,
) -> dict[str, Any] | None:
    import shlex  # noqa: PLC0415
    from functools import partial  # noqa: PLC0415

    from ctxf.agents.hooks.guard import check_tool  # noqa: PLC0415
    from ctxf.archive import Archive  # noqa: PLC0415
    from ctxf.conversations.scopes import read_secret, secret_path, session_scope  # noqa: PLC0415

    scope = _set_scope(loaded)
    if scope is None:
        secret = read_secret(secret_path(os.environ))
        if secret is None:
            return None  # no conversation ever had a scope here
        scope = session_scope(secret, client, session)
    with Archive.open(loaded.settings.archive, patience=_PATIENCE_SECONDS) as archive:
        verdict = check_tool(
            client,
            tool,
            tool_input,
            partial(archive.lookup, scope),
            partial(archive.read, scope),
            command=f"{_read_command(loaded, options)} --scope {shlex.quote(scope)}",
        )
    return verdict_answer(client, name, verdict)


def _set_scope(loaded: "Loaded") -> str | None:
    """The scope that was set, if any: whoever sets CTXF_SCOPE wants everything to go there."""
    return loaded.settings.scope if loaded.sources["scope"] != "default" else None


def _read_command(loaded: "Loaded", options: HookOptions) -> str:
    """What the agent's shell has to type."""
    import shlex  # noqa: PLC0415

    from ctxf.config.program import own_command  # noqa: PLC0415

    command = loaded.settings.recovery_command
    if command is None:
        command = f"{own_command()} read"
        if options.archive:
            command += f" --archive {shlex.quote(options.archive)}"
    return command


def _working_directory() -> "Path":
    from pathlib import Path  # noqa: PLC0415

    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path(os.sep)


def _stdin() -> bytes:
    pieces = []
    while piece := os.read(0, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def _complain(message: str) -> None:
    with contextlib.suppress(BaseException):  # nobody is there to be told
        os.write(2, f"ctxf hook: {message}\n".encode("ascii", "backslashreplace"))
