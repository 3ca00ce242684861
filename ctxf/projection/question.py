"""Reads the names out of a question (PROTOCOL.md §14.2). Lexical: no grammar of any spoken language.

A name stands bare (`load_plan`), as a call (`get(`), in backticks, or behind a word that only code or a name
can follow (`def get`, `the method named get`). Names may be qualified, in the spellings of all languages.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

__all__ = ["Form", "Mention", "read_question"]


class Form(StrEnum):
    """How a name stands in the question. All but `BARE` say that it is one."""

    BARE = "bare"
    CALL = "call"
    CODE = "code"  # backticks
    NAMED = "named"  # behind or before a word for functions


@dataclass(frozen=True, slots=True)
class Mention:
    """A name, the names that qualify it (outermost first), its form, and where it stands in the question."""

    name: str
    qualifiers: tuple[str, ...]
    form: Form
    start: int
    end: int

    @property
    def text(self) -> str:
        """As a person would write it."""
        return ".".join((*self.qualifiers, self.name))


# Letters of identifiers. Latin ones only at first: around a name in Chinese or Russian there may be no blank,
# but its letters say where it begins and ends.
_LATIN: Final = "A-Za-z_$\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
_IDENT: Final = rf"(?<![{_LATIN}0-9])~?[{_LATIN}][{_LATIN}0-9]*+[!?]?"
_OTHER_LETTER: Final = re.compile(rf"[^{_LATIN}0-9!?~]")
_ANY_IDENT: Final = r"(?<![\w$])~?[^\W\d][\w$]*+"
_GENERIC: Final = r"(?:::)?(?:<[\w\s,.:&'*]*>|\[[\w\s,.:&'*]*\](?=\.))?"
_JOINT: Final = r"(?:::|->|\?\.|[.#\\])"


def _chain(ident: str) -> re.Pattern[str]:
    inner = ident.partition(")")[2]  # without the look-behind: a joint stands before it
    return re.compile(rf"{ident}(?:{_GENERIC}{_JOINT}{inner})*+")


_CHAIN: Final = _chain(_IDENT)
_ANY_CHAIN: Final = _chain(_ANY_IDENT)
_PART: Final = re.compile(rf"{_GENERIC}{_JOINT}")

_TICKS: Final = re.compile("`+")
_CALL: Final = re.compile(r"(?:::)?(?:<[^<>()\n]{0,80}>)?\((?!e?s\))")
_BRACKET: Final = re.compile("[()]")
_LONGEST_ARGUMENTS: Final = 200
_URL: Final = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*+://\S*+")
# `(*Cache).Get` as Go writes a method.
_RECEIVER: Final = re.compile(r"\(\s*+[*&]?\s*+([^\W\d]\w*+)\s*+\)\s*+(?=\.)")
_ABBREVIATIONS: Final = frozenset({"e.g", "i.e"})

# Behind these a word is a name whatever else it means. English nouns alone do not do: "does the function
# load data" asks for no `load`; two verbs in a row make the first of them a name.
_BEFORE: Final = re.compile(
    r"(?:\b(?:def|fn|func|fun|sub)\s+"
    r"|\b(?:function|method|procedure|routine|subroutine|macro|helper)\s+named\s+"
    r"|\b(?:funktion|methode|fonction|méthode|función|método|função|funzione|metodo|funkcja|funkce|функци\w+"
    r"|метод\w*)\s+|(?:函数|函式|方法|関数|メソッド|함수|메서드|메소드)\s*)\Z",
    re.IGNORECASE,
)
_NOUN: Final = re.compile(r"\b(?:function|method|procedure|routine|subroutine|macro)\s+\Z", re.IGNORECASE)
_VERB: Final = re.compile(
    r"\s+(?:do|does|work|works|return|returns|handle|handles|take|takes|mean|means|behave|behaves|compute"
    r"|computes)\b",
    re.IGNORECASE,
)
_BEHIND: Final = re.compile(r"\s*(?:函数|函式|方法|関数|メソッド|함수|메서드|메소드)")
_LOOK: Final = 24  # characters that the words above may take


def read_question(question: str) -> list[Mention]:
    """The names in `question`, in order. Words that are plain English are among them; cost is linear."""
    text = _URL.sub(lambda match: " " * len(match[0]), question)
    text = _RECEIVER.sub(lambda match: match[1].rjust(len(match[0])), text)
    code = _code_spans(text)
    mentions = [*_mentions(text, _CHAIN, code)]
    mentions += (one for one in _mentions(text, _ANY_CHAIN, code) if _OTHER_LETTER.search(one.name))
    return sorted(mentions, key=lambda one: (one.start, -one.end))


def _code_spans(text: str) -> list[tuple[int, int]]:
    """What stands between runs of backticks of one length, in order."""
    runs = [match.span() for match in _TICKS.finditer(text)]
    closers: dict[int, int] = {}
    partner = [0] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        partner[index] = closers.get(length, 0)
        closers[length] = index
    spans, index = [], 0
    while index < len(runs):
        if close := partner[index]:
            spans.append((runs[index][1], runs[close][0]))
        index = close + 1 if close else index + 1
    return spans


def _mentions(text: str, chain: re.Pattern[str], code: list[tuple[int, int]]) -> Iterator[Mention]:
    position = index = 0
    while match := chain.search(text, position):
        start, end = match.span()
        position = end
        if match[0] in _ABBREVIATIONS:
            continue
        while index < len(code) and code[index][1] <= start:
            index += 1
        call = _CALL.match(text, end)
        if call:
            position = _behind_arguments(text, call.end())
        if call:
            form = Form.CALL
        elif index < len(code) and code[index][0] <= start:
            form = Form.CODE
        else:
            form = _form(text, start, end)
        name, qualifiers = _parts(match[0], keep_suffix=form in (Form.CALL, Form.CODE))
        if name:
            yield Mention(name, qualifiers, form, start, end)


def _behind_arguments(text: str, start: int) -> int:
    """Where the arguments of a call end that begin at `start`: what they name is not asked for."""
    depth = 1
    for bracket in _BRACKET.finditer(text, start, start + _LONGEST_ARGUMENTS):
        depth += 1 if bracket[0] == "(" else -1
        if not depth:
            return bracket.end()
    return start


def _form(text: str, start: int, end: int) -> Form:
    before = text[max(0, start - _LOOK) : start]
    if _BEFORE.search(before) or _BEHIND.match(text, end):
        return Form.NAMED
    return Form.NAMED if _NOUN.search(before) and _VERB.match(text, end) else Form.BARE


def _parts(chain: str, *, keep_suffix: bool) -> tuple[str, tuple[str, ...]]:
    """The name and its qualifiers. `?` and `!` belong to a name in code, else to the sentence."""
    *qualifiers, name = _PART.split(chain)
    if not keep_suffix:
        name = name.rstrip("!?")
    return name, tuple(one.lstrip("$~") for one in qualifiers if one.strip("$~"))
