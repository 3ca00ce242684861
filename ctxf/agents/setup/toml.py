"""Edits Codex's config.toml with tomlkit, which keeps comments and layout; tomllib checks the result."""

import re
import tomllib
from collections.abc import Callable, Mapping
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
    expected = _load(text)
    outer = expected.setdefault(path[0], {})
    if not isinstance(outer, dict):
        raise TomlError(f"{path[0]} is no table")
    outer[path[1]] = dict(value)

    def edit(document: Any) -> None:
        import tomlkit  # noqa: PLC0415 - of the extra `mcp`

        if path[0] not in document:
            document.append(path[0], tomlkit.table(is_super_table=True))
        is_inline = isinstance(document[path[0]], tomlkit.items.InlineTable)
        table = tomlkit.inline_table() if is_inline else tomlkit.table()
        table.update(value)
        document[path[0]][path[1]] = table

    return _edited(text, edit, expected)


def remove_table(text: str, path: tuple[str, str]) -> str:
    """`text` without that table; without the outer one too, if nothing else is in it. Raises TomlError."""
    expected = _load(text)
    outer = expected.get(path[0])
    if not isinstance(outer, dict) or path[1] not in outer:
        return text
    del outer[path[1]]
    if not outer:
        del expected[path[0]]
    shorter = _without_lines(text, path)
    if _means(shorter, expected):
        return shorter

    def edit(document: Any) -> None:
        del document[path[0]][path[1]]
        if not outer:
            del document[path[0]]

    return _edited(text, edit, expected)


def _without_lines(text: str, path: tuple[str, str]) -> str:
    """`text` without the lines of `set_table`; to tomlkit, a comment behind them is part of the table."""
    name = rf"\[{re.escape(path[0])}\.{re.escape(path[1])}\]"
    lines = rf"(?m)(?:^\r?\n)?^{name}\r?\n(?:^[a-z_]+ = [^#\n]*(?:\n|\Z))*"
    return re.sub(lines, "", text, count=1)


def _means(text: str, expected: dict[str, Any]) -> bool:
    try:
        return _load(text) == expected
    except TomlError:
        return False


def _edited(text: str, edit: Callable[[Any], None], expected: dict[str, Any]) -> str:
    """`text` after an edit, checked by another parser to say what is expected and nothing else."""
    import tomlkit  # noqa: PLC0415 - of the extra `mcp`

    try:
        document = tomlkit.parse(text)
        edit(document)
        edited = tomlkit.dumps(document)
    except Exception as error:  # a layout that tomlkit cannot edit
        raise TomlError(f"cannot be edited: {error}") from error
    if _load(edited) != expected:
        raise TomlError("cannot be edited without changing something else")
    return edited


def _load(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise TomlError(f"is no TOML: {error}") from error
