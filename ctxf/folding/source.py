"""Folds source: what the grammar of its language says is a comment (PROTOCOL.md §11)."""

from ctxf.archive import Archive, Refused
from ctxf.errors import ArchiveError, SourceNotParsed, UnknownLanguage
from ctxf.folding.results import FoldResult
from ctxf.folding.storing import Stretch, as_it_was, group_of, store_and_write, write_admitted
from ctxf.protocol.fold import FoldPlan, FoldRules, plan_text
from ctxf.protocol.grammars import find_language
from ctxf.protocol.languages import is_text_name
from ctxf.protocol.parsers import Parsers, SourceParser
from ctxf.protocol.plan_source import plan_source

__all__ = ["fold_source"]


def fold_source(
    data: bytes,
    archive: Archive,
    scope: str,
    name: str,
    rules: FoldRules,
    capacity: int | None,
    parser: SourceParser | None,
) -> FoldResult[bytes]:
    """Fold a whole source of the language `name`, or text by another of its names; see `ctxf.fold`."""
    if is_text_name(name):
        stretch = Stretch(data, 0, plan_text(data, rules))
        (result,) = store_and_write([stretch], archive, scope, rules, capacity)
        return result
    language = find_language(name)
    if language is None:
        raise UnknownLanguage(name)
    if parser is None:
        with Parsers() as own_parser:
            return fold_source(data, archive, scope, name, rules, capacity, own_parser)

    refused: set[bytes] = set()
    while True:
        plan = plan_source(data, language, rules, parser, refused=refused)
        stretch = Stretch(data, 0, FoldPlan(plan.folds, plan.kept))
        if plan.failure is not None:
            failure = SourceNotParsed(language.name, plan.failure.message, plan.failure.wheel)
            return as_it_was(stretch, plan.rules, failure)
        try:
            admissions = archive.put(scope, [group_of(fold) for fold in plan.folds], capacity=capacity)
        except ArchiveError as error:
            return as_it_was(stretch, plan.rules, error)
        no_room = {
            fold.digest for fold, ids in zip(plan.folds, admissions, strict=True) if isinstance(ids, Refused)
        }
        if not no_room:
            return write_admitted(stretch, list(zip(plan.folds, admissions, strict=True)), plan.rules)
        # Later folds may have been certain only because of these: plan again without them.
        refused |= no_room
