"""Which of the packages that not everybody needs are here. None is imported to find out."""

import json
import os
import shlex
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from ctxf.errors import ExtraMissing

__all__ = ["EXTRAS", "extra_command", "extra_missing", "missing_module", "require_extra", "requirement"]

# The modules that the code of each imports by itself.
EXTRAS: Final = {"gateway": ("httpcore2", "uvicorn"), "mcp": ("mcp", "tomlkit")}

# The file that each leaves in the environment of a tool, and how it installs one again.
_TOOLS: Final[dict[str, tuple[str, ...]]] = {
    "pipx_metadata.json": ("pipx", "install", "--force"),
    "uv-receipt.toml": ("uv", "tool", "install", "--force"),
}
# A module of each extra. One that another extra brings, too, names an extra too many: that costs nothing.
_SIGNS: Final = {"gateway": "httpcore2", "languages": "tree_sitter_lua", "mcp": "mcp"}


def missing_module(extra: str) -> str | None:
    """The first module of an extra that is not installed, None where all are."""
    return next((module for module in EXTRAS[extra] if find_spec(module) is None), None)


def require_extra(extra: str) -> None:
    """Raise ExtraMissing where an extra is not whole."""
    if (module := missing_module(extra)) is not None:
        raise extra_missing(extra, module)


def extra_missing(extra: str, module: str) -> ExtraMissing:
    """The error, with the command that helps here."""
    return ExtraMissing(extra, module, extra_command(extra))


def extra_command(extra: str) -> str:
    """What to type to add an extra to this very installation, from where that came."""
    for receipt, tool in _TOOLS.items():
        if os.path.exists(os.path.join(sys.prefix, receipt)):
            # These two make their environment anew, of what is named, and keep the name for upgrades.
            extras = sorted(
                {extra, *(one for one, module in _SIGNS.items() if find_spec(module) is not None)}
            )
            return shlex.join([*tool, *requirement(_origin(), ",".join(extras))])
    pip = (sys.executable, "-m", "pip", "install")
    tool = pip if find_spec("pip") is not None else ("uv", "pip", "install", "--python", sys.executable)
    return shlex.join([*tool, *requirement(_origin(), extra)])


def requirement(origin: Mapping[str, Any], extras: str) -> tuple[str, ...]:
    """What to install: `origin` is the record of where ctxf came from (PEP 610), empty for an index."""
    name, url = f"ctxf[{extras}]", str(origin.get("url", ""))
    if not url:
        return (name,)
    if "dir_info" in origin:
        folder = f"{unquote(urlsplit(url).path)}[{extras}]"
        return ("-e", folder) if origin["dir_info"].get("editable") else (folder,)
    if "vcs_info" in origin:
        vcs = origin["vcs_info"]
        return (f"{name} @ {vcs['vcs']}+{url}@{vcs['commit_id']}",)
    return (f"{name} @ {url}",)


def _origin() -> dict[str, Any]:
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 - for a message

    try:
        record = json.loads(distribution("ctxf").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}
