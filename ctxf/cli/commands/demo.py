"""`ctxf demo`: fold, read and restore a bundled transcript in a temporary archive."""

import tempfile
from importlib import resources
from pathlib import Path

import click

from ctxf.archive import Archive
from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options
from ctxf.cli.files import cleaning_up_on_signals
from ctxf.cli.pipes import Output
from ctxf.cli.status import Status
from ctxf.cli.terminal import count, escape, size
from ctxf.folding.restore import restore
from ctxf.folding.results import Fold, FoldResult
from ctxf.folding.text import fold
from ctxf.protocol.scopes import DEFAULT_SCOPE

_HELP = """Fold a bundled agent transcript, read a block back, restore it, compare.

Works in a temporary archive and leaves nothing behind.

\b
Example:
  ctxf demo
"""

_SCOPE = DEFAULT_SCOPE  # in an archive of its own
_SHOWN_LINES = 6


@click.command("demo", help=_HELP)
@common_options
def command(*, common: CommonOptions) -> int:
    """See _HELP."""
    del common  # the demo has an archive and a scope of its own
    original = resources.files("ctxf").joinpath("cli/demo.md").read_bytes()
    output = Output()
    with (
        cleaning_up_on_signals(),
        tempfile.TemporaryDirectory(prefix="ctxf-demo-") as directory,
        Archive.open(Path(directory) / "archive.db") as archive,
    ):
        result = fold(original, archive, scope=_SCOPE)
        is_exact = restore(result.text, archive, scope=_SCOPE).text == original
        for line in _story(original, result, archive, is_exact):
            output.write(line.encode() + b"\n")
    output.flush()
    return Status.DONE if is_exact else Status.DAMAGED


def _story(original: bytes, result: FoldResult[bytes], archive: Archive, is_exact: bool) -> list[str]:
    largest = max(result.folds, key=lambda fold: fold.size)
    body = archive.read(_SCOPE, largest.id)
    return [
        f"An agent's notes on a flaky test: {size(len(original))} in {_lines(original)}.",
        "It wrote its conclusions in the open and marked the rest:",
        "",
        *_excerpt(original, largest),
        "",
        "$ ctxf < notes.md > folded.md",
        f"ctxf: {count(len(result.folds), 'block')} folded, {len(result.kept)} kept; "
        f"{size(len(original))} -> {size(len(result.text))}",
        "",
        *(_fold_line(fold) for fold in result.folds),
        *(f"  line {kept.line:<4} {escape(kept.label)}: kept, {kept.detail}" for kept in result.kept),
        "",
        "The same place in folded.md, which is what the model sees from now on:",
        "",
        *_excerpt(result.text, largest),
        "",
        f"$ ctxf read --id {largest.id} --restore",
        *_first_lines(body),
        "",
        "$ ctxf restore folded.md | cmp - notes.md",
        "Every byte is back." if is_exact else "NOT the same bytes: please report this.",
        "",
        f"Saves about {result.tokens_saved:,} tokens (estimated) in every request that carries these notes.",
    ]


def _fold_line(fold: Fold) -> str:
    inner = f", with {count(len(fold.inner), 'block')} inside" if fold.inner else ""
    return f"  line {fold.line:<4} {escape(fold.label)}: {size(fold.size)} -> [[cf:v2:{fold.id}]]{inner}"


def _excerpt(text: bytes, fold: Fold) -> list[str]:
    """The block in `text`: its markers and the beginning of what stands between them."""
    label = fold.label.encode()
    start = text.index(b"<!-- @context-fold begin " + label)
    end = text.index(b"<!-- @context-fold end " + label, start)
    begin_line, _, body = text[start:end].partition(b"\n")
    closing = text[end:].partition(b"\n")[0]
    return [f"    {begin_line.decode()}", *_first_lines(body), f"    {closing.decode()}"]


def _first_lines(body: bytes) -> list[str]:
    lines = body.removesuffix(b"\n").split(b"\n")
    shown = [f"    {escape(line.decode())}" for line in lines[:_SHOWN_LINES]]
    rest = len(lines) - _SHOWN_LINES
    return [*shown, f"    ... ({count(rest, 'more line')})"] if rest > 0 else shown


def _lines(text: bytes) -> str:
    return count(text.count(b"\n"), "line")
