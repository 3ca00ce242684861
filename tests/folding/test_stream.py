"""A stream gives what `ctxf.fold` gives for the whole text, however the text is cut."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ctxf
from ctxf.archive import Archive, NewBody, Refused
from ctxf.errors import ArchiveError
from ctxf.folding.results import FoldResult
from ctxf.folding.stream import BATCH_BYTES, FoldStream
from ctxf.folding.text import fold
from ctxf.protocol.fold import FoldRules
from ctxf.protocol.pairing import MAX_BLOCK_BYTES
from ctxf.protocol.references import body_digest
from ctxf.protocol.scan_text import MAX_LINE_BYTES
from tests.kit.documents import ARCHIVED, documents

BOM = b"\xef\xbb\xbf"
BODY = b"a line of a body that is long enough to be folded, if only just so\n" * 3


def stocked_archive() -> Archive:
    archive = Archive.memory()
    archive.put("default", [[NewBody(body, body_digest(body), b"stock")] for body in ARCHIVED])
    return archive


def begin(label: bytes, pad: int = 0) -> bytes:
    return b"<!-- @context-fold begin %b%b -->\n" % (label, b" " * pad)


def end(label: bytes, pad: int = 0) -> bytes:
    return b"<!-- @context-fold end %b%b -->\n" % (label, b" " * pad)


def block(label: bytes, body: bytes = BODY) -> bytes:
    return begin(label) + body + end(label)


def run(
    archive: Archive,
    chunks: Sequence[bytes],
    minimum: int,
    flush_behind: Callable[[int], bool] = lambda _: False,
    capacity: int | None = None,
    *,
    is_file: bool = False,
) -> list[FoldResult[bytes]]:
    text = b"".join(chunks)
    reread = (lambda first, last: text[first:last]) if is_file else None
    stream = FoldStream(archive, "default", FoldRules(minimum), capacity=capacity, reread=reread)
    results = []
    for number, chunk in enumerate(chunks):
        results += stream.feed(chunk)
        if flush_behind(number):
            results += stream.flush()
            assert not stream.has_batch
    results += stream.finish()
    assert not stream.has_batch
    return results


def text_of(results: Sequence[FoldResult[bytes]]) -> bytes:
    return b"".join(result.text for result in results)


def check_same(results: Sequence[FoldResult[bytes]], whole: FoldResult[bytes]) -> None:
    """The same text, and the same said of it."""
    assert text_of(results) == whole.text
    assert [one for result in results for one in result.folds] == list(whole.folds)
    assert [one for result in results for one in result.kept] == list(whole.kept)


def cuts(text: bytes, places: Sequence[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:stop] for start, stop in pairwise(edges)]


@given(
    documents,
    st.lists(st.integers(0, 5000), max_size=30),
    st.integers(0, 2**32 - 1),
    st.sampled_from((0, 5, 256)),
    st.booleans(),
)
def test_cut_anywhere_and_flushed_at_any_time(
    text: bytes, places: list[int], flushes: int, minimum: int, is_file: bool
) -> None:
    whole = fold(text, stocked_archive(), min_savings_tokens=minimum)
    chunks = cuts(text, places)
    results = run(stocked_archive(), chunks, minimum, lambda n: bool(flushes >> n & 1), is_file=is_file)
    check_same(results, whole)


@settings(max_examples=40)
@given(documents, st.sampled_from((1, 2, 3, 7, 64)))
def test_cut_into_equal_pieces(text: bytes, size: int) -> None:
    whole = fold(text, stocked_archive(), min_savings_tokens=0)
    chunks = [text[start : start + size] for start in range(0, len(text), size)]
    check_same(run(stocked_archive(), chunks, 0, lambda n: n % 3 == 0), whole)


@given(documents, st.integers(0, 400), st.lists(st.integers(0, 5000), max_size=10))
def test_with_a_capacity_what_came_before_it_was_full_is_folded(
    text: bytes, capacity: int, places: list[int]
) -> None:
    """A capacity is used up in the order of the text; batches do not change that."""
    whole = fold(text, Archive.memory(), min_savings_tokens=0, capacity=capacity)
    check_same(run(Archive.memory(), cuts(text, places), 0, lambda n: n % 2 == 0, capacity), whole)


class Faulty(Archive):
    """An archive whose `put` fails from its call number `first` on."""

    def __init__(self, first: int) -> None:
        self._inner = Archive.memory()
        super().__init__(self._inner._store)
        self._left = first

    def put(
        self, scope: str, groups: Sequence[Sequence[NewBody]], *, capacity: int | None = None
    ) -> list[tuple[str, ...] | Refused]:
        if groups:
            if not self._left:
                raise ArchiveError(self.path, "does not want to")
            self._left -= 1
        return super().put(scope, groups, capacity=capacity)


@given(documents, st.integers(0, 4), st.lists(st.integers(0, 5000), max_size=12), st.integers(0, 2**13 - 1))
def test_after_a_failure_everything_comes_as_it_was(
    text: bytes, first: int, places: list[int], flushes: int
) -> None:
    archive = Faulty(first)
    results = run(archive, cuts(text, places), 0, lambda n: bool(flushes >> n & 1))
    failed = [n for n, result in enumerate(results) if result.failure]
    if failed:
        before, behind = text_of(results[: failed[0]]), text_of(results[failed[0] :])
        assert text.endswith(behind)
        assert not any(result.folds for result in results[failed[0] :])
    else:
        before, behind = text_of(results), b""
    known = [one.id for result in results for one in result.folds]
    assert archive.known_ids("default", known) == sorted(set(known))  # what is out resolves
    start = text[: len(text) - len(behind)]
    assert ctxf.restore(before, archive).text == ctxf.restore(start, archive).text


def long_lines() -> Iterator[tuple[str, bytes]]:
    """Lines at the limit, by their length with the line end: only one that is not longer is a marker."""
    for excess in (-1, 0, 1, 2, 3, 4):
        for bom in (b"", BOM):
            where = f"{excess:+}{', BOM' if bom else ''}"
            pad = MAX_LINE_BYTES + excess - len(begin(b"a"))
            yield f"begin {where}", bom + begin(b"a", pad) + BODY + end(b"a") + block(b"b")
            if not bom:
                yield f"end {where}", begin(b"a") + BODY + end(b"a", pad - 1) + block(b"b")
                yield f"end without newline {where}", begin(b"a") + BODY + end(b"a", pad)[:-1]
                comment = b"<!--" + b"x" * (MAX_LINE_BYTES + excess - 5) + b"\n"
                yield f"comment {where}", comment + block(b"a") + b"-->\n" + block(b"b")
                fence = b"```" + b"x" * (MAX_LINE_BYTES + excess - 4) + b"\n"
                yield f"fence {where}", fence + block(b"a") + b"```\n" + block(b"b")


LONG_LINES = dict(long_lines())


@pytest.mark.parametrize("name", LONG_LINES)
def test_lines_at_the_limit(name: str) -> None:
    text = LONG_LINES[name]
    whole = fold(text, Archive.memory(), min_savings_tokens=0)
    for size in (1 << 20, 300_007, len(text)):
        chunks = [text[start : start + size] for start in range(0, len(text), size)]
        check_same(run(Archive.memory(), chunks, 0), whole)
        check_same(run(Archive.memory(), chunks, 0, is_file=True), whole)
    pieces = [text[:MAX_LINE_BYTES], *(bytes([byte]) for byte in text[MAX_LINE_BYTES : MAX_LINE_BYTES + 40])]
    check_same(run(Archive.memory(), [*pieces, text[MAX_LINE_BYTES + 40 :]], 0), whole)


@pytest.mark.parametrize("excess", [-1, 0, 1])
@pytest.mark.parametrize("is_inner_closed", [True, False])
def test_blocks_at_the_limit(excess: int, is_inner_closed: bool) -> None:
    """The limit counts from the begin line's first byte to the end line's last."""
    inner = block(b"b") if is_inner_closed else begin(b"b") + BODY
    filler = MAX_BLOCK_BYTES + excess - len(begin(b"a") + inner + end(b"a"))
    text = begin(b"a") + inner + b"x" * (filler - 1) + b"\n" + end(b"a") + block(b"c")
    whole = fold(text, Archive.memory(), min_savings_tokens=0)
    assert (whole.folds[0].label == "a") == (excess <= 0 and is_inner_closed)
    chunks = [text[start : start + (1 << 20)] for start in range(0, len(text), 1 << 20)]
    check_same(run(Archive.memory(), chunks, 0), whole)


def test_a_batch_is_stored_when_it_is_full() -> None:
    archive = Archive.memory()
    stream = FoldStream(archive, "default", FoldRules(0))
    body = b"x" * 1_000_000 + b"\n"
    fed = 0
    while not (results := stream.feed(block(b"b%d" % fed, body + b"%d\n" % fed))):
        fed += 1
    assert BATCH_BYTES - 1_100_000 < fed * 1_000_000 <= BATCH_BYTES
    assert sum(len(result.folds) for result in results) == fed
    assert len(list(archive.entries("default"))) == fed  # what is not out is not stored yet
    assert stream.has_batch
    assert len(stream.finish()) == 1


def test_it_holds_nothing_back_that_is_settled() -> None:
    stream = FoldStream(Archive.memory(), "default", FoldRules(0))
    for line in (b"one\n", b"```\n", b"code\n", b"<!--\n", b"```\n", b"two\r\n", end(b"a")):
        assert text_of(stream.feed(line)) == line
    assert text_of(stream.feed(b"part")) == b""
    assert text_of(stream.feed(b" of a line\n" + begin(b"a") + BODY)) == b"part of a line\n"
    assert text_of(stream.feed(begin(b"b") + BODY + end(b"b"))) == b""
    assert (
        text_of(stream.finish())
        == fold(begin(b"a") + BODY + block(b"b"), Archive.memory(), min_savings_tokens=0).text
    )


@given(
    st.lists(st.sampled_from([b"text\n", b"```\n", b"~~~\n", b"<!-- open\n", b"close -->\n", b"\r\n"])),
    documents,
)
def test_whole_lines_without_a_keyword_may_be_passed_on_before(head: list[bytes], document: bytes) -> None:
    text = b"".join(head) + document
    whole = ctxf.fold(text, ctxf.Archive.memory(), min_savings_tokens=0)
    for passed in {0, len(head[0]) if head else 0, len(b"".join(head))}:
        stream = FoldStream(
            ctxf.Archive.memory(),
            "default",
            FoldRules(0),
            reread=lambda first, last: text[first:last],
            passed=passed,
        )
        results = stream.feed(text[passed:]) + stream.finish()
        assert text[:passed] + b"".join(result.text for result in results) == whole.text
        assert tuple(fold for result in results for fold in result.folds) == whole.folds
