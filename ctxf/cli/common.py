"""What every command has in common: where it works, and with which settings."""

import os
from pathlib import Path
from typing import NamedTuple

from ctxf.config import Loaded, Settings, check_settings
from ctxf.protocol.scopes import is_conversation_scope

__all__ = ["CommonOptions", "scope_capacity"]


class CommonOptions(NamedTuple):
    """The options that every command takes, as they were typed."""

    archive: str | None
    scope: str | None
    config: str | None
    quiet: bool
    verbose: bool

    def settings(self, **options: object) -> Settings:
        """The settings that hold here; `options` are more fields of Settings. Raises ConfigError."""
        loaded = self.check(**options)
        if loaded.errors:
            raise loaded.errors[0]
        return loaded.settings

    def check(self, **options: object) -> Loaded:
        """The same with where each was set, and everything that is wrong collected."""
        return check_settings(
            environ=os.environ,
            cwd=_working_directory(),
            config_file=Path(self.config) if self.config else None,
            options={"archive": self.archive, "scope": self.scope, **options},
        )


def scope_capacity(scope: str, settings: Settings, capacity: int | None) -> int | None:
    """How many bytes the scope may hold: what was asked for, else the limit of a conversation's scope."""
    if capacity is None and is_conversation_scope(scope):
        return settings.max_session_bytes
    return capacity


def _working_directory() -> Path:
    """Where we are; the root where that directory is gone: no project's file is there either."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path(os.sep)
