"""Edits of configurations: only what is ours changes, and taking it out gives back what there was."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxf.agents.setup.jsonc import (
    JsoncError,
    append_item,
    get_value,
    remove_items,
    remove_member,
    set_member,
)
from ctxf.agents.setup.notes import add_note, has_note, remove_note
from ctxf.agents.setup.toml import TomlError, get_table, remove_table, set_table
from ctxf.protocol.scan_text import scan_text

PATH = ("mcpServers", "ctxf")
SERVER = {"command": "ctxf", "args": ["mcp"]}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text() | st.just("mcpServers"), JSON, max_size=4)
LAYOUTS = st.sampled_from([{}, {"indent": 2}, {"indent": 4}, {"indent": "\t"}, {"separators": (",", ":")}])


@given(OBJECTS, LAYOUTS, st.dictionaries(st.text(), JSON, max_size=2) | st.none())
def test_a_member_goes_in_and_out(value: dict[str, Any], layout: dict[str, Any], servers: Any) -> None:
    if servers is not None:
        value = {**value, "mcpServers": {k: v for k, v in servers.items() if k != "ctxf"}}
    elif not isinstance(value.get("mcpServers", {}), dict):
        del value["mcpServers"]
    text = json.dumps(value, ensure_ascii=False, **layout)
    added = set_member(text, PATH, SERVER)
    expected = json.loads(text)
    expected.setdefault("mcpServers", {})["ctxf"] = SERVER
    assert json.loads(added) == expected
    assert get_value(added, PATH) == SERVER
    assert json.loads(remove_member(added, PATH)) == {"mcpServers": {}} | json.loads(text)
    if value.get("mcpServers"):
        assert remove_member(added, PATH) == text


@given(st.lists(JSON, max_size=4), LAYOUTS)
def test_an_item_goes_in_and_out(items: list[Any], layout: dict[str, Any]) -> None:
    text = json.dumps({"hooks": {"Stop": items}}, ensure_ascii=False, **layout)
    added = append_item(text, ("hooks", "Stop"), {"ours": 1})
    assert json.loads(added)["hooks"]["Stop"] == [*items, {"ours": 1}]
    removed = remove_items(added, ("hooks", "Stop"), lambda item: item == {"ours": 1})
    assert json.loads(removed)["hooks"]["Stop"] == [item for item in items if item != {"ours": 1}]
    if items and {"ours": 1} not in items:
        assert removed == text


KEPT = [
    "{}",
    "{\n}",
    '{"a": 1}',
    '{\r\n\t"a": 1\r\n}\r\n',
    '{\n    "a": [1, 2], // why\n    /* b */ "b": {"c": "}"}\n}',
    '// first\n{\n  "a": "// no comment",\n  "mcpServers": { "x": { "command": "y" } } // last\n}\n// end',
    '{\n  "mcpServers": {\n    "x": {}\n  },\n}\n',
    '{"mcpServers": {"x": 1,},}',
    "{\n  // only a comment\n}",
    ' \n{"a":1}\n\n',
]


@pytest.mark.parametrize("text", KEPT)
def test_every_other_byte_stays(text: str) -> None:
    added = set_member(text, PATH, SERVER)
    assert get_value(added, PATH) == SERVER
    pieces = [piece for piece in re.split(r"\s+", text) if piece not in ("}", "},", "{}", "1,},}", "1}}")]
    position = 0
    for piece in pieces:
        position = added.find(piece.rstrip("}"), position)
        assert position >= 0, piece
    if "mcpServers" in text:
        assert remove_member(added, PATH) == text


def test_in_the_style_that_is_there() -> None:
    text = '{\r\n\t"a": 1\r\n}\r\n'
    assert set_member(text, ("b",), {"c": [1]}) == (
        '{\r\n\t"a": 1,\r\n\t"b": {\r\n\t\t"c": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}\r\n'
    )
    assert set_member('{"a": 1}', ("b",), {"c": [1]}) == '{"a": 1, "b": {"c": [1]}}'


def test_what_stands_there_is_replaced_in_place() -> None:
    text = '{"mcpServers": {"ctxf": {"command": "/old"}, "x": 1}}'
    assert json.loads(set_member(text, PATH, SERVER)) == {"mcpServers": {"ctxf": SERVER, "x": 1}}
    assert remove_member(text, PATH) == '{"mcpServers": {"x": 1}}'


def test_comments_around_what_goes_stay() -> None:
    text = '{\n  "a": 1, // one\n  // about ours\n  "ctxf": 2, // two\n  "b": 3\n}'
    removed = remove_member(text, ("ctxf",))
    assert all(comment in removed for comment in ("// one", "// about ours", "// two"))
    assert get_value(removed) == {"a": 1, "b": 3}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[}",
        '{"a"}',
        '{"a": 1 "b": 2}',
        '{"a": 01x}',
        "{'a': 1}",
        '{"a": 1} x',
        "nul",
        '{"a": "\n"}',
        '{"a": /* 1}',
        "[1]",
        '{"mcpServers": []}',
        '{"mcpServers": {}, "mcpServers": {}}',
        "[" * 5000,
        '{"a":' * 5000,
    ],
)
def test_what_cannot_be_edited(text: str) -> None:
    with pytest.raises(JsoncError):
        set_member(text, PATH, SERVER)


@given(st.text(st.sampled_from('{}[]",:/*\\ \n1atrue'), max_size=40))
def test_any_text_is_edited_rightly_or_refused(text: str) -> None:
    try:
        added = set_member(text, PATH, SERVER)
    except JsoncError:
        return
    assert get_value(added, PATH) == SERVER
    before, after = get_value(text), get_value(added)
    after["mcpServers"].pop("ctxf")
    assert after == {"mcpServers": {}} | before


TABLE = ("mcp_servers", "ctxf")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a = 1\n",
        "# mine\nmodel = 'x' # kept\n\n[mcp_servers.other]\ncommand = \"y\"\n\n[tools]\nweb = true\n",
        "[mcp_servers]\n[mcp_servers.a]\nb = 1\n",
        "mcp_servers = { a = { b = 1 } }\n",
        "mcp_servers.a.b = 1\n",
        "a = 1\r\n[b]\r\nc = 2\r\n",
        "[[x]]\na = 1\n[[x]]\na = 2\n",
        "a = 1",
    ],
)
def test_a_table_goes_in_and_out(text: str) -> None:
    added = set_table(text, TABLE, SERVER)
    assert get_table(added, TABLE) == SERVER
    assert all(line.removesuffix(" }") in added for line in text.splitlines())
    assert set_table(added, TABLE, SERVER).count('command = "ctxf"') <= 1
    assert get_table(remove_table(added, TABLE), TABLE) is None
    assert remove_table(text, TABLE) == text


@pytest.mark.parametrize("text", ["a = ", "mcp_servers = 1", "[a]\n[a]\n", "mcp_servers = []"])
def test_a_file_that_cannot_be_edited(text: str) -> None:
    with pytest.raises(TomlError):
        set_table(text, TABLE, SERVER)


@pytest.mark.parametrize("text", ["", "Be brief.\n", "Be brief.", "a\r\nb\r\n", "\n\n"])
def test_a_note_goes_in_and_out(text: str) -> None:
    added = add_note(text, tool="t", program="/opt/x/ctxf")
    assert added.startswith(text)
    assert has_note(added)
    assert not has_note(text)
    assert remove_note(added).rstrip("\r\n") == text.rstrip("\r\n")
    assert remove_note(f"{added}more\n").endswith("more\n")
    assert ("\r\n" in text) == ("\r\n" in added)


def test_the_note_can_never_fold_and_holds_no_reference() -> None:
    note = add_note("", tool="t", program="ctxf")
    assert "@context-fold" not in note
    assert scan_text(note.encode()).markers == []
    assert re.search(r"\[\[cf:v2:[0-9a-f]", note) is None
    assert len(note) < 600
