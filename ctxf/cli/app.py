"""The `ctxf` command: finds the subcommand, and turns every error into a message and a status."""

import importlib
import io
import os
import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Final

import click

from ctxf.cli.outcome import exit_status
from ctxf.cli.status import Status
from ctxf.cli.terminal import escape, give_up

__all__ = ["app", "run"]

# Each command is a module with a `command`, imported when it is called: with all of them imported `ctxf list`
# takes 155 ms, not 66 ms.
_COMMANDS: Final = {
    "fold": "Fold the marked blocks of text: store them, put references in their place.",
    "restore": "Put the exact original in place of every reference.",
    "read": "Print one archived body.",
    "project": "Print the one function of a source that a question names; archive the rest.",
    "run": "Run an agent with its requests folded on their way.",
    "gateway": "Serve a local gateway that folds requests on their way.",
    "request": "Fold or restore a chat request, the JSON that goes to a model's API.",
    "languages": "List the languages whose comments can hold markers.",
    "grep": "Find lines in archived bodies.",
    "list": "List what is archived in a scope.",
    "stats": "Show how much is archived, and what it saves.",
    "verify": "Check that every archived byte is as it was written.",
    "forget": "Remove folds for good.",
    "backup": "Copy the archive while it is in use.",
    "export": "Pack a scope into a portable file.",
    "import": "Take over a package of `ctxf export`.",
    "guide": "Print the instruction that an agent needs.",
    "setup": "Enter ctxf into the configuration of an agent.",
    "mcp": "Serve the archive to an agent.",
    "hook": "Answer a hook of an agent.",
    "config": "Show or check the configuration.",
    "completion": "Print what teaches a shell to complete.",
    "demo": "Run the whole story on a bundled transcript.",
    "doctor": "Check this installation, its archive and its configuration.",
}
_DEFAULT_COMMAND: Final = "fold"
_IN_TWO_WORDS: Final = ("config", "request")
# Options that may stand before the command's name too, with the number of their values.
_COMMON_OPTIONS: Final = {
    "--archive": 1,
    "--scope": 1,
    "--config": 1,
    "-q": 0,
    "--quiet": 0,
    "-v": 0,
    "--verbose": 0,
}
_COMMON_FLAGS: Final = re.compile("-[qv]{2,}")

_HELP = """Fold long context into a durable archive, and get every byte back.

Without a command, folds stdin to stdout.

\b
Examples:
  ctxf < notes.md > folded.md
  ctxf restore folded.md | cmp - notes.md
  ctxf read --id 4db3a91c6e2f --restore
"""


class _Commands(click.Group):
    """Commands that are imported when they are called, `fold` where none is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = importlib.import_module(f"ctxf.cli.commands.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _with_command(args, is_completion=ctx.resilient_parsing))


def _with_command(args: list[str], *, is_completion: bool) -> list[str]:
    """Move common options behind the command's name; name `fold` where no command is named.

    A command line that is to be completed may yet name one.
    """
    head = 0
    while head < len(args):
        name, has_value, _value = args[head].partition("=")
        if name in _COMMON_OPTIONS:
            head += 1 if has_value else 1 + _COMMON_OPTIONS[name]
        elif _COMMON_FLAGS.fullmatch(name):
            head += 1
        else:
            break
    common, rest = args[:head], args[head:]
    if is_completion and not rest:
        return []
    if rest and not is_completion:
        _check_first_word(rest[0])
    if rest == ["help"] and not os.path.lexists("help"):
        return ["--help"]
    if rest and (rest[0] in _COMMANDS or (rest[0] in ("--help", "-h", "--version") and not common)):
        words = 2 if rest[0] in _IN_TWO_WORDS and rest[1:] and not rest[1].startswith("-") else 1
        return [*rest[:words], *common, *rest[words:]]
    return [_DEFAULT_COMMAND, *common, *rest]


def _check_first_word(word: str) -> None:
    """A mistyped command would be taken for a file that is not there."""
    if word in _COMMANDS or word == "help" or word.startswith("-") or os.path.lexists(word):
        return
    if meant := get_close_matches(word, _COMMANDS, 1, 0.7):
        raise click.UsageError(f"No file and no command is called {word!r}. Did you mean {meant[0]!r}?")


@click.command(cls=_Commands, help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ctxf", message="%(prog)s %(version)s")
@click.pass_context
def app(ctx: click.Context) -> None:
    """See _HELP."""
    if os.environ.get("NO_COLOR"):
        ctx.color = False  # click does not know the variable


def run(args: Sequence[str]) -> int:
    """Run the command line; the exit status. Nothing but SystemExit and a crash of Python itself gets out."""
    return exit_status(lambda: _run_command(args))


def _run_command(args: Sequence[str]) -> int:
    try:
        result: Any = app.main(args=list(args), prog_name="ctxf", standalone_mode=False)
        return int(result or 0)
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.ClickException as error:
        _show_usage_error(error)
        return Status.USAGE
    except click.Abort:
        return Status.INTERRUPTED


def _show_usage_error(error: click.ClickException) -> None:
    """As click does, but with control characters of the arguments escaped."""
    shown = io.StringIO()
    error.show(file=shown)
    try:
        print("\n".join(map(escape, shown.getvalue().expandtabs(4).split("\n"))), end="", file=sys.stderr)
    except OSError:
        give_up(2)
