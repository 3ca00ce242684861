"""Writes tests/vectors/source-*.json; run it after a change to the tables below: `python tests/kit/build_source_vectors.py`.

It knows nothing of ctxf. In each text `«` and `»` enclose a body that must fold; the builder takes them
out for the input, and puts the reference that PROTOCOL.md §6 prescribes in the body's place for the output.
"""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

# Comment forms: what stands before and behind the words of a comment.
HASH, SLASH, STAR, ANGLE = ("# ", ""), ("// ", ""), ("/* ", " */"), ("<!-- ", " -->")
DASH, SEMI, PERCENT, PAREN, BRACE, JSX = (
    ("-- ", ""),
    ("; ", ""),
    ("% ", ""),
    ("(* ", " *)"),
    ("{- ", " -}"),
    ("{/* ", " */}"),
)
Form = tuple[str, str]

FILLER = "filler that is long enough to be worth a reference line of its own"


def pair(form: Form, body: str, *, indent: str = "", folds: bool = True) -> str:
    """A marked block; with `folds` its body is enclosed."""
    head, tail = form
    enclosed = f"«{body}»" if folds else body
    begin = f"{indent}{head}@context-fold begin x{tail}\n"
    return f"{begin}{enclosed}{indent}{head}@context-fold end x{tail}\n"


def vector(
    name: str, section: str, language: str, text: str, form: Form, *, reason: str = ""
) -> dict[str, Any]:
    """One vector. `reason` is why every begin marker of a text without enclosed bodies is kept."""
    source = text.replace("«", "").replace("»", "")
    output, folds, line = text, [], 0
    while "«" in output:
        before, _, rest = output.partition("«")
        body, _, after = rest.partition("»")
        begin = before.rstrip("\r\n").rpartition("\n")[2].removeprefix("\ufeff")
        indent = begin[: len(begin) - len(begin.lstrip(" \t"))]
        eol = "\r\n" if before.endswith("\r\n") else "\n"
        id_ = hashlib.sha256(body.encode("utf-8", "surrogateescape")).hexdigest()[:12]
        # folded bodies before this one stand as one line where the source has several
        folds.append({"label": begin.split(" begin ")[1].split()[0], "line": before.count("\n") + line})
        line += body.count("\n") - 1
        output = f"{before}{indent}{form[0]}[[cf:v2:{id_}]]{form[1]}{eol}{after}"
    kept = []
    if reason:
        for number, words in enumerate(source.split("\n"), 1):
            if "@context-fold begin" in words:
                kept.append({"line": number, "reason": reason})
    result: dict[str, Any] = {"name": f"{language}: {name}", "section": f"§{section}", "language": language}
    data = source.encode("utf-8", "surrogateescape")
    try:
        data.decode("utf-8")
        result |= {"input": source, "output": output}
    except UnicodeDecodeError:
        result |= {
            "input_base64": base64.b64encode(data).decode(),
            "output_base64": base64.b64encode(output.encode("utf-8", "surrogateescape")).decode(),
        }
    return result | {"min_savings": 0, "folds": folds, "kept": kept}


