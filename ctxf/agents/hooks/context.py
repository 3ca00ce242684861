"""What both kinds of hook need to know: the options, the settings, and how the agent's shell reads a body."""

import os
import shlex
from pathlib import Path

from ctxf.agents.hooks.options import HookOptions
from ctxf.config import Loaded, check_settings
from ctxf.config.program import own_command

__all__ = ["hook_settings", "read_command", "set_scope"]


def hook_settings(options: HookOptions) -> Loaded:
    """The settings of this call; faults in the files leave the defaults, as for every hook."""
    return check_settings(
        environ=os.environ,
        cwd=_working_directory(),
        config_file=Path(options.config) if options.config else None,
        options={"archive": options.archive, "scope": options.scope},
    )


def set_scope(loaded: Loaded) -> str | None:
    """The scope that was set, if any: whoever sets CTXF_SCOPE wants everything to go there."""
    return loaded.settings.scope if loaded.sources["scope"] != "default" else None


def read_command(loaded: Loaded, options: HookOptions) -> str:
    """What the agent's shell has to type."""
    command = loaded.settings.recovery_command
    if command is None:
        command = f"{own_command()} read"
        if options.archive:
            command += f" --archive {shlex.quote(options.archive)}"
    return command


def _working_directory() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path(os.sep)
