"""Folds the body of one request as its conversation and the settings ask for."""

from typing import Final

from ctxf.archive import Archive
from ctxf.config import Settings
from ctxf.conversations.guidance import AGENT_RECOVERY, Recovery
from ctxf.gateway.encodings import decode
from ctxf.gateway.folding import FoldJob, Outcome
from ctxf.gateway.sessions import find_scope
from ctxf.gateway.stats import Block
from ctxf.gateway.wire import Headers, first, has
from ctxf.protocol.parsers import Parsers
from ctxf.protocol.savings import estimate_tokens
from ctxf.protocol.scopes import is_conversation_scope, scope_fingerprint
from ctxf.requests import Memo, RequestPolicy, fold_request
from ctxf.requests.model import ProjectedRead
from ctxf.requests.spelling import may_hold_marker

__all__ = ["ConversationFolder", "agent_recovery", "request_policy"]

# Over these the body cannot change: they are signatures or digests of it.
_SEALS: Final = (b"content-digest", b"content-md5", b"digest", b"signature", b"x-amz-content-sha256")


def agent_recovery(settings: Settings, command: str) -> Recovery:
    """How an agent reads back: the tools of those known here, and what the settings say of another."""
    named = () if settings.shell_tool_name is None else (settings.shell_tool_name,)
    return AGENT_RECOVERY._replace(
        command=settings.recovery_command or command,
        shell_tools=(*named, *AGENT_RECOVERY.shell_tools),
    )


def request_policy(settings: Settings, recovery: Recovery, scope: str) -> RequestPolicy:
    """What the settings ask for in a scope."""
    return RequestPolicy(
        delay_requests=settings.delay_requests,
        min_savings_tokens=settings.min_savings_tokens,
        recovery=recovery,
        append_guidance=True,
        project_reads=settings.project_reads,
        capacity=settings.max_session_bytes if is_conversation_scope(scope) else None,
    )


class ConversationFolder:
    """Folds request bodies; may be called from several threads.

    `scope` is that of every request; where it is None each conversation has its own, derived under
    `secret`. A body of more than `limit` bytes, once decoded, stays as it is.
    """

    def __init__(
        self,
        archive: Archive,
        settings: Settings,
        recovery: Recovery,
        *,
        scope: str | None,
        secret: bytes,
        limit: int,
    ) -> None:
        self._archive = archive
        self._settings = settings
        self._recovery = recovery
        self._scope = scope
        self._secret = secret
        self._limit = limit
        self._memo = Memo()
        self._parser = Parsers(isolate=True)  # a source that an agent read may be anybody's

    def __call__(self, job: FoldJob) -> Outcome:
        """Fold one body."""
        if not self._settings.enabled:
            return Outcome(None, "passed: folding is switched off")
        if _is_sealed(job.headers):
            return Outcome(None, "passed: the body is signed")
        body = decode(job.body, first(job.headers, b"content-encoding") or b"", self._limit)
        if body is None:
            return Outcome(None, "passed: the body cannot be decoded")
        scope = self._scope_of(job, body)
        if scope is None:
            return Outcome(None, "passed: no conversation")
        session = scope_fingerprint(scope)
        if not may_hold_marker(body) and b'"tools"' not in body and not self._settings.project_reads:
            return Outcome(None, "nothing to fold", session, scope)
        policy = request_policy(self._settings, self._recovery, scope)
        result = fold_request(body, job.protocol, self._archive, scope, policy, self._memo, self._parser)
        if result.failure is not None:
            return Outcome(None, f"passed: {type(result.failure).__name__}", session, scope)
        blocks = tuple(Block(fold.label, fold.id, fold.size, fold.tokens_saved) for fold in result.folds)
        blocks += tuple(_read_block(read) for read in result.reads)
        note = f"passed: {result.refusal}" if result.refusal else "folded" if blocks else "nothing to fold"
        return Outcome(None if result.body is body else result.body, note, session, scope, blocks)

    def close(self) -> None:
        """End the parser's process and close the archive; a fold that took too long may still be at work."""
        self._parser.close_for_good()
        self._archive.close()

    def read(self, scope: str, id: str) -> bytes:
        """A body, for the status page."""
        return self._archive.read(scope, id)

    def _scope_of(self, job: FoldJob, body: bytes) -> str | None:
        if self._scope is not None:
            return self._scope
        return find_scope(self._secret, job.protocol, job.headers, body)


def _read_block(read: ProjectedRead) -> Block:
    """A projected read as the counters have it, by the first stretch that was left out."""
    gone = read.size - read.size_after
    return Block(f"{read.file}: {', '.join(read.definitions)}", read.ids[0], gone, estimate_tokens(gone))


def _is_sealed(headers: Headers) -> bool:
    if (first(headers, b"authorization") or b"").lower().startswith(b"aws4-"):
        return True
    return any(has(headers, name) for name in _SEALS)
