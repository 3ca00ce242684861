"""The laws, for requests: each as a property of growing conversations in every wire format."""

import copy
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxf
from ctxf.archive import Archive
from ctxf.requests import PROTOCOLS, Memo, RequestPolicy, RequestResult, fold_request, restore_request
from tests.folding.test_laws import stocked_archive
from tests.kit.conversations import RENDER, Event, Json, conversations, requests_of

policies = st.builds(
    RequestPolicy,
    delay_requests=st.sampled_from((0, 0, 1, 1, 2)),
    min_savings_tokens=st.sampled_from((0, 0, 5, 40)),
)
protocols = pytest.mark.parametrize("protocol", PROTOCOLS)


def spelled(body: object, *, ascii_only: bool = True, blanks: str = "") -> bytes:
    """JSON, with blanks wherever they may stand."""
    separators = (f"{blanks},{blanks}", f"{blanks}:{blanks}")
    text = json.dumps(body, ensure_ascii=ascii_only, separators=separators)
    return f"{blanks}{text}{blanks}".encode("utf-8", "backslashreplace")


def texts_of(value: Any, path: str = "") -> dict[str, object]:
    """Every scalar of a JSON document by its JSON pointer."""
    if isinstance(value, dict):
        pairs: Any = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    else:
        return {path: value}
    found: dict[str, object] = {path: type(value)}
    for key, one in pairs:
        found |= texts_of(one, f"{path}/{key}")
    return found


def changed(before: Json, after: Json) -> set[str]:
    one, two = texts_of(before), texts_of(after)
    assert one.keys() == two.keys()
    return {path for path in one if one[path] != two[path]}


def slots_of(protocol: str, body: Json) -> set[str]:
    """Where texts of the model's own stand that nothing binds, told apart from the product."""
    found = set()
    for path, text in texts_of(body).items():
        keys = path.split("/")[1:]
        holder: Any = body
        holders = [holder]
        for key in keys[:-1]:
            holder = holder[int(key) if isinstance(holder, list) else key]
            holders.append(holder)
        if not isinstance(text, str) or keys[0] not in ("messages", "input", "contents"):
            continue
        message = holders[2]
        if protocol == "gemini":
            is_own = message["role"] == "model" and keys[2:] == ["parts", keys[-2], "text"]
            is_bound = any(key in holder for key in ("thought", "thoughtSignature", "thought_signature"))
        else:
            is_own = message.get("role") == "assistant" and (
                keys[2:] == ["content"]
                or (keys[2:] == ["content", keys[-2], "text"] and holder["type"] in ("text", "output_text"))
            )
            is_bound = any(
                one.get(key)
                for one in (message, holder)
                for key in ("annotations", "citations", "encrypted_content")
            )
        if is_own and not is_bound:
            found.add(path)
    return found


def keys_of(result: RequestResult[Any]) -> set[tuple[str, int, tuple[str, ...]]]:
    return {(fold.path, fold.line, tuple(part.id for part in fold.parts)) for fold in result.folds}


@protocols
@given(events=conversations, policy=policies)
def test_l1_restore_after_fold_is_restore(protocol: str, events: list[Event], policy: RequestPolicy) -> None:
    archive, body = stocked_archive(), RENDER[protocol](events)
    folded = fold_request(body, protocol, archive, policy=policy)
    assert folded.failure is None
    restored = restore_request(folded.body, protocol, archive)
    before = restore_request(body, protocol, archive)
    assert restored.body == before.body
    assert [one.id for one in restored.unresolved] == [one.id for one in before.unresolved]
    if not before.restored:
        assert restored.body == body


@protocols
@given(events=conversations, policy=policies)
def test_l2_folding_twice_is_folding_once(protocol: str, events: list[Event], policy: RequestPolicy) -> None:
    archive, body = stocked_archive(), RENDER[protocol](events)
    once = fold_request(body, protocol, archive, policy=policy)
    twice = fold_request(once.body, protocol, archive, policy=policy)
    assert twice.body is once.body
    assert not twice.folds


@protocols
@given(events=conversations, policy=policies)
def test_l3_only_texts_of_the_model_change(protocol: str, events: list[Event], policy: RequestPolicy) -> None:
    archive, body = stocked_archive(), RENDER[protocol](events)
    before = copy.deepcopy(body)
    folded = fold_request(body, protocol, archive, policy=policy)
    assert body == before
    paths = changed(body, folded.body)
    assert paths <= slots_of(protocol, body)
    assert paths == {part.path for fold in folded.folds for part in fold.parts}
    assert (folded.body is body) == (not folded.folds)
    for path, text in texts_of(folded.body).items():
        if path in paths:
            assert text  # no API takes an empty text
    for path in paths:
        _check_parts(texts_of(body)[path], texts_of(folded.body)[path], path, folded, archive)


def _check_parts(
    before: object, after: object, path: str, folded: RequestResult[Json], archive: Archive
) -> None:
    """What a text became: its own bytes with a line for each part, and nothing else."""
    assert isinstance(before, str)
    assert isinstance(after, str)
    text = before.encode("utf-8", "surrogatepass")
    expected, position = b"", 0
    parts = [(part, len(fold.parts) > 1 or fold.path != path) for fold in folded.folds for part in fold.parts]
    for part, is_split in sorted((one for one in parts if one[0].path == path), key=lambda one: one[0].line):
        start = sum(len(line) + 1 for line in text.split(b"\n")[: part.line - 1])
        stored = archive.read("default", part.id)
        assert text[start:].startswith(stored)
        assert len(stored) == part.size
        crlf = text[:start].endswith(b"\r\n") and not is_split
        line = b"[[cf:v2:%b]]" % part.id.encode() + (b"\r\n" if crlf else b"\n")
        if expected_line := after.encode("utf-8", "surrogatepass")[len(expected) + start - position :]:
            # A block whose other parts were too short to fold has one part, and ends its line as a split one.
            line = line if expected_line.startswith(line) else line.replace(b"\r", b"")
        expected += text[position:start] + line
        position = start + part.size
    assert after.encode("utf-8", "surrogatepass") == expected + text[position:]


