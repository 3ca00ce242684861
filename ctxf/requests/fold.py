"""Fold a request: marked blocks of the model's own earlier replies become references."""

from ctxf.archive import Archive
from ctxf.protocol.scopes import DEFAULT_SCOPE, check_scope
from ctxf.requests.memo import Memo
from ctxf.requests.model import BodyT, RequestPolicy, RequestResult

__all__ = ["fold_request"]


def fold_request(
    body: BodyT,
    protocol: str,
    archive: Archive,
    scope: str = DEFAULT_SCOPE,
    policy: RequestPolicy | None = None,
    memo: Memo | None = None,
) -> RequestResult[BodyT]:
    """Fold what is due in a request body: a dict, or its JSON as bytes (PROTOCOL.md §13).

    All bodies are stored in one transaction and read back before the result exists. Where anything fails
    the body comes back as it was, with the reason in `failure`. A dict is never changed: the result shares
    with it what stays. In bytes every value that stays keeps its exact spelling.

    `protocol` is one of PROTOCOLS. `memo` remembers what was found in the texts of earlier requests; it
    may serve all scopes and threads, and never changes a result. Raises InvalidScope and UnknownProtocol;
    never for anything in the body or the archive.
    """
    check_scope(scope)
    raise NotImplementedError
