"""What the source tests share: folding and restoring a text without an archive."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ctxf.protocol.fold import FoldRules, PlannedFold, write_folds
from ctxf.protocol.languages import Language, language_of
from ctxf.protocol.parsers import Parsers, SourceParser
from ctxf.protocol.plan_source import SourcePlan, plan_source
from ctxf.protocol.references import ID_DIGITS
from ctxf.protocol.restore import Kind, find_references, restored_pieces

__all__ = ["Folded", "assert_laws", "fold_source", "named", "restore_source", "sharing_parsers"]

Folded = tuple[bytes, SourcePlan, dict[str, bytes]]


def named(name: str) -> Language:
    """The language of a name that is in the table."""
    language = language_of(name)
    assert language is not None
    return language


def fold_source(data: bytes, language: Language, parser: SourceParser, **rules: Any) -> Folded:
    """The folded text, its plan and the bodies by id."""
    plan = plan_source(data, language, FoldRules(**rules), parser)
    text, refused = write_folds(data, [(fold, _id(fold)) for fold in plan.folds], plan.rules)
    assert not refused
    return text, plan, {_id(fold): fold.body for fold in plan.folds}


def restore_source(text: bytes, bodies: dict[str, bytes]) -> bytes:
    """`text` with the bodies back in it."""
    references = find_references(text, Kind.SOURCE)
    return b"".join(restored_pieces(text, references, lambda reference: bodies.get(reference.id)))


def assert_laws(data: bytes, language: Language, parser: SourceParser, **rules: Any) -> Folded:
    """L1, L2 and L3 for one text."""
    text, plan, bodies = fold_source(data, language, parser, **rules)
    assert restore_source(text, bodies) == restore_source(data, bodies), "L1"
    again, _plan, _bodies = fold_source(text, language, parser, **rules)
    assert again == text, "L2"
    position = 0
    for fold in plan.folds:  # L3: what is outside the bodies stands there in order
        outside = data[position : fold.block.begin.end]
        assert outside in text, "L3"
        assert fold.body == data[fold.block.begin.end : fold.block.end.start]
        position = fold.block.end.start
    if not plan.folds:
        assert text == data
    return text, plan, bodies


@contextmanager
def sharing_parsers() -> Iterator[Parsers]:
    """One set of parsers for a whole module."""
    with Parsers() as parsers:
        yield parsers


def _id(fold: PlannedFold) -> str:
    return fold.digest.hex()[:ID_DIGITS]
