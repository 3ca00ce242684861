"""`ctxf fold`, and `ctxf` alone: text or source in, folded out."""

from pathlib import Path
from typing import NamedTuple

import click

from ctxf.archive import Archive
from ctxf.cli.common import CommonOptions
from ctxf.cli.edge import common_options, scope_capacity
from ctxf.cli.file_options import FileOptions, file_options, for_each_file
from ctxf.cli.files import read_file, write_result
from ctxf.cli.language import FIRST_LINE_BYTES, TEXT, SharedParser, fold_language
from ctxf.cli.pipes import Input, Output, is_terminal
from ctxf.cli.reports import FoldReport
from ctxf.cli.status import Status, status_of, worst
from ctxf.cli.terminal import Say, escape, say
from ctxf.config import MAX_INTEGER, Settings
from ctxf.errors import ArchiveError, ConfigError
from ctxf.folder import fold
from ctxf.protocol.fold import FoldRules
from ctxf.protocol.markers import KEYWORD
from ctxf.protocol.scan_text import find_sequence
from ctxf.results import FoldResult
from ctxf.stream import FoldStream

# How long a batch of folds waits for more input before it is stored, in seconds: long enough for a
# busy writer to fill it, short enough for a person who watches.
_LINGER_SECONDS = 0.05

_HELP = """Fold the marked blocks of FILE, or of stdin, to stdout.

A block stands between two lines `<!-- @context-fold begin LABEL -->` and
`<!-- @context-fold end LABEL -->`; in source, between two such comments of its
language. Its body is stored durably in the archive
first; only then does a reference `[[cf:v2:ID]]` take its place. Whatever cannot
be stored goes through as it came, with exit status 75.

\b
Examples:
  ctxf < notes.md > folded.md
  tail -f agent.log | ctxf fold --scope run-7
  ctxf fold module.py > folded.py
  ctxf fold --in-place --recursive src
"""


@click.command("fold", help=_HELP)
@file_options
@click.option(
    "--min-savings",
    metavar="N",
    type=click.IntRange(0, MAX_INTEGER),
    help="Fold what saves N tokens or more [256].",
)
@click.option(
    "--capacity", metavar="BYTES", type=click.IntRange(min=0), help="Let the scope hold no more than this."
)
@common_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    common: CommonOptions,
    options: FileOptions,
    min_savings: int | None,
    capacity: int | None,
) -> int:
    """See _HELP."""
    if options.is_bare and is_terminal(0):
        assert ctx.parent is not None
        click.echo(ctx.parent.get_help())
        return Status.DONE
    pairs = options.pairs()
    try:
        settings = common.settings(min_savings_tokens=min_savings)
        archive = Archive.open(settings.archive)
        status = Status.DONE
    except (ConfigError, ArchiveError) as error:
        # What is wrong around it must not break the pipe that ctxf stands in.
        say(f"{escape(str(error))}; the text goes through as it came")
        settings = Settings(enabled=False)
        archive = Archive.memory()  # for nobody: folding is off
        status = status_of(error)
    with archive, SharedParser() as parser:
        room = scope_capacity(settings.scope, settings, capacity)
        job = _Job(common, settings, archive, room, options.language, parser)
        if pairs is None:
            return worst(status, job.fold_to_stdout(options.files[0] if options.files else None))
        return worst(status, for_each_file(pairs, job.fold_file, label="Folding", quiet=common.quiet))


