"""What is specific to a language, in one table (PROTOCOL.md §10): adding a language is adding a row.

Data only. Which grammar serves a row on this machine is for `grammars` to find out; this module
imports no parser, so that names and files can be told apart before one is needed.
"""

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from ctxf.protocol.markers import BOM
from ctxf.protocol.model import CommentForm

__all__ = ["LANGUAGES", "TEXT_NAMES", "Language", "is_text_name", "language_for_file", "language_of"]

TEXT_NAMES: Final = frozenset({"text", "txt", "plain", "markdown", "md"})
"""Names of what is no source: fold it by the rules of text (PROTOCOL.md §4)."""

_HASH: Final = CommentForm(b"#")
_SLASHES: Final = CommentForm(b"//")
_DASHES: Final = CommentForm(b"--")
_SEMICOLON: Final = CommentForm(b";")
_PERCENT: Final = CommentForm(b"%")
_STAR: Final = CommentForm(b"/*", b"*/")
_ANGLE: Final = CommentForm(b"<!--", b"-->")
_PAREN: Final = CommentForm(b"(*", b"*)")
_BRACE: Final = CommentForm(b"{-", b"-}")
_JSX: Final = CommentForm(b"{/*", b"*/}")

_C_FORMS: Final = (_SLASHES, _STAR)

# Regions where no grammar can be believed; a marker in one is in doubt (PROTOCOL.md §10.3). They are
# searched in the whole text, without a lexer, so they err on the side of too much.

# The body of a dollar-quoted string is another language's source: from the first tag to the last, since
# a single tag may stand in a string and so turn inside and outside round. A backslash before a quote
# escapes it in MySQL only, and comments nest in some dialects only.
_DOLLAR_TAG = rb"\$(?:[A-Za-z_\x80-\xff][0-9A-Za-z_\x80-\xff]*+)?\$"
_SQL_DOUBT = (
    rb"(?s:%b.*%b|%b.*)" % (_DOLLAR_TAG, _DOLLAR_TAG, _DOLLAR_TAG)
    + rb"|(?s:\\['\"].*)|(?s:/\*(?:(?!\*/|/\*).)*+/\*.*)"
)
# What HTML reads as text though it looks like markup, and ends of comments that the grammar does not know.
_HTML_DOUBT = (
    rb"(?is:<(textarea|title|xmp|iframe|noembed|noframes|noscript)\b.*?(?:</\1|\Z))"
    rb"|(?is:<plaintext\b.*)|(?s:<!\[CDATA\[.*?(?:\]\]>|\Z))|(?s:<\?.*?(?:\?>|\Z))"
    rb"|(?s:--!>.*)|(?s:<!--->?.*)"
)
_PHP_DOUBT = rb"(?is:__halt_compiler.*)"
_PERL_DOUBT = rb"(?ms:^__(?:END|DATA)__.*)"
_RUBY_DOUBT = rb"(?ms:^__END__\r?$.*)"


@dataclass(frozen=True, slots=True)
class Language:
    """One row.

    `wheel` is the package that brings the grammar, `function` the one that its module exports it by, and
    `bundled` its name in the library of tree-sitter-languages, which serves what has no wheel of its own.
    Nodes of a kind named `...comment...` are comments, `not_comments` aside, and so are `also_comments`.
    `isolate` is set where a
    grammar is known to crash or to go quadratic in its scanner, out of reach of a time limit, or where
    nobody knows; `strict` where every parse error may have shifted strings or comments; `joined` where the
    grammar makes one node of adjacent line comments; `doubt` is a regular expression for regions in doubt.
    """

    name: str
    forms: tuple[CommentForm, ...]
    wheel: str | None = None
    function: str = "language"
    bundled: str | None = None
    aliases: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    hashbangs: tuple[str, ...] = ()
    not_comments: frozenset[str] = frozenset()
    also_comments: frozenset[str] = frozenset()
    isolate: bool = False
    strict: bool = False
    joined: bool = False
    doubt: bytes | None = None

    @property
    def module(self) -> str | None:
        """The module that the wheel installs."""
        return self.wheel.replace("-", "_") if self.wheel else None


_HTML_COMMENT: Final = frozenset(
    {"html_comment"}
)  # `<!-- x` ends with its line in a script, is an error in a module

