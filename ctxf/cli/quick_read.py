"""`ctxf read --restore` without click: for `ctxf.cli.quick`, which has parsed the options."""

from collections.abc import Mapping

from ctxf.archive import Archive
from ctxf.archive.lines import count_lines, parse_lines
from ctxf.cli.common import CommonOptions
from ctxf.cli.outcome import exit_status
from ctxf.cli.pipes import Output
from ctxf.cli.status import Status
from ctxf.errors import CtxfError

__all__ = ["read"]


def read(options: Mapping[str, str]) -> int | None:
    """`ctxf read --restore` with these options; None where it fails, for the full command to say why."""
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
