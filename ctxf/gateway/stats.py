"""What the gateway counts. All of it lives in its event loop, is bounded, and holds no text of anybody."""

import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from ctxf.gateway.routes import Route

__all__ = ["Block", "Exchange", "SessionStats", "Stats"]

_SESSIONS: Final = 200
_BLOCKS: Final = 100
_MINUTES: Final = 24 * 60


@dataclass(frozen=True, slots=True)
class Block:
    """A block that stood folded in a request: `size` in bytes, `tokens_saved` estimated."""

    label: str
    id: str
    size: int
    tokens_saved: int


@dataclass(frozen=True, slots=True)
class FoldedBlock:
    """The first time that a block was folded, for the status page; `number` is its address there."""

    number: int
    when: float
    scope: str
    session: str
    block: Block


@dataclass(slots=True)
class Exchange:
    """One request and its answer, while it goes on.

    `outcome` is "complete", "client gone" or "provider failed"; `note` says what came of folding. Bytes
    count the request's body, for conversations only.
    """

    route: Route
    started: float
    status: int | None = None
    outcome: str = "failed"
    note: str = ""
    session: str = ""
    scope: str = ""
    blocks: tuple[Block, ...] = ()
    bytes_in: int = 0
    bytes_out: int = 0


@dataclass(slots=True)
class SessionStats:
    """The counters of one conversation."""

    client: str
    requests: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    tokens_saved: int = 0
    last_seen: float = 0.0
    ids: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Minute:
    minute: int
    requests: int = 0
    bytes_in: int = 0
    bytes_out: int = 0


class Stats:
    """Counters since the gateway started."""

    def __init__(self, on_end: Callable[[Exchange], None] | None = None) -> None:
        self._on_end = on_end
        self.started = time.time()
        self.requests = 0
        self.active = 0
        self.bytes_in = 0
        self.bytes_out = 0
        self.blocks = 0
        self.tokens_saved = 0
        self.outcomes: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.sessions: OrderedDict[str, SessionStats] = OrderedDict()
        self.latest: deque[FoldedBlock] = deque(maxlen=_BLOCKS)
        self._minutes: deque[_Minute] = deque(maxlen=_MINUTES)

    def begin(self, route: Route) -> Exchange:
        """A request came in."""
        self.requests += 1
        self.active += 1
        return Exchange(route, time.time())

    def end(self, exchange: Exchange) -> None:
        """It has ended, whether it succeeded or not."""
        self.active -= 1
        self.outcomes[exchange.outcome] += 1
        if exchange.status is not None:
            self.statuses[exchange.status] += 1
        if exchange.note:
            self.notes[exchange.note] += 1
        self.bytes_in += exchange.bytes_in
        self.bytes_out += exchange.bytes_out
        saved = sum(block.tokens_saved for block in exchange.blocks)
        self.tokens_saved += saved
        self._add_to_minute(exchange)
        if exchange.session:
            self._add_to_session(exchange, saved)
        if self._on_end is not None:
            self._on_end(exchange)

    def _add_to_minute(self, exchange: Exchange) -> None:
        minute = int(exchange.started // 60)
        if not self._minutes or self._minutes[-1].minute < minute:
            self._minutes.append(_Minute(minute))
        current = self._minutes[-1]
        current.requests += 1
        current.bytes_in += exchange.bytes_in
        current.bytes_out += exchange.bytes_out

    def _add_to_session(self, exchange: Exchange, saved: int) -> None:
        session = self.sessions.setdefault(exchange.session, SessionStats(exchange.route.provider))
        self.sessions.move_to_end(exchange.session)
        if len(self.sessions) > _SESSIONS:
            self.sessions.popitem(last=False)
        session.requests += 1
        session.bytes_in += exchange.bytes_in
        session.bytes_out += exchange.bytes_out
        session.tokens_saved += saved
        session.last_seen = exchange.started
        for block in exchange.blocks:
            if block.id not in session.ids:
                session.ids.add(block.id)
                self.blocks += 1
                self.latest.append(
                    FoldedBlock(self.blocks, exchange.started, exchange.scope, exchange.session, block)
                )

    def snapshot(self, *, with_blocks: bool) -> dict[str, Any]:
        """All of it as JSON would have it; labels and ids of blocks only on request."""
        shown: dict[str, Any] = {
            "uptime_seconds": round(time.time() - self.started, 1),
            "requests": self.requests,
            "active": self.active,
            "blocks": self.blocks,
            "tokens_saved_estimate": self.tokens_saved,
            "bytes_before": self.bytes_in,
            "bytes_after": self.bytes_out,
            "outcomes": dict(self.outcomes),
            "folding": dict(self.notes),
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
            "minutes": [
                {
                    "start": one.minute * 60,
                    "requests": one.requests,
                    "bytes_before": one.bytes_in,
                    "bytes_after": one.bytes_out,
                }
                for one in self._minutes
            ],
            "sessions": [_session(name, one) for name, one in reversed(self.sessions.items())],
        }
        if with_blocks:
            shown["latest"] = [_block(one) for one in reversed(self.latest)]
        return shown


def _session(name: str, one: SessionStats) -> dict[str, Any]:
    return {
        "session": name,
        "provider": one.client,
        "requests": one.requests,
        "blocks": len(one.ids),
        "tokens_saved_estimate": one.tokens_saved,
        "bytes_before": one.bytes_in,
        "bytes_after": one.bytes_out,
        "last_seen": round(one.last_seen, 1),
    }


def _block(one: FoldedBlock) -> dict[str, Any]:
    return {
        "number": one.number,
        "when": round(one.when, 1),
        "session": one.session,
        "label": one.block.label,
        "id": one.block.id,
        "size": one.block.size,
        "tokens_saved_estimate": one.block.tokens_saved,
    }