# Per language: a form, a line of code that is a body, what may stand before a block and must not trouble it,
# and what makes a pair no comments. `%s` stands for the pair.
TABLE: dict[str, dict[str, Any]] = {
    "python": {
        "form": HASH,
        "code": f"value = '{FILLER}'\n",
        "before": {
            "apostrophe in a comment": "# don't\n",
            "backslash at the end of a comment": "# C:\\temp\\\n",
            "hash in a string": "a = '# no comment'\nb = \"it's\"\n",
            "raw string with a backslash": "a = r'\\d'\n",
            "triple quotes in a comment": '# """\n',
            "nested quotes in an f-string": "a = f'{x!r:>{width}}'\n",
            "decorator": "@decorated('#')\ndef f(): pass\n",
            "python 2": "print 'two'\n",
            "other letters": "# caf\u00e9 \u5317\u4eac \U0001f642\nn = '\u5317\u4eac'\n",
        },
        "quoted": {
            "docstring": 'def f():\n    """Help.\n%s"""\n',
            "single triple quotes": "x = '''\n%s'''\n",
            "bytes": "x = b'''\n%s'''\n",
            "raw": "x = r'''\\\n%s'''\n",
            "string with a continued line": 'x = """ \\\n%s"""\n',
        },
        "doubt": {
            "replacement field": "x = f'''{\n%s1}'''\n",
            "unclosed string": "x = 'open\n%s",
            "unclosed bracket, then strings": "broken = (1, [2\n%s",
            "unclosed string after an open bracket": "x = ['a', \"b\n%s",
        },
    },
    "javascript": {
        "form": SLASH,
        "code": f"const value = '{FILLER}';\n",
        "before": {
            "regular expression with quotes": "const q = /[\"'`]/;\n",
            "regular expression with slashes": "const s = /\\/\\//, t = /\\/*x/;\n",
            "division": "const r = 8 / 2 / 1;\n",
            "address in a string": "const u = 'http://example.test/a';\n",
            "template": "const t = `a ${'b'} // c`;\n",
            "apostrophe in a comment": "// don't\n",
            "hashbang": "#!/usr/bin/env node\n",
        },
        "quoted": {
            "template": "const t = `\n%s`;\n",
            "template in a substitution": "const t = `a ${[1].map(() => `\n%s`)} b`;\n",
            "block comment": "/* off\n%s*/\n",
            "text of an element": "const t = <p>\n%s</p>;\n",
        },
        "doubt": {
            "substitution": "const t = `a ${\n%s1} b`;\n",
            "unclosed template": "const t = `;\n%s",
        },
    },
    "typescript": {
        "form": SLASH,
        "code": f"const value: string = '{FILLER}';\n",
        "before": {
            "generics": "function f<T extends {}>(x: T): Array<Array<T>> { return [[x]]; }\n",
            "regular expression": "const q = /['\"]/g;\n",
            "decorator": "@Input('//')\nclass A {}\n",
        },
        "quoted": {"template": "const t = `\n%s`;\n", "block comment": "/*\n%s*/\n"},
        "doubt": {"substitution": "const t = `${\n%s1}`;\n"},
    },
    "tsx": {
        "form": SLASH,
        "code": f"const value: string = '{FILLER}';\n",
        "before": {"element with an apostrophe": "const e = <p>don't</p>;\n"},
        "quoted": {"template": "const t = `\n%s`;\n", "text of an element": "const e = <p>\n%s</p>;\n"},
        "doubt": {},
    },
    "go": {
        "form": SLASH,
        "code": f'var value = "{FILLER}"\n',
        "before": {
            "rune": "package a\nvar q = '\"'\nvar t = '\\''\n",
            "raw string": 'package a\nvar r = `//"`\n',
        },
        "quoted": {"raw string": "package a\nvar r = `\n%s`\n", "block comment": "package a\n/*\n%s*/\n"},
        "doubt": {"unclosed string": 'package a\nvar s = "open\n%s'},
    },
    "rust": {
        "form": SLASH,
        "code": f'const VALUE: &str = "{FILLER}";\n',
        "before": {
            "lifetimes": "fn pick<'a>(x: &'a str) -> &'a str { x }\n",
            "characters": "const Q: char = '\"';\nconst T: char = '\\'';\n",
            "raw string": 'const R: &str = r#"a " // b"#;\n',
            "nested comment": '/* a /* b */ " */\n',
        },
        "quoted": {
            "nested comment": "/* a /* b */ c\n%s*/\n",
            "raw string": 'const R: &str = r##""#\n%s"##;\n',
            "string": 'const R: &str = "\n%s";\n',
        },
        "doubt": {},
    },
    "c": {
        "form": SLASH,
        "code": f'static const char *value = "{FILLER}";\n',
        "before": {
            "comment openers in strings": 'const char *a = "/*", *b = "*/ //";\n',
            "character": "char q = '\"', t = '\\'';\n",
            "directive with an apostrophe in a comment": "#define A 1 /* don't */\n",
        },
        "quoted": {
            "block comment": "/*\n%s*/\n",
            "continued comment": "// a \\\n// @context-fold begin x\nint a;\n",
        },
        "doubt": {
            "backslash and a blank": "// a \\ \n%s",
            "unclosed string": 'const char *a = "open;\n%s',
        },
    },
    "cpp": {
        "form": STAR,
        "code": f'static auto value = "{FILLER}";\n',
        "before": {
            "raw string": 'auto r = R"(a " /* b)";\n',
            "digit separators": "int n = 1'000'000;\n",
            "template": "template <class T> struct A { std::vector<std::vector<T>> v; };\n",
        },
        "quoted": {
            "raw string": 'auto r = R"//(\n%s)//";\n',
        },
        "doubt": {"unclosed string": 'auto a = "open;\n%s'},
    },
    "java": {
        "form": SLASH,
        "code": f'class Value {{ String value = "{FILLER}"; }}\n',
        "before": {
            "character": "class A { char q = '\"', t = '\\''; }\n",
            "text block": 'class A { String s = """\n  // a "" b\n  """; }\n',
        },
        "quoted": {
            "text block": 'class A { String s = """\n%s"""; }\n',
            "documentation": "/**\n%s*/\n",
        },
        "doubt": {},
    },
    "csharp": {
        "form": SLASH,
        "code": f'class Value {{ string value = "{FILLER}"; }}\n',
        "before": {
            "verbatim string": 'class A { string s = @"C:\\"; string t = @"a "" // b"; }\n',
            "region": "#region don't\n#endregion\n",
        },
        "quoted": {
            "verbatim string": 'class A { string s = @"\n%s"; }\n',
            "raw string": 'class A { string s = """\n%s"""; }\n',
        },
        "doubt": {},
    },
    "ruby": {
        "form": HASH,
        "code": f"value = '{FILLER}'\n",
        "before": {
            "interpolation": 'a = "it#{1 + 1}s # no comment"\n',
            "percent literal": "a = %q(don't # no comment)\n",
            "character": 'a = ?"\nb = ?#\n',
            "regular expression": "a = /['\"#]/\n",
            "here-document": "a = <<~E\n  # don't\nE\n",
        },
        "quoted": {
            "here-document": "a = <<~E\n%sE\n",
            "documentation": "=begin\n%s=end\n",
            "data": "a = 1\n__END__\n%s",
            "percent literal": "a = %%q(\n%s)\n",
        },
        "doubt": {"interpolation": 'a = "#{\n%s1}"\n'},
    },
    "php": {
        "form": SLASH,
        "code": f"$value = '{FILLER}';\n",
        "before": {
            "start": "<?php\n",
            "page with an apostrophe": "<p>don't</p>\n<?php\n",
            "here-document": "<?php\n$a = <<<E\n// don't\nE;\n",
            "attribute": "<?php\n#[A('//')]\nfunction f() {}\n",
        },
        "quoted": {
            "here-document": "<?php\n$a = <<<E\n%sE;\n",
            "now-document": "<?php\n$a = <<<'E'\n%sE;\n",
            "string": "<?php\n$a = '\n%s';\n",
            "page": "<p>\n%s</p>\n",
            "page behind the code": "<?php $a = 1; ?>\n%s",
        },
        "doubt": {},
    },
    "bash": {
        "form": HASH,
        "code": f"value='{FILLER}'\n",
        "before": {
            "hashes that open no comment": 'echo ${#list[@]} $# a#b "${x#a}"\n',
            "escaped hash": "case $1 in \\#*) echo hash;; esac\n",
            "here-document": "cat <<'E'\n# don't\nE\n",
            "quotes in quotes": "echo \"it's\" 'a \" b' $'don\\'t'\n",
        },
        "quoted": {
            "here-document": "cat <<'E'\n%sE\n",
            "here-document that expands": "cat <<E\n%sE\n",
            "indented here-document": "cat <<-E\n%s\tE\n",
            "string": "echo '\n%s'\n",
        },
        "doubt": {},
    },
    "html": {
        "form": ANGLE,
        "code": f"<p>{FILLER}</p>\n",
        "before": {
            "title": "<title>don't</title>\n",
            "script": "<script>let a = '<!--';</script>\n",
            "attribute": '<a title="don\'t -->">b</a>\n',
            "comment": "<!-- don't -->\n",
        },
        "quoted": {
            "script": "<script>\n%s</script>\n",
            "style": "<style>\n%s</style>\n",
        },
        "doubt": {
            "text area": "<textarea>\n%s</textarea>\n",
            "title": "<title>\n%s</title>\n",
        },
    },
    "css": {
        "form": STAR,
        "code": f'.a {{ content: "{FILLER}"; }}\n',
        "before": {
            "address": ".b { background: url(//example.test/a); }\n",
            "string": '.b { content: "don\'t"; }\n',
        },
        "quoted": {},
        "doubt": {},
    },
    "json": {
        "form": SLASH,
        "code": f'"a": "{FILLER}",\n',
        "before": {"open object": "{\n"},
        "quoted": {},
        "doubt": {},
    },
    "yaml": {
        "form": HASH,
        "code": f"value: {FILLER}\n",
        "before": {
            "quotes": "a: 'it''s # no comment'\nb: \"#\"\n",
            "apostrophe": "a: don't\n",
            "block scalar": "a: |\n  # don't\nb: 1\n",
            "hash in a word": "a: b#c\n",
        },
        "quoted": {
            "block scalar": "a: |\n  text\n%s",
        },
        "doubt": {},
    },
    "toml": {
        "form": HASH,
        "code": f"value = '{FILLER}'\n",
        "before": {
            "quotes": "a = \"it's # no comment\"\nb = '\"'\n",
            "literal text": "a = '''# don't'''\n",
        },
        "quoted": {
            "text": 'a = """\n%s"""\n',
            "literal text": "a = '''\n%s'''\n",
        },
        "doubt": {},
    },
    "lua": {
        "form": DASH,
        "code": f"value = '{FILLER}'\n",
        "before": {"apostrophe in a comment": "-- don't\n", "long string": "a = [==[ -- ]] ' ]==]\n"},
        "quoted": {"long string": "a = [==[\n%s]==]\n", "long comment": "--[[\n%s]]\n"},
        "doubt": {},
    },
    "sql": {
        "form": DASH,
        "code": f"SELECT '{FILLER}';\n",
        "before": {
            "apostrophe in a comment": "-- don't\n",
            "doubled quotes": "SELECT 'it''s -- no comment', \"odd--name\" FROM t;\n",
        },
        "quoted": {"string": "SELECT '\n%s';\n"},
        "doubt": {"dollar quotes": "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $a$\n%s$a$;\n"},
    },
    "kotlin": {
        "form": SLASH,
        "code": f'val value = "{FILLER}"\n',
        "before": {"characters": "val q = '\"'\n"},
        "quoted": {"raw string": 'val r = """\n%s"""\n', "nested comment": "/* /* */\n%s*/\n"},
        "doubt": {},
    },
    "swift": {
        "form": SLASH,
        "code": f'let value = "{FILLER}"\n',
        "before": {"raw string": 'let r = #"a " // b"#\n'},
        "quoted": {"text": 'let r = """\n%s"""\n', "nested comment": "/* /* */\n%s*/\n"},
        "doubt": {},
    },
    "scala": {
        "form": SLASH,
        "code": f'val value = "{FILLER}"\n',
        "before": {"character": "val q = '\"'\n"},
        "quoted": {"text": 'val r = """\n%s"""\n'},
        "doubt": {},
    },
    "haskell": {
        "form": DASH,
        "code": f'value = "{FILLER}"\n',
        "before": {"prime": "f' x' = x'\n", "operator": "a = b --> c\n"},
        "quoted": {"nested comment": "{- {- -}\n%s-}\n"},
        "doubt": {},
    },
    "ocaml": {
        "form": PAREN,
        "code": f'let value = "{FILLER}"\n',
        "before": {"character": "let q = '\"'\n"},
        "quoted": {"string": 'let s = "\n%s"\n', "quoted string": "let s = {a|\n%s|a}\n"},
        "doubt": {},
    },
    "elixir": {
        "form": HASH,
        "code": f"value = '{FILLER}'\n",
        "before": {"sigil": "a = ~s(don't # no comment)\n"},
        "quoted": {"text": 'a = """\n%s"""\n'},
        "doubt": {},
    },
    "elisp": {
        "form": SEMI,
        "code": f'(setq value "{FILLER}")\n',
        "before": {"characters": '(setq semi ?\\; quote ?\\")\n'},
        "quoted": {"string": '(setq s "\n%s")\n'},
        "doubt": {},
    },
}

