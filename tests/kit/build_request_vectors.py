"""Writes tests/vectors/requests-*.json: `python tests/kit/build_request_vectors.py`. Knows nothing of ctxf.

Each scenario is a conversation in steps, with the parts of it that fold beside them; every format spells it
in its own way. What folds was thought out by hand; hashes, paths and JSON are made here.
"""

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

Json = dict[str, Any]

VECTORS: Final = Path(__file__).parents[1] / "vectors"


class Step(NamedTuple):
    """What somebody writes or does."""

    kind: str
    text: str = ""


class Scenario(NamedTuple):
    """`folds`: label, step and line of the begin, and the bodies of the parts, each with its step.

    `kept`: step, line, reason. `refusal` for a request in which nothing may fold.
    """

    name: str
    section: str
    steps: list[Step]
    folds: Sequence[tuple[str, int, int, list[tuple[int, str]]]] = ()
    kept: Sequence[tuple[int, int, str]] = ()
    delay: int = 0
    minimum: int = 0
    read_tools: list[str] | None = None
    refusal: str | None = None


def id_of(body: str) -> str:
    return sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def begin(label: str, end: str = "\n") -> str:
    return f"<!-- @context-fold begin {label} -->{end}"


def close(label: str, end: str = "\n") -> str:
    return f"<!-- @context-fold end {label} -->{end}"


def block(label: str, body: str, end: str = "\n") -> str:
    return begin(label, end) + body + close(label, end)


def ref(body: str, end: str = "\n") -> str:
    return f"[[cf:v2:{id_of(body)}]]{end}"


def say(text: str) -> Step:
    return Step("say", text)


USER, CALL = Step("user", "Go on."), Step("call")
A, B, C = "the first body is long enough\n", "and so is the second body\n", "the third of three bodies\n"
SHORT = "22 bytes are too few.\n"
REPLY = say("A reply without a marker.")