class _Job(NamedTuple):
    """What holds for all files of one call."""

    common: CommonOptions
    settings: Settings
    archive: Archive
    capacity: int | None
    language: str
    parser: SharedParser

    def fold_to_stdout(self, file: str | None) -> Status:
        """Fold text as it flows by, source whole."""
        source, output, report = Input(file), Output(), FoldReport(verbose=self.common.verbose)
        reread = source.reread()
        chunk = source.read_chunk()
        language = fold_language(self.language, file, chunk) if self.settings.enabled else TEXT
        if language == TEXT:
            passed = 0
            if reread is not None:
                try:
                    passed, chunk = _pass_unmarked(source, chunk, output)
                except OSError:
                    output.flush()  # what was read before is the reader's all the same
                    raise
                report.bytes_in = report.bytes_out = passed
            rules = FoldRules(self.settings.min_savings_tokens)
            stream = FoldStream(
                self.archive,
                self.settings.scope,
                rules,
                capacity=self.capacity,
                reread=reread,
                passed=passed,
            )
            failure = self._stream(source, chunk, stream, output, report)
        else:
            failure = self._fold_whole(source, chunk, language, output, report)
        output.flush()
        source.close()
        report.say(quiet=self.common.quiet)
        if failure is not None:
            raise failure
        return report.status

    def _stream(
        self, source: Input, chunk: bytes, stream: FoldStream, output: Output, report: FoldReport
    ) -> OSError | None:
        """Write text out as far as it is settled. When reading fails, what was read still goes out."""
        failure: OSError | None = None
        while chunk:
            report.bytes_in += len(chunk)
            _write(stream.feed(chunk) if self.settings.enabled else [FoldResult(chunk)], output, report)
            if source.is_waiting(_LINGER_SECONDS if stream.has_batch else 0):
                _write(stream.flush(), output, report)
                output.flush()
            try:
                chunk = source.read_chunk()
            except OSError as error:
                failure, chunk = error, b""
        _write(stream.finish(), output, report)
        return failure

    def _fold_whole(
        self, source: Input, first: bytes, language: str, output: Output, report: FoldReport
    ) -> OSError | None:
        chunks, failure = [first], None
        try:
            chunks += iter(source.read_chunk, b"")
        except OSError as error:
            failure = error
        data = b"".join(chunks)
        report.bytes_in = len(data)
        _write([self._fold(data, language)], output, report)
        return failure

    def _fold(self, data: bytes, language: str) -> FoldResult[bytes]:
        return fold(
            data,
            self.archive,
            scope=self.settings.scope,
            language=language,
            min_savings_tokens=self.settings.min_savings_tokens,
            capacity=self.capacity,
            parser=None if language == TEXT else self.parser.get(),
        )

    def fold_file(self, file: str, target: Path, tell: Say) -> Status:
        """Fold one file whole, or leave it as it is."""
        report = FoldReport(f"{escape(file)}: ", self.common.verbose, tell)
        try:
            data, state = read_file(Path(file))
            report.bytes_in = len(data)
            if self.settings.enabled and KEYWORD in data:
                result = self._fold(data, fold_language(self.language, file, data[:FIRST_LINE_BYTES]))
                report.add(result)
            else:
                result = FoldResult(data)
                report.bytes_out = len(data)
            write_result(Path(file), target, data, result.text, state)
        except OSError as error:
            tell(f"{escape(file)}: {escape(error.strerror or str(error))}")
            return status_of(error)
        report.say(quiet=self.common.quiet)
        return report.status


def _pass_unmarked(source: Input, chunk: bytes, output: Output) -> tuple[int, bytes]:
    """Copy whole lines of a file as long as no keyword comes: how many bytes, and the chunk behind them.

    Whatever state the text is in then, the stream finds out by reading again. A stream alone would cost
    three times as much, most of it page faults for buffers that are allocated and trimmed in turns.
    """
    passed = 0
    while cut := chunk.rfind(b"\n") + 1:
        if find_sequence(chunk, KEYWORD) < len(chunk):
            break
        output.write(memoryview(chunk)[:cut])
        source.step_back(len(chunk) - cut)
        passed += cut
        del chunk
        chunk = source.read_chunk()
    return passed, chunk


def _write(results: list[FoldResult[bytes]], output: Output, report: FoldReport) -> None:
    for result in results:
        report.add(result)
        output.write(result.text)
