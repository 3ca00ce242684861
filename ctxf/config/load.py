"""Puts the layers together: defaults, files, environment, options. Later wins."""

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from ctxf.config.fields import FIELDS, Settings, show_value
from ctxf.config.places import ConfigFile, find_files
from ctxf.errors import ConfigError

__all__ = ["Loaded", "check_settings", "load_settings"]

_NO_OPTIONS: Final[Mapping[str, object]] = MappingProxyType({})


class Loaded(NamedTuple):
    """The settings, and where each was set.

    `sources` has one entry per field of Settings: "default", "/path/config.toml:7",
    "environment CTXF_SCOPE" or "option". `files` are all places looked at, in the order in which they
    apply. Where there are `errors`, the faulty values are left out of the settings.
    """

    settings: Settings
    sources: Mapping[str, str]
    files: tuple[ConfigFile, ...]
    errors: tuple[ConfigError, ...] = ()


def load_settings(
    *,
    environ: Mapping[str, str],
    cwd: Path,
    config_file: Path | None = None,
    options: Mapping[str, object] = _NO_OPTIONS,
) -> Loaded:
    """The settings that hold in `cwd`; raises the first ConfigError where anything is wrong.

    `options` are fields of Settings by name; None stands for an option that was not given. A name that
    is no field is a TypeError.
    """
    loaded = check_settings(environ=environ, cwd=cwd, config_file=config_file, options=options)
    if loaded.errors:
        raise loaded.errors[0]
    return loaded


def check_settings(
    *,
    environ: Mapping[str, str],
    cwd: Path,
    config_file: Path | None = None,
    options: Mapping[str, object] = _NO_OPTIONS,
) -> Loaded:
    """The same, but with everything that is wrong collected in `errors`: files first, each by line."""
    layers = _Layers()
    files = find_files(environ, cwd, config_file)
    for file in files:
        if file.found or file.kind == "named":
            layers.add_file(file)
    layers.add_environment(environ)
    layers.add_options(options)
    return Loaded(
        settings=Settings()._replace(**layers.values),
        sources=MappingProxyType(layers.sources),
        files=files,
        errors=tuple(layers.errors),
    )


class _Layers:
    """Collects `values`, their `sources` and the `errors` on the way."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}  # checked by the kind of each field, which mypy cannot see
        self.sources = dict.fromkeys(FIELDS, "default")
        self.errors: list[ConfigError] = []

    def add_file(self, file: ConfigFile) -> None:
        # Imported here because mostly there is no file: with it `ctxf read` takes 54 ms, not 46 ms.
        from ctxf.config.read import read_file  # noqa: PLC0415

        values, errors = read_file(file)
        self.errors += errors
        for found in values:
            place = file.path if found.line is None else f"{file.path}:{found.line}"
            self._set(found.name, found.value, place)

    def add_environment(self, environ: Mapping[str, str]) -> None:
        for field in FIELDS.values():
            text = environ.get(field.variable, "") if field.variable else ""
            if text == "":
                continue
            value = field.kind.from_text(text)
            if field.kind.accepts(value):
                self._set(field.name, value, f"environment {field.variable}")
            else:
                problem = f"must be {field.kind.rule}, not {show_value(text)}; correct it or unset it"
                self.errors.append(ConfigError(field.variable, problem, field=field.name))

    def add_options(self, options: Mapping[str, object]) -> None:
        for name, value in options.items():
            if name not in FIELDS:
                raise TypeError(f"{name!r} is no setting; known: {', '.join(FIELDS)}")
            if value is None:
                continue
            kind = FIELDS[name].kind
            if kind.accepts(value):
                self._set(name, value, "option")
            else:
                problem = f"must be {kind.rule}, not {show_value(value)}"
                self.errors.append(ConfigError(f"option {name}", problem, field=name))

    def _set(self, name: str, value: object, source: str) -> None:
        self.values[name] = os.fspath(value) if isinstance(value, os.PathLike) else value
        self.sources[name] = source
