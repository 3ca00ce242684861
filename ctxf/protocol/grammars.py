"""Finds and loads tree-sitter grammars; the only module that imports tree_sitter, and that late.

Providers, the first that has the language wins: its own wheel, another installed `tree_sitter_<name>`
module, and the library that tree-sitter-languages bundles (PROTOCOL.md §10.1). tree-sitter-language-pack
is no provider: since 1.0 it downloads grammars when they are first used.

A grammar that is missing or broken is a value that says so, never an exception: its language's texts
stay as they are.
"""

import ctypes
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple

from ctxf.protocol.languages import LANGUAGES, Language, is_text_name, language_of

if TYPE_CHECKING:
    import tree_sitter

__all__ = [
    "PARSE_SECONDS",
    "Available",
    "Grammar",
    "MissingGrammar",
    "available",
    "find_language",
    "load_grammar",
]

PARSE_SECONDS: Final = 2.0
"""A parse that takes longer is given up (law L8: a third-party parser has no bound of its own)."""

_BUNDLE: Final = "tree-sitter-languages"
_CHUNK: Final = 1 << 16

_ANY_FORM: Final = tuple(dict.fromkeys(form for row in LANGUAGES for form in row.forms))


@dataclass(frozen=True, slots=True)
class Grammar:
    """A loaded grammar; `provider` is the package that it came from."""

    language: Language
    provider: str
    handle: "tree_sitter.Language"

    def parse(self, data: bytes, seconds: float = PARSE_SECONDS) -> "tree_sitter.Tree | None":
        """The tree of `data`, or None when it took longer than `seconds`.

        The limit holds in the parser's own loops, not inside a grammar's scanner: grammars whose
        scanners are slow are isolated.
        """
        from tree_sitter import Parser

        give_up = monotonic() + seconds
        view = memoryview(data)

        def read(offset: int, _point: object) -> bytes:
            return bytes(view[offset : offset + _CHUNK])

        def is_too_late(_offset: int, _has_error: bool) -> bool:
            return monotonic() > give_up

        try:
            return Parser(self.handle).parse(read, progress_callback=is_too_late)
        except ValueError:  # how a cancelled parse ends
            return None


class MissingGrammar(NamedTuple):
    """Why a language cannot be parsed here: `wheel` is the package to install, None when there is none."""

    language: str
    wheel: str | None
    problem: str


class Available(NamedTuple):
    """A language that can be parsed: the package that brings its grammar, and that package's version."""

    language: str
    provider: str
    version: str


def find_language(name: str) -> Language | None:
    """The language of a name in the table, else one made up for an installed `tree_sitter_<name>`."""
    language = language_of(name)
    if language is None and not is_text_name(name):
        wheel = "tree-sitter-" + name.lower().replace("_", "-")
        if name.replace("_", "").replace("-", "").isalnum() and name.isascii() and _is_installed(wheel):
            language = Language(name.lower(), _ANY_FORM, wheel, isolate=True, strict=True)
    return language


def load_grammar(language: Language) -> Grammar | MissingGrammar:
    """The grammar of a language, from the first provider that has it in working order."""
    problem = "no package has its grammar"
    wheels = [language.wheel] if language.wheel else [f"tree-sitter-{language.name}"]
    for provider, pointer in _pointers(language, wheels):
        if isinstance(pointer, Exception):
            problem = f"{provider} does not work: {pointer}"
            continue
        try:
            handle = _language_handle(pointer)
        except Exception as error:  # whatever a foreign package raises: it means that it is of no use
            problem = f"{provider} does not work: {error}"
            continue
        return Grammar(language, provider, handle)
    missing = language.wheel or (_BUNDLE if language.bundled and sys.version_info < (3, 13) else None)
    if missing and not _is_installed(missing):
        problem = f"{missing} is not installed"
    return MissingGrammar(language.name, missing, problem)


def available() -> list[Available]:
    """What can be parsed here, in the order of names; languages outside the table by their modules."""
    found = []
    known = {_BUNDLE.replace("-", "_"), *(row.module for row in LANGUAGES)}
    for language in (*LANGUAGES, *_unlisted_languages(known)):
        grammar = load_grammar(language)
        if isinstance(grammar, Grammar):
            found.append(Available(language.name, grammar.provider, _version(grammar.provider)))
    return sorted(found)


def _pointers(language: Language, wheels: list[str]) -> Iterator[tuple[str, object]]:
    """Provider and language pointer (a capsule or an address), or the exception that it raised."""
    for wheel in wheels:
        if _is_installed(wheel):
            try:
                yield wheel, getattr(import_module(wheel.replace("-", "_")), language.function)()
            except Exception as error:
                yield wheel, error
    if language.bundled and _is_installed(_BUNDLE):
        try:
            yield _BUNDLE, _bundled_address(language.bundled)
        except Exception as error:
            yield _BUNDLE, error


def _language_handle(pointer: object) -> "tree_sitter.Language":
    from tree_sitter import Language as Handle

    return Handle(_capsule(pointer) if isinstance(pointer, int) else pointer)


def _capsule(address: int) -> object:
    """The capsule that current wheels export, for older ones that export a bare address."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    # A constant: the capsule keeps the pointer to its name, not a copy.
    return new(address, _CAPSULE_NAME, None)


_CAPSULE_NAME: Final = ctypes.c_char_p(b"tree_sitter.Language")


def _bundled_address(name: str) -> int:
    # Its own loader takes two arguments for Language(), which tree-sitter 0.22 has dropped; the library
    # itself is as good as any.
    spec = find_spec(_BUNDLE.replace("-", "_"))
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(_BUNDLE)
    folder = Path(next(iter(spec.submodule_search_locations)))
    library = ctypes.CDLL(str(folder / ("languages.dll" if sys.platform == "win32" else "languages.so")))
    function = getattr(library, f"tree_sitter_{name}")
    function.restype = ctypes.c_void_p
    address: int = function()
    return address


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package.replace("-", "_")) is not None
    except (ImportError, ValueError):
        return False


def _unlisted_languages(known: set[str | None]) -> Iterator[Language]:
    for module in iter_modules():
        if module.name.startswith("tree_sitter_") and module.name not in known:
            language = find_language(module.name.removeprefix("tree_sitter_"))
            if language:
                yield language


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"