_CORE: Final = (
    Language(
        "python",
        (_HASH,),
        "tree-sitter-python",
        bundled="python",
        aliases=("py", "python3", "pyi"),
        extensions=(".py", ".pyi", ".pyw", ".bzl"),
        filenames=("SConstruct", "SConscript", "BUILD.bazel", "wscript"),
        hashbangs=("python", "python2", "python3", "pypy", "pypy3"),
    ),
    Language(
        "javascript",
        (*_C_FORMS, _JSX),
        "tree-sitter-javascript",
        bundled="javascript",
        aliases=("js", "jsx", "node", "ecmascript"),
        extensions=(".js", ".jsx", ".mjs", ".cjs"),
        hashbangs=("node", "nodejs", "deno", "bun"),
        not_comments=_HTML_COMMENT,
    ),
    Language(
        "typescript",
        _C_FORMS,
        "tree-sitter-typescript",
        function="language_typescript",
        bundled="typescript",
        aliases=("ts",),
        extensions=(".ts", ".mts", ".cts"),
        hashbangs=("ts-node", "tsx"),
        not_comments=_HTML_COMMENT,
    ),
    Language(
        "tsx",
        (*_C_FORMS, _JSX),
        "tree-sitter-typescript",
        function="language_tsx",
        bundled="tsx",
        aliases=("typescriptreact",),
        extensions=(".tsx",),
        not_comments=_HTML_COMMENT,
    ),
    Language("go", _C_FORMS, "tree-sitter-go", bundled="go", aliases=("golang",), extensions=(".go",)),
    Language(
        "rust",
        _C_FORMS,
        "tree-sitter-rust",
        bundled="rust",
        aliases=("rs",),
        extensions=(".rs",),
        isolate=True,
    ),
    Language("c", _C_FORMS, "tree-sitter-c", bundled="c", aliases=("h",), extensions=(".c", ".h")),
    Language(
        "cpp",
        _C_FORMS,
        "tree-sitter-cpp",
        bundled="cpp",
        aliases=("c++", "cxx", "cc", "hpp"),
        extensions=(".cpp", ".cxx", ".cc", ".c++", ".hpp", ".hxx", ".hh", ".h++", ".ipp", ".inl", ".tpp"),
    ),
    Language("java", _C_FORMS, "tree-sitter-java", bundled="java", aliases=("jav",), extensions=(".java",)),
    Language(
        "csharp",
        _C_FORMS,
        "tree-sitter-c-sharp",
        bundled="c_sharp",
        aliases=("cs", "c#", "c-sharp", "c_sharp"),
        extensions=(".cs", ".csx"),
    ),
    Language(
        "ruby",
        (_HASH,),
        "tree-sitter-ruby",
        bundled="ruby",
        aliases=("rb",),
        extensions=(".rb", ".rake", ".gemspec", ".ru"),
        filenames=("Rakefile", "Gemfile", "Vagrantfile", "Brewfile", "Podfile"),
        hashbangs=("ruby", "jruby"),
        strict=True,
        doubt=_RUBY_DOUBT,
    ),
    Language(
        "php",
        (_HASH, *_C_FORMS),
        "tree-sitter-php",
        function="language_php",
        bundled="php",
        extensions=(".php", ".phtml", ".php5", ".php7"),
        hashbangs=("php",),
        strict=True,
        doubt=_PHP_DOUBT,
    ),
    Language(
        "bash",
        (_HASH,),
        "tree-sitter-bash",
        bundled="bash",
        aliases=("sh", "shell", "zsh", "ksh", "dash"),
        extensions=(".sh", ".bash", ".zsh", ".ksh", ".ebuild"),
        filenames=(".bashrc", ".bash_profile", ".profile", ".zshrc", "PKGBUILD"),
        hashbangs=("sh", "bash", "dash", "ash", "ksh", "zsh"),
        isolate=True,
        strict=True,
    ),
    Language(
        "html",
        (_ANGLE,),
        "tree-sitter-html",
        bundled="html",
        aliases=("htm", "xhtml"),
        extensions=(".html", ".htm", ".xhtml"),
        isolate=True,
        strict=True,
        doubt=_HTML_DOUBT,
    ),
    Language(
        "css",
        (_STAR,),
        "tree-sitter-css",
        bundled="css",
        extensions=(".css",),
        not_comments=frozenset({"js_comment"}),
    ),
    Language(
        "json",
        _C_FORMS,
        "tree-sitter-json",
        bundled="json",
        aliases=("jsonc", "json5"),
        extensions=(".json", ".jsonc", ".webmanifest"),
    ),
    Language(
        "yaml",
        (_HASH,),
        "tree-sitter-yaml",
        bundled="yaml",
        aliases=("yml",),
        extensions=(".yaml", ".yml"),
        isolate=True,
        strict=True,
    ),
    Language(
        "toml",
        (_HASH,),
        "tree-sitter-toml",
        bundled="toml",
        extensions=(".toml",),
        filenames=("Cargo.lock", "poetry.lock", "uv.lock", "Pipfile"),
    ),
)


