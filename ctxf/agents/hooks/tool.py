"""Before a tool runs whose input holds a reference: put originals in its place, or deny it."""

import os
import shlex
from functools import partial
from typing import Any, Final

from ctxf.agents.hooks.context import hook_settings, read_command, set_scope
from ctxf.agents.hooks.guard import check_tool
from ctxf.agents.hooks.options import HookOptions
from ctxf.agents.hooks.shapes import verdict_answer
from ctxf.archive import Archive
from ctxf.conversations.scopes import read_secret, secret_path, session_scope

__all__ = ["answer_tool"]

# Clients wait 10 s for a hook and go on without its answer then.
_PATIENCE_SECONDS: Final = 2.0


def answer_tool(
    client: str, name: str, session: str, tool: str, tool_input: dict[str, Any], options: HookOptions
) -> dict[str, Any] | None:
    """The answer to event `name`; None where there is nothing to change. Raises CtxfError and OSError."""
    loaded = hook_settings(options)
    scope = set_scope(loaded)
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
            command=f"{read_command(loaded, options)} --scope {shlex.quote(scope)}",
        )
    return verdict_answer(client, name, verdict)
