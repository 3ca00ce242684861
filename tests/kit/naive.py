"""A second implementation of PROTOCOL.md §2 to §8: line by line, slow and plain, to compare the real one to.

It is written from PROTOCOL.md alone, shares no code with ctxf and knows no regular expressions.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256

LONGEST_LINE = 1_048_576
LARGEST_BLOCK = 16_777_216
DEEPEST_BLOCK = 16

COMMENTS = {b"<!--": b"-->", b"/*": b"*/", b"{/*": b"*/}", b"(*": b"*)", b"{-": b"-}", b"//": b"", b"--": b""}
REPEATED = b"#;%"
LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"


@dataclass(frozen=True)
class Line:
    """One line; `content` is without its line end."""

    start: int
    number: int
    content: bytes
    eol: bytes

    @property
    def end(self) -> int:
        return self.start + len(self.content) + len(self.eol)

    @property
    def is_long(self) -> bool:
        return self.end - self.start > LONGEST_LINE


@dataclass(frozen=True)
class Mark:
    """A marker line or an omission line (`word` is begin, end or omit)."""

    line: Line
    indent: bytes
    opener: bytes
    closer: bytes
    word: bytes
    label: bytes
    id: str = ""

    @property
    def key(self) -> tuple[bytes, bytes, bytes]:
        return self.label, self.opener, self.closer


@dataclass
class Folded:
    """What folding gives: the text, (label, line, id) per fold, (line, reason) per kept marker."""

    text: bytes
    folds: list[tuple[bytes, int, str]] = field(default_factory=list)
    kept: list[tuple[int, str]] = field(default_factory=list)
    stored: set[bytes] = field(default_factory=set)


def lines_of(text: bytes) -> list[Line]:
    """§2.2, §2.3"""
    lines: list[Line] = []
    start = 3 if text[:3] == b"\xef\xbb\xbf" else 0
    while start < len(text):
        newline = text.find(b"\n", start)
        end = len(text) if newline < 0 else newline + 1
        whole = text[start:end]
        eol = b"\r\n" if whole[-2:] == b"\r\n" else b"\n" if whole[-1:] == b"\n" else b""
        lines.append(Line(start, len(lines) + 1, whole[: len(whole) - len(eol)], eol))
        start = end
    return lines


def is_label(label: bytes) -> bool:
    """§3.2"""
    if not 1 <= len(label) <= 128:
        return False
    try:
        characters = label.decode("utf-8")
    except UnicodeDecodeError:
        return False
    for part in characters.replace("-", ".").replace("/", ".").split("."):
        if not part or not all(is_label_character(c) for c in part):
            return False
    return True


def is_label_character(character: str) -> bool:
    if ord(character) < 128:
        return ord(character) in LETTERS
    return unicodedata.category(character)[0] in ("L", "M")


def parse_mark(line: Line) -> Mark | None:
    """§3, §6.3"""
    if b"@context-fold" not in line.content:
        return None
    comment = line.content.strip(b" \t")
    indent = line.content[: len(line.content) - len(line.content.lstrip(b" \t"))]
    for opener, closer in comment_forms(comment):
        if len(comment) < len(opener) + len(closer):
            continue
        if not (comment.startswith(opener) and comment.endswith(closer)):
            continue
        inside = comment[len(opener) : len(comment) - len(closer)]
        words = [word for word in inside.replace(b"\t", b" ").split(b" ") if word]
        if len(words) < 3 or words[0] != b"@context-fold" or not is_label(words[2]):
            continue
        if len(words) == 3 and words[1] in (b"begin", b"end"):
            return Mark(line, indent, opener, closer, words[1], words[2])
        if len(words) == 4 and words[1] == b"omit" and (id := parse_reference(words[3])):
            return Mark(line, indent, opener, closer, words[1], words[2], id)
    return None


def comment_forms(comment: bytes) -> list[tuple[bytes, bytes]]:
    """§3.1"""
    forms = list(COMMENTS.items())
    if comment and comment[0] in REPEATED:
        forms.append((comment[: len(comment) - len(comment.lstrip(comment[:1]))], b""))
    return forms


def parse_reference(text: bytes) -> str:
    """§6.1: the id, or nothing"""
    head, digits, tail = text[:8], text[8:-2], text[-2:]
    if head != b"[[cf:v2:" or tail != b"]]" or not 12 <= len(digits) <= 64:
        return ""
    return digits.decode() if all(digit in b"0123456789abcdef" for digit in digits) else ""


def scan(lines: list[Line]) -> tuple[list[Mark], list[Mark]]:
    """§4: the live markers, and the begin markers that are quoted"""
    live: list[Mark] = []
    quoted: list[Mark] = []
    fence = b""
    in_comment = False
    for line in lines:
        if line.is_long:
            continue
        mark = html_marker(line)
        if fence or in_comment:
            if mark and mark.word == b"begin":
                quoted.append(mark)
            fence = b"" if closes_fence(line, fence) else fence
            in_comment = in_comment and b"-->" not in line.content
        elif line.content.lstrip(b" \t").startswith(b"<!--"):
            # The closer may share the opener's hyphens.
            in_comment = b"-->" not in line.content.lstrip(b" \t")[2:]
            live += [mark] if mark else []
        else:
            run, rest = fence_run(line.content)
            fence = b"" if run[:1] == b"`" and b"`" in rest else run
    return live, quoted


def html_marker(line: Line) -> Mark | None:
    mark = parse_mark(line)
    return mark if mark and mark.word != b"omit" and mark.opener == b"<!--" else None


def closes_fence(line: Line, fence: bytes) -> bool:
    run, rest = fence_run(line.content)
    return bool(fence) and run.startswith(fence) and not rest.strip(b" \t")


def fence_run(content: bytes) -> tuple[bytes, bytes]:
    """§4.1: the run of three or more backticks or tildes behind the prefix, and what is behind the run"""
    rest = content.lstrip(b" \t>")
    behind = after_bullet(rest)
    if behind[:1] in (b" ", b"\t"):
        rest = behind.lstrip(b" \t")
    character = rest[:1]
    if character not in (b"`", b"~"):
        return b"", content
    after = rest.lstrip(character)
    run = rest[: len(rest) - len(after)]
    return (run, after) if len(run) >= 3 else (b"", content)


def after_bullet(text: bytes) -> bytes:
    """What is behind a list bullet; nothing when there is no bullet."""
    if text[:1] in (b"-", b"*", b"+"):
        return text[1:]
    after = text.lstrip(b"0123456789")
    if 1 <= len(text) - len(after) <= 9 and after[:1] in (b".", b")"):
        return after[1:]
    return b""


def pair(marks: list[Mark], length: int) -> tuple[list[tuple[Mark, Mark]], list[tuple[Mark, str]]]:
    """§5.1: the closed blocks that are not void, and what is left over"""
    stack: list[Mark] = []
    blocks: list[tuple[Mark, Mark]] = []
    left: list[tuple[Mark, str]] = []

    def drop_too_large(position: int) -> None:
        while stack and position - stack[0].line.start > LARGEST_BLOCK:
            left.append((stack.pop(0), "too-large"))

    for mark in marks:
        drop_too_large(mark.line.end)
        if mark.word == b"begin":
            stack.append(mark)
        elif mark.key not in [begin.key for begin in stack]:
            left.append((mark, "stray-end"))
        elif stack[-1].key == mark.key:
            blocks.append((stack.pop(), mark))
        else:
            while True:
                begin = stack.pop()
                left.append((begin, "crossing"))
                if begin.key == mark.key:
                    break
            void = [block for block in blocks if block[0].line.start > begin.line.start]
            left += [(block[0], "crossing") for block in void]
            blocks = [block for block in blocks if block not in void]
    drop_too_large(length)
    left += [(begin, "unclosed") for begin in stack]
    return blocks, left


def references(text: bytes, kind: str) -> list[tuple[Line, str]]:
    """§6.4: the lines of `text` that stand for bodies, and their ids"""
    lines = lines_of(text)
    live = {mark.line.start for mark in scan(lines)[0]}
    found = []
    for i, line in enumerate(lines):
        if line.is_long:
            continue
        mark = parse_mark(line)
        if mark and mark.word == b"omit" and kind != "text":
            found.append((line, mark.id))
        if not 0 < i < len(lines) - 1 or lines[i - 1].is_long or lines[i + 1].is_long:
            continue
        begin, end = parse_mark(lines[i - 1]), parse_mark(lines[i + 1])
        if not (begin and end and (begin.word, end.word) == (b"begin", b"end") and begin.key == end.key):
            continue
        are_live = begin.line.start in live and end.line.start in live
        bare = parse_reference(line.content) if are_live and kind != "source" else ""
        wrapped = parse_wrapped(begin, line.content) if kind != "text" else ""
        if id := bare or wrapped:
            found.append((line, id))
    return found


def parse_wrapped(begin: Mark, content: bytes) -> str:
    """§6.2"""
    head = begin.indent + begin.opener + b" "
    tail = b" " + begin.closer if begin.closer else b""
    if len(content) < len(head) + len(tail) or not (content.startswith(head) and content.endswith(tail)):
        return ""
    return parse_reference(content[len(head) : len(content) - len(tail)])


def fold(text: bytes, min_savings: int = 256) -> Folded:
    """§7, for text, with ids of 12 digits"""
    lines = lines_of(text)
    live, quoted = scan(lines)
    blocks, left = pair(live, len(text))
    result = Folded(text)
    candidates: list[tuple[Mark, Mark]] = []
    reasons = [(mark, reason) for mark, reason in left] + [(mark, "fenced") for mark in quoted]
    for begin, end in blocks:
        reason = why_not(text, blocks, (begin, end), min_savings)
        if reason == "":
            candidates.append((begin, end))
        elif reason != "reference":
            reasons.append((begin, reason))
    outermost = [
        block for block in candidates if not any(is_inside(block[0], around) for around in candidates)
    ]
    result.stored = {body_of(text, block) for block in candidates}
    result.kept = sorted(
        (mark.line.number, reason)
        for mark, reason in reasons
        if not any(is_inside(mark, block) for block in outermost)
    )
    pieces, position = [], 0
    for begin, end in sorted(outermost, key=lambda block: block[0].line.start):
        id = sha256(body_of(text, (begin, end))).hexdigest()[:12]
        pieces += [text[position : begin.line.end], b"[[cf:v2:" + id.encode() + b"]]" + begin.line.eol]
        position = end.line.start
        result.folds.append((begin.label, begin.line.number, id))
    result.text = b"".join(pieces) + text[position:]
    return result


def why_not(text: bytes, blocks: list[tuple[Mark, Mark]], block: tuple[Mark, Mark], min_savings: int) -> str:
    """§7.1, §7.2: why a block does not fold alone; nothing when it does"""
    begin, end = block
    body = body_of(text, block)
    if sum(is_inside(begin, around) for around in blocks) + 1 > DEEPEST_BLOCK:
        return "too-deep"
    held = references(text[begin.line.start : end.line.end], "unknown")
    if any(line.content + line.eol == body for line, _ in held):
        return "reference"
    if held:
        return "holds-reference"
    size = len(b"[[cf:v2:0123456789ab]]" + begin.line.eol)
    saved = (len(body) + 3) // 4 - (size + 3) // 4
    return "too-small" if saved < min_savings or len(body) <= size else ""


def is_inside(mark: Mark, block: tuple[Mark, Mark]) -> bool:
    return block[0].line.start < mark.line.start < block[1].line.start


def body_of(text: bytes, block: tuple[Mark, Mark]) -> bytes:
    return text[block[0].line.end : block[1].line.start]


def restore(text: bytes, kind: str, bodies: dict[str, bytes]) -> Iterator[bytes]:
    """§8: the restored text in pieces"""
    position = 0
    for line, id in references(text, kind):
        if id in bodies:
            yield text[position : line.start]
            yield bodies[id]
            position = line.end
    yield text[position:]