SCENARIOS: Final = [
    Scenario(
        "folds when it is sent again", "§13.4", [say(f"x\n{block('a', A)}y"), USER], [("a", 0, 2, [(0, A)])]
    ),
    Scenario("waits for one reply", "§13.4", [say(block("a", A)), USER], kept=[(0, 1, "not-due")], delay=1),
    Scenario(
        "has waited for one reply",
        "§13.4",
        [say(block("a", A)), USER, REPLY, USER],
        [("a", 0, 1, [(0, A)])],
        delay=1,
    ),
    Scenario(
        "waits for three replies",
        "§13.4",
        [say(block("a", A)), USER, REPLY, USER, REPLY, USER],
        kept=[(0, 1, "not-due")],
        delay=3,
    ),
    Scenario(
        "the reply that is being written",
        "§13.3",
        [say(block("a", A)), USER, say(block("b", B))],
        [("a", 0, 1, [(0, A)])],
        [(2, 1, "not-due")],
    ),
    Scenario(
        "the reply that is being written does not count",
        "§13.3",
        [say(block("a", A)), USER, REPLY],
        kept=[(0, 1, "not-due")],
        delay=1,
    ),
    Scenario("a user's text", "§13", [Step("user", block("a", A)), REPLY, USER]),
    Scenario("a tool's result", "§13", [CALL, Step("result", block("a", A)), REPLY, USER]),
    Scenario(
        "a call is a reply",
        "§13.3",
        [say(block("a", A)), USER, CALL, Step("result", "ok")],
        [("a", 0, 1, [(0, A)])],
        delay=1,
    ),
    Scenario(
        "texts in a row are one reply",
        "§13.3",
        [say(block("a", A)), REPLY, REPLY, USER],
        kept=[(0, 1, "not-due")],
        delay=1,
    ),
    Scenario(
        "instructions end no reply",
        "§13.3",
        [say(block("a", A)), Step("system", "Be brief."), REPLY, USER],
        kept=[(0, 1, "not-due")],
        delay=1,
    ),
    Scenario(
        "two blocks in a text",
        "§13.4",
        [say(f"{block('a', A)}between\n{block('b', B)}"), USER],
        [("a", 0, 1, [(0, A)]), ("b", 0, 5, [(0, B)])],
    ),
    Scenario(
        "two texts of a reply",
        "§13.1",
        [say(block("a", A)), say(block("b", B)), USER],
        [("a", 0, 1, [(0, A)]), ("b", 1, 1, [(1, B)])],
    ),
    Scenario(
        "over two texts",
        "§13.5",
        [say(f"x\n{begin('a')}{A}"), USER, say(f"{B}{close('a')}y"), USER],
        [("a", 0, 2, [(0, A), (2, B)])],
    ),
    Scenario(
        "over three texts",
        "§13.5",
        [say(f"{begin('a')}{A}"), USER, say("no line end, long enough"), USER, say(f"{B}{close('a')}"), USER],
        [("a", 0, 1, [(0, A), (2, "no line end, long enough"), (4, B)])],
    ),
    Scenario(
        "over three texts, one too short",
        "§13.5",
        [say(f"{begin('a')}{A}"), USER, say("23 bytes are too short."), USER, say(f"{B}{close('a')}"), USER],
        [("a", 0, 1, [(0, A), (4, B)])],
    ),
    Scenario(
        "over two texts, all in the second",
        "§13.5",
        [say(begin("a", "")), USER, say(f"{A}{B}{close('a')}"), USER],
        [("a", 0, 1, [(2, A + B)])],
    ),
    Scenario(
        "over two texts, all in the first",
        "§13.5",
        [say(f"{begin('a')}{A}{B}"), USER, say(close("a")), USER],
        [("a", 0, 1, [(0, A + B)])],
    ),
    Scenario(
        "over two texts, too short",
        "§13.5",
        [say(begin("a") + SHORT), USER, say(SHORT + close("a")), USER],
        kept=[(0, 1, "too-small")],
    ),
    Scenario(
        "over two texts, due with the second",
        "§13.4",
        [say(begin("a") + A), USER, say(B + close("a")), USER],
        kept=[(0, 1, "not-due")],
        delay=1,
    ),
    Scenario(
        "over a bound text",
        "§13.1",
        [say(begin("a") + A), Step("bound", "a citation of what is here"), say(B + close("a")), USER],
        [("a", 0, 1, [(0, A), (2, B)])],
    ),
    Scenario("a bound text", "§13.1", [Step("bound", block("a", A)), USER]),
    Scenario(
        "over two texts, a reference quoted",
        "§13.5",
        [say(f"{begin('a')}{A}see [[cf:v2:0123456789ab]]"), USER, say(B + close("a")), USER],
        kept=[(0, 1, "holds-reference")],
    ),
    Scenario("folded already", "§13.5", [say(begin("a") + ref(A)), USER, say(ref(B) + close("a")), USER]),
    Scenario("folded already, in one text", "§7.1", [say(block("a", ref(A))), USER]),
    Scenario(
        "around what is folded already",
        "§7.1",
        [say(begin("b") + block("a", ref(A)) + C + close("b")), USER],
        kept=[(0, 1, "holds-reference")],
    ),
    Scenario(
        "inside, at the same time",
        "§13.4",
        [say(begin("b") + C + block("a", A) + close("b")), USER],
        [("b", 0, 1, [(0, C + block("a", A))])],
    ),
    Scenario(
        "inside, due earlier",
        "§13.4",
        [say(begin("b") + C + block("a", A)), USER, say(B + close("b")), USER],
        [("a", 0, 3, [(0, A)])],
        [(0, 1, "holds-fold")],
    ),
    Scenario(
        "inside, earlier but too small",
        "§13.4",
        [say(begin("b") + block("a", SHORT)), USER, say(B + close("b")), USER],
        [("b", 0, 1, [(0, block("a", SHORT)), (2, B)])],
    ),
    Scenario(
        "inside, due earlier, and the outer not yet",
        "§13.4",
        [say(begin("b") + block("a", A)), USER, say(B + close("b")), USER],
        [],
        [(0, 1, "holds-fold"), (0, 2, "not-due")],
        delay=2,
    ),
    Scenario(
        "crossing in one reply",
        "§13.4",
        [say(begin("a") + block("c", C) + begin("b") + A + close("a") + close("b")), USER],
        kept=[(0, 1, "crossing"), (0, 2, "crossing"), (0, 5, "crossing"), (0, 8, "stray-end")],
    ),
    Scenario(
        "crossing by a later reply",
        "§13.4",
        [say(begin("a") + block("c", C) + begin("b") + A), USER, say(close("a") + close("b")), USER],
        [("c", 0, 2, [(0, C)])],
        [(0, 1, "crossing"), (0, 5, "crossing"), (2, 2, "stray-end")],
    ),
    Scenario("unclosed", "§13.4", [say(begin("a") + A), USER, REPLY, USER], kept=[(0, 1, "unclosed")]),
    Scenario("stray", "§13.4", [say(A + close("a")), USER], kept=[(0, 2, "stray-end")]),
    Scenario(
        "a fence ends with its text",
        "§13.1",
        [say("```\n" + block("a", A)), say(block("b", B)), USER],
        [("b", 1, 1, [(1, B)])],
        [(0, 2, "fenced")],
    ),
    Scenario("too small", "§13.4", [say(block("a", SHORT)), USER], kept=[(0, 1, "too-small")]),
    Scenario(
        "just worth it",
        "§13.4",
        [say(block("a", "x" * 1044 + "\n")), USER],
        [("a", 0, 1, [(0, "x" * 1044 + "\n")])],
        minimum=256,
    ),
    Scenario(
        "just not worth it",
        "§13.4",
        [say(block("a", "x" * 1043 + "\n")), USER],
        kept=[(0, 1, "too-small")],
        minimum=256,
    ),
    Scenario(
        "CRLF in one text",
        "§7.4",
        [say(block("a", "long enough to be folded\r\n", "\r\n")), USER],
        [("a", 0, 1, [(0, "long enough to be folded\r\n")])],
    ),
    Scenario(
        "CRLF over two texts",
        "§13.5",
        [say(begin("a", "\r\n") + "long enough to be folded\r\n"), USER, say(close("a")), USER],
        [("a", 0, 1, [(0, "long enough to be folded\r\n")])],
    ),
    Scenario(
        "other letters",
        "§2.1",
        [say(block("标签", "日本語のログ、十分に長い\n")), USER],
        [("标签", 0, 1, [(0, "日本語のログ、十分に長い\n")])],
    ),
    Scenario(
        "a lone surrogate",
        "§2.1",
        [say(f"\ud83d\n{block('a', 'half of an emoji: ' + chr(0xD83D) + '!!!' + chr(10))}"), USER],
        [("a", 0, 2, [(0, "half of an emoji: \ud83d!!!\n")])],
    ),
    Scenario(
        "no way back",
        "§13.7",
        [say(block("a", A)), USER],
        read_tools=["context_read"],
        refusal="no-way-back",
    ),
    Scenario(
        "a way back",
        "§13.7",
        [say(block("a", A)), USER],
        [("a", 0, 1, [(0, A)])],
        read_tools=["other", "search"],
    ),
]


