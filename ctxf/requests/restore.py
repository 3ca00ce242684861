"""Restore a request: references in the model's own texts become the exact bodies again."""

from ctxf.archive import Archive
from ctxf.protocol.scopes import DEFAULT_SCOPE, check_scope
from ctxf.requests.model import BodyT, RequestRestoreResult

__all__ = ["restore_request"]


def restore_request(
    body: BodyT, protocol: str, archive: Archive, scope: str = DEFAULT_SCOPE
) -> RequestRestoreResult[BodyT]:
    """Put the exact bodies back into a folded request (PROTOCOL.md §13.6).

    What does not resolve stays and is listed with its error. Raises InvalidScope and UnknownProtocol.
    """
    check_scope(scope)
    raise NotImplementedError
