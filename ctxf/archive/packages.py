"""Portable packages: a scope, or a part of it, in one ZIP file that needs no ctxf to be read.

`manifest.json` says what there is: `{"format": "ctxf-package", "version": 1, "scope": ..., "folds":
[{"id", "label", "size", "sha256", "created"}, ...]}`. The body of a fold is `objects/<sha256>`, once
however many folds have it. The same folds give the same package, byte for byte.

A package may come from anybody, so nothing in it is trusted: every name, size and hash is checked,
nothing is written anywhere but through the store, and no more is unpacked than the manifest announces.
"""

import hashlib
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from ctxf.archive.base import Entry
from ctxf.archive.upkeep import PackageSummary, PackedFold
from ctxf.errors import PackageError
from ctxf.protocol.pairing import MAX_BLOCK_BYTES
from ctxf.protocol.references import is_id
from ctxf.protocol.scopes import is_scope
from ctxf.storage.files import new_file

__all__ = ["Package", "write_package"]

_FORMAT: Final = "ctxf-package"
_VERSION: Final = 1
_MANIFEST: Final = "manifest.json"
_OBJECTS: Final = "objects/"
_MAX_MANIFEST_BYTES: Final = 1 << 28
_MAX_LABEL_BYTES: Final = 1024
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_ENCRYPTED: Final = 0x1
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def write_package(
    target: Path,
    scope: str,
    entries: Sequence[Entry],
    read: Callable[[str], bytes],
    progress: Callable[[int, int], None] | None = None,
) -> PackageSummary:
    """Write a new package of `entries`, whole or not at all; `read` gives the body of an id.

    `progress` gets the folds done and their number.

    Raises whatever `read` raises, FileExistsError and other OSErrors.
    """
    folds = {entry.id: entry for entry in entries}.values()
    manifest = {"format": _FORMAT, "version": _VERSION, "scope": scope, "folds": [*map(_fields, folds)]}
    with new_file(target) as temporary, zipfile.ZipFile(temporary, "w") as package:
        _add(package, _MANIFEST, json.dumps(manifest, indent=1).encode("ascii"))
        written = set()
        for done, entry in enumerate(folds, 1):
            if entry.digest not in written:
                _add(package, _OBJECTS + entry.digest.hex(), read(entry.id))
                written.add(entry.digest)
            if progress is not None:
                progress(done, len(folds))
    return PackageSummary(scope, len(folds), sum(entry.size for entry in folds))


def _add(package: zipfile.ZipFile, name: str, data: bytes) -> None:
    # A ZipInfo of its own has a fixed date (1980): dates of bodies stand in the manifest.
    package.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)


def _fields(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "label": entry.label.decode("utf-8", "surrogateescape"),
        "size": entry.size,
        "sha256": entry.digest.hex(),
        "created": entry.created.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }


@dataclass(frozen=True, slots=True)
class _Listed:
    """A fold as the manifest announces it."""

    id: str
    label: bytes
    size: int
    sha256: str
    created: datetime


