"""`ctxf read --restore` and `ctxf hook` without the command line's machinery.

An agent starts this one command for every look-up, and importing click takes longer than all the rest of
it. So its plain form is read by hand here. Whatever is not plain (help, a mistake, another option), and
whatever fails, goes the long way, which says what there is to say. A hook is called before every tool
that writes, and must not fail by a mistake in its words.
"""

from collections.abc import Sequence
from typing import Final

__all__ = ["quick_start"]

_WITH_VALUE: Final = ("--id", "--lines", "--scope", "--archive")


def quick_start(args: Sequence[str]) -> int | None:
    """Do it and give the exit status, or do nothing and give None."""
    if args and args[0] == "hook" and not {"-h", "--help"} & {*args}:
        from ctxf.hooks.run import main  # noqa: PLC0415

        return main(args[1:])
    return _quick_read(args)


def _quick_read(args: Sequence[str]) -> int | None:
    options = _parse(args)
    if options is None:
        return None
    from ctxf.archive import Archive  # noqa: PLC0415 - nothing is imported for other commands
    from ctxf.cli.common import CommonOptions  # noqa: PLC0415
    from ctxf.cli.pipes import Output, ReaderGone  # noqa: PLC0415
    from ctxf.cli.status import Status  # noqa: PLC0415
    from ctxf.errors import CtxfError  # noqa: PLC0415
    from ctxf.lines import count_lines, parse_lines  # noqa: PLC0415

    common = CommonOptions(options.get("--archive"), options.get("--scope"), None, quiet=False, verbose=False)
    window = parse_lines(options["--lines"]) if "--lines" in options else None
    try:
        settings = common.settings()
        with Archive.open(settings.archive) as archive:
            text = archive.read(settings.scope, options["--id"])
    except (CtxfError, OSError, ValueError):
        return None
    if "--lines" in options:
        if window is None or window.first > count_lines(text):
            return None
        text = window.cut(text)
    output = Output()
    try:
        output.write(text)
        output.flush()
    except ReaderGone:
        pass
    except OSError as error:
        from ctxf.cli.app import output_failed  # noqa: PLC0415

        return output_failed(error)
    return Status.DONE


def _parse(args: Sequence[str]) -> dict[str, str] | None:
    """The options of a plain `read`: each at most once, its value behind it."""
    if "--restore" not in args or args[0] != "read":
        return None
    options: dict[str, str] = {}
    rest = iter(args[1:])
    for name in rest:
        value = "" if name == "--restore" else next(rest, None) if name in _WITH_VALUE else None
        if value is None or name in options:
            return None
        options[name] = value
    return options if "--id" in options else None
