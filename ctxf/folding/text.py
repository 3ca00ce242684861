"""Fold: marked blocks in, references out.

`fold` takes a whole text; a pipe goes through `ctxf.folding.stream`, files on a command line share a parser.
"""

from typing import TYPE_CHECKING, AnyStr

from ctxf.archive import Archive
from ctxf.folding.results import FoldResult
from ctxf.folding.storing import Stretch, store_and_write
from ctxf.protocol.fold import FoldRules, plan_text
from ctxf.protocol.savings import DEFAULT_MIN_SAVINGS_TOKENS, CountTokens
from ctxf.protocol.scopes import DEFAULT_SCOPE, check_scope
from ctxf.protocol.strings import to_bytes, to_str

if TYPE_CHECKING:
    from ctxf.protocol.parsers import SourceParser

__all__ = ["fold"]


def fold(
    text: AnyStr,
    archive: Archive,
    *,
    scope: str = DEFAULT_SCOPE,
    language: str = "text",
    min_savings_tokens: int = DEFAULT_MIN_SAVINGS_TOKENS,
    count_tokens: CountTokens | None = None,
    capacity: int | None = None,
    parser: "SourceParser | None" = None,
) -> FoldResult[AnyStr]:
    """Fold the marked blocks of `text`: store their bodies, and put references in their place.

    Bytes give bytes, a str gives a str. All bodies are stored in one transaction and read back before
    the result exists; where that fails the text comes back as it was, with the reason in `failure`.

    `language` is `text`, or the name of a language in whose comments the markers stand. `count_tokens`
    replaces the estimate of one token for four bytes. `capacity` limits the bytes that the scope may
    hold in all. `parser` (ctxf.protocol.parsers.Parsers) is for who folds many sources: it keeps the
    grammars, and the child process that some of them run in.

    Raises InvalidScope and UnknownLanguage; never for anything in the text or the archive.
    """
    check_scope(scope)
    data = to_bytes(text)
    rules = FoldRules(min_savings_tokens, count_tokens)
    if language in ("text", "markdown"):
        stretch = Stretch(data, 0, plan_text(data, rules))
        (result,) = store_and_write([stretch], archive, scope, rules, capacity)
    else:
        # Imported here because text needs no parser: `ctxf` would take 93 ms for a block, not 61 ms.
        from ctxf.folding.source import fold_source  # noqa: PLC0415

        result = fold_source(data, archive, scope, language, rules, capacity, parser)
    if isinstance(text, bytes):
        return result
    return FoldResult(to_str(result.text), result.folds, result.kept, result.failure, result.misspelled)
