"""What the write guard puts into a text, and what it leaves alone."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxf.agents.hooks.expand import Behind, Expansion, NoLineEnd, expand_patch, expand_text
from ctxf.agents.hooks.heredocs import find_heredocs
from ctxf.errors import ArchiveError, BodyNotFound

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
        (f"{ref(A)}\n{ref(B)}", "one\ntwo\nCR\r\nno end"),
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
    assert expand_text(text, lookup, behind="rest").text == expanded


@pytest.mark.parametrize(
    ("text", "behind"),
    [
        (f"top\n{ref(B)}\nmore\n", "nothing"),
        (f"top\n{ref(B)}\n\n", "nothing"),
        (f"<!-- @context-fold begin n -->\n{ref(B)}\n<!-- @context-fold end n -->\n", "nothing"),
        (f"```\n{ref(B)}\n```\n", "nothing"),
        (f"{ref(B)}\n", "line"),
        (ref(B), "line"),
        (f"{ref(B)}\n", "rest"),
    ],
)
def test_a_body_without_a_last_line_end_takes_no_next_line_in(text: str, behind: Behind) -> None:
    found = expand_text(text, lookup, is_markdown=True, behind=behind)
    assert (found.text, found.expanded, found.quoted) == (text, (), ())
    ((id, error),) = found.missing
    assert (id, type(error)) == (B, NoLineEnd)


def test_before_the_rest_of_a_line_it_stands() -> None:
    assert expand_text(ref(B), lookup, behind="rest").text == "CR\r\nno end"


def test_what_the_file_holds_is_left_alone() -> None:
    text = f"{ref(A)}\nin {ref(B)} line\n{ref(GONE)}\n"
    found = expand_text(text, lookup, held=[A, B, GONE])
    assert found == Expansion(text)


def test_an_archive_that_cannot_be_read_tells_nothing() -> None:
    def locked(id: str) -> bytes:
        raise ArchiveError("a.db", "stays locked")

    for text in (f"{ref(A)}\n", f"```\n{ref(A)}\n```\n"):
        with pytest.raises(ArchiveError):
            expand_text(text, locked, is_markdown=True)


def test_a_patch() -> None:
    patch = f"*** Begin Patch\n@@\n {ref(B)}\n-x\n+{ref(A)}\n+  # {ref(B)}\n+x\n*** End Patch"
    assert expand_patch(patch, lookup).text == (
        f"*** Begin Patch\n@@\n {ref(B)}\n-x\n+one\n+two\n+  # {ref(B)}\n+x\n*** End Patch"
    )


def test_a_patch_of_two_files() -> None:
    patch = (
        f"*** Begin Patch\n*** Update File: a\n@@\n-{ref(A)}\n+{ref(A)}\n*** Add File: b\n+{ref(A)}\n"
        "*** End Patch\n"
    )
    found = expand_patch(patch, lookup)
    assert found.expanded == (A,)
    assert found.text == patch.replace(f"b\n+{ref(A)}\n", "b\n+one\n+two\n")


def test_a_patch_cannot_write_a_body_without_a_last_line_end() -> None:
    patch = f"*** Begin Patch\n*** Add File: a\n+{ref(B)}\n*** End Patch\n"
    found = expand_patch(patch, lookup)
    assert found.text == patch
    assert isinstance(found.missing[0][1], NoLineEnd)


def by_lines(text: str) -> str:
    """A second, simple implementation of the rule, for bare references."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    if not lines[-1]:
        lines.pop()
    result = ""
    for number, line in enumerate(lines, 1):
        id = re.sub(r"\r?\n\Z", "", line).strip(" \t")
        if id == ref(A) or (id == ref(B) and number == len(lines)):
            result += BODIES[A if id == ref(A) else B].decode()
        else:
            result += line
    return result


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
    assert expand_text(text, lookup, is_markdown=True, behind="rest").text == text


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
    large = {A: b"x" * ((1 << 20) - 1) + b"\n"}
    found = expand_text(f"{ref(A)}\n" * 50, large.__getitem__)
    assert len(found.text) < 40 << 20
    assert len(found.expanded) == 32
    assert len(found.missing) == 18
