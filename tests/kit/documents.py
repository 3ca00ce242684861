"""Hypothesis strategies for documents that come close to everything the protocol looks at.

A few labels, a few comment forms and a few bodies only: markers must meet, cross, nest and repeat.
"""

from hashlib import sha256

from hypothesis import strategies as st

LABELS = (b"a", b"b", b"a.b", "日本".encode(), b"x" * 128)
NEAR_LABELS = (b"", b".a", b"a..b", b"x" * 129, b"a b", "\u200b".encode(), b"\xff")
FORMS = ((b"<!--", b"-->"), (b"#", b""), (b"//", b""), (b"/*", b"*/"), (b";;", b""), (b"{/*", b"*/}"))
ENDS = (b"\n", b"\n", b"\n", b"\r\n", b"\r\n", b"\r", b"")

# Bodies that an archive may hold already, so that references to them resolve.
ARCHIVED = (
    b"one line that is long enough to be worth a reference\n",
    b"two\r\nlines\r\n" * 5,
    b"\xff\x00" * 40 + b"\n",
)
KNOWN_IDS = tuple(sha256(body).hexdigest()[:12] for body in ARCHIVED)
IDS = (*KNOWN_IDS, "0123456789ab", "0123456789abcdef", "0123456789a", "0123456789AB")

LONG_LINE = (
    b"text that is long enough to make a block worth folding, if only just, for the estimate of tokens"
)

PLAIN = (
    b"",
    b"   ",
    b"text",
    LONG_LINE,
    b"```",
    b"````",
    b"~~~",
    b"```py",
    b"```a`b",
    b"> - ```",
    b"1. ~~~~",
    b"  ``` ",
    b"<!-- open",
    b"  <!--",
    b"<!-->",
    b"<!-- one line -->",
    b"-->",
    b"text <!-- open",
    b"close --> text",
    b"\xef\xbb\xbf",
    b"\x00\x0b\x0c\x1c\x85",
    "\u2028\u2029".encode(),
    b"\xff\xfe",
    b"[[cf:v2:",
)


def _marker(
    form: tuple[bytes, bytes], word: bytes, label: bytes, indent: bytes, gap: bytes, tail: bytes
) -> bytes:
    opener, closer = form
    return (
        indent
        + opener
        + gap
        + b"@context-fold "
        + word
        + b" "
        + label
        + (gap + closer if closer else b"")
        + tail
    )


def _reference(form: tuple[bytes, bytes] | None, id: str, indent: bytes, tail: bytes) -> bytes:
    reference = b"[[cf:v2:" + id.encode() + b"]]"
    if form is None:
        return indent + reference + tail
    opener, closer = form
    return indent + opener + b" " + reference + (b" " + closer if closer else b"") + tail


def _lines() -> tuple[bytes, ...]:
    """The lines that documents are made of, without their ends; what matters most stands in it most often."""
    html = FORMS[0]
    live = [_marker(html, word, label, b"", b" ", b"") for word in (b"begin", b"end") for label in LABELS[:3]]
    spaced = [_marker(html, word, b"a", b" \t", b"", b"  ") for word in (b"begin", b"end")]
    others = [_marker(form, word, b"a", b"  ", b" ", b"") for form in FORMS for word in (b"begin", b"end")]
    near = [_marker(html, b"begin", label, b"", b" ", b"") for label in NEAR_LABELS]
    trailing = [_marker(html, b"end", b"a", b"", b" ", tail) for tail in (b" x", b"-->", b"\x0c")]
    long_label = [_marker(html, word, LABELS[4], b"", b" ", b"") for word in (b"begin", b"end")]
    bare = [_reference(None, id, b"", b"") for id in IDS]
    odd = [
        _reference(None, IDS[0], b" ", b""),
        _reference(None, IDS[0], b"", b" "),
        _reference(None, IDS[0], b"x", b""),
    ]
    wrapped = [_reference(form, KNOWN_IDS[1], b"  ", b"") for form in FORMS]
    omitted = [
        _marker(form, b"omit", b"a [[cf:v2:%b]]" % KNOWN_IDS[0].encode(), b"", b" ", b"") for form in FORMS
    ]
    return (
        tuple(
            live * 12
            + spaced * 2
            + others
            + near
            + trailing
            + long_label
            + bare * 2
            + odd
            + wrapped
            + omitted
        )
        + PLAIN * 3
    )


LINES = _lines()
_ENDS = (b"\n",) * 42 + (b"\r\n",) * 20 + (b"\r", b"")


def _document(choices: bytes) -> bytes:
    """A document from bytes, two for each line: one draw makes it whole, so examples cost little.

    A quarter of the lines opens a block, a quarter closes the innermost one that was opened so.
    """
    lines: list[bytes] = []
    opened: list[bytes] = []
    for choice, more in zip(choices[::2], choices[1::2], strict=False):
        label = LABELS[choice % 3]
        if choice < 64:
            opened.append(label)
            line = _marker(FORMS[0], b"begin", label, b"", b" ", b"")
            line += b"\n" + LONG_LINE if more & 1 else b""
        elif choice < 128 and opened:
            line = _marker(FORMS[0], b"end", opened.pop(), b"", b" ", b"")
        else:
            line = LINES[(choice + 256 * (more & 3)) % len(LINES)]
        lines.append(line + _ENDS[(more >> 2) % len(_ENDS)])
    return b"".join(lines)


documents = st.builds(
    lambda bom, choices: (b"\xef\xbb\xbf" if bom else b"") + _document(choices),
    st.sampled_from((False, False, False, True)),
    st.binary(min_size=30, max_size=120),
)
