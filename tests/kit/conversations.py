"""Conversations of agents, as events, and what each wire format makes of them.

An event is one of: the model says something (`say`), says something that is bound to citations or signatures
(`bound`), calls a tool (`call`) or makes something else (`opaque`); a tool answers (`result`), a user writes
(`user`, `other` with more than text), somebody instructs (`system`).
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any, Final, NamedTuple

from hypothesis import strategies as st

from tests.kit.documents import LABELS, LINES, LONG_LINE

Json = dict[str, Any]

MODEL: Final = ("say", "bound", "call", "opaque")
INPUT: Final = ("result", "user", "other")
MARKED: Final = (
    "<!-- @context-fold begin hidden -->\n" + "kept as it is\n" * 40 + "<!-- @context-fold end hidden -->\n"
)


class Event(NamedTuple):
    """One event; `number` tells it from others and chooses among variants."""

    kind: str
    text: str
    number: int


KINDS: Final = (
    *("say",) * 9,
    *("user",) * 4,
    *("call", "result") * 2,
    *("bound", "opaque", "system", "other"),
)


def _events(choices: list[tuple[int, bytes]]) -> list[Event]:
    """Events from numbers; what is no UTF-8 becomes lone surrogates.

    Blocks that one text leaves open are closed in a later one: the labels that are open are remembered.
    """
    events, opened = list[Event](), list[bytes]()
    for number, data in choices:
        kind = KINDS[number % len(KINDS)]
        text = _text(data, opened if kind == "say" else [])
        events.append(Event(kind, text.decode("utf-8", "surrogateescape"), number // 7))
    return events


def _text(choices: bytes, opened: list[bytes]) -> bytes:
    """A text from bytes, one for each line."""
    lines = []
    for choice in choices:
        label = LABELS[choice % 3]
        if choice < 60:
            opened.append(label)
            lines.append(b"<!-- @context-fold begin %b -->" % label)
        elif choice < 120 and opened:
            lines.append(b"<!-- @context-fold end %b -->" % opened.pop())
        elif choice < 200:
            lines.append(LONG_LINE if choice % 2 else b"%d more" % choice)
        else:
            lines.append(LINES[choice * 7 % len(LINES)])
    return b"".join(
        line + (b"\r\n" if choice % 16 == 5 else b"\n") for line, choice in zip(lines, choices, strict=True)
    )[: -1 if choices[-1:] > b"\xc0" else None]


conversations = st.lists(st.tuples(st.integers(0, 255), st.binary(max_size=7)), min_size=4, max_size=18).map(
    _events
)


def chat(events: Iterable[Event]) -> Json:
    """OpenAI Chat Completions."""
    messages: list[Json] = []
    for event in events:
        messages += _chat_messages(event)
    return {"model": "m", "messages": messages, "tools": [], "temperature": 1.0}


def _chat_messages(event: Event) -> Iterator[Json]:
    kind, text, number = event
    part = {"type": "text", "text": text}
    call = {"id": f"call_{number}", "type": "function", "function": {"name": "run", "arguments": MARKED}}
    custom = {"id": f"call_{number}", "type": "custom", "custom": {"name": "patch", "input": MARKED}}
    if kind == "say":
        shapes: list[Json] = [
            {"role": "assistant", "content": text},
            {"role": "assistant", "content": [part, {"type": "refusal", "refusal": MARKED}]},
            {"role": "assistant", "content": text, "tool_calls": [call, custom]},
            {"role": "assistant", "content": [part, part], "reasoning_content": MARKED},
        ]
        yield shapes[number % len(shapes)]
    elif kind == "bound":
        yield {"role": "assistant", "content": text or "x", "annotations": [{"type": "url_citation"}]}
    elif kind == "call":
        yield {"role": "assistant", "content": None, "tool_calls": [call]}
    elif kind == "opaque":
        yield {
            "role": "assistant",
            "content": None,
            "refusal": MARKED,
            "function_call": {"arguments": MARKED},
        }
    elif kind == "result":
        yield {"role": "tool", "tool_call_id": f"call_{number}", "content": text if number % 2 else [part]}
    elif kind == "user":
        yield {"role": "user", "content": text if number % 2 else [part]}
    elif kind == "other":
        yield {"role": "user", "content": [part, {"type": "image_url", "image_url": {"url": "data:,"}}]}
    else:
        yield {"role": ("system", "developer")[number % 2], "content": text}


def responses(events: Iterable[Event]) -> Json:
    """OpenAI Responses."""
    items: list[Json] = []
    for event in events:
        items += _responses_items(event)
    return {"model": "m", "instructions": MARKED, "input": items, "store": False, "tools": []}


def _responses_items(event: Event) -> Iterator[Json]:
    kind, text, number = event
    output = {"type": "output_text", "text": text, "annotations": []}
    message = {"type": "message", "role": "assistant", "id": f"msg_{number}", "status": "completed"}
    if kind == "say":
        shapes: list[Json] = [
            {"role": "assistant", "content": text},
            {**message, "content": [output]},
            {**message, "content": [output, output], "phase": "commentary"},
            {**message, "content": [output, {"type": "refusal", "refusal": MARKED}]},
        ]
        yield shapes[number % len(shapes)]
    elif kind == "bound":
        cited = {**output, "annotations": [{"type": "file_citation", "index": 3}]}
        signed = {**message, "content": [output], "encrypted_content": "b3BhcXVl"}
        yield ({**message, "content": [cited]}, signed)[number % 2]
    elif kind == "call":
        calls: list[Json] = [
            {"type": "function_call", "call_id": f"c{number}", "name": "run", "arguments": MARKED},
            {"type": "custom_tool_call", "call_id": f"c{number}", "name": "patch", "input": MARKED},
            {"type": "local_shell_call", "id": "l", "call_id": f"c{number}", "status": "completed"},
        ]
        yield calls[number % len(calls)]
    elif kind == "opaque":
        others: list[Json] = [
            {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": MARKED}]},
            {"type": "compaction", "encrypted_content": MARKED},
            {"type": "item_reference", "id": "i"},
            {"type": "program", "id": "p", "call_id": "c", "code": MARKED, "fingerprint": "f"},
            {"type": "program_output", "id": "p", "call_id": "c", "result": MARKED, "status": "completed"},
            {"type": "mcp_call", "id": "m", "name": "n", "arguments": MARKED, "output": MARKED},
        ]
        yield others[number % len(others)]
    elif kind == "result":
        outputs: list[Json] = [
            {"type": "function_call_output", "call_id": f"c{number}", "output": text},
            {"type": "custom_tool_call_output", "call_id": f"c{number}", "output": text},
            {"type": "shell_call_output", "call_id": f"c{number}", "output": [{"stdout": text}]},
            {
                "type": "function_call_output",
                "call_id": "c",
                "output": [{"type": "input_text", "text": text}],
            },
        ]
        yield outputs[number % len(outputs)]
    elif kind in ("user", "other"):
        part = {"type": "input_text", "text": text}
        yield {"role": "user", "content": text if number % 2 and kind == "user" else [part]}
    else:
        yield {"role": ("system", "developer")[number % 2], "content": text}


def anthropic(events: Iterable[Event]) -> Json:
    """Anthropic Messages: what the model makes between two inputs is one message, or several."""
    messages: list[Json] = []
    for is_model, run in groupby(events, key=lambda event: event.kind in MODEL):
        group = list(run)
        if not is_model:
            messages += map(_anthropic_input, group)
        elif len(group) == 1 and group[0].kind == "say" and group[0].number % 2:
            messages.append({"role": "assistant", "content": group[0].text})
        elif group[0].number % 3:
            messages.append({"role": "assistant", "content": [_anthropic_block(one) for one in group]})
        else:
            messages += ({"role": "assistant", "content": [_anthropic_block(one)]} for one in group)
    system = [
        {"type": "text", "text": "x-anthropic-billing-header: cc_version=2"},
        {"type": "text", "text": MARKED},
    ]
    return {"model": "m", "max_tokens": 9, "system": system, "messages": messages}


def _anthropic_block(event: Event) -> Json:
    kind, text, number = event
    if kind == "say":
        block: Json = {"type": "text", "text": text}
        return block if number % 2 else {**block, "cache_control": {"type": "ephemeral"}}
    if kind == "bound":
        return {"type": "text", "text": text, "citations": [{"type": "char_location", "start_char_index": 0}]}
    if kind == "call":
        return {"type": "tool_use", "id": f"toolu_{number}", "name": "Write", "input": {"content": MARKED}}
    others: list[Json] = [
        {"type": "thinking", "thinking": MARKED, "signature": "c2lnbmVk"},
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": MARKED}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"encrypted_content": MARKED}]},
        {"type": "compaction", "content": MARKED, "encrypted_content": "b3BhcXVl"},
    ]
    return others[number % len(others)]


def _anthropic_input(event: Event) -> Json:
    kind, text, number = event
    part = {"type": "text", "text": text}
    if kind == "result":
        content: Any = text if number % 2 else [part]
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": content}
        return {"role": "user", "content": [result]}
    if kind == "other":
        document = {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": MARKED},
        }
        return {"role": "user", "content": [part, document]}
    role = "system" if kind == "system" else "user"
    return {"role": role, "content": text if number % 2 else [part]}


def gemini(events: Iterable[Event]) -> Json:
    """Gemini generateContent: one content for each side."""
    contents: list[Json] = []
    for is_model, run in groupby(
        (one for one in events if one.kind != "system"), key=lambda event: event.kind in MODEL
    ):
        parts = [_gemini_part(event) for event in run]
        contents.append({"role": "model" if is_model else "user", "parts": parts})
    return {"contents": contents, "systemInstruction": {"parts": [{"text": MARKED}]}}


def _gemini_part(event: Event) -> Json:
    kind, text, number = event
    if kind == "bound":
        shapes: list[Json] = [
            {"text": text, "thought": True},
            {"text": text, "thoughtSignature": "c2lnbmVk"},
            {"text": text, "thought_signature": "c2lnbmVk"},
        ]
        return shapes[number % len(shapes)]
    if kind == "call":
        call = {"name": "run", "args": {"content": MARKED}}
        return {"functionCall": call, "thoughtSignature": "c2lnbmVk"}
    if kind == "opaque":
        code = {"executableCode": {"language": "PYTHON", "code": MARKED}}
        return (code, {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": MARKED}})[number % 2]
    if kind == "result":
        return {"functionResponse": {"name": "run", "response": {"output": text}}}
    return {"text": text}


RENDER: Final[dict[str, Callable[[Iterable[Event]], Json]]] = {
    "chat": chat,
    "responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
}


def requests_of(events: list[Event]) -> list[list[Event]]:
    """The requests that a client sends in the course of a conversation: one behind each input."""
    return [
        events[: end + 1]
        for end, event in enumerate(events)
        if event.kind in INPUT and not (end + 1 < len(events) and events[end + 1].kind in (*INPUT, "system"))
    ]
