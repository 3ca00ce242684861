"""The options of `ctxf hook`."""

from typing import NamedTuple

__all__ = ["HookOptions"]


class HookOptions(NamedTuple):
    """The options of the command, as they were typed."""

    archive: str | None = None
    scope: str | None = None
    config: str | None = None
