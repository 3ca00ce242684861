"""When a session starts: tell the model how to fold, how to read back, and in which scope."""

import os
from typing import Any

from ctxf.agents.hooks.context import hook_settings, read_command, set_scope
from ctxf.agents.hooks.options import HookOptions
from ctxf.agents.hooks.shapes import READ_TOOLS, context_answer
from ctxf.conversations.guidance import Recovery, guidance, recovery_phrases
from ctxf.conversations.scopes import install_secret, secret_path, session_scope

__all__ = ["answer_start"]


def answer_start(
    client: str, name: str, session: str, source: object, options: HookOptions
) -> dict[str, Any] | None:
    """The answer to event `name`; None where folding is switched off. Raises CtxfError and OSError."""
    loaded = hook_settings(options)
    if not loaded.settings.enabled:
        return None
    scope = set_scope(loaded) or session_scope(install_secret(secret_path(os.environ)), client, session)
    recovery = Recovery(read_command(loaded, options), read_tools=(READ_TOOLS[client],))
    if source == "resume":  # the whole guidance is in the conversation already
        phrase = recovery_phrases(scope, recovery)[0]
        text = (
            f"ctxf: the scope of this session is {scope}. `{phrase} ID --restore` reads a folded text back.\n"
        )
    else:
        text = guidance(scope, recovery)
    return context_answer(name, text)
