"""Which language a file is folded in: what `--language` says, by default its name, then its hashbang."""

from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from ctxf.protocol.parsers import Parsers

__all__ = [
    "AUTO",
    "FIRST_LINE_BYTES",
    "TEXT",
    "SharedParser",
    "fold_language",
]

AUTO: Final = "auto"
TEXT: Final = "text"
FIRST_LINE_BYTES: Final = 256

# The tables of languages and the parsers are imported when a file has a language to look up. A pipe has none,
# and to import them would make `ctxf` in a pipe a quarter slower (37 ms become 46 ms).


class SharedParser:
    """One parser, and one child process, for all the sources of a run; none where there is no source."""

    def __init__(self) -> None:
        self._parser: Parsers | None = None

    def get(self) -> "Parsers":
        """The parser, made when it is first asked for."""
        if self._parser is None:
            from ctxf.protocol.parsers import Parsers  # noqa: PLC0415

            self._parser = Parsers()
        return self._parser

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._parser is not None:
            self._parser.close()


def fold_language(option: str, file: str | None, first_line: bytes) -> str:
    """The name of the language of `file` (None and `-` are stdin); `first_line` may be longer than a line."""
    if option != AUTO:
        return option
    if file is None or file == "-":
        return TEXT
    from ctxf.protocol.languages import language_for_file  # noqa: PLC0415

    language = language_for_file(file, first_line)
    return language.name if language else TEXT
