"""The rows of the table, one function for each; DESIGN says what is asked of them."""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import ctxf
from benchmarks.archive import Load, concurrent_puts, get_beside_many
from benchmarks.corpus import MAKERS, chat_request, marked_text, write_corpus
from benchmarks.floors import COPY_LOOP, FloorArchive, random_body
from benchmarks.hostile import hostile_rows
from benchmarks.measure import CTXF, Row, Sample, command_sample, compare, function_sample
from ctxf.archive import NewBody
from ctxf.protocol.grammars import Grammar, load_grammar
from ctxf.protocol.languages import language_of
from ctxf.protocol.parsers import Parsers
from ctxf.protocol.references import body_digest
from ctxf.requests import Memo, RequestPolicy, fold_request

__all__ = ["ROWS", "Scale"]


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured: bytes of unmarked text, blocks, calls, and runs of each.

    `puts` is for each of eight processes, `bodies` for the largest archive, `hostile_bytes` where they start.
    """

    text_bytes: int = 256 << 20
    blocks: int = 10_000
    calls: int = 1_000
    repeat: int = 5
    puts: int = 250
    bodies: int = 1_000_000
    hostile_bytes: int = 1 << 20


QUICK = Scale(
    text_bytes=64 << 20, blocks=2_000, calls=300, repeat=5, puts=30, bodies=20_000, hostile_bytes=1 << 17
)


def unmarked_text(scale: Scale, folder: Path) -> Iterator[Row]:
    """`ctxf fold` of text without markers, beside a loop that copies 1 MiB at a time."""
    environ = {**os.environ, "CTXF_ARCHIVE": str(folder / "unused.db")}
    source, target = folder / "in.txt", folder / "out.txt"
    for kind in MAKERS:
        write_corpus(source, kind, scale.text_bytes)
        yield compare(
            f"{scale.text_bytes >> 20} MiB of {kind}, nothing marked, through `ctxf fold`",
            floor_name="copy loop, 1 MiB",
            target=1.5 if kind == "prose" else 3,
            floor=lambda: command_sample(
                (sys.executable, "-I", "-c", COPY_LOOP), source=source, target=target, environ=environ
            ),
            ours=lambda: command_sample((*CTXF, "fold"), source=source, target=target, environ=environ),
            repeat=scale.repeat,
        )
        if target.read_bytes() != source.read_bytes():
            raise RuntimeError("unmarked text was changed")
    source.unlink()
    target.unlink()


def many_blocks(scale: Scale, folder: Path) -> Iterator[Row]:
    """A text with many blocks, folded durably in one transaction."""
    text, bodies = marked_text(scale.blocks, 4096)
    count = iter(range(1_000_000))

    def floor() -> Sample:
        archive = FloorArchive(folder / f"floor-{next(count)}.db")
        sample = function_sample(lambda: archive.put(bodies))
        archive.close()
        return sample

    def ours() -> Sample:
        with ctxf.Archive.open(folder / f"ours-{next(count)}.db") as archive:
            results: list[ctxf.FoldResult[bytes]] = []
            sample = function_sample(lambda: results.append(ctxf.fold(text, archive)))
            if len(results[0].folds) != scale.blocks:
                raise RuntimeError("not every block was folded")
        return sample

    yield compare(
        f"{len(text) >> 20} MiB with {scale.blocks:,} blocks of 4 KB, durable",
        floor_name="hash, compress, one FULL transaction, read back",
        target=1.5,
        floor=floor,
        ours=ours,
        repeat=scale.repeat,
    )


def one_body(scale: Scale, folder: Path) -> Iterator[Row]:
    """One 4 KB body put and read in process: medians over many calls."""
    floor_archive = FloorArchive(folder / "one-floor.db")
    with ctxf.Archive.open(folder / "one-ours.db") as archive:

        def put(body: bytes) -> str:
            admission = archive.put("default", [[NewBody(body, body_digest(body), b"b")]])[0]
            assert isinstance(admission, tuple)
            return admission[0]

        floor_ids: list[str] = []
        our_ids: list[str] = []
        yield compare(
            "one 4 KB put, p50",
            floor_name="hash, compress, insert, commit, read back",
            target=1.5,
            floor=lambda: _median_call(
                scale, lambda: floor_ids.extend(floor_archive.put([random_body(4096)]))
            ),
            ours=lambda: _median_call(scale, lambda: our_ids.append(put(random_body(4096)))),
            repeat=scale.repeat,
        )
        floor_next, our_next = iter(floor_ids * 9), iter(our_ids * 9)
        yield compare(
            "one 4 KB get, p50",
            floor_name="select, decompress, hash",
            target=1.5,
            floor=lambda: _median_call(scale, lambda: floor_archive.get(next(floor_next))),
            ours=lambda: _median_call(scale, lambda: archive.read("default", next(our_next))),
            repeat=scale.repeat,
        )
    floor_archive.close()


def _median_call(scale: Scale, call: Callable[[], object]) -> Sample:
    seconds = []
    for _ in range(scale.calls // scale.repeat):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return Sample(statistics.median(seconds))


def cold_read(scale: Scale, folder: Path) -> Iterator[Row]:
    """`ctxf read` as a process of its own, beside a Python that does nothing."""
    path = folder / "cold.db"
    body = random_body(4096)
    with ctxf.Archive.open(path) as archive:
        archive.put("default", [[NewBody(body, body_digest(body), b"b")]])
    environ = {**os.environ, "CTXF_ARCHIVE": str(path)}
    nothing, target = Path(os.devnull), folder / "body"
    id = body_digest(body).hex()[:12]
    yield compare(
        "`ctxf read` cold, whole process",
        floor_name="python -I -c pass",
        target=6,
        floor=lambda: command_sample(
            (sys.executable, "-I", "-c", "pass"), source=nothing, target=target, environ=environ
        ),
        ours=lambda: command_sample(
            (*CTXF, "read", "--id", id, "--restore"), source=nothing, target=target, environ=environ
        ),
        repeat=scale.repeat * 3,
    )
    if target.read_bytes() != body:
        raise RuntimeError("other bytes were read")


def hostile_shapes(scale: Scale, folder: Path) -> Iterator[Row]:
    """What is made to be slow; see `benchmarks.hostile`."""
    del folder
    return hostile_rows(scale.hostile_bytes, scale.repeat)


def load(scale: Scale, folder: Path) -> Iterator[Row]:
    """Eight processes on one archive; one get beside many bodies."""
    yield concurrent_puts(Load(folder, scale.puts, scale.repeat))
    yield get_beside_many(folder, (1_000, scale.bodies))


def requests(scale: Scale, folder: Path) -> Iterator[Row]:
    """A chat request of 1 MB as raw JSON, beside a parser and a writer that do nothing to it.

    The memo is that of a process which has seen the conversation before, as a gateway has.
    """
    policy = RequestPolicy(delay_requests=0)
    with ctxf.Archive.open(folder / "requests.db") as archive:
        for blocks, target in ((0, 0.12), (50, 1.5)):
            body, memo = chat_request(blocks), Memo()
            for _ in range(2):
                folds = fold_request(body, "anthropic", archive, policy=policy, memo=memo).folds
            if len(folds) != blocks:
                raise RuntimeError("not every block was folded")
            yield compare(
                f"a chat request of {len(body) / 1e6:.1f} MB, "
                + (f"{blocks} marked blocks, archived before" if blocks else "nothing marked"),
                floor_name="json.loads + json.dumps",
                target=target,
                floor=lambda body=body: function_sample(lambda: json.dumps(json.loads(body))),  # type: ignore[misc]
                ours=lambda body=body, memo=memo: function_sample(  # type: ignore[misc]
                    lambda: fold_request(body, "anthropic", archive, policy=policy, memo=memo)
                ),
                repeat=scale.repeat * 5,
            )


def projected_source(scale: Scale, folder: Path) -> Iterator[Row]:
    """One function out of a source of 127 KB, beside the bare parse."""
    from tree_sitter import Parser  # noqa: PLC0415 - the floor is the parser itself

    language = language_of("python")
    grammar = load_grammar(language) if language else None
    if not isinstance(grammar, Grammar):
        raise RuntimeError("no grammar for python")
    source = _python_source(127_000)
    questions = iter(range(1_000_000))
    with ctxf.Archive.open(folder / "projection.db") as archive, Parsers() as parsers:

        def ours() -> ctxf.ProjectResult[bytes]:
            question = f"What does Store.rule_{next(questions)}() return?"  # another one: all is stored anew
            return ctxf.project(source, question, "python", archive, parser=parsers)

        if len(ours().text) > 0.015 * len(source):
            raise RuntimeError("too much of the source stayed")
        yield compare(
            "projecting one function of a 127 KB source, stored durably",
            floor_name="tree-sitter parse",
            target=1.5,
            floor=lambda: function_sample(lambda: Parser(grammar.handle).parse(source)),
            ours=lambda: function_sample(ours),
            repeat=scale.repeat * 3,
        )


def _python_source(size: int) -> bytes:
    pieces, length, number = ["LIMIT = 50\n\n\nclass Store:\n"], 0, 0
    while length < size:
        pieces.append(
            f"    def rule_{number}(self, key: str, *, depth: int = {number % 9}) -> list[str]:\n"
            f'        """Rule {number}: what is kept for a key."""\n'
            f"        found = [one for one in self.items if one.key == key and one.depth < depth]\n"
            f"        if len(found) > LIMIT:\n"
            f"            raise ValueError(f'{{key}}: more than {{LIMIT}}', {number})\n"
            f"        return sorted(found, key=lambda one: one.depth * {number})\n\n"
        )
        length += len(pieces[-1])
        number += 1
    return "".join(pieces).encode()


ROWS: tuple[Callable[[Scale, Path], Iterator[Row]], ...] = (
    unmarked_text,
    many_blocks,
    one_body,
    cold_read,
    projected_source,
    hostile_shapes,
    load,
    requests,
)


def all_rows(scale: Scale, progress: Callable[[int, int], None]) -> Iterator[Row]:
    """Every row, each measured when it is asked for, in a folder that goes away again.

    `progress` gets how many of ROWS are done, and their number.
    """
    with tempfile.TemporaryDirectory(prefix="ctxf-benchmarks-") as folder:
        for done, rows in enumerate(ROWS):
            progress(done, len(ROWS))
            for row in rows(scale, Path(folder)):
                yield row
                progress(done, len(ROWS))
