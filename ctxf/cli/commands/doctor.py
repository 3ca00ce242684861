"""`ctxf doctor`: checks the installation, and says how to mend what is wrong."""

import os
import platform
import shutil
import stat
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import click

from ctxf.archive import Archive
from ctxf.archive.sqlite import SQLITE_VERSION
from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.extras import EXTRAS, extra_command, missing_module
from ctxf.cli.jsons import dump
from ctxf.cli.pipes import Output
from ctxf.cli.status import Status
from ctxf.cli.terminal import escape, size
from ctxf.config import Loaded
from ctxf.errors import ArchiveError, ArchiveMissing
from ctxf.protocol.languages import LANGUAGES
from ctxf.storage.files import file_problem

_HELP = """Check this installation, its archive and its configuration.

With CLIENT (claude, codex or gemini) check its set-up instead. Changes nothing.
Exit status 1 when something is wrong; each problem comes with the next step.

\b
Examples:
  ctxf doctor
  ctxf doctor claude
  ctxf doctor --json
"""

_LITTLE_SPACE = 100_000_000
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Finding(NamedTuple):
    """One thing looked at; `next_step` is empty where all is well."""

    name: str
    value: str
    next_step: str = ""


@click.command("doctor", help=_HELP)
@click.argument("client", required=False, type=click.Choice(["claude", "codex", "gemini"]))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each finding.")
@common_options
def command(*, common: CommonOptions, client: str | None, as_json: bool) -> int:
    """See _HELP."""
    if client is not None:
        # Imported here because `ctxf doctor` without CLIENT would take 108 ms, not 98 ms.
        from ctxf.agents.setup.findings import client_findings  # noqa: PLC0415

        findings = [Finding(one.name, one.value, one.next_step) for one in client_findings(client)]
    else:
        loaded = common.check()
        with Archive.open(loaded.settings.archive) as archive:
            findings = [*_versions(), *_extras(), *_archive_findings(archive), *_configuration(loaded)]
    output = Output()
    for finding in findings:
        if as_json:
            output.write(dump({**finding._asdict(), "ok": not finding.next_step}))
        else:
            mark = "!!" if finding.next_step else "ok"
            output.write(f"{mark}  {finding.name:14} {escape(finding.value)}\n".encode())
            if finding.next_step:
                output.write(f"    -> {escape(finding.next_step)}\n".encode())
    output.flush()
    return Status.NOT_FOUND if any(finding.next_step for finding in findings) else Status.DONE


def _versions() -> Iterator[Finding]:
    yield Finding("ctxf", version("ctxf"))
    yield Finding("Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    yield Finding("SQLite", SQLITE_VERSION)


def _extras() -> Iterator[Finding]:
    """Each extra; one that is not there is a choice, not a fault."""
    lacking = {extra: missing_module(extra) for extra in EXTRAS}
    wheels = {language.wheel for language in LANGUAGES if language.wheel}
    absent = [wheel for wheel in wheels if find_spec(wheel.replace("-", "_")) is None]
    lacking["languages"] = f"{len(absent)} of {len(wheels)} grammars" if absent else None
    for extra, what in lacking.items():
        state = "installed" if what is None else f"lacks {what} (run: {extra_command(extra)})"
        yield Finding(extra, state)


def _archive_findings(archive: Archive) -> Iterator[Finding]:
    path = Path(archive.path)
    yield Finding("archive", str(path))
    directory = next(parent for parent in (path.parent, *path.parents) if os.path.exists(parent))
    yield _free_space(directory)
    try:
        facts = archive.facts()
    except ArchiveMissing:
        if os.access(directory, os.W_OK):
            yield Finding("archive state", "not there yet; the first fold makes it")
        else:
            yield Finding(
                "archive state",
                f"not there, and {directory} cannot be written",
                "name another place with CTXF_ARCHIVE",
            )
        return
    except ArchiveError as error:
        yield Finding("archive state", error.problem, error.hint or "see the message")
        return
    yield from _file_findings(path)
    read_only = facts.get("read-only", "")
    yield Finding("schema", facts["schema"])
    yield Finding(
        "journal",
        facts["journal"],
        ""
        if facts["journal"] == "wal" or read_only
        else "move the archive to a local disk: WAL is not possible here",
    )
    if read_only:
        yield Finding("writable", read_only, "folding needs a writable archive; CTXF_ARCHIVE names another")


def _free_space(directory: Path) -> Finding:
    free = shutil.disk_usage(directory).free
    return Finding(
        "free disk",
        size(free),
        "" if free > _LITTLE_SPACE else "free some space: folds need it, reads do not",
    )


def _file_findings(path: Path) -> Iterator[Finding]:
    if file_problem(path):
        return
    status = path.stat()
    wal = Path(f"{path}-wal")
    wal_size = wal.stat().st_size if wal.exists() else 0
    yield Finding("size", f"{size(status.st_size)}, write-ahead log {size(wal_size)}")
    yield _mode_finding("file mode", path, "600")
    yield _mode_finding("folder mode", path.parent, "700")


def _mode_finding(name: str, path: Path, wanted: str) -> Finding:
    mode = stat.S_IMODE(path.stat().st_mode)
    # A directory that others may list or enter is common, one that they may write is a hole.
    exposed = mode & (_OTHERS if path.is_file() else stat.S_IWGRP | stat.S_IWOTH) and not mode & stat.S_ISVTX
    return Finding(name, f"{mode:o}", f"run: chmod {wanted} {path}" if exposed else "")


def _configuration(loaded: Loaded) -> Iterator[Finding]:
    for file in loaded.files:
        fields = [name for name, source in loaded.sources.items() if source.startswith(f"{file.path}:")]
        state = f"sets {', '.join(fields)}" if fields else "sets nothing" if file.found else "not there"
        yield Finding("configuration", f"{file.path}: {state}")
    for name, source in loaded.sources.items():
        if source.startswith("environment"):
            yield Finding("configuration", f"{source} sets {name}")
    for error in loaded.errors:
        yield Finding("configuration", str(error), "correct it; `ctxf config check` shows when it is right")
    if not loaded.settings.enabled:
        yield Finding(
            "folding", "switched off by the configuration", "set folding.enabled = true to fold again"
        )
