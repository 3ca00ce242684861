"""The options that every command takes."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ctxf.cli.common import CommonOptions
from ctxf.protocol.scopes import is_scope

__all__ = ["common_options"]

_F = TypeVar("_F", bound=Callable[..., Any])


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
