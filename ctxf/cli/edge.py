"""What every command has in common: its options, its settings, its archive."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from ctxf.config import Loaded, Settings, check_settings
from ctxf.protocol.scopes import is_conversation_scope, is_scope

__all__ = ["CommonOptions", "common_options", "scope_capacity"]

_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class CommonOptions:
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


def _working_directory() -> Path:
    """Where we are; the root where that directory is gone: no project's file is there either."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path(os.sep)


def _checked_scope(_ctx: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    if value is not None and not is_scope(value):
        raise click.BadParameter("use 1 to 256 printable ASCII characters without blanks")
    return value


def common_options(function: _F) -> _F:
    """Add --archive, --scope, --config, -q and -v; the command gets them as `common`."""

    def collect(
        *args: Any,
        archive: str | None,
        scope: str | None,
        config: str | None,
        quiet: bool,
        verbose: bool,
        **kwargs: Any,
    ) -> Any:
        return function(*args, common=CommonOptions(archive, scope, config, quiet, verbose), **kwargs)

    collect.__name__ = function.__name__
    collect.__doc__ = function.__doc__
    options = (
        click.option("--archive", metavar="PATH", help="The archive's file (CTXF_ARCHIVE)."),
        click.option(
            "--scope",
            metavar="NAME",
            callback=_checked_scope,
            help="The scope to work in (CTXF_SCOPE) [default].",
        ),
        click.option("--config", metavar="FILE", help="Read this file instead of the user's configuration."),
        click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors."),
        click.option("-v", "--verbose", is_flag=True, help="Say more."),
    )
    wrapped: Any = collect
    for option in reversed(options):
        wrapped = option(wrapped)
    # click.option keeps the parameters on the function; those of `function` come first in the help.
    wrapped.__click_params__ += getattr(function, "__click_params__", [])
    return wrapped  # type: ignore[no-any-return]


def scope_capacity(scope: str, settings: Settings, capacity: int | None) -> int | None:
    """How many bytes the scope may hold: what was asked for, else the limit of a conversation's scope."""
    if capacity is None and is_conversation_scope(scope):
        return settings.max_session_bytes
    return capacity