def _more(
    name: str,
    forms: tuple[CommentForm, ...],
    wheel: str | None,
    bundled: str | None,
    extensions: tuple[str, ...],
    *,
    aliases: tuple[str, ...] = (),
    filenames: tuple[str, ...] = (),
    hashbangs: tuple[str, ...] = (),
    function: str = "language",
    doubt: bytes | None = None,
    joined: bool = False,
    not_comments: frozenset[str] = frozenset(),
    also_comments: frozenset[str] = frozenset(),
) -> Language:
    """A row of the extra `languages`. Nobody has tried to break these grammars as hard as those above, so
    each is isolated and strict."""
    return Language(
        name,
        forms,
        wheel,
        function,
        bundled,
        aliases,
        extensions,
        filenames,
        hashbangs,
        doubt=doubt,
        not_comments=not_comments,
        also_comments=also_comments,
        isolate=True,
        strict=True,
        joined=joined,
    )


_MORE: Final = (
    _more("sql", (_DASHES, _STAR), "tree-sitter-sql", "sql", (".sql",), aliases=("postgresql", "mysql", "sqlite"), doubt=_SQL_DOUBT, not_comments=frozenset({"comment_statement"}), also_comments=frozenset({"marginalia"})),
    _more("lua", (_DASHES,), "tree-sitter-lua", "lua", (".lua",), hashbangs=("lua", "luajit")),
    _more("kotlin", _C_FORMS, "tree-sitter-kotlin", "kotlin", (".kt", ".kts"), aliases=("kt",)),
    _more("swift", _C_FORMS, "tree-sitter-swift", None, (".swift",), hashbangs=("swift",)),
    _more("scala", _C_FORMS, "tree-sitter-scala", "scala", (".scala", ".sc", ".sbt"), hashbangs=("scala",)),
    _more("haskell", (_DASHES, _BRACE), "tree-sitter-haskell", "haskell", (".hs",), aliases=("hs",), hashbangs=("runghc", "runhaskell"), joined=True),
    _more("ocaml", (_PAREN,), "tree-sitter-ocaml", "ocaml", (".ml",), aliases=("ml",), hashbangs=("ocaml",), function="language_ocaml"),
    _more("julia", (_HASH,), "tree-sitter-julia", "julia", (".jl",), aliases=("jl",), hashbangs=("julia",)),
    _more("elixir", (_HASH,), "tree-sitter-elixir", "elixir", (".ex", ".exs"), aliases=("ex",), hashbangs=("elixir",)),
    _more("erlang", (_PERCENT,), None, "erlang", (".erl", ".hrl"), aliases=("erl",), hashbangs=("escript",)),
    _more("elm", (_DASHES, _BRACE), None, "elm", (".elm",)),
    _more("elisp", (_SEMICOLON,), None, "elisp", (".el",), aliases=("emacs-lisp", "emacs_lisp"), filenames=(".emacs",)),
    _more("commonlisp", (_SEMICOLON,), "tree-sitter-commonlisp", "commonlisp", (".lisp", ".cl", ".lsp", ".asd"), aliases=("lisp", "common-lisp")),
    _more("r", (_HASH,), None, "r", (".r",), hashbangs=("Rscript",)),
    _more("perl", (_HASH,), "tree-sitter-perl", "perl", (".pl", ".pm", ".t"), aliases=("pl",), hashbangs=("perl",), doubt=_PERL_DOUBT),
    _more("make", (_HASH,), "tree-sitter-make", "make", (".mk", ".mak"), aliases=("makefile", "mk"), filenames=("Makefile", "makefile", "GNUmakefile"), hashbangs=("make",)),
    _more("dockerfile", (_HASH,), "tree-sitter-dockerfile", "dockerfile", (".dockerfile",), aliases=("docker", "containerfile"), filenames=("Dockerfile", "Containerfile")),
    _more("hcl", (_HASH, *_C_FORMS), "tree-sitter-hcl", "hcl", (".hcl", ".tf", ".tfvars"), aliases=("terraform", "tf")),
    _more("zig", (_SLASHES,), "tree-sitter-zig", None, (".zig", ".zon")),
    _more("nix", (_HASH, _STAR), "tree-sitter-nix", None, (".nix",)),
    _more("scss", _C_FORMS, "tree-sitter-scss", None, (".scss",)),
    _more("xml", (_ANGLE,), "tree-sitter-xml", None, (".xml", ".xsd", ".xsl", ".xslt", ".svg", ".csproj", ".plist"), function="language_xml"),
    _more("svelte", (_ANGLE,), "tree-sitter-svelte", None, (".svelte",), doubt=_HTML_DOUBT),
    _more("objc", _C_FORMS, "tree-sitter-objc", "objc", (".m", ".mm"), aliases=("objective-c", "objectivec")),
    _more("dart", _C_FORMS, "tree-sitter-dart", None, (".dart",), hashbangs=("dart",)),
    _more("groovy", _C_FORMS, "tree-sitter-groovy", None, (".groovy", ".gradle"), filenames=("Jenkinsfile",), hashbangs=("groovy",)),
    _more("solidity", _C_FORMS, "tree-sitter-solidity", None, (".sol",), aliases=("sol",)),
    _more("powershell", (_HASH,), "tree-sitter-powershell", None, (".ps1", ".psm1", ".psd1"), aliases=("pwsh", "ps1"), hashbangs=("pwsh",)),
    _more("verilog", _C_FORMS, "tree-sitter-verilog", None, (".v", ".sv", ".svh"), aliases=("systemverilog",)),
    _more("pascal", (_SLASHES, _PAREN), "tree-sitter-pascal", None, (".pas", ".pp", ".dpr"), aliases=("delphi",)),
    _more("gdscript", (_HASH,), "tree-sitter-gdscript", None, (".gd",)),
    _more("glsl", _C_FORMS, "tree-sitter-glsl", None, (".glsl", ".vert", ".frag")),
    _more("matlab", (_PERCENT,), "tree-sitter-matlab", None, (), aliases=("octave",), hashbangs=("octave",), joined=True),
    _more("gomod", (_SLASHES,), None, "gomod", (), filenames=("go.mod",)),
    # No package has these grammars. The rows make that known instead of the files being taken for text.
    _more("vue", (_ANGLE,), None, None, (".vue",), doubt=_HTML_DOUBT),
    _more("latex", (_PERCENT,), None, None, (".tex", ".sty", ".cls", ".ltx"), aliases=("tex",)),
    _more("mdx", (_JSX,), None, None, (".mdx",)),
)  # fmt: skip