class Package:
    """A package that somebody gives us. Raises PackageError from every method, OSError when opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            raise self._refusal(f"is no ZIP file that can be read ({error})") from error
        try:
            self._members = self._check_members()
            self.scope, self.listed = self._read_manifest()
            self._check_completeness()
        except BaseException:
            self._zip.close()
            raise

    @property
    def size(self) -> int:
        """Bytes of all bodies, counted once for each fold."""
        return sum(listed.size for listed in self.listed)

    def folds(self, progress: Callable[[int, int], None] | None = None) -> Iterator[PackedFold]:
        """All folds with their bodies, each read and checked when its turn comes; then `progress` hears."""
        for done, listed in enumerate(self.listed, 1):
            body = self._read(_OBJECTS + listed.sha256, listed.size)
            digest = hashlib.sha256(body)
            if len(body) != listed.size or digest.hexdigest() != listed.sha256:
                raise self._refusal(f"the body of {listed.id} is damaged")
            yield PackedFold(listed.id, body, digest.digest(), listed.label, listed.created)
            if progress is not None:
                progress(done, len(self.listed))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._zip.close()

    def _check_members(self) -> dict[str, zipfile.ZipInfo]:
        """The members by name: a manifest and objects, each once and nothing else, plainly stored."""
        members: dict[str, zipfile.ZipInfo] = {}
        for info in self._zip.infolist():
            # `orig_filename`: zipfile cuts a name at a NUL and turns other separators into slashes.
            name = info.orig_filename
            if name == _OBJECTS and not info.file_size:
                continue  # other tools add entries for directories
            if name != _MANIFEST and not _SHA256.fullmatch(name.removeprefix(_OBJECTS)):
                raise self._refusal(f"has a member {name!r} that no package has")
            if name != info.filename or (name != _MANIFEST and not name.startswith(_OBJECTS)):
                raise self._refusal(f"has a member {name!r} that no package has")
            if name in members:
                raise self._refusal(f"has {name} twice")
            if info.flag_bits & _ENCRYPTED or info.compress_type not in _METHODS:
                raise self._refusal(f"has {name} encrypted or compressed in a way that packages are not")
            members[name] = info
        if _MANIFEST not in members:
            raise self._refusal(f"has no {_MANIFEST}")
        return members

    def _read_manifest(self) -> tuple[str, list[_Listed]]:
        data = self._read(_MANIFEST, _MAX_MANIFEST_BYTES)
        # Empty values take twenty times their bytes in memory, and no fold is as short as that.
        if 16 * sum(map(data.count, (b",", b"[", b"{"))) > len(data) + 1024:
            raise self._refusal(f"its {_MANIFEST} lists no folds")
        try:
            manifest = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise self._refusal(f"its {_MANIFEST} is no JSON") from error
        if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
            raise self._refusal(f"its {_MANIFEST} does not say that it is a {_FORMAT}")
        if manifest.get("version") != _VERSION:
            raise self._refusal(
                f"is of format version {manifest.get('version')!r}, this ctxf reads {_VERSION}"
            )
        scope, folds = manifest.get("scope"), manifest.get("folds")
        if not isinstance(scope, str) or not is_scope(scope) or not isinstance(folds, list):
            raise self._refusal(f"its {_MANIFEST} names no scope or lists no folds")
        return scope, [self._listed(number, fold) for number, fold in enumerate(folds, 1)]

    def _listed(self, number: int, fold: Any) -> _Listed:
        """One fold of the manifest, checked."""
        fields = fold if isinstance(fold, dict) else {}
        id, label, size, sha256 = (fields.get(name) for name in ("id", "label", "size", "sha256"))
        if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
            raise self._refusal(f"fold {number} has no SHA-256")
        if not isinstance(id, str) or not is_id(id) or not sha256.startswith(id):
            raise self._refusal(f"the id of fold {number} is not the beginning of its SHA-256")
        if type(size) is not int or not 0 <= size <= MAX_BLOCK_BYTES:
            raise self._refusal(f"the size of {id} is not one that a body can have")
        created = _parse_time(fields.get("created"))
        if created is None:
            raise self._refusal(f"the date of {id} is none")
        encoded = _encode_label(label)
        if encoded is None:
            raise self._refusal(f"the label of {id} is not one that a block can have")
        return _Listed(id, encoded, size, sha256, created)

    def _check_completeness(self) -> None:
        ids = {listed.id for listed in self.listed}
        sizes = {listed.sha256: listed.size for listed in self.listed}
        if len(ids) != len(self.listed):
            raise self._refusal("lists an id twice")
        if any(sizes[listed.sha256] != listed.size for listed in self.listed):
            raise self._refusal("lists a body with two sizes")
        objects = {name.removeprefix(_OBJECTS) for name in self._members if name != _MANIFEST}
        if missing := sizes.keys() - objects:
            raise self._refusal(f"lacks the body objects/{min(missing)}")
        if extra := objects - sizes.keys():
            raise self._refusal(f"has a body objects/{min(extra)} that no fold has")

    def _read(self, name: str, most: int) -> bytes:
        """A member, at most `most` bytes of it: what a ZIP file says of its sizes proves nothing."""
        try:
            with self._zip.open(self._members[name]) as member:
                data = member.read(most + 1)
                if len(data) <= most and member.read(1):
                    raise self._refusal(f"{name} cannot be read whole")
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            NotImplementedError,
            RuntimeError,
            OSError,
        ) as error:
            raise self._refusal(f"{name} is damaged ({error})") from error
        if len(data) > most:
            raise self._refusal(f"{name} is longer than it may be ({most:,} bytes)")
        return data

    def _refusal(self, problem: str) -> PackageError:
        return PackageError(str(self._path), problem)


def _parse_time(text: object) -> datetime | None:
    """A date of ISO 8601 with its zone, as UTC in whole milliseconds."""
    try:
        when = datetime.fromisoformat(text).astimezone(UTC) if isinstance(text, str) else None
    except (ValueError, OverflowError):
        return None
    return None if when is None else when - timedelta(microseconds=when.microsecond % 1000)


def _encode_label(label: object) -> bytes | None:
    try:
        encoded = label.encode("utf-8", "surrogateescape") if isinstance(label, str) else None
    except UnicodeEncodeError:
        return None
    return encoded if encoded is not None and len(encoded) <= _MAX_LABEL_BYTES else None