def result_of(scenario: Scenario) -> list[str]:
    """The texts after folding: each part by its reference, from the last to the first."""
    texts = [step.text for step in scenario.steps]
    for _label, _step, _line, parts in reversed(scenario.folds):
        for step, body in reversed(parts):
            is_split = len(parts) > 1 or close(_label, "") not in scenario.steps[_step].text
            end = "\r\n" if "-->\r\n" in texts[step] and not is_split else "\n"
            head, found, tail = texts[step].rpartition(body)
            assert found or body == "", (scenario.name, body)
            texts[step] = head + ref(body, end) + tail
    return texts


class Rendered(NamedTuple):
    """A body, and the path of each step's text."""

    body: Json
    paths: list[str]


def chat(steps: list[Step], texts: list[str]) -> Rendered:
    messages: list[Json] = []
    for step, text in zip(steps, texts, strict=True):
        call = {"id": "call_1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
        shapes: dict[str, Json] = {
            "say": {"role": "assistant", "content": text},
            "bound": {"role": "assistant", "content": text, "annotations": [{"type": "url_citation"}]},
            "call": {"role": "assistant", "content": None, "tool_calls": [call]},
            "result": {"role": "tool", "tool_call_id": "call_1", "content": text},
            "user": {"role": "user", "content": text},
            "system": {"role": "developer", "content": text},
        }
        messages.append(shapes[step.kind])
    tools: list[Json] = [{"type": "function", "function": {"name": "search", "parameters": {}}}]
    paths = [f"/messages/{index}/content" for index in range(len(steps))]
    return Rendered({"model": "m", "messages": messages, "tools": tools}, paths)


def responses(steps: list[Step], texts: list[str]) -> Rendered:
    items: list[Json] = []
    for step, text in zip(steps, texts, strict=True):
        part = {"type": "output_text", "text": text, "annotations": []}
        message = {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed"}
        cited = {
            **part,
            "annotations": [{"type": "file_citation", "index": 0, "file_id": "f", "filename": "f"}],
        }
        shapes: dict[str, Json] = {
            "say": {**message, "content": [part]},
            "bound": {**message, "content": [cited]},
            "call": {"type": "function_call", "call_id": "c", "name": "run", "arguments": "{}"},
            "result": {"type": "function_call_output", "call_id": "c", "output": text},
            "user": {"role": "user", "content": [{"type": "input_text", "text": text}]},
            "system": {"role": "developer", "content": text},
        }
        items.append(shapes[step.kind])
    tools: list[Json] = [{"type": "function", "name": "search", "parameters": {}, "strict": None}]
    paths = [f"/input/{index}/content/0/text" for index in range(len(steps))]
    return Rendered({"model": "m", "input": items, "store": False, "tools": tools}, paths)


def anthropic(steps: list[Step], texts: list[str]) -> Rendered:
    """What the model makes in a row is one message."""
    messages: list[Json] = []
    paths = []
    for step, text in zip(steps, texts, strict=True):
        location = {"type": "char_location", "cited_text": "x", "document_index": 0}
        cited = {**location, "document_title": None, "start_char_index": 0, "end_char_index": 1}
        shapes: dict[str, tuple[str, Json]] = {
            "say": ("assistant", {"type": "text", "text": text}),
            "bound": ("assistant", {"type": "text", "text": text, "citations": [cited]}),
            "call": ("assistant", {"type": "tool_use", "id": "t", "name": "run", "input": {}}),
            "result": ("user", {"type": "tool_result", "tool_use_id": "t", "content": text}),
            "user": ("user", {"type": "text", "text": text}),
            "system": ("system", {"type": "text", "text": text}),
        }
        role, content = shapes[step.kind]
        if not messages or messages[-1]["role"] != role:
            messages.append({"role": role, "content": []})
        messages[-1]["content"].append(content)
        paths.append(f"/messages/{len(messages) - 1}/content/{len(messages[-1]['content']) - 1}/text")
    tools: list[Json] = [{"name": "search", "input_schema": {"type": "object"}}]
    return Rendered({"model": "m", "max_tokens": 9, "messages": messages, "tools": tools}, paths)


def gemini(steps: list[Step], texts: list[str]) -> Rendered:
    """What one side makes in a row is one content; instructions have no place in the history."""
    contents: list[Json] = []
    paths = []
    for step, text in zip(steps, texts, strict=True):
        shapes: dict[str, tuple[str, Json]] = {
            "say": ("model", {"text": text}),
            "bound": ("model", {"text": text, "thoughtSignature": "c2lnbmVk"}),
            "call": ("model", {"functionCall": {"name": "run", "args": {}}}),
            "result": ("user", {"functionResponse": {"name": "run", "response": {"output": text}}}),
            "user": ("user", {"text": text}),
        }
        if step.kind == "system":
            paths.append("")
            continue
        role, part = shapes[step.kind]
        if not contents or contents[-1]["role"] != role:
            contents.append({"role": role, "parts": []})
        contents[-1]["parts"].append(part)
        paths.append(f"/contents/{len(contents) - 1}/parts/{len(contents[-1]['parts']) - 1}/text")
    tools: list[Json] = [{"functionDeclarations": [{"name": "search"}]}]
    return Rendered({"contents": contents, "tools": tools}, paths)


FORMATS: Final[dict[str, Callable[[list[Step], list[str]], Rendered]]] = {
    "chat": chat,
    "responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
}


def vector_of(scenario: Scenario, protocol: str) -> Json:
    before = FORMATS[protocol](scenario.steps, [step.text for step in scenario.steps])
    after = FORMATS[protocol](scenario.steps, result_of(scenario))
    paths = before.paths
    vector: Json = {
        "name": scenario.name,
        "section": scenario.section,
        "op": "request-fold",
        "protocol": protocol,
        "settings": {"delay_requests": scenario.delay, "min_savings_tokens": scenario.minimum},
    }
    if scenario.read_tools is not None:
        vector["settings"]["read_tools"] = scenario.read_tools
    vector["body"] = before.body
    if scenario.folds:
        vector["folded"] = after.body
    else:
        vector["unchanged"] = True
    vector["folds"] = [
        {
            "label": label,
            "path": paths[step],
            "line": line,
            "parts": [{"path": paths[at], "id": id_of(body)} for at, body in parts],
        }
        for label, step, line, parts in scenario.folds
    ]
    vector["kept"] = [
        {"path": paths[step], "line": line, "reason": reason} for step, line, reason in scenario.kept
    ]
    if scenario.refusal:
        vector["refusal"] = scenario.refusal
    return vector


def main() -> None:
    """Write one file for each format."""
    for protocol in FORMATS:
        vectors = [vector_of(scenario, protocol) for scenario in SCENARIOS]
        text = json.dumps(vectors, ensure_ascii=False, indent=1)
        # A lone surrogate has no UTF-8: it stays an escape.
        (VECTORS / f"requests-{protocol}.json").write_bytes(text.encode("utf-8", "backslashreplace") + b"\n")


if __name__ == "__main__":
    main()
