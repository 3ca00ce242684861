"""Which of the packages that not everybody needs are here. None is imported to find out."""

from importlib.util import find_spec
from typing import Final

from ctxf.errors import ExtraMissing

__all__ = ["EXTRAS", "missing_module", "require_extra"]

# The modules that the code of each imports by itself.
EXTRAS: Final = {"gateway": ("httpcore2", "uvicorn"), "mcp": ("mcp", "tomlkit")}


def missing_module(extra: str) -> str | None:
    """The first module of an extra that is not installed, None where all are."""
    return next((module for module in EXTRAS[extra] if find_spec(module) is None), None)


def require_extra(extra: str) -> None:
    """Raise ExtraMissing where an extra is not whole."""
    if (module := missing_module(extra)) is not None:
        raise ExtraMissing(extra, module)
