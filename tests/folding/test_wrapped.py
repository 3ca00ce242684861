"""Wrapped references: the laws where a grammar and not the text rules says which markers count (§11).

A stand-in for the grammar: every marker line is a comment, except those of some labels, which are in strings.
"""

from hypothesis import given
from hypothesis import strategies as st

from ctxf.protocol.fold import FoldRules, plan_folds, write_folds
from ctxf.protocol.markers import BOM, parse_marker
from ctxf.protocol.model import Marker
from ctxf.protocol.pairing import pair
from ctxf.protocol.restore import Kind, find_references
from tests.kit.in_memory import Scope, restore
from tests.protocol.test_scan_text import documents

RULES = FoldRules(min_savings_tokens=0, wrapped=True)


def markers_in(text: bytes, in_strings: set[bytes]) -> list[Marker]:
    markers = []
    start = len(BOM) if text.startswith(BOM) else 0
    for number, line in enumerate(text[start:].split(b"\n"), 1):
        end = min(start + len(line) + 1, len(text))
        marker = parse_marker(text, start, end, line=number)
        if marker and marker.label not in in_strings:
            markers.append(marker)
        start = end
    return markers


def fold_source(text: bytes, scope: Scope, in_strings: set[bytes]) -> bytes:
    pairing = pair(markers_in(text, in_strings), len(text))
    plan = plan_folds(text, pairing.blocks, pairing.left, RULES)
    folds = [(fold, scope.put(fold.body)) for fold in plan.folds]
    for fold in plan.folds:
        for inner in fold.inner:
            scope.put(inner.body)
    folded, _refused = write_folds(text, folds, RULES)
    return folded


@given(documents(), st.sets(st.sampled_from([b"a", b"b", b"n"]), max_size=1))
def test_the_laws_hold_for_source(text: bytes, in_strings: set[bytes]) -> None:
    scope = Scope({"0123456789ab": b"one\n", "e" * 64: b"another\n"})
    folded = fold_source(text, scope, in_strings)
    assert restore(folded, scope, "source") == restore(text, scope, "source")
    assert fold_source(folded, scope, in_strings) == folded
    for body in list(scope.bodies.values()):
        assert not find_references(b"\n" + body, Kind.SOURCE)  # no text starts there


@given(documents())
def test_source_folds_into_wrapped_lines_that_read_back(text: bytes) -> None:
    scope = Scope()
    folded = fold_source(text, scope, set())
    written = {one.id for one in find_references(folded, Kind.SOURCE)}
    assert written >= {id for id in scope.bodies if id.encode() in folded}
