"""The laws of PROTOCOL.md §1, each as a property of random documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxf
from ctxf.archive import Archive, NewBody
from ctxf.protocol.references import body_digest
from tests.kit.documents import ARCHIVED, documents

settings_ = st.sampled_from((0, 0, 5, 256))
languages = st.sampled_from((None, "text"))


def stocked_archive() -> Archive:
    """An archive that holds what some references of the documents stand for."""
    archive = Archive.memory()
    archive.put("default", [[NewBody(body, body_digest(body), b"stock")] for body in ARCHIVED])
    return archive


@given(documents, settings_, languages)
def test_l1_restore_after_fold_is_restore(text: bytes, minimum: int, language: str | None) -> None:
    archive = stocked_archive()
    folded = ctxf.fold(text, archive, min_savings_tokens=minimum)
    restored = ctxf.restore(folded.text, archive, language=language)
    assert restored.text == ctxf.restore(text, archive, language=language).text
    if not ctxf.restore(text, archive).restored:
        assert restored.text == text


@given(documents, settings_)
def test_l2_folding_twice_is_folding_once(text: bytes, minimum: int) -> None:
    archive = stocked_archive()
    once = ctxf.fold(text, archive, min_savings_tokens=minimum)
    twice = ctxf.fold(once.text, archive, min_savings_tokens=minimum)
    assert twice.text == once.text
    assert not twice.folds


@given(documents, settings_)
def test_l3_nothing_changes_outside_folded_bodies(text: bytes, minimum: int) -> None:
    archive = stocked_archive()
    result = ctxf.fold(text, archive, min_savings_tokens=minimum)
    lines = text.split(b"\n")
    expected, position = b"", 0
    for fold in result.folds:
        start = sum(len(line) + 1 for line in lines[: fold.line])
        body = archive.read("default", fold.id)
        assert text[start:].startswith(body)
        line_end = b"\r\n" if text[:start].endswith(b"\r\n") else b"\n"
        expected += text[position:start] + b"[[cf:v2:%b]]" % fold.id.encode() + line_end
        position = start + len(body)
    assert result.text == expected + text[position:]


@given(documents, settings_)
def test_l4_every_emitted_reference_resolves(text: bytes, minimum: int) -> None:
    archive = stocked_archive()
    for fold in ctxf.fold(text, archive, min_savings_tokens=minimum).folds:
        body = archive.read("default", fold.id)
        assert body_digest(body).hex().startswith(fold.id)
        assert body in text
        for inner in fold.inner:
            assert archive.read("default", inner.id) in body


@given(documents)
def test_l5_a_failing_archive_leaves_the_text_as_it_came(text: bytes) -> None:
    archive = Archive.open("/dev/null/archive.db")
    result = ctxf.fold(text, archive, min_savings_tokens=0)
    assert result.text == text
    assert not result.folds
    would_fold = ctxf.fold(text, Archive.memory(), min_savings_tokens=0).folds
    assert (result.failure is not None) == bool(would_fold)
    assert [kept.line for kept in result.kept if kept.reason is ctxf.Reason.ARCHIVE] == [
        fold.line for fold in would_fold
    ]


@given(documents)
def test_l6_another_scope_gets_nothing(text: bytes) -> None:
    archive = Archive.memory()
    folded = ctxf.fold(text, archive, scope="mine", min_savings_tokens=0)
    result = ctxf.restore(folded.text, archive, scope="theirs")
    assert result.text == folded.text
    assert not result.restored
    for fold in folded.folds:
        with pytest.raises(ctxf.BodyNotFound):
            archive.read("theirs", fold.id)


@given(documents, settings_)
def test_l7_same_text_same_result(text: bytes, minimum: int) -> None:
    first, second = stocked_archive(), stocked_archive()
    ctxf.fold(b"<!-- @context-fold begin z -->\n" + text + b"\n<!-- @context-fold end z -->\n", second)
    one = ctxf.fold(text, first, min_savings_tokens=minimum)
    assert one == ctxf.fold(text, second, min_savings_tokens=minimum)
    assert one == ctxf.fold(text, first, min_savings_tokens=minimum)


@given(documents)
def test_no_marker_no_change(text: bytes) -> None:
    text = text.replace(b"@context-fold", b"context-fold")
    assert ctxf.fold(text, Archive.open("/dev/null/archive.db"), min_savings_tokens=0) == ctxf.FoldResult(
        text
    )


@given(st.text(st.characters()) | documents.map(lambda text: text.decode("utf-8", "replace")))
def test_a_str_comes_back_as_the_same_str(text: str) -> None:
    archive = Archive.memory()
    block = (
        f"<!-- @context-fold begin s -->\n{text}\nand enough of it to fold\n<!-- @context-fold end s -->\n"
    )
    folded = ctxf.fold(block, archive, min_savings_tokens=0)
    assert ctxf.restore(folded.text, archive).text == block
    assert folded.text.encode("utf-8", "surrogatepass") == (
        ctxf.fold(block.encode("utf-8", "surrogatepass"), archive, min_savings_tokens=0).text
    )
