"""The JSON of requests: what is searched before parsing, what keeps its spelling, and what is no JSON."""

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxf
from ctxf.archive import Archive
from ctxf.requests import PROTOCOLS, RequestPolicy, fold_request, restore_request
from ctxf.requests.spelling import SpelledBody, may_hold_marker, may_hold_reference
from tests.kit.cli import BODY, id_of, marked

NOW = RequestPolicy(0, 0)
BLOCK = marked(b"log", BODY).decode()


def request(text: str, rest: str = "") -> bytes:
    """A chat request with one reply, spelled as given."""
    reply, user = f'{{"role":"assistant","content":{text}}}', '{"role":"user","content":""}'
    return f'{{"messages":[{reply},{user}]{rest}}}'.encode()


def escaped(text: str, pick: random.Random, share: float = 0.3) -> str:
    """A JSON string that spells some of its characters as escapes."""
    spelled = [
        f"\\u{ord(c):04{pick.choice('xX')}}" if pick.random() < share else json.dumps(c)[1:-1] for c in text
    ]
    return '"' + "".join(spelled) + '"'


@given(st.integers(0, 1 << 32), st.sampled_from((0.01, 0.3, 1.0)))
def test_a_marker_is_found_however_it_is_spelled(seed: int, share: float) -> None:
    raw = request(escaped(BLOCK, random.Random(seed), share))
    assert may_hold_marker(raw)
    archive = Archive.memory()
    result = fold_request(raw, "chat", archive, policy=NOW)
    assert [fold.id for fold in result.folds] == [id_of(BODY)]
    assert json.loads(restore_request(result.body, "chat", archive).body) == json.loads(raw)


@given(st.text(st.sampled_from("@context-fold cf:v2:[]")), st.integers(0, 1 << 32))
def test_what_cannot_hold_a_marker_holds_none(text: str, seed: int) -> None:
    raw = request(escaped(text, random.Random(seed)))
    assert may_hold_marker(raw) or "@context-fold" not in text
    assert may_hold_reference(raw) or "[[cf:v2:" not in text


@pytest.mark.parametrize("body", [b"", b"no JSON", b'{"a": "\\u001b[31m \\u00e9 \\u003c"}', b"\xff\xfe\x00"])
def test_what_holds_no_marker_is_not_even_parsed(body: bytes) -> None:
    result = fold_request(body, "chat", Archive.memory(), policy=NOW)
    assert result.body is body
    assert result.failure is None
    assert not may_hold_marker(body)


ODD = r""", "n":[1e400,-0.0,1.0,1E5,123456789012345678901234567890], "s" : "\/\u0041\ud83d\u00e9" ,
	"dup":1,"dup":{"x":null , "x":true}, "é":"é\u2028", "deep":[[[[[{"a":[ ]}]]]]] """


@pytest.mark.parametrize(
    "frame",
    [
        '{"messages":[{"role":"assistant","content":%s%s},{"role":"user","content":""}]}',
        ' \n{ "messages" : [ { "role" : "assistant" , "content" : %s%s } , { "role" : "user" } ] }\t ',
        '{"messages":"one","messages":[{"content":0,"role":"assistant","content":%s%s},{"role":"user"}]}',
        '\ufeff{"messages":[{"role":"assistant","content":[{"type":"text","text":%s%s}]},{"role":"user"}]}',
        '{"\\u006dessages":[{"role":"\\u0061ssistant","content":%s%s},{"role":"user","content":[[],{}]}]}',
    ],
)
@pytest.mark.parametrize("rest", ["", ODD])
def test_every_byte_outside_the_text_stays(frame: str, rest: str) -> None:
    archive = Archive.memory()
    raw = (frame % (json.dumps(BLOCK), rest)).encode()
    result = fold_request(raw, "chat", archive, policy=NOW)
    folded = BLOCK.replace(BODY.decode(), f"[[cf:v2:{id_of(BODY)}]]\n")
    assert result.body == (frame % (json.dumps(folded), rest)).encode()
    assert restore_request(result.body, "chat", archive).body == raw


