"""What the write guard puts into a text, and what it leaves alone."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxf.errors import BodyNotFound
from ctxf.hooks.expand import expand_patch, expand_text
from ctxf.hooks.heredocs import find_heredocs

A, B, GONE = "a" * 12, "b" * 13, "0" * 12
BODIES = {A: b"one\ntwo\n", B: b"CR\r\nno end", "c" * 12: b"\xff\n"}


def lookup(id: str) -> bytes:
    if id not in BODIES:
        raise BodyNotFound("s", id)
    return BODIES[id]


def ref(id: str) -> str:
    return f"[[cf:v2:{id}]]"


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        (f"{ref(A)}\n", "one\ntwo\n"),
        (ref(A), "one\ntwo\n"),
        (f"x\n{ref(A)}\ny", "x\none\ntwo\ny"),
        (f"  {ref(A)}\t\r\ny", "one\ntwo\ny"),
        (f"    # {ref(A)}\n", "one\ntwo\n"),
        (f"/* {ref(A)} */\n", "one\ntwo\n"),
        (f"<!-- {ref(A)} -->\n", "one\ntwo\n"),
        (f"{{/* {ref(A)} */}}\n", "one\ntwo\n"),
        (f"// @context-fold omit handler {ref(A)}\nz\n", "one\ntwo\nz\n"),
        (
            f"<!-- @context-fold begin n -->\n{ref(A)}\n<!-- @context-fold end n -->\n",
            "<!-- @context-fold begin n -->\none\ntwo\n<!-- @context-fold end n -->\n",
        ),
        (f"{ref(A)}\n{ref(B)}\n", "one\ntwo\nCR\r\nno end"),
        (f"```\n{ref(A)}\n```\n", "```\none\ntwo\n```\n"),
    ],
)
def test_a_reference_on_a_line_of_its_own_gives_its_body(text: str, expanded: str) -> None:
    found = expand_text(text, lookup, is_markdown=True)
    assert found.text == expanded
    assert found.expanded
    assert (found.missing, found.inline, found.quoted) == ((), (), ())


@pytest.mark.parametrize(
    "text",
    [
        "nothing",
        f"see {ref(A)}\n",
        f"{ref(A)} and more\n",
        f"{ref(A)}{ref(A)}\n",
        f'x = "{ref(A)}"\n',
        f"- {ref(A)}\n",
        f"> {ref(A)}\n",
        "[[cf:v2:AAAAAAAAAAAA]]\n",
        "[[cf:v2:aaaaaaaaaaa]]\n",
        "[[cf:v1:aaaaaaaaaaaa]]\n",
        f"{ref(GONE)}\n",
        f"# {ref(GONE)}\r\n",
        f"{ref('c' * 12)}\n",
        "[[cf:v2:",
        "\n[[cf:v2:\n",
    ],
)
def test_what_stays(text: str) -> None:
    found = expand_text(text, lookup)
    assert (found.text, found.expanded) == (text, ())


def test_what_stays_is_told_apart() -> None:
    text = f"{ref(GONE)}\nin {ref(A)} line\n```\n{ref(GONE)}\n```\n{ref('c' * 12)}\n"
    found = expand_text(text, lookup, is_markdown=True)
    assert [id for id, _error in found.missing] == [GONE, "c" * 12]
    assert found.inline == (A,)
    assert found.quoted == (GONE,)
    assert len(expand_text(text, lookup).missing) == 3


@pytest.mark.parametrize(
    ("text", "expanded"),
    [(ref(A), "one\ntwo"), (f"x\n{ref(A)}", "x\none\ntwo"), (ref(A) + "\n", "one\ntwo\n")],
)
def test_inside_a_line_the_last_line_end_is_the_files(text: str, expanded: str) -> None:
    assert expand_text(text, lookup, ends_line=False).text == expanded


def test_a_patch() -> None:
    patch = f"*** Begin Patch\n@@\n {ref(A)}\n-{ref(A)}\n+{ref(A)}\n+  # {ref(B)}\n+x\n*** End Patch"
    assert expand_patch(patch, lookup).text == (
        f"*** Begin Patch\n@@\n {ref(A)}\n-{ref(A)}\n+one\n+two\n+CR\r\n+no end\n+x\n*** End Patch"
    )


def by_lines(text: str) -> str:
    """The rule written down naively, for bare references."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    bodies = {ref(id): body.decode() for id, body in BODIES.items() if id != "c" * 12}
    return "".join(bodies.get(re.sub(r"\r?\n\Z", "", line).strip(" \t"), line) for line in lines)