@protocols
@given(events=conversations, policy=policies)
def test_folds_only_grow_with_the_conversation(
    protocol: str, events: list[Event], policy: RequestPolicy
) -> None:
    """Request n, folded, is a prefix of request n + 1, folded, but for blocks that became due."""
    archive, memo = stocked_archive(), Memo()
    render = RENDER[protocol]
    earlier: RequestResult[Json] | None = None
    for request in requests_of(events):
        body = render(request)
        folded = fold_request(body, protocol, archive, policy=policy, memo=memo)
        assert folded == fold_request(body, protocol, stocked_archive(), policy=policy)
        if earlier is not None:
            assert keys_of(earlier) <= keys_of(folded)
            _check_growth(earlier, folded)
        earlier = folded


def _check_growth(earlier: RequestResult[Json], later: RequestResult[Json]) -> None:
    """Texts without a new fold are the same; what the new folds did to theirs is for L3 to say."""
    old = {(fold.path, fold.line) for fold in earlier.folds}
    new = [fold for fold in later.folds if (fold.path, fold.line) not in old]
    touched = {part.path for fold in new for part in fold.parts}
    texts = texts_of(later.body)
    for path, text in texts_of(earlier.body).items():
        assert path in touched or texts[path] == text


@protocols
@given(
    events=conversations,
    policy=policies,
    ascii_only=st.booleans(),
    blanks=st.sampled_from(("", " ", "\n\t ", "\r\n")),
)
def test_bytes_fold_as_their_dict_does_and_keep_their_spelling(
    protocol: str, events: list[Event], policy: RequestPolicy, ascii_only: bool, blanks: str
) -> None:
    body = RENDER[protocol](events)
    # Through JSON once: two lone surrogates that make a pair are one character afterwards.
    body = json.loads(spelled(body))
    raw = spelled({**body, "odd": "ODD"}, ascii_only=ascii_only, blanks=blanks)
    raw = raw.replace(
        b'"ODD"', b'[1e400, 1.0, 123456789012345678901234567890, -0, "\\u0041\\/", {"a":1,"a":2}]'
    )
    archive = stocked_archive()
    folded = fold_request(raw, protocol, archive, policy=policy)
    expected = fold_request(body, protocol, archive, policy=policy)
    assert folded.folds == expected.folds
    assert folded.kept == expected.kept
    assert {**json.loads(folded.body), "odd": 0} == {**expected.body, "odd": 0}
    assert (folded.body is raw) == (not folded.folds)
    before, after = tokens(raw), tokens(folded.body)
    assert len(before) == len(after)
    differing = [one for one, two in zip(before, after, strict=True) if one != two]
    assert all(one.startswith(b'"') for one in differing)
    assert len(differing) == len({part.path for fold in folded.folds for part in fold.parts})
    assert json.loads(restore_request(folded.body, protocol, archive).body) == json.loads(
        restore_request(raw, protocol, archive).body
    )


TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[^"]', re.DOTALL)


def tokens(data: bytes) -> list[bytes]:
    """A JSON document as strings and single bytes, told apart without knowing JSON."""
    return TOKEN.findall(data)


@protocols
@given(events=conversations)
def test_l5_a_failing_archive_leaves_the_body_as_it_came(protocol: str, events: list[Event]) -> None:
    body = RENDER[protocol](events)
    policy = RequestPolicy(delay_requests=0, min_savings_tokens=0)
    result = fold_request(body, protocol, Archive.open("/dev/null/archive.db"), policy=policy)
    assert result.body is body
    assert not result.folds
    would_fold = fold_request(body, protocol, Archive.memory(), policy=policy).folds
    assert (result.failure is not None) == bool(would_fold)
    assert [(kept.path, kept.line) for kept in result.kept if kept.reason is ctxf.Reason.ARCHIVE] == [
        (fold.path, fold.line) for fold in would_fold
    ]


@protocols
@given(events=conversations)
def test_l6_another_scope_gets_nothing(protocol: str, events: list[Event]) -> None:
    archive, memo, body = Archive.memory(), Memo(), RENDER[protocol](events)
    policy = RequestPolicy(delay_requests=0, min_savings_tokens=0)
    mine = fold_request(body, protocol, archive, "mine", policy, memo)
    restored = restore_request(mine.body, protocol, archive, "theirs")
    assert restored.body is mine.body
    assert not restored.restored
    fold_request(body, protocol, archive, "mine", policy, memo)  # now the memo knows
    theirs = fold_request(body, protocol, archive, "theirs", policy, memo)
    for fold in theirs.folds:
        for part in fold.parts:
            assert len(archive.read("theirs", part.id)) == part.size


@given(st.text(st.characters(codec="utf-8"), max_size=400), st.booleans())
def test_one_text_folds_as_text_does(extra: str, is_marked: bool) -> None:
    text = f"x\n<!-- @context-fold begin a -->\n{extra}\n" + "<!-- @context-fold end a -->\n" * is_marked
    body = {"messages": [{"role": "assistant", "content": text}, {"role": "user", "content": "go on"}]}
    archive = Archive.memory()
    result = fold_request(body, "chat", archive, policy=RequestPolicy(delay_requests=0, min_savings_tokens=0))
    assert result.body["messages"][0]["content"] == ctxf.fold(text, archive, min_savings_tokens=0).text