# Texts of their own: name, section, language, form, text, reason.
EXTRA: list[tuple[str, str, str, Form, str, str]] = [
    ("body without need", "7.2", "python", HASH, pair(HASH, "x = 1\n", folds=False), "too-small"),
    ("empty body", "7.2", "go", SLASH, "package a\n" + pair(SLASH, "", folds=False), "too-small"),
    ("another form closes", "5.1", "c", SLASH, "// @context-fold begin x\nint a;\n/* @context-fold end x */\n", "unclosed"),
    ("a longer opener is another form", "5.1", "python", HASH, "# @context-fold begin x\na = 1\n## @context-fold end x\n", "unclosed"),
    ("more on the line", "3", "python", HASH, "a = 1  # @context-fold begin x\nb = 2\n# @context-fold end x\n", ""),
    ("words behind the label", "3", "rust", SLASH, "// @context-fold begin x here\nconst A: u8 = 1;\n", ""),
    ("a form of other languages", "11.2", "python", HASH, "// @context-fold begin x\nb = 2\n// @context-fold end x\n", ""),
    ("a line comment is none in CSS", "11.2", "css", STAR, "// @context-fold begin x\n.a {}\n// @context-fold end x\n", ""),
    ("an HTML comment is none in a script", "11.2", "javascript", ANGLE, "<!-- @context-fold begin x -->\nlet a;\n<!-- @context-fold end x -->\n", ""),
    ("strings are all that JSON has", "11.2", "json", SLASH, '{"a": "// @context-fold begin x",\n "b": "// @context-fold end x"}\n', ""),
    ("end of PHP on the marker line", "11.2", "php", SLASH, "<?php\n// @context-fold begin x ?>\n<p>text</p>\n<?php\n// @context-fold end x\n", ""),
    ("one line comment in braces is no JSX", "11.2", "javascript", JSX, "f();\n{/* @context-fold begin x */}\n" + f"a('{FILLER}');\n" + "{/* @context-fold end x */}\n", "fenced"),
    ("between elements", "11.2", "javascript", JSX, "a = <div>\n" + pair(JSX, f"<p>{FILLER}</p>\n") + "</div>;\n", ""),
    ("between elements, indented", "11.2", "tsx", JSX, "const a = <div>\n" + pair(JSX, f"  <p>{FILLER}</p>\n", indent="  ") + "</div>;\n", ""),
    ("indented", "6.2", "python", HASH, "def f():\n" + pair(HASH, f"    a = '{FILLER}'\n", indent="    "), ""),
    ("indented by tabs", "6.2", "go", SLASH, "package a\nfunc f() {\n" + pair(SLASH, f"\ta := \"{FILLER}\"\n", indent="\t") + "}\n", ""),
    ("tail of a function", "11.2", "python", HASH, "def f():\n    a = 1\n" + pair(HASH, f"    b = '{FILLER}'\n", indent="    ") + "\n\ndef g():\n    pass\n", ""),
    ("inside a list", "11.2", "python", HASH, "rows = [\n    1,\n" + pair(HASH, f"    '{FILLER}',\n", indent="    ") + "    2,\n]\n", ""),
    ("inside an object", "11.2", "javascript", STAR, "const a = {\n" + pair(STAR, f"  b: '{FILLER}',\n", indent="  ") + "};\n", ""),
    ("inside a class", "11.2", "java", SLASH, "class A {\n" + pair(SLASH, f"    String b = \"{FILLER}\";\n", indent="    ") + "}\n", ""),
    ("inside an object, with both braces", "11.2", "json", SLASH, "{\n" + pair(SLASH, f'"a": "{FILLER}",\n') + '"b": 1}\n', ""),
    ("two blocks with one label", "5.1", "python", HASH, pair(HASH, f"a = '{FILLER}'\n") + "visible = 1\n" + pair(HASH, f"b = '{FILLER}'\n"), ""),
    ("a block in a block", "7.1", "c", SLASH, "int a;\n// @context-fold begin outer\n«" + pair(SLASH, f"int b; /* {FILLER} */\n", folds=False) + "»// @context-fold end outer\n", ""),
    ("a form feed", "2", "python", HASH, "import a\n\f\n" + pair(HASH, f"a = '{FILLER}'\n\f\n") + "\f\nb = 1\n", ""),
    ("CRLF", "6.2", "python", HASH, (pair(HASH, f"a = '{FILLER}'\n") + "b = 1\n").replace("\n", "\r\n"), ""),
    ("CRLF", "6.2", "c", STAR, pair(STAR, f"int a; /* {FILLER} */\n").replace("\n", "\r\n"), ""),
    ("CRLF", "6.2", "bash", HASH, pair(HASH, f"a='{FILLER}'\n").replace("\n", "\r\n"), ""),
    ("byte order mark", "3", "python", HASH, "\ufeff" + pair(HASH, f"a = '{FILLER}'\n"), ""),
    ("byte order mark", "3", "csharp", SLASH, "\ufeff" + pair(SLASH, f"class A {{ string s = \"{FILLER}\"; }}\n"), ""),
    ("bytes that are no UTF-8", "2", "c", SLASH, "/* caf\udce9 */\n" + pair(SLASH, f"char *a = \"\udce9 {FILLER}\";\n"), ""),
    ("bytes that are no UTF-8", "2", "php", HASH, "<?php\n" + pair(HASH, f"$a = '\udcff {FILLER}';\n"), ""),
    ("unbalanced braces", "11.3", "c", SLASH, "}} ((\n" + pair(SLASH, f"int {FILLER.replace(' ', '_')};\n"), ""),
    ("unclosed bracket", "11.3", "python", HASH, "a = (1, [2\n" + pair(HASH, f"{FILLER.replace(' ', '_')} = 1\n"), ""),
    ("NUL before", "11.3", "python", HASH, "a = 1\0\n" + pair(HASH, f"a = '{FILLER}'\n", folds=False), "in-doubt"),
    ("NUL behind", "11.3", "go", SLASH, "package a\n" + pair(SLASH, f"var a = \"{FILLER}\"\n") + "\0\n", ""),
    ("lone CR before", "11.3", "python", HASH, "# a\rb = 1\n" + pair(HASH, f"a = '{FILLER}'\n", folds=False), "in-doubt"),
    ("comment inside a tag", "11.3", "html", ANGLE, "<p\n" + pair(ANGLE, f"class=\"{FILLER}\"\n", folds=False) + ">a</p>\n", "in-doubt"),
    ("comment inside an element", "11.2", "html", ANGLE, "<ul>\n" + pair(ANGLE, f"<li>{FILLER}</li>\n") + "</ul>\n", ""),
    ("error behind the block", "11.3", "python", HASH, pair(HASH, f"a = '{FILLER}'\n") + "b = 'open\n", ""),
    ("error behind the block", "11.3", "javascript", SLASH, pair(SLASH, f"a = '{FILLER}';\n") + "b = `open\n", ""),
    ("no line end at the end", "2", "python", HASH, pair(HASH, f"a = '{FILLER}'\n").removesuffix("\n"), ""),
    ("no line end at the end", "2", "rust", SLASH, pair(SLASH, f"const A: &str = \"{FILLER}\";\n").removesuffix("\n"), ""),
    ("doubled opener", "3.1", "python", ("## ", ""), pair(("## ", ""), f"a = '{FILLER}'\n"), ""),
    ("three semicolons", "3.1", "elisp", (";;; ", ""), pair((";;; ", ""), f"(setq a \"{FILLER}\")\n"), ""),
    ("block comment form", "3.1", "go", STAR, "package a\n" + pair(STAR, f"var a = \"{FILLER}\"\n"), ""),
    ("block comment form", "3.1", "rust", STAR, pair(STAR, f"const A: &str = \"{FILLER}\";\n"), ""),
    ("block comment form", "3.1", "sql", STAR, pair(STAR, f"SELECT '{FILLER}';\n"), ""),
    ("hash form", "3.1", "php", HASH, "<?php\n" + pair(HASH, f"$a = '{FILLER}';\n"), ""),
    ("block comment form", "3.1", "haskell", BRACE, pair(BRACE, f"a = \"{FILLER}\"\n"), ""),
    ("a reference in a string of the body", "6.3", "python", HASH, "# @context-fold begin x\nq = '''\n## @context-fold begin q\n## [[cf:v2:0123456789ab]]\n## @context-fold end q\n'''\n" + f"a = '{FILLER}'\n# @context-fold end x\n", "holds-reference"),
    ("a bare reference is none in source", "6.2", "python", HASH, "# @context-fold begin x\n[[cf:v2:0123456789ab]]\n# @context-fold end x\n", "too-small"),
    ("folded already", "7.1", "python", HASH, "# @context-fold begin x\n# [[cf:v2:0123456789ab]]\n# @context-fold end x\n", ""),
]  # fmt: skip