WORDS = st.sampled_from(
    [ref(A), ref(B), ref(GONE), "x", " ", "\t", "\n", "\r\n", "\r", "[[", "]]", "\x0b", "\u2028", "\ud800"]
)


@given(st.lists(WORDS).map("".join))
def test_any_text_by_its_lines(text: str) -> None:
    assert expand_text(text, lookup).text == by_lines(text)


@given(
    st.lists(st.sampled_from([ref(GONE), "# ", "\n", "+", "*** Begin Patch", "`", "```", "~~~\n", "> "])).map(
        "".join
    )
)
def test_what_does_not_resolve_never_changes_anything(text: str) -> None:
    for expand in (expand_text, expand_patch):
        assert expand(text, lookup).text == text
    assert expand_text(text, lookup, is_markdown=True, ends_line=False).text == text


def texts(command: str) -> list[str] | None:
    found = find_heredocs(command)
    return None if found is None else [command[one.start : one.end] for one in found]


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("ls", []),
        ("cat <<END\na\nEND", ["a\n"]),
        ("cat <<'END'\na\nEND\nls", ["a\n"]),
        ('cat > "a b" << "E-1"\na\nb\nE-1\n', ["a\nb\n"]),
        ("cat <<-END\n\ta\n\tEND\n", ["\ta\n"]),
        ("cat <<A <<B | x\n1\nA\n2\nB\n", ["1\n", "2\n"]),
        ("cat <<A; cat <<'B'\nA\nx\nB", ["", "x\n"]),
        ("echo '<<END'\n", []),
        ('echo "<<END"\n', []),
        ("echo \\<<END\n", []),
        ("x <<< word\n", []),
        ("# cat <<END\nls\n", []),
        ("a#b <<END\nx\nEND\n", ["x\n"]),
        ("echo $HOME ${X} $1 <<END\nx\nEND\n", ["x\n"]),
        ('cat > "$D/x" <<END\nx\nEND\n', ["x\n"]),
        ("cat <<END\n$(x) ` ' \"\nEND\nls", ["$(x) ` ' \"\n"]),
    ],
)
def test_here_documents(command: str, found: list[str] | None) -> None:
    assert texts(command) == found


@pytest.mark.parametrize(
    "command",
    [
        "x $(cat <<END\na\nEND\n)",
        "`cat <<END\na\nEND\n`",
        "cat <<END\nno end",
        "cat <<'END\na\n",
        "cat <<$END\na\n$END\n",
        "cat <<\\END\na\nEND\n",
        "cat <<E'N'D\na\nEND\n",
        "echo 'unclosed <<END\na\nEND\n",
        'git commit -m "$(cat <<END\na\nEND\n)"',
        "cat <<END",
        "echo $((1<<2))",
    ],
)
def test_where_it_is_not_certain_nothing_is_found(command: str) -> None:
    assert texts(command) is None


@given(st.text(st.sampled_from("<>'\"\\$`(){}#-ENDx \n\t"), max_size=60))
def test_any_command(command: str) -> None:
    for one in find_heredocs(command) or []:
        rest = command[one.end :].split("\n", maxsplit=1)[0]
        assert (rest.lstrip("\t") if one.strips_tabs else rest) == one.delimiter
        assert one.start == 0 or command[one.start - 1] == "\n"


HOLDS: list[tuple[str, str, bool]] = [
    ("cat <<'END'\nEND\n", "any $x `y` \\z\n", True),
    ("cat <<'END'\nEND\n", "x\nEND\n", False),
    ("cat <<'END'\nEND\n", "END", False),
    ("cat <<'END'\nEND\n", " END\nENDX\n", True),
    ("cat <<'END'\nEND\n", "\0\n", False),
    ("cat <<END\nEND\n", "plain 'text' \"here\"\n", True),
    ("cat <<END\nEND\n", "$x\n", False),
    ("cat <<END\nEND\n", "`x`\n", False),
    ("cat <<END\nEND\n", "a\\b\n", False),
    ("cat <<-'END'\nEND\n", "\ta\n", False),
    ("cat <<-'END'\nEND\n", "a\tb\n", True),
]


@pytest.mark.parametrize(("command", "body", "holds"), HOLDS)
def test_which_bodies_a_here_document_can_hold(command: str, body: str, holds: bool) -> None:
    (heredoc,) = find_heredocs(command) or []
    assert heredoc.can_hold(body) is holds


def test_a_small_text_cannot_become_an_enormous_one() -> None:
    large = {A: b"x" * (1 << 20)}
    found = expand_text(f"{ref(A)}\n" * 50, large.__getitem__)
    assert len(found.text) < 40 << 20
    assert len(found.expanded) == 32
    assert len(found.missing) == 18