LANGUAGES: Final = (*_CORE, *_MORE)

_BY_NAME: Final = {name: row for row in LANGUAGES for name in (row.name, *row.aliases)}
_BY_EXTENSION: Final = {extension: row for row in LANGUAGES for extension in row.extensions}
_BY_FILENAME: Final = {filename: row for row in LANGUAGES for filename in row.filenames}
_BY_HASHBANG: Final = {program: row for row in LANGUAGES for program in row.hashbangs}

# `#!/usr/bin/env -S python3.11 -I`: the program, `env` and its options and variables skipped, without a
# version behind its name.
_HASHBANG = re.compile(
    rb"#![ \t]*+(?:[^ \t\r\n]*/env[ \t]++(?:(?:-[^ \t\r\n]*+|[A-Za-z_]\w*+=[^ \t\r\n]*+)[ \t]++)*+)?"
    rb"(?:[^ \t\r\n]*/)?([A-Za-z][A-Za-z+_-]*+[0-9]?)"
)


def is_text_name(name: str) -> bool:
    """Whether `name` means text or Markdown rather than a source language."""
    return name.lower() in TEXT_NAMES


def language_of(name: str) -> Language | None:
    """The language of a name or alias in any case; None for names of text and for what nobody knows."""
    return _BY_NAME.get(name.lower())


def language_for_file(filename: str, first_line: bytes = b"") -> Language | None:
    """The language of a file by its name, then by its hashbang; None when it is text as far as can be told.

    `filename` may have folders before it, `first_line` may be longer than a line.
    """
    path = PurePath(filename)
    language = (
        _BY_FILENAME.get(path.name)
        or _BY_EXTENSION.get(path.suffix)
        or _BY_EXTENSION.get(path.suffix.lower())
    )
    if language or path.suffix.lower() in {".md", ".markdown", ".txt"}:
        return language
    if path.name.startswith(("Dockerfile.", "Makefile.")):
        return _BY_FILENAME[path.name.partition(".")[0]]
    hashbang = _HASHBANG.match(first_line.removeprefix(BOM))
    if hashbang is None:
        return None
    program = hashbang[1].decode("ascii")
    return _BY_HASHBANG.get(program) or _BY_HASHBANG.get(program.rstrip("0123456789"))
