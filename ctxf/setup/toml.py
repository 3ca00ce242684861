"""Edits Codex's config.toml with tomlkit, which keeps comments and layout; tomllib checks the result."""

import tomllib
from collections.abc import Mapping
from typing import Any

__all__ = ["TomlError", "get_table", "remove_table", "set_table"]


class TomlError(ValueError):
    """The text is no TOML, or the edit would have changed something else."""


def get_table(text: str, path: tuple[str, str]) -> Any:
    """What stands at `path`; None where nothing does. Raises TomlError."""
    outer = _load(text).get(path[0])
    return outer.get(path[1]) if isinstance(outer, dict) else None


def set_table(text: str, path: tuple[str, str], value: Mapping[str, Any]) -> str:
    """`text` with the table `[path.0.path.1]`. Raises TomlError."""
    import tomlkit  # noqa: PLC0415 - only Codex is configured in TOML

    expected = _load(text)
    outer = expected.setdefault(path[0], {})
    if not isinstance(outer, dict):
        raise TomlError(f"{path[0]} is no table")
    outer[path[1]] = dict(value)
    document = tomlkit.parse(text)
    if path[0] not in document:
        document.append(path[0], tomlkit.table(is_super_table=True))
    table = tomlkit.table()
    for name, one in value.items():
        table.append(name, one)
    document[path[0]][path[1]] = table
    return _checked(tomlkit.dumps(document), expected)


def remove_table(text: str, path: tuple[str, str]) -> str:
    """`text` without that table; without the outer one too, if nothing else is in it. Raises TomlError."""
    import tomlkit  # noqa: PLC0415

    expected = _load(text)
    outer = expected.get(path[0])
    if not isinstance(outer, dict) or path[1] not in outer:
        return text
    document = tomlkit.parse(text)
    del outer[path[1]]
    document[path[0]].remove(path[1])
    if not outer:
        del expected[path[0]]
        document.remove(path[0])
    return _checked(tomlkit.dumps(document), expected)


def _load(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise TomlError(f"is no TOML: {error}") from error


def _checked(text: str, expected: dict[str, Any]) -> str:
    if _load(text) != expected:
        raise TomlError("cannot be edited without changing something else")
    return text
