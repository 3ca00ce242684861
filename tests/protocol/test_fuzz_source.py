"""srcfuzz: random files of each language's strings, comments, brackets, half statements and marker pairs.

The laws must hold for all of them. Minutes: run with `-m long`. CTXF_FUZZ_FILES says how many files per
language, CTXF_FUZZ_SEED varies them.
"""

import os
import random
from collections import Counter

import pytest

from ctxf.protocol.model import CommentForm
from ctxf.protocol.parsers import Parsers, Problem
from tests.kit.source import assert_laws, named

FILES = int(os.environ.get("CTXF_FUZZ_FILES", "6000"))
SEED = os.environ.get("CTXF_FUZZ_SEED", "0")

ANYWHERE = [
    *("(", ")", "[", "]", "{", "}", '"', "'", "`", "\\", ";", ",", "x", "1", " = ", "\n", "\n\n", "  "),
    *("\r\n", "\t", "\0", "\f", "é", "\udcff", "\r", "/", "*", "#", "-", "<", ">", "$", "%", "@", ":", "|"),
]

PIECES = {
    "python": [
        *("x = '", "x = '''\n", '"""', "f'{", "f'''{\n", "}'", "r'\\'", "# don't\n", "def f():\n", "    y\n"),
        *("if x:\n", "class A:\n", "print 'a'\n", "@d\n", "x = [\n", "    1,\n", "lambda: (\n", "b'", "\\\n"),
    ],
    "javascript": [
        *(
            "`",
            "${",
            "x = `a ${",
            "/['\"]/",
            "x = /",
            "// don't\n",
            "/*",
            "*/",
            "<p>",
            "</p>",
            "<a b={",
            "'a'",
        ),
        *(
            "function f() {\n",
            "if (x) {\n",
            "=> ",
            "<!--",
            "-->",
            "class A {\n",
            "x ? ",
            "return /a/\n",
            "{/*",
        ),
    ],
    "typescript": [
        *(
            "`",
            "${",
            "x: T<",
            "/['\"]/",
            "// don't\n",
            "/*",
            "*/",
            "as ",
            "enum A {\n",
            "'a'",
            "interface B {\n",
        ),
        *(
            "function f<T>(x: T) {\n",
            "type A = `a${",
            "@d()\n",
            "x!",
            "<T>x",
            "let y = /",
            "'",
            "namespace C {\n",
        ),
    ],
    "go": [
        *(
            "package a\n",
            "var s = `",
            "`",
            "'\"'",
            "'\\''",
            "// don't\n",
            "/*",
            "*/",
            "func f() {\n",
            "x := ",
        ),
        *('"a"', "if x {\n", "struct {\n", "go func() {\n", "}()\n", "<-c", "import (\n", "const (\n"),
    ],
    "c": [
        *("#define A \\\n", "#if 0\n", "#endif\n", "#else\n", "'\"'", "// a \\\n", "/*", "*/", 'L"a"', "'a"),
        *(
            "int f() {\n",
            "x = y / z;\n",
            "// don't\n",
            "struct s {\n",
            "\\ \n",
            "#error don't\n",
            "MACRO(a\n",
        ),
    ],
    "cpp": [
        *(
            'R"(',
            ')"',
            'R"x(',
            ')x"',
            "1'000",
            "template <class T>\n",
            "/*",
            "*/",
            "// don't\n",
            "class A {\n",
        ),
        *(
            "#define A \\\n",
            "#if 0\n",
            "#endif\n",
            "[&](){\n",
            "a << b",
            "x->y",
            "::",
            "u8'a'",
            "'\"'",
            "// \\\n",
        ),
    ],
    "java": [
        *(
            '"""\n',
            '"""',
            "'\"'",
            "// don't\n",
            "/*",
            "*/",
            "/** a */\n",
            "class A {\n",
            "void f() {\n",
            "@B(",
        ),
        *("x -> {\n", "List<String> a;\n", '"a"', "\\u0022", "case 1:\n", "switch (x) {\n", "int i = 1;\n"),
    ],
    "csharp": [
        *(
            '@"',
            '$"{',
            '$@"{',
            '"""',
            '"""\n',
            "}",
            "'\"'",
            "// don't\n",
            "/*",
            "*/",
            "class A {\n",
            "#if X\n",
        ),
        *("#endif\n", "#region don't\n", "void F() {\n", "x => ", '"a"', "get;", "[A]\n", "namespace B {\n"),
    ],
    "ruby": [
        *(
            "x = <<~E\n",
            "E\n",
            "<<-'E'",
            "%q(",
            "%w[",
            "#{",
            "?'",
            "=begin\n",
            "=end\n",
            "__END__\n",
            "/['\"]/",
        ),
        *("def f\n", "end\n", "# don't\n", ":'a'", "x / y", "if x\n", "do |y|\n", '"a#{', "puts <<A, <<B\n"),
    ],
    "php": [
        *(
            "<?php\n",
            "?>\n",
            "<<<E\n",
            "E;\n",
            "<<<'E'\n",
            "#[A]\n",
            "// don't\n",
            "/*",
            "*/",
            "# don't\n",
            "$x = ",
        ),
        *(
            "'a'",
            '"{$a',
            "function f() {\n",
            "<p>don't</p>\n",
            "?>",
            "<?= 1 ?>\n",
            "__halt_compiler();\n",
            "{\n",
        ),
    ],
    "rust": [
        *(
            'r#"',
            '"#',
            'r"',
            "'a",
            "'\"'",
            "'\\''",
            "// don't\n",
            "/*",
            "*/",
            "/* /*",
            "fn f() {\n",
            "#[a]\n",
        ),
        *(
            "macro_rules! m {\n",
            "$x:expr",
            "b'a'",
            "impl<'a> A<'a> {\n",
            "match x {\n",
            "/// d\n",
            '"a"',
            "=> ",
        ),
    ],
    "bash": [
        *(
            "cat <<E\n",
            "E\n",
            "<<'E'\n",
            "$(",
            "${x#",
            "$((",
            "))",
            "case x in\n",
            "esac\n",
            "if x; then\n",
            "fi\n",
        ),
        *(
            "# don't\n",
            "$'",
            "a#b",
            "\\#",
            "f() {\n",
            "`",
            "[[ x ]]\n",
            "do\n",
            "done\n",
            "<<-E\n",
            '"$(',
            "for i in\n",
        ),
    ],
    "html": [
        *(
            "<p>",
            "</p>",
            "<script>",
            "</script>",
            "<style>",
            "</style>",
            "<title>",
            "</title>",
            "<!--",
            "-->",
        ),
        *(
            "<a b='",
            "<textarea>",
            "</textarea>",
            "<![CDATA[",
            "]]>",
            "<?a ?>",
            "<!DOCTYPE html>\n",
            "--!>",
            "<br/>",
        ),
    ],
    "css": [
        *(
            "a {",
            "}",
            "b: c;",
            "/*",
            "*/",
            '"',
            "'a'",
            "url(//a)",
            "@media x {\n",
            "// don't\n",
            "<!--",
            "-->",
        ),
        *(".a > b", "#c", ":not(", "!important", "\\'", "@import 'a';\n"),
    ],
    "yaml": [
        *(
            "a: |\n",
            "a: >-\n",
            "  b\n",
            "- ",
            "a: 'b\n",
            'a: "b',
            "# don't\n",
            "[1,\n",
            "{a: b\n",
            "&a ",
            "*a\n",
        ),
        *("---\n", "? ", "a: b # c\n", "    c: d\n", "!t ", "...\n", "%YAML 1.2\n"),
    ],
    "toml": [
        *(
            "a = '",
            'a = """\n',
            '"""',
            "'''",
            "[a]\n",
            "[[b]]\n",
            "a = [\n",
            "# don't\n",
            "a.b = 1\n",
            "{ a = 1 }",
        ),
        *('"a"', "1979-05-27", "x = true\n"),
    ],
    "lua": [
        *(
            "[[",
            "]]",
            "[==[",
            "]==]",
            "--[[",
            "-- don't\n",
            "function f()\n",
            "end\n",
            "x = 'a'\n",
            "a.b",
            "#t",
        ),
        *("if x then\n", "repeat\n", "until y\n", "..", "~=", "--[==[\n"),
    ],
}


