"""What an agent's shell has to type to run this very ctxf."""

import os
import shlex
import sys
from typing import Final

__all__ = ["own_command"]

_COMMON: Final = ("/usr/local/bin", "/opt/homebrew/bin", "~/.local/bin")


def own_command() -> str:
    """`ctxf` where that is found in a common place, else the path of the one that runs, quoted for a shell.

    Our PATH is not searched: Codex runs a login shell, which sets its own, and a virtual environment is in
    PATH only while it is active.
    """
    folders = (*os.defpath.split(os.pathsep), *map(os.path.expanduser, _COMMON))
    if any(os.access(os.path.join(folder, "ctxf"), os.X_OK) for folder in folders):
        return "ctxf"
    beside = os.path.join(os.path.dirname(sys.executable), "ctxf")
    if os.access(beside, os.X_OK):
        return shlex.quote(beside)
    return f"{shlex.quote(sys.executable)} -m ctxf"
