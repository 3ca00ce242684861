"""Requests that are made to be hard: many texts, many blocks over many texts, each in its own reply."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from ctxf.archive import Archive
from ctxf.requests import RequestPolicy, fold_request, restore_request

BEGIN, END = "<!-- @context-fold begin %s -->\n", "<!-- @context-fold end %s -->\n"
REFERENCE = "[[cf:v2:0123456789ab]]\n"
LINE = "a line that is long enough to fold\n"
NOW = RequestPolicy(0, 0)


def replies(*texts: str) -> dict[str, Any]:
    """A conversation in which each text is a reply of its own."""
    user = {"role": "user", "content": "x"}
    return {"messages": [one for text in texts for one in ({"role": "assistant", "content": text}, user)]}


def begins(number: int) -> str:
    return "".join(BEGIN % n for n in range(number))


def ends(number: int, before: str = "") -> list[str]:
    return [before + END % n for n in reversed(range(number))]


SHAPES: dict[str, tuple[Callable[[int], dict[str, Any]], Callable[[int], int]]] = {
    "nested over replies, the innermost empty": (lambda n: replies(begins(n), *ends(n)), lambda _n: 1),
    "nested over replies": (lambda n: replies(begins(n), *ends(n, LINE)), lambda _n: 1),
    "nested around a reference": (lambda n: replies(begins(n) + REFERENCE, *ends(n)), lambda _n: 0),
    "begun in each, ended in each": (
        lambda n: replies(*(BEGIN % k + LINE for k in range(n)), *ends(n)),
        lambda _n: 1,
    ),
    "one block over all": (lambda n: replies(BEGIN % 0, *[LINE] * n, END % 0), lambda _n: 1),
    "blocks over two": (lambda n: replies(*[BEGIN % 0 + LINE, LINE + END % 0] * n), lambda n: n),
    "references in two": (lambda n: replies(*[BEGIN % 0 + REFERENCE, REFERENCE + END % 0] * n), lambda _n: 0),
    "crossing": (
        lambda n: replies(*(BEGIN % k for k in range(n)), *(END % k for k in range(n))),
        lambda _n: 0,
    ),
    "empty texts": (lambda n: replies(*[""] * n, BEGIN % 0, *[""] * n, LINE + END % 0), lambda _n: 1),
}


@pytest.mark.parametrize("number", [3, 400])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape(shape: str, number: int) -> None:
    make, folds = SHAPES[shape]
    archive, raw = Archive.memory(), json.dumps(make(number)).encode()
    result = fold_request(raw, "chat", archive, policy=NOW)
    assert result.failure is None
    assert len(result.folds) == folds(number)
    assert restore_request(result.body, "chat", archive).body == raw
    assert fold_request(result.body, "chat", archive, policy=NOW).body is result.body
