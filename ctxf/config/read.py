"""Reads one configuration file: its bytes, its TOML, its fields. Collects every fault, each with its line."""

import difflib
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ctxf.config.fields import FIELDS, REMOVED, TABLES, show_name, show_value
from ctxf.config.locate import MAX_KEY_PARTS, Key, key_lines, line_of, overlong_key
from ctxf.config.places import ConfigFile
from ctxf.errors import ConfigError

__all__ = ["MAX_FILE_BYTES", "FileValue", "read_file"]

MAX_FILE_BYTES: Final = 64 << 10
"""A project's file may be hostile; a real one has a dozen lines. It bounds what reading it can cost."""

_VERSION: Final = 1
_BOM: Final = b"\xef\xbb\xbf"
_TOML_PLACE = re.compile(r" \(at (?:line ([0-9]+), column [0-9]+|end of document)\)\Z")
_UNTRUSTED: Final = (
    "a project's file may set only [folding]: it comes with a repository that may not be trusted"
)


@dataclass(frozen=True, slots=True)
class FileValue:
    """The value that a file gives a field, and the 1-based line it stands on."""

    name: str
    value: object
    line: int | None


def read_file(file: ConfigFile) -> tuple[list[FileValue], list[ConfigError]]:
    """The usable values of a file and everything that is wrong with it, by line.

    A file that cannot be read as TOML, or is of another version, gives one error and no values.
    """
    try:
        text = _decode(file.path, _read_bytes(file))
        document = _parse(file.path, text)
        reader = _Reader(file, document, key_lines(text))
        reader.check_version()
    except ConfigError as error:
        return [], [error]
    values = list(reader.values())
    return values, sorted(reader.errors, key=lambda error: error.line or 0)


class _Reader:
    """Walks the tables of one file; `errors` collects what is wrong in them."""

    def __init__(self, file: ConfigFile, document: Mapping[str, object], lines: Mapping[Key, int]) -> None:
        self.errors: list[ConfigError] = []
        self._file = file
        self._document = document
        self._lines = lines

    def check_version(self) -> None:
        """Raises ConfigError for another version: its fields may mean anything. Notes a missing one."""
        if "version" not in self._document:
            # No line: it is on none.
            self.errors.append(
                ConfigError(
                    self._file.path,
                    "`version = 1` is missing; write it as the first line",
                    field="version",
                )
            )
            return
        version = self._document["version"]
        if type(version) is not int or version != _VERSION:
            raise self._error(
                ("version",), f"version must be the integer {_VERSION}, not {show_value(version)}"
            )

    def values(self) -> Iterator[FileValue]:
        for key, value in self._document.items():
            if key == "version":
                continue
            if key not in TABLES or (key != "folding" and self._file.kind == "project"):
                self._refuse((key,), value)
            elif not isinstance(value, dict):
                self._note((key,), f"{key} must be a table, [{key}], not {show_value(value)}")
            else:
                yield from self._table_values(key, value)

    def _table_values(self, table: str, content: Mapping[str, object]) -> Iterator[FileValue]:
        for name, value in content.items():
            field = FIELDS.get(name)
            if field is None or field.table != table:
                self._refuse((table, name), value)
            elif not field.kind.accepts(value):
                self._note((table, name), f"{name} must be {field.kind.rule}, not {show_value(value)}")
            else:
                yield FileValue(name, value, line_of(self._lines, (table, name)))

    def _refuse(self, path: Key, value: object) -> None:
        """Note why a key must not stand where it stands."""
        name, top = path[-1], len(path) == 1
        shown = show_name(name)
        if name in REMOVED:
            what = "table" if isinstance(value, dict) else "line"
            problem = f"{shown} was removed after 0.3: delete the {what} ({REMOVED[name]})"
        elif top and name in TABLES:
            problem = f"[{name}] cannot stand here: {_UNTRUSTED}; move it to your own configuration file"
        elif name == "version":
            problem = "version belongs at the top of the file, before the first table"
        elif field := FIELDS.get(name):
            problem = (
                f"{shown} belongs in [{field.table}]"
                if field.table
                else f"{shown} is not set in a file: use the option --{name} or {field.variable}"
            )
            if self._file.kind == "project" and field.table != "folding":
                problem += f"; {_UNTRUSTED}"
        else:
            place = "" if top else f" in [{path[0]}]"
            problem = f"unknown field or table {shown}{place}; {_suggest(path)}"
            if top and self._file.kind == "project":
                problem += f" ({_UNTRUSTED})"
        self._note(path, problem)

    def _note(self, path: Key, problem: str) -> None:
        self.errors.append(self._error(path, problem))

    def _error(self, path: Key, problem: str) -> ConfigError:
        field = ".".join(show_name(part) for part in path)
        return ConfigError(self._file.path, problem, line=line_of(self._lines, path), field=field)


def _suggest(path: Key) -> str:
    known = (
        ["version", *TABLES] if len(path) == 1 else [f.name for f in FIELDS.values() if f.table == path[0]]
    )
    near = difflib.get_close_matches(path[-1], known, n=1)
    return f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"


def _read_bytes(file: ConfigFile) -> bytes:
    try:
        # Looked at before it is opened: a pipe or a device could block for ever.
        mode = os.stat(file.path).st_mode
        if stat.S_ISDIR(mode):
            raise ConfigError(file.path, "is a directory; name the file itself")
        if not stat.S_ISREG(mode):
            raise ConfigError(file.path, "is not a regular file; put the configuration into one")
        with open(file.path, "rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError as error:
        reason = f"named by {file.named_by}" if file.named_by else "the link leads nowhere"
        raise ConfigError(file.path, f"no such file ({reason})") from error
    except OSError as error:
        raise ConfigError(file.path, f"cannot be read: {error.strerror or error}") from error
    except ValueError as error:  # a NUL byte in the name
        raise ConfigError(file.path, f"is no file name: {error}") from error
    if len(data) > MAX_FILE_BYTES:
        raise ConfigError(
            file.path, f"is larger than {MAX_FILE_BYTES} bytes; this is no configuration of ctxf"
        )
    return data


def _decode(path: str, data: bytes) -> str:
    if data.startswith(_BOM):
        raise ConfigError(path, "starts with a byte order mark; save it as UTF-8 without one", line=1)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            path, f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8", line=line
        ) from error


def _parse(path: str, text: str) -> dict[str, object]:
    if line := overlong_key(text):
        raise ConfigError(
            path, f"has a key of more than {MAX_KEY_PARTS} parts; no field is that deep", line=line
        )
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = _TOML_PLACE.search(message)
        line = None
        if place:
            line = int(place[1]) if place[1] else text.count("\n") + 1
            message = message[: place.start()]
        raise ConfigError(path, f"is not valid TOML: {message}", line=line) from error
    except (ValueError, RecursionError) as error:  # an integer of 5,000 digits, a thousand brackets
        raise ConfigError(path, f"cannot be read as TOML: {error}") from error
