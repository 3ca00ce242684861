"""What can be configured: the settings, where each may be set, and which values it takes."""

import os
import re
from collections.abc import Callable
from types import MappingProxyType
from typing import Final, NamedTuple

from ctxf.protocol.scopes import is_scope

__all__ = [
    "FIELDS",
    "MAX_INTEGER",
    "REMOVED",
    "TABLES",
    "VARIABLES",
    "Field",
    "Settings",
    "show_name",
    "show_value",
]


class Settings(NamedTuple):
    """What an edge works with.

    `archive` is the file and `home` the directory that was named for the archive; None stands for the
    default place. `shell_tool_name` and `recovery_command` are None where nobody set them.
    """

    enabled: bool = True
    delay_requests: int = 1
    max_session_bytes: int = 64 << 20
    min_savings_tokens: int = 256
    project_reads: bool = False
    scope: str = "default"
    archive: str | None = None
    home: str | None = None
    shell_tool_name: str | None = None
    recovery_command: str | None = None
    gateway_timeout_ms: int = 3000


class Kind(NamedTuple):
    """The values that a field takes: `rule` says it in words, `accepts` in code.

    `from_text` reads an environment variable; what it cannot read it gives back as it came, for
    `accepts` to refuse.
    """

    rule: str
    accepts: Callable[[object], bool]
    from_text: Callable[[str], object] = str


class Field(NamedTuple):
    """One field of Settings: the `table` of a file and the environment `variable` that may set it."""

    name: str
    kind: Kind
    table: str = ""
    variable: str = ""


# An SQLite integer; without the limit a typing error would surface as an error of the archive.
MAX_INTEGER: Final = 2**63 - 1
_DIGITS = re.compile(r"[0-9]{1,19}")
_BOOLEANS: Final = {"1": True, "true": True, "0": False, "false": False}


def _is_integer(value: object, least: int) -> bool:
    # Not isinstance: True is an int to Python, and a mistake to whoever wrote `delay_requests = true`.
    return type(value) is int and least <= value <= MAX_INTEGER


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.strip() != ""


def _is_path(value: object) -> bool:
    return isinstance(value, str | os.PathLike) and os.fspath(value) != ""


def _boolean_from_text(text: str) -> object:
    return _BOOLEANS.get(text.lower(), text)


def _integer_from_text(text: str) -> object:
    return int(text) if _DIGITS.fullmatch(text) else text


_BOOLEAN: Final = Kind("true or false", lambda value: isinstance(value, bool), _boolean_from_text)
_NATURAL: Final = Kind(
    "an integer from 0 to 2^63 - 1", lambda value: _is_integer(value, 0), _integer_from_text
)
_POSITIVE: Final = Kind(
    "an integer from 1 to 2^63 - 1", lambda value: _is_integer(value, 1), _integer_from_text
)
_TEXT: Final = Kind("a string that is not empty", _is_text)
_PATH: Final = Kind("a path", _is_path)
_SCOPE_NAME: Final = Kind(
    "1 to 256 printable ASCII characters without blanks",
    lambda value: isinstance(value, str) and is_scope(value),
)

FIELDS: Final = MappingProxyType(
    {
        field.name: field
        for field in (
            Field("enabled", _BOOLEAN, "folding", "CTXF_ENABLED"),
            Field("delay_requests", _NATURAL, "folding", "CTXF_DELAY_REQUESTS"),
            Field("max_session_bytes", _NATURAL, "folding", "CTXF_MAX_SESSION_BYTES"),
            Field("min_savings_tokens", _NATURAL, "folding", "CTXF_MIN_SAVINGS_TOKENS"),
            Field("project_reads", _BOOLEAN, "folding", "CTXF_PROJECT_READS"),
            Field("scope", _SCOPE_NAME, variable="CTXF_SCOPE"),
            Field("archive", _PATH, variable="CTXF_ARCHIVE"),
            Field("home", _PATH, variable="CTXF_HOME"),
            Field("shell_tool_name", _TEXT, "magpie"),
            Field("recovery_command", _TEXT, "magpie"),
            Field("gateway_timeout_ms", _POSITIVE, "magpie"),
        )
    }
)

TABLES: Final = ("folding", "magpie")

VARIABLES: Final = (
    *(field.variable for field in FIELDS.values() if field.variable),
    *("CTXF_CONFIG", "CTXF_GATEWAY_TOKEN"),
)
"""The environment variables that mean something to ctxf, those included that set no field."""

# Fields and tables of 0.3.x, and where a current field might be taken for the same thing, how it
# differs. None is mapped: a setting that silently means something else is worse than an error.
REMOVED: Final = MappingProxyType(
    {
        "mode": "folding follows the markers alone; folding.enabled, which switches it on and off, is a "
        "different thing",
        "threshold_tokens": "folding.min_savings_tokens is a different thing: what one block must save, "
        "not how long a conversation may be",
        "keep_recent_messages": "folding.delay_requests is a different thing: the replies that must follow "
        "the one that closed a block",
        "head_chars": "a folded block keeps no excerpt; write the conclusion before the block",
        "minimum_saving_usd": "folding.min_savings_tokens is a different thing: tokens, not money",
        "policy": "nothing is chosen by policy any more, only marked blocks fold",
        "accounting": "`ctxf stats` counts what was saved, without prices",
        "context_window_tokens": "folding does not depend on the size of the context window",
        "reserve_output_tokens": "folding does not depend on the size of the context window",
        "budget_hints": "no hints about a budget are written into a conversation",
        "recovery_tool_name": "magpie.recovery_command is a different thing: a command for the shell tool, "
        "not the name of a tool",
    }
)

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST_SHOWN: Final = 60


def show_name(name: str) -> str:
    """A key as a message shows it: escaped where it is more than a plain word, and cut where it is long."""
    return _cut(name if _BARE_KEY.fullmatch(name) else repr(name))


def show_value(value: object) -> str:
    """A value as a message shows it, with its type where the spelling alone would mislead."""
    match value:
        case bool():
            return f"the boolean {str(value).lower()}"
        case dict():
            return "a table"
        case list():
            return "an array"
        case str():
            return f"the string {_cut(repr(value))}"
        case int():
            # Beyond a few thousand digits Python refuses to print an integer at all.
            return str(value) if abs(value) < 10**_LONGEST_SHOWN else "an integer of very many digits"
        case float():
            return f"the float {value}"
        case _:
            return _cut(str(value))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."
