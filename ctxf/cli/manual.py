"""`python -m ctxf.cli.manual`: the manual page of ctxf, for man(1), made of what `--help` says.

What it prints is docs/ctxf.1, which a wheel installs as share/man/man1/ctxf.1.
"""

import re
import sys
from collections.abc import Iterator
from typing import Final

import click

from ctxf import __version__
from ctxf.cli.app import app

__all__ = ["manual"]

_STATUSES: Final = (
    ("0", "Done: folded, or nothing to fold."),
    ("1", "Not found, unresolved, nothing matched."),
    ("2", "Wrong usage."),
    ("65", "Damaged data."),
    ("74", "Input could not be read, or output not written."),
    ("75", "Text went through unfolded: something could not be stored or parsed."),
    ("78", "A fault in the configuration, or an extra that is not installed."),
)
_VARIABLES: Final = (
    ("CTXF_ARCHIVE", "The archive's file."),
    ("CTXF_HOME", "The directory of the archive, where no file is named."),
    ("CTXF_SCOPE", "The scope to work in."),
    ("CTXF_CONFIG", "A file to read instead of the user's configuration."),
    ("NO_COLOR", "No colours, whatever the terminal."),
)
_FILES: Final = (
    ("~/.local/share/ctxf/archive.db", "The archive, where nothing else is said."),
    ("~/.config/context-folding/config.toml", "The user's configuration."),
    (".context-folding.toml", "The configuration of a project."),
)
# What click says of the numbers that an option takes.
_RANGE: Final = re.compile(r"\s*\[[^]]*x[<>]=?[^]]*\]$")
_ESCAPES: Final = str.maketrans(
    {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}
)


def manual() -> str:
    """The page in the macros of man(7)."""
    return "".join(f"{line}\n" for line in _page())


def _page() -> Iterator[str]:
    yield f'.TH CTXF 1 "" "ctxf {__version__}" "User Commands"'
    yield from (".SH NAME", _text("ctxf - fold long context into a durable archive, and get every byte back"))
    yield from (".SH SYNOPSIS", r"\fBctxf\fR [\fICOMMAND\fR] [\fIOPTION\fR]... [\fIARGUMENT\fR]...")
    yield ".SH DESCRIPTION"
    with click.Context(app, info_name="ctxf") as root:
        yield from _help(app)
        yield ".SH OPTIONS OF ALL COMMANDS"
        common = _common(root)
        yield from _options(common, root)
        yield from (".TP", rf"\fB{_text('-h, --help')}\fR", "What a command does, and its options.")
        yield ".SH COMMANDS"
        for name in app.list_commands(root):
            yield from _command(name, root, {parameter.name for parameter in common})
    for heading, rows in (("EXIT STATUS", _STATUSES), ("ENVIRONMENT", _VARIABLES), ("FILES", _FILES)):
        yield f".SH {heading}"
        for term, text in rows:
            yield from (".TP", rf"\fB{_text(term)}\fR", _text(text))


def _common(root: click.Context) -> list[click.Parameter]:
    """The options that every command has: those of `guide`, which has no others."""
    guide = app.get_command(root, "guide")
    assert guide is not None
    return guide.params


def _command(name: str, parent: click.Context, common: set[str | None]) -> Iterator[str]:
    group = parent.command
    assert isinstance(group, click.Group)
    command = group.get_command(parent, name)
    assert command is not None
    with click.Context(command, parent=parent, info_name=name) as context:
        pieces = [piece for piece in command.collect_usage_pieces(context) if piece != "[OPTIONS]"]
        yield f".SS {_text(' '.join([context.command_path, *pieces]))}"
        yield from _help(command)
        yield from _options([one for one in command.params if one.name not in common], context)
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                yield from _command(inner, context, common)


def _help(command: click.Command) -> Iterator[str]:
    """The paragraphs of a help; those behind a backspace keep their lines, as click does it."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", (command.help or "").strip("\n"))):
        if number:
            yield ".PP"
        if paragraph.startswith("\b\n"):
            yield from (".nf", *map(_text, paragraph.split("\n")[1:]), ".fi")
        else:
            yield from map(_text, paragraph.split("\n"))


def _options(parameters: list[click.Parameter], context: click.Context) -> Iterator[str]:
    for parameter in parameters:
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record is not None:
            yield from (".TP", rf"\fB{_text(record[0])}\fR", _text(_RANGE.sub("", record[1])))


def _text(line: str) -> str:
    """Text as roff takes it: no escape, no macro, and characters that can be copied from the page."""
    escaped = line.translate(_ESCAPES)
    return rf"\&{escaped}" if escaped.startswith(".") else escaped


if __name__ == "__main__":
    sys.stdout.write(manual())