@pytest.mark.long
@pytest.mark.parametrize("name", PIECES)
def test_laws_hold(name: str) -> None:
    language = named(name)
    rng = random.Random(f"{name} {SEED}")
    counts: Counter[str] = Counter()
    with Parsers() as parsers:
        for number in range(FILES):
            data = random_file(name, language.forms, rng)
            try:
                _text, plan, _bodies = assert_laws(
                    data, language, parsers, min_savings_tokens=rng.choice((0, 0, 10))
                )
            except AssertionError as error:
                raise AssertionError(f"file {number}: {data!r}") from error
            counts["files"] += 1
            counts["folds"] += len(plan.folds)
            counts["files that fold"] += bool(plan.folds)
            if plan.failure:
                counts[plan.failure.problem] += 1
                assert plan.failure.problem in (Problem.CRASH, Problem.TIMEOUT)
            counts.update(f"kept {keep.reason}" for keep in plan.kept)
    print(f"\n{name}: {dict(counts)}")


def random_file(name: str, forms: tuple[CommentForm, ...], rng: random.Random) -> bytes:
    pieces = PIECES[name]
    start = "<?php\n" if name == "php" and rng.random() < 0.9 else ""
    lines = [start.encode()]
    open_: list[bytes] = []
    weird = rng.choice((0.0, 0.05, 0.3))
    for _line in range(rng.randint(3, 40)):
        if rng.random() < 0.35:
            lines.append(marker(forms, open_, rng))
        elif rng.random() < weird:
            words = rng.choices([*ANYWHERE, *pieces], k=rng.randint(1, 6))
            lines.append("".join(words).encode("utf-8", "surrogateescape") + b"\n")
        else:
            form = rng.choice(forms)
            lines.append(form.opener + b" filler words in a comment " * 4 + form.closer + b"\n")
    return b"".join(lines)


def marker(forms: tuple[CommentForm, ...], open_: list[bytes], rng: random.Random) -> bytes:
    """A marker line: mostly the end of what is open or a new begin, at times a reference or nonsense."""
    chance = rng.random()
    if open_ and chance < 0.55:
        return open_.pop(-1 if rng.random() < 0.95 else rng.randrange(len(open_)))
    form = rng.choice(forms) if rng.random() < 0.3 else forms[0]
    indent = b" " * rng.choice((0, 0, 2, 4))
    label = rng.choice((b"a", b"b", b"c"))
    closer = b" " + form.closer if form.closer else b""
    eol = rng.choice((b"\n", b"\n", b"\n", b"\r\n"))
    if chance > 0.97:
        reference = form.opener + b" [[cf:v2:0123456789ab]]" + closer + eol
        return reference if chance > 0.985 else indent + reference
    open_.append(indent + form.opener + b" @context-fold end " + label + closer + eol)
    return indent + form.opener + b" @context-fold begin " + label + closer + eol
