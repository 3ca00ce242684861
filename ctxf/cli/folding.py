"""What `ctxf fold` does once its options are parsed: without click, see `ctxf.cli.quick`."""

from typing import TYPE_CHECKING, Final, NamedTuple

from ctxf.archive import Archive
from ctxf.cli.common import CommonOptions
from ctxf.cli.language import TEXT, SharedParser, fold_language
from ctxf.cli.pipes import Input, Output
from ctxf.cli.reports import FoldReport
from ctxf.cli.status import Status, status_of
from ctxf.cli.terminal import escape, say
from ctxf.config import Settings
from ctxf.errors import ArchiveError, ConfigError
from ctxf.protocol.markers import KEYWORD
from ctxf.protocol.scan_text import find_sequence

if TYPE_CHECKING:
    from ctxf.folding.results import FoldResult
    from ctxf.folding.stream import FoldStream

__all__ = ["FoldJob", "settle"]

# How long a batch of folds waits for more input before it is stored, in seconds: long enough for a
# busy writer to fill it, short enough for a person who watches.
_LINGER_SECONDS: Final = 0.05


def settle(common: CommonOptions, **options: object) -> tuple[Settings, Archive, Status]:
    """The settings and the archive to fold with.

    If the configuration or the archive is unusable, folding is switched off and the text passes unchanged,
    so that no pipe breaks; the status says why.
    """
    try:
        settings = common.settings(**options)
        return settings, Archive.open(settings.archive), Status.DONE
    except (ConfigError, ArchiveError) as error:
        say(f"{escape(str(error))}; the text goes through as it came")
        return Settings(enabled=False), Archive.memory(), status_of(error)


class FoldJob(NamedTuple):
    """What holds for all files of one call."""

    common: CommonOptions
    settings: Settings
    archive: Archive
    capacity: int | None
    language: str
    parser: SharedParser

    def fold_to_stdout(self, file: str | None) -> Status:
        """Fold text as a stream, source as a whole."""
        source, output, report = Input(file), Output(), FoldReport(verbose=self.common.verbose)
        chunk = source.read_chunk()
        language = fold_language(self.language, file, chunk) if self.settings.enabled else TEXT
        if language == TEXT:
            failure = self._fold_text(source, chunk, output, report)
        else:
            failure = self._fold_whole(source, chunk, language, output, report)
        output.flush()
        source.close()
        report.say(quiet=self.common.quiet)
        if failure is not None:
            raise failure
        return report.status

    def _fold_text(self, source: Input, chunk: bytes, output: Output, report: FoldReport) -> OSError | None:
        passed, reread = 0, source.reread(len(chunk))
        if reread is not None:
            try:
                passed, chunk = _pass_unmarked(source, chunk, output)
            except OSError:
                output.flush()  # what was read before the error still goes out
                raise
            report.bytes_in = report.bytes_out = passed
        if not self.settings.enabled:
            return _pass_on(source, chunk, output)
        if not chunk:
            return None
        # Imported here because most text holds no marker: `ctxf` would take 49 ms for it, not 37 ms.
        from ctxf.folding.stream import FoldStream  # noqa: PLC0415
        from ctxf.protocol.fold import FoldRules  # noqa: PLC0415

        stream = FoldStream(
            self.archive,
            self.settings.scope,
            FoldRules(self.settings.min_savings_tokens),
            capacity=self.capacity,
            reread=reread,
            passed=passed,
        )
        return self._stream(source, chunk, stream, output, report)

    def _stream(
        self, source: Input, chunk: bytes, stream: "FoldStream", output: Output, report: FoldReport
    ) -> OSError | None:
        """Write text out as far as it is settled. When reading fails, what was read still goes out."""
        failure: OSError | None = None
        while chunk:
            report.bytes_in += len(chunk)
            _write(stream.feed(chunk), output, report)
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
        _write([self.fold(data, language)], output, report)
        return failure

    def fold(self, data: bytes, language: str) -> "FoldResult[bytes]":
        """Fold a whole text or source."""
        from ctxf.folding.text import fold  # noqa: PLC0415 - as above

        return fold(
            data,
            self.archive,
            scope=self.settings.scope,
            language=language,
            min_savings_tokens=self.settings.min_savings_tokens,
            capacity=self.capacity,
            parser=None if language == TEXT else self.parser.get(),
        )


def _pass_unmarked(source: Input, chunk: bytes, output: Output) -> tuple[int, bytes]:
    """Copy whole lines of a file as long as no keyword comes: how many bytes, and the chunk behind them.

    The stream reads these bytes again to find out whether a fence or a comment is open there. A stream
    alone would cost three times as much, most of it page faults for buffers that are allocated and trimmed in
    turns.
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


def _pass_on(source: Input, chunk: bytes, output: Output) -> OSError | None:
    """Copy all that comes. When reading fails, what was read still goes out."""
    while chunk:
        output.write(chunk)
        if source.is_waiting(0):
            output.flush()
        try:
            chunk = source.read_chunk()
        except OSError as error:
            return error
    return None


def _write(results: "list[FoldResult[bytes]]", output: Output, report: FoldReport) -> None:
    for result in results:
        report.add(result)
        output.write(result.text)
