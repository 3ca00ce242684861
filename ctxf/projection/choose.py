"""Chooses the one function that a question names, or says why there is none (PROTOCOL.md §14.2)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from ctxf.projection.definitions import Definition, Sort
from ctxf.projection.lookup import Lookup
from ctxf.projection.question import Form, Mention
from ctxf.projection.words import is_plain

__all__ = ["Choice", "Why", "choose"]

Group = list[Definition]  # definitions of one name in one scope: overloads, conditional ones

_SELF: Final = frozenset({"self", "this", "cls", "super", "Self"})
_MOST: Final = 4  # definitions that a message lists


class Why(StrEnum):
    """Why a source stays whole."""

    NO_NAME = "no-name"  # the question names no function or method of the file
    AMBIGUOUS = "ambiguous"  # it names several
    NOT_CLEAN = "not-clean"  # the file does not parse around the definition
    NOTHING = "nothing"  # nothing would be left out
    NO_COMMENT = "no-comment"  # an omission line would be no comment at its place
    HOLDS_REFERENCE = "holds-reference"  # what would be left out holds references
    NO_LANGUAGE = "no-language"  # projection does not know the language
    TOO_LARGE = "too-large"
    PARSER = "parser"
    CAPACITY = "capacity"
    ARCHIVE = "archive"


@dataclass(frozen=True, slots=True)
class Choice:
    """The definitions to keep, all of one name; or none, with `why` and a sentence for a person.

    `matched` tells what each name of the question was found to be.
    """

    group: Sequence[Definition] = ()
    why: Why | None = None
    detail: str = ""
    matched: tuple[str, ...] = field(default=())


class _Match(NamedTuple):
    mention: Mention
    groups: list[Group]
    how: str


def choose(mentions: Sequence[Mention], lookup: Lookup, *, overloads: bool) -> Choice:
    """Match the names of a question with the definitions of a file. Raises TooSlow."""
    matches: list[_Match] = []
    types: dict[str, Definition] = {}
    plain: dict[str, Mention] = {}
    taken_until = 0
    for mention in _distinct(mentions):
        if mention.start < taken_until:
            continue  # a part of a longer name that is one
        if is_bare_word(mention):
            plain.setdefault(mention.name, mention)
        match = _match(mention, lookup, overloads=overloads)
        if match:
            matches.append(match)
            taken_until = mention.end
        if mention.form is not Form.BARE or mention.start or not is_plain(mention.name):
            types.update((one.name, one) for one in lookup.exact(mention.name) if one.sort is Sort.TYPE)
    matched = tuple(_explain(match) for match in matches)
    if not matches:
        return Choice(why=Why.NO_NAME, detail=_no_name(plain, types, lookup), matched=matched)
    return _decide(matches, types, matched)


def _distinct(mentions: Sequence[Mention]) -> list[Mention]:
    return list({(one.name, one.qualifiers, one.form): one for one in reversed(mentions)}.values())[::-1]


def is_bare_word(mention: Mention) -> bool:
    """Whether a name may be no name at all but a word of the question's language."""
    return mention.form is Form.BARE and is_plain(mention.name)


def _match(mention: Mention, lookup: Lookup, *, overloads: bool) -> _Match | None:
    if is_bare_word(mention) and not mention.qualifiers:
        return None
    how = mention.form.value
    found = lookup.exact(mention.name)
    if not found:
        found = [one for one in lookup.otherwise_spelled(mention.name) if one.sort is not Sort.TYPE]
        if len({one.key for one in found}) > 1:
            return None  # another spelling counts only where it is the only one
        how += ", spelled otherwise"
    is_call = mention.form is Form.CALL or mention.name in mention.qualifiers
    found = [
        one for one in found if one.sort is not Sort.TYPE and (is_call or one.sort is not Sort.CONSTRUCTOR)
    ]
    if mention.qualifiers and found:
        best = max(_agreement(mention, one, lookup) for one in found)
        found = [one for one in found if best and _agreement(mention, one, lookup) == best]
    groups = _groups(found, overloads=overloads)
    return _Match(mention, groups, how) if groups else None


def _agreement(mention: Mention, definition: Definition, lookup: Lookup) -> int:
    """How well what qualifies a name agrees with where a definition stands; 0 when it does not."""
    qualifier = mention.qualifiers[-1]
    if any(qualifier in scope for scope in definition.scopes):
        return 4 if qualifier in definition.scopes[-1] else 3
    if definition.scopes and any(_folded(qualifier) == _folded(one) for one in definition.scopes[-1]):
        return 2
    if qualifier in _SELF:
        return 1 if definition.scopes else 0
    # A module or a variable, as far as can be told: enough for a function of the file itself, and for a
    # method whose name says enough alone.
    is_open = not definition.scopes or not is_plain(mention.name)
    return int(is_open and not lookup.is_type(qualifier) and not lookup.is_imported(qualifier))


def _folded(name: str) -> str:
    return name.lower().replace("_", "")


def _groups(found: Iterable[Definition], *, overloads: bool) -> list[Group]:
    groups: dict[tuple[str, ...], Group] = {}
    for one in found:
        groups.setdefault(one.key, []).append(one)
    bodies = [group for group in groups.values() if any(one.sort is not Sort.SIGNATURE for one in group)]
    if not bodies:
        return list(groups.values())
    if overloads:
        return bodies
    return [[one for one in group if one.sort is not Sort.SIGNATURE] for group in bodies]


def _decide(matches: Sequence[_Match], types: dict[str, Definition], matched: tuple[str, ...]) -> Choice:
    """One group for all names, or none."""
    certain: dict[tuple[str, ...], Group] = {}
    unclear: list[tuple[Mention, list[Group]]] = []
    for mention, groups, _how in matches:
        narrowed = groups
        if len(groups) > 1:
            inside = [one for one in groups if any({*scope} & types.keys() for scope in one[0].scopes)]
            narrowed = inside if len(inside) == 1 else groups
        if len(narrowed) == 1:
            certain.setdefault(narrowed[0][0].key, narrowed[0])
        else:
            unclear.append((mention, narrowed))
    for mention, groups in unclear:
        if not any(group[0].key in certain for group in groups):
            shown = _list(group[0] for group in groups)
            detail = f"{_number(len(groups))} definitions of {mention.name}: {shown}"
            return Choice(why=Why.AMBIGUOUS, detail=detail, matched=matched)
    if len(certain) > 1:
        shown = _list(group[0] for group in certain.values())
        detail = f"the question names {_number(len(certain))} functions: {shown}"
        return Choice(why=Why.AMBIGUOUS, detail=detail, matched=matched)
    (group,) = certain.values()
    return Choice(group, matched=matched)


def _number(count: int) -> str:
    return {2: "two", 3: "three"}.get(count, str(count))


def _list(definitions: Iterable[Definition]) -> str:
    shown = [str(one) for one in definitions]
    more = f" and {len(shown) - _MOST} more" if len(shown) > _MOST else ""
    return ", ".join(shown[:_MOST]) + more


def _explain(match: _Match) -> str:
    found = _list(one for group in match.groups for one in group)
    return f"{match.mention.text} ({match.how}): {found}"


def _no_name(plain: dict[str, Mention], types: dict[str, Definition], lookup: Lookup) -> str:
    """The sentence, with what would have made a name of a plain word."""
    for name in list(plain)[:_MOST]:
        if any(one.sort is not Sort.TYPE for one in lookup.exact(name)):
            return f"{name} is a plain word, too: write {name}(), `{name}` or Type.{name}"
    if types:
        return f"the question names no function or method, but {_list(types.values())}"
    return "the question names no function or method of this file"
