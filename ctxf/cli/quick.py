"""The commands that pipes and agents start most often, run without click.

To import click and the commands' definitions takes 15 to 33 ms. Whole processes, measured without and with:
`ctxf` on text without markers 37 and 64 ms, with one block 60 and 75 ms, `ctxf read --id ID --restore`
47 and 65 ms, `ctxf hook` for a tool's input without references 22 and 55 ms. So the arguments of these
commands are parsed here if they are simple. For all others (help, a usage error, another option) the result
is None, and `ctxf.cli.app` handles them; also when `read` fails, since the error is reported there. `ctxf
hook` always runs here, because a usage error of click has an exit status that would stop the agent's tool.
"""

import os
from collections.abc import Sequence
from typing import Final

__all__ = ["quick_start"]

_WITH_VALUE: Final = ("--id", "--lines", "--scope", "--archive")
_FLAGS: Final = ("--restore", "--quiet", "-q")
_ONLY_FOR_READ: Final = ("--id", "--lines", "--restore")


def quick_start(args: Sequence[str]) -> int | None:
    """Run the command and return its exit status, or do nothing and return None."""
    if "_CTXF_COMPLETE" in os.environ:
        return None  # a shell asks for completions
    if args and args[0] == "hook" and not {"-h", "--help"} & {*args}:
        from ctxf.agents.hooks.run import main  # noqa: PLC0415

        return main(args[1:])
    if args and args[0] == "read":
        options = _parse(args[1:])
        if options is None or "--id" not in options or "--restore" not in options or "FILE" in options:
            return None
        from ctxf.cli.quick_read import read  # noqa: PLC0415 - a hook without it takes 22 ms, not 47 ms

        return read(options)
    options = _parse(args[1:] if args and args[0] == "fold" else args)
    if options is None or any(name in options for name in _ONLY_FOR_READ):
        return None
    if "FILE" in options and args[0] != "fold":
        return None  # a command, or a mistake
    from ctxf.cli.quick_fold import fold  # noqa: PLC0415 - a hook without it takes 22 ms, not 37 ms

    return fold(options)


def _parse(args: Sequence[str]) -> dict[str, str] | None:
    """The options and the FILE by name; None where they are not simple: unknown, repeated, `--name=value`."""
    options: dict[str, str] = {}
    rest = iter(args)
    for name in rest:
        value: str | None
        if name in _WITH_VALUE:
            value = next(rest, None)
        elif name in _FLAGS:
            value = ""
        elif name == "-" or not name.startswith("-"):
            name, value = "FILE", name
        else:
            return None
        if value is None or name in options:
            return None
        options[name] = value
    return options