@pytest.mark.parametrize("style", [True, False])
def test_a_changed_text_is_spelled_as_the_others_are(style: bool) -> None:
    body = {
        "messages": [
            {"role": "assistant", "content": f"é {chr(0xD800)}\n{BLOCK}"},
            {"role": "user", "content": "日本"},
        ]
    }
    raw = json.dumps(body, ensure_ascii=style).encode("utf-8", "backslashreplace")
    archive = Archive.memory()
    result = fold_request(raw, "chat", archive, policy=NOW)
    assert (b"\\u00e9" in result.body) == style
    assert b"\\ud800" in result.body
    assert restore_request(result.body, "chat", archive).body == raw


TEXT = json.dumps(BLOCK)
BROKEN = [
    request(TEXT)[:-1],
    request(TEXT)[:-3],
    request(TEXT)[: len(request(TEXT)) // 2],
    request(TEXT) + b"x",
    request(TEXT) + request(TEXT),
    request(TEXT, ","),
    request(TEXT, ',"a"'),
    request(TEXT, ',"a":'),
    request(TEXT, ',"a":tru'),
    request(TEXT, ',"a":[1,]'),
    request(TEXT, ",7:1"),
    request(TEXT, ',"a":"\t"'),
    request(TEXT, ",'a':1"),
    request(TEXT, ',"a":01'),
    request(TEXT, ',"a":"\\x"'),
    b"[" + request(TEXT) + b"]",
    TEXT.encode(),
    request(TEXT).replace(b'"role"', b'"role', 1),
    request(TEXT).replace(b"[", b"", 1),
    request(TEXT, ',"a":"\xff"').replace(b"\xc3\xbf", b"\xff"),
    request(TEXT).decode().encode("utf-16"),
]


@pytest.mark.parametrize("body", BROKEN)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_no_json_passes(protocol: str, body: bytes) -> None:
    result = fold_request(body, protocol, Archive.memory(), policy=NOW)
    assert result.body is body
    assert not result.folds
    if may_hold_marker(body):
        assert isinstance(result.failure, ctxf.RequestNotRead)
        assert str(result.failure).startswith("the request is left as it is: its body is")


@pytest.mark.parametrize("bracket", [b"[", b'{"a":', b'{"messages":', b'{"input":[', b"[{"])
@pytest.mark.parametrize("depth", [900, 100_000])
def test_brackets_without_end(bracket: bytes, depth: int) -> None:
    body = bracket * depth + BLOCK.encode()
    result = fold_request(body, "chat", Archive.memory(), policy=NOW)
    assert result.body is body
    assert isinstance(result.failure, ctxf.RequestNotRead)


@pytest.mark.parametrize("depth", [20, 100_000])
def test_a_deep_value(depth: int) -> None:
    raw = request(TEXT, ',"a":' + "[" * depth + "]" * depth)
    result = fold_request(raw, "chat", Archive.memory(), policy=NOW)
    assert bool(result.folds) == (depth == 20)
    assert (result.body is raw) == isinstance(result.failure, ctxf.RequestNotRead)


def test_a_number_of_a_hundred_thousand_digits() -> None:
    raw = request(TEXT, ',"a":' + "9" * 100_000)
    assert fold_request(raw, "chat", Archive.memory(), policy=NOW).folds


@given(
    st.binary(max_size=200) | st.text(st.sampled_from('{}[]",:\\u0 amesg1tf\n'), max_size=60).map(str.encode)
)
def test_bytes_of_any_kind(data: bytes) -> None:
    for body in (
        data,
        data + b"@context-fold",
        request(TEXT).replace(b"user", data),
        request(TEXT)[:100] + data,
    ):
        result = fold_request(body, "chat", Archive.memory(), policy=NOW)
        assert (result.body is body) == (not result.folds)
        assert restore_request(body, "chat", Archive.memory()).body is body


json_values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5),
    lambda children: (
        st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=9), children, max_size=4)
    ),
    max_leaves=20,
)
keys = st.sampled_from(("messages", "input", "contents", "system", "role", "content", "text", "parts", "a"))
bodies = st.dictionaries(
    keys, json_values | st.lists(st.dictionaries(keys, json_values, max_size=3), max_size=3)
)


@given(bodies, st.booleans(), st.sampled_from((None, 1)))
def test_it_reads_what_the_standard_library_reads(body: Any, ascii_only: bool, indent: int | None) -> None:
    raw = json.dumps(body, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "backslashreplace")
    expected = json.loads(raw, parse_int=float)
    assert json.dumps(SpelledBody(raw).tree) == json.dumps(expected)
