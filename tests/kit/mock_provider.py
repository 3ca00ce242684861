"""A model provider on loopback that answers the real clients from a script. Speaks three wire formats.

Nothing of it is a model: each request that offers tools takes the next step of the script, every other
request (titles, token counts, quota checks) gets a word.
"""

import json
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

__all__ = ["Call", "MockProvider", "Request", "Say", "Step"]

_WORD: Final = "ok"


class Say(NamedTuple):
    """The model says something and ends its turn."""

    text: str


class Call(NamedTuple):
    """The model calls a tool, perhaps after it has said something.

    Arguments that are a bare text are for tools of the Responses API that take one.
    """

    tool: str
    arguments: dict[str, Any] | str
    said: str = ""


@dataclass(frozen=True)
class Request:
    """A request as it came in."""

    path: str
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """All of it as JSON, to look for words in."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def strings(self) -> list[str]:
        """Every string value in it, in order."""
        found: list[str] = []
        pending: list[Any] = [self.body]
        while pending:
            value = pending.pop()
            if isinstance(value, str):
                found.append(value)
            elif isinstance(value, dict):
                pending += reversed(value.values())
            elif isinstance(value, list):
                pending += reversed(value)
        return found

    @property
    def tools(self) -> list[str]:
        """Names of the tools that it offers."""
        names: list[str] = []
        # Codex's newest models get their tools among the items of the conversation.
        items = self.body.get("input")
        late = (
            [item.get("tools") or [] for item in items if isinstance(item, dict)]
            if isinstance(items, list)
            else []
        )
        for tool in (self.body.get("tools") or []) + [tool for tools in late for tool in tools]:
            inner = tool.get("functionDeclarations") or tool.get("tools") or [tool]
            names += [one["name"] for one in inner if "name" in one]
        return names


Step = Say | Call | Callable[[Request], Say | Call]


@dataclass
class MockProvider:
    """Serves while it is entered; `requests` are those that took a step, in their order."""

    steps: Sequence[Step]
    requests: list[Request] = field(default_factory=list)
    others: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._pending = list(self.steps)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: Request) -> Say | Call:
        """The next step, or a fixed answer for a request that is not part of the script."""
        with self._lock:
            if not request.tools or not self._pending:
                self.others.append(request)
                return Say(_WORD)
            self.requests.append(request)
            step = self._pending.pop(0)
        return step if isinstance(step, Say | Call) else step(request)


def _handler(provider: MockProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = Request(self.path, json.loads(content or b"{}"))
            route = next((route for pattern, route in _ROUTES if re.search(pattern, self.path)), None)
            if route is None:
                self._send(404, "application/json", b'{"error":{"message":"no such route"}}')
            elif isinstance(route, bytes):
                self._send(200, "application/json", route)
            else:
                is_stream = bool(request.body.get("stream")) or "alt=sse" in self.path
                events = route(provider.answer(request), is_stream)
                kind = "text/event-stream" if is_stream else "application/json"
                self._send(200, kind, "".join(events).encode())

        def do_GET(self) -> None:
            self._send(404, "application/json", b'{"error":{"message":"no such route"}}')

        def do_HEAD(self) -> None:
            self._send(200, "application/json", b"")

        def _send(self, status: int, kind: str, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Print no log."""

    return Handler


def _event(kind: str, data: dict[str, Any]) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n"


def _anthropic(answer: Say | Call, is_stream: bool) -> list[str]:
    usage = {"input_tokens": 10, "output_tokens": 5}
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "mock",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    blocks: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = []  # empty, delta, whole
    reason = "end_turn" if isinstance(answer, Say) else "tool_use"
    if said := answer.text if isinstance(answer, Say) else answer.said:
        empty = {"type": "text", "text": ""}
        blocks.append((empty, {"type": "text_delta", "text": said}, {"type": "text", "text": said}))
    if isinstance(answer, Call):
        empty = {"type": "tool_use", "id": f"toolu_{abs(hash(str(answer))):x}", "name": answer.tool}
        arguments = json.dumps(answer.arguments)
        delta = {"type": "input_json_delta", "partial_json": arguments}
        blocks.append((empty | {"input": {}}, delta, empty | {"input": answer.arguments}))
    if not is_stream:
        content = [whole for _, _, whole in blocks]
        return [json.dumps({**message, "content": content, "stop_reason": reason})]
    return [
        _event("message_start", {"message": message}),
        *(
            _event(f"content_block_{kind}", {"index": index, **more})
            for index, (empty, delta, _) in enumerate(blocks)
            for kind, more in (("start", {"content_block": empty}), ("delta", {"delta": delta}), ("stop", {}))
        ),
        _event("message_delta", {"delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}),
        _event("message_stop", {}),
    ]


def _responses(answer: Say | Call, _is_stream: bool) -> list[str]:
    items: list[dict[str, Any]] = []
    if said := answer.text if isinstance(answer, Say) else answer.said:
        items.append(
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": said, "annotations": []}],
            }
        )
    if isinstance(answer, Call):
        # A namespaced tool stands for a server's: `namespace/name`.
        namespace, _, name = answer.tool.rpartition("/")
        call = {"call_id": f"call_{abs(hash(str(answer))):x}", "name": name}
        if isinstance(answer.arguments, str):
            call |= {"type": "custom_tool_call", "id": "ctc_1", "input": answer.arguments}
        else:
            call |= {"type": "function_call", "id": "fc_1", "arguments": json.dumps(answer.arguments)}
        items.append(call | ({"namespace": namespace} if namespace else {}))
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 15,
    }
    response = {"id": "resp_1", "object": "response", "status": "completed", "output": items, "usage": usage}
    return [
        _event("response.created", {"response": {"id": "resp_1", "output": []}}),
        *(
            _event("response.output_item.done", {"output_index": at, "item": item})
            for at, item in enumerate(items)
        ),
        _event("response.completed", {"response": response}),
    ]


def _gemini(answer: Say | Call, is_stream: bool) -> list[str]:
    said = answer.text if isinstance(answer, Say) else answer.said
    parts: list[dict[str, Any]] = [{"text": said}] if said else []
    if isinstance(answer, Call):
        parts.append({"functionCall": {"name": answer.tool, "args": answer.arguments}})
    data = json.dumps(
        {
            "candidates": [
                {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
            ],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
        }
    )
    return [f"data: {data}\n\n" if is_stream else data]


_ROUTES: Final[tuple[tuple[str, bytes | Callable[[Say | Call, bool], list[str]]], ...]] = (
    (r"/v1/messages/count_tokens", b'{"input_tokens":10}'),
    (r"/v1/messages", _anthropic),
    (r"/responses", _responses),
    (r":countTokens", b'{"totalTokens":10}'),
    (r":(streamG|g)enerateContent", _gemini),
)
