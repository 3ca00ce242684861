"""The commands that a pipe or an agent starts all the time, without the command line's machinery.

Importing click takes longer than all the rest of them. So the plain forms of `ctxf [fold]` and of
`ctxf read --restore` are read by hand here. Whatever is not plain (help, a mistake, another option) goes
the long way, and so does a `read` that fails: it says what there is to say. A hook is called before every
tool that writes, and must not fail by a mistake in its words.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Final

__all__ = ["quick_start"]

_WITH_VALUE: Final = ("--id", "--lines", "--scope", "--archive")
_FLAGS: Final = ("--restore", "--quiet", "-q")
_ONLY_FOR_READ: Final = ("--id", "--lines", "--restore")


def quick_start(args: Sequence[str]) -> int | None:
    """Do it and give the exit status, or do nothing and give None."""
    if "_CTXF_COMPLETE" in os.environ:
        return None  # a shell asks for completions
    if args and args[0] == "hook" and not {"-h", "--help"} & {*args}:
        from ctxf.agents.hooks.run import main  # noqa: PLC0415

        return main(args[1:])
    if args and args[0] == "read":
        options = _parse(args[1:])
        if options is None or "--id" not in options or "--restore" not in options or "FILE" in options:
            return None
        return _read(options)
    options = _parse(args[1:] if args and args[0] == "fold" else args)
    if options is None or any(name in options for name in _ONLY_FOR_READ):
        return None
    if "FILE" in options and args[0] != "fold":
        return None  # a command, or a mistake
    return _fold(options)


def _parse(args: Sequence[str]) -> dict[str, str] | None:
    """The options, each at most once, its value behind it, and the FILE."""
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


def _fold(options: Mapping[str, str]) -> int | None:
    from ctxf.cli.common import CommonOptions, scope_capacity  # noqa: PLC0415 - only for this command
    from ctxf.cli.folding import FoldJob, settle  # noqa: PLC0415
    from ctxf.cli.language import AUTO, SharedParser  # noqa: PLC0415
    from ctxf.cli.outcome import exit_status  # noqa: PLC0415
    from ctxf.cli.pipes import is_terminal  # noqa: PLC0415
    from ctxf.cli.status import worst  # noqa: PLC0415
    from ctxf.protocol.scopes import is_scope  # noqa: PLC0415

    file = options.get("FILE")
    if (file is None and is_terminal(0)) or not is_scope(options.get("--scope", "default")):
        return None
    quiet = "--quiet" in options or "-q" in options
    common = CommonOptions(options.get("--archive"), options.get("--scope"), None, quiet, verbose=False)

    def work() -> int:
        settings, archive, status = settle(common)
        with archive, SharedParser() as parser:
            room = scope_capacity(settings.scope, settings, None)
            job = FoldJob(common, settings, archive, room, AUTO, parser)
            return worst(status, job.fold_to_stdout(file))

    return exit_status(work)


def _read(options: Mapping[str, str]) -> int | None:
    from ctxf.archive import Archive  # noqa: PLC0415 - only for this command
    from ctxf.archive.lines import count_lines, parse_lines  # noqa: PLC0415
    from ctxf.cli.common import CommonOptions  # noqa: PLC0415
    from ctxf.cli.outcome import exit_status  # noqa: PLC0415
    from ctxf.cli.pipes import Output  # noqa: PLC0415
    from ctxf.cli.status import Status  # noqa: PLC0415
    from ctxf.errors import CtxfError  # noqa: PLC0415

    common = CommonOptions(options.get("--archive"), options.get("--scope"), None, quiet=False, verbose=False)
    lines = parse_lines(options["--lines"]) if "--lines" in options else None
    try:
        settings = common.settings()
        with Archive.open(settings.archive) as archive:
            text = archive.read(settings.scope, options["--id"])
    except (CtxfError, OSError, ValueError):
        return None
    if "--lines" in options:
        if lines is None or lines.first > count_lines(text):
            return None
        text = lines.cut(text)

    def work() -> int:
        output = Output()
        output.write(text)
        output.flush()
        return Status.DONE

    return exit_status(work)
