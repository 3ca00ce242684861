"""`ctxf fold` without click: for `ctxf.cli.quick`, which has parsed the options."""

from collections.abc import Mapping

from ctxf.cli.common import CommonOptions, scope_capacity
from ctxf.cli.folding import FoldJob, settle
from ctxf.cli.language import AUTO, SharedParser
from ctxf.cli.outcome import exit_status
from ctxf.cli.pipes import is_terminal
from ctxf.cli.status import worst
from ctxf.protocol.scopes import is_scope

__all__ = ["fold"]


def fold(options: Mapping[str, str]) -> int | None:
    """`ctxf fold` with these options; None where click has to report what is wrong with them."""
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
