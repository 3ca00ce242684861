"""Folds chat requests: an agent's whole history is sent again with every one of them (PROTOCOL.md §13).

    result = fold_request(body, "anthropic", archive, scope="c-...", policy=RequestPolicy())
    send(result.body)

Four wire formats, one algorithm: a format (one file, one row in `formats`) only says which texts of a body
are the model's own, and in which order everything stands.
"""

from ctxf.conversations.guidance import AGENT_RECOVERY, READ_TOOLS, SHELL_TOOLS, Recovery
from ctxf.requests.fold import fold_request
from ctxf.requests.formats import PROTOCOLS
from ctxf.requests.memo import Memo
from ctxf.requests.model import (
    FoldedPart,
    Refusal,
    RequestFold,
    RequestKept,
    RequestPolicy,
    RequestRestoreResult,
    RequestResult,
    RestoredReference,
    UnresolvedReference,
)
from ctxf.requests.restore import restore_request

__all__ = [
    "AGENT_RECOVERY",
    "PROTOCOLS",
    "READ_TOOLS",
    "SHELL_TOOLS",
    "FoldedPart",
    "Memo",
    "Recovery",
    "Refusal",
    "RequestFold",
    "RequestKept",
    "RequestPolicy",
    "RequestRestoreResult",
    "RequestResult",
    "RestoredReference",
    "UnresolvedReference",
    "fold_request",
    "restore_request",
]