def build() -> dict[str, list[dict[str, Any]]]:
    """The vectors of each file."""
    vectors: dict[str, list[dict[str, Any]]] = {}
    for language, row in TABLE.items():
        form, code = row["form"], row["code"]
        rows = vectors.setdefault(language, [])
        for name, before in row["before"].items():
            after = "}\n" if language == "json" else ""
            rows.append(vector(f"{name} before", "11.2", language, before + pair(form, code) + after, form))
        indent = "  " if language == "yaml" else ""
        unfolded = pair(form, indent + code, indent=indent, folds=False)
        opened = f"{indent}{form[0]}@context-fold begin x{form[1]}\n"
        frame = "<?php\n%s" if language == "php" else "%s"
        rows.append(vector("unclosed", "5.2", language, frame % opened, form, reason="unclosed"))
        for name, frame in row["quoted"].items():
            text = frame % unfolded if "%s" in frame else frame
            rows.append(vector(f"in {name}", "11.2", language, text, form, reason="fenced"))
        for name, frame in row["doubt"].items():
            rows.append(vector(f"doubt: {name}", "11.3", language, frame % unfolded, form, reason="in-doubt"))
    for name, section, language, form, text, reason in EXTRA:
        made = vector(name, section, language, text, form, reason=reason)
        if reason == "holds-reference":
            made["kept"][1]["reason"] = "fenced"  # the one in the string
        vectors.setdefault(language, []).append(made)
    return vectors


if __name__ == "__main__":
    folder = Path(__file__).parents[1] / "vectors"
    for old in folder.glob("source-*.json"):
        old.unlink()
    for language, rows in build().items():
        text = json.dumps(rows, indent=1, ensure_ascii=True)
        (folder / f"source-{language}.json").write_text(text + "\n")
    total = [row for rows in build().values() for row in rows]
    print(len(total), "vectors,", sum(1 for row in total if row["folds"]), "of them fold")
