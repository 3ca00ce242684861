"""Portable packages: an export and import keeps every byte, and a malformed package changes nothing."""

import hashlib
import io
import json
import os
import sqlite3
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxf.archive import Archive
from ctxf.archive.upkeep import PackageSummary
from ctxf.errors import BodyDamaged, BodyNotFound, IdTaken, PackageError
from tests.kit.archive import STORES, bodies, collision_pair, new, put

BODY = b"a body\n" * 50
DIGITS = hashlib.sha256(BODY).hexdigest()
SCOPE = "c-" + "0123456789abcdef" * 2
WHEN = "2026-12-01T10:20:30.456Z"


@pytest.fixture(params=STORES)
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Archive]:
    with Archive(STORES[request.param](tmp_path)) as archive:
        yield archive


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return tmp_path / "package.zip"


def manifest(**changes: Any) -> dict[str, Any]:
    """A good manifest of one fold, with changes to the fold."""
    fold = {"id": DIGITS[:12], "label": "l\u00e4bel", "size": len(BODY), "sha256": DIGITS, "created": WHEN}
    return {"format": "ctxf-package", "version": 1, "scope": "there", "folds": [fold | changes]}


def write(
    path: Path,
    described: object,
    objects: dict[str, bytes] | None = None,
    *,
    method: int = zipfile.ZIP_DEFLATED,
) -> None:
    with zipfile.ZipFile(path, "w", method) as package:
        package.writestr(
            "manifest.json", described if isinstance(described, bytes) else json.dumps(described)
        )
        for name, data in ({f"objects/{DIGITS}": BODY} if objects is None else objects).items():
            package.writestr(name, data)


# There and back


def test_there_and_back(archive: Archive, package: Path, tmp_path: Path) -> None:
    first, second = collision_pair()
    archive.put(
        SCOPE,
        [
            [new(first, b"one")],
            [new(second, "\u00fc".encode())],
            [new(b"\xff\0" * 100, b"\xff"), new(b"", b"")],
        ],
    )
    entries = list(archive.entries(SCOPE))
    summary = archive.export_package(SCOPE, package)
    assert summary == PackageSummary(SCOPE, 4, sum(entry.size for entry in entries))
    assert stat.S_IMODE(package.stat().st_mode) == 0o600
    for store in STORES.values():
        (tmp_path / "other").mkdir(exist_ok=True)
        with Archive(store(tmp_path / "other")) as other:
            assert other.import_package(package, "mine") == PackageSummary("mine", 4, summary.size, 4)
            taken = list(other.entries("mine"))
            strip = lambda entry: (entry.id, entry.digest, entry.label, entry.size)  # noqa: E731
            assert [*map(strip, taken)] == [*map(strip, entries)]
            for before, after in zip(entries, taken, strict=True):
                assert abs(before.created - after.created).total_seconds() < 0.001
                assert other.read("mine", after.id) == archive.read(SCOPE, before.id)
            assert other.stats(SCOPE) == []
            assert other.import_package(package, "mine").new == 0
            assert other.import_package(package).scope == SCOPE
            assert other.verify(deep=True).is_intact
            # The ids go on as if the folds had been made here.
            assert put(other, "mine", second, first) == [entries[1].id, entries[0].id]


def test_the_same_folds_make_the_same_package(archive: Archive, tmp_path: Path) -> None:
    put(archive, "s", *bodies(20))
    archive.export_package("s", tmp_path / "a.zip")
    archive.export_package("s", tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_a_part_of_a_scope(archive: Archive, package: Path) -> None:
    one, two, three = put(archive, "s", b"one", b"two", b"three")
    archive.export_package("s", package, [three, one.upper(), one])
    with Archive.memory() as other:
        other.import_package(package, "s")
        assert [entry.id for entry in other.entries("s")] == [three, one]
        with pytest.raises(BodyNotFound):
            other.read("s", two)


def test_other_tools_can_read_it(archive: Archive, package: Path) -> None:
    put(archive, "s", BODY)
    archive.export_package("s", package)
    with zipfile.ZipFile(package) as opened:
        assert opened.namelist() == ["manifest.json", f"objects/{DIGITS}"]
        described = json.loads(opened.read("manifest.json"))
        assert opened.read(f"objects/{DIGITS}") == BODY
    (fold,) = described["folds"]
    assert datetime.fromisoformat(fold.pop("created")).tzinfo == UTC
    assert fold == {"id": DIGITS[:12], "label": "note", "size": len(BODY), "sha256": DIGITS}
    assert (described["format"], described["version"], described["scope"]) == ("ctxf-package", 1, "s")


def test_what_other_tools_packed_again(archive: Archive, package: Path) -> None:
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        write(package, manifest(), {"objects/": b"", f"objects/{DIGITS}": BODY}, method=method)
        assert archive.import_package(package, "s").folds == 1
    (entry,) = archive.entries("s")
    assert (entry.created, entry.label) == (datetime.fromisoformat(WHEN), "l\u00e4bel".encode())


def test_an_empty_scope(archive: Archive, package: Path) -> None:
    put(archive, "s", b"x")
    assert archive.export_package("unused", package).folds == 0
    assert archive.import_package(package, "t") == PackageSummary("t", 0, 0, 0)


def test_an_export_is_whole_or_not_there(tmp_path: Path, package: Path) -> None:
    path = tmp_path / "archive.db"
    with Archive.open(path) as archive:
        put(archive, "s", b"one", b"two" * 100)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE bodies SET payload = x'00' WHERE key = 2")
        connection.commit()
    with Archive.open(path) as archive:
        with pytest.raises(BodyDamaged):
            archive.export_package("s", package)
        with pytest.raises(BodyNotFound):
            archive.export_package("s", package, ["0" * 12])
        assert not package.exists()
        package.write_bytes(b"mine")
        with pytest.raises(FileExistsError):
            archive.export_package("s", package)
    assert package.read_bytes() == b"mine"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["archive.db", "package.zip"]


# What is there already


def test_what_is_there_stays(archive: Archive, package: Path) -> None:
    write(package, manifest())
    ((id,),) = archive.put("s", [[new(BODY, b"mine")]])  # type: ignore[misc] # admitted
    before = archive.entry("s", id)
    assert archive.import_package(package, "s").new == 0
    assert archive.entry("s", id) == before


def test_what_was_forgotten_comes_back(archive: Archive, package: Path) -> None:
    write(package, manifest())
    (id,) = put(archive, "s", BODY)
    archive.forget("s")
    assert archive.import_package(package, "s").new == 1
    assert archive.read("s", id) == BODY
    assert archive.stats("s")[0].size == len(BODY)


def test_an_id_of_another_body_is_refused(archive: Archive, package: Path) -> None:
    first, second = collision_pair()
    put(archive, "there", b"another", second)
    with Archive.memory() as other:
        put(other, "s", b"new here", first)
        other.export_package("s", package)
    before = list(archive.entries("there"))
    with pytest.raises(IdTaken) as caught:
        archive.import_package(package, "there")
    assert caught.value.id == hashlib.sha256(first).hexdigest()[:12]
    assert list(archive.entries("there")) == before
    assert archive.import_package(package, "elsewhere").new == 2


def test_a_longer_id_than_is_needed_here(archive: Archive, package: Path) -> None:
    """Elsewhere the 12 digits were another body's; here both ids stand for this one."""
    write(package, manifest(id=DIGITS[:13]))
    archive.import_package(package, "s")
    assert archive.read("s", DIGITS[:13]) == BODY
    assert put(archive, "s", BODY) == [DIGITS[:13]]
    write(package, manifest())
    archive.import_package(package, "s")
    assert archive.read("s", DIGITS[:12]) == archive.read("s", DIGITS[:13]) == BODY
    assert put(archive, "s", BODY) == [DIGITS[:12]]
    archive.forget("s", [DIGITS[:12]])
    assert put(archive, "s", BODY) == [DIGITS[:13]]
    assert archive.verify(deep=True).is_intact


def test_a_damaged_copy_here_is_repaired(tmp_path: Path, package: Path) -> None:
    write(package, manifest())
    path = tmp_path / "archive.db"
    with Archive.open(path) as archive:
        (id,) = put(archive, "s", BODY)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE bodies SET payload = x'00'")
        connection.commit()
    with Archive.open(path) as archive:
        assert archive.import_package(package, "s").new == 0
        assert archive.read("s", id) == BODY


# What is refused

OTHER = b"another body"
OTHER_DIGITS = hashlib.sha256(OTHER).hexdigest()
GOOD_OBJECT = {f"objects/{DIGITS}": BODY}
WITHOUT_FOLDS = {"format": "ctxf-package", "version": 1, "scope": "s", "folds": []}

BAD_MANIFESTS: dict[str, object] = {
    "no JSON": b"{",
    "nested JSON": b"[" * 100_000,
    "not UTF-8": b'{"format": "\xff"}',
    "a list": [],
    "another format": manifest() | {"format": "zip"},
    "a newer version": manifest() | {"version": 2},
    "no version": {key: value for key, value in manifest().items() if key != "version"},
    "no scope": manifest() | {"scope": None},
    "a scope that is none": manifest() | {"scope": "a b"},
    "folds that are none": manifest() | {"folds": {}},
    "a fold that is none": manifest() | {"folds": ["x"]},
    "an id twice": manifest() | {"folds": manifest()["folds"] * 2},
    "an id of another hash": manifest(id="0123456789ab"),
    "a short id": manifest(id=DIGITS[:11]),
    "an id in upper case": manifest(id=DIGITS[:12].upper(), sha256=DIGITS.upper()),
    "an id with a path": manifest(id="../" + DIGITS[:12]),
    "a number as id": manifest(id=5),
    "no id": manifest(id=None),
    "a short hash": manifest(sha256=DIGITS[:40]),
    "a hash with a line end": manifest(sha256=DIGITS + "\n"),
    "another hash": manifest(id=OTHER_DIGITS[:12], sha256=OTHER_DIGITS),
    "a size too small": manifest(size=len(BODY) - 1),
    "a size too large": manifest(size=len(BODY) + 1),
    "a negative size": manifest(size=-1),
    "a size that is none": manifest(size=str(len(BODY))),
    "a truth as size": manifest(size=True),
    "a size beyond reason": manifest(size=1 << 40),
    "a fraction as size": manifest(size=350.0),
    "an infinite size": json.dumps(manifest(size=float("inf"))).encode(),
    "a date that is none": manifest(created="yesterday"),
    "no date": manifest(created=None),
    "a label that is none": manifest(label=5),
    "a label beyond reason": manifest(label="x" * 2000),
    "a lone surrogate as label": manifest(label="\ud800"),
}
BAD_OBJECTS: dict[str, dict[str, bytes]] = {
    "no body": {},
    "another body": {f"objects/{DIGITS}": BODY[:-1] + b"!"},
    "a shorter body": {f"objects/{DIGITS}": BODY[:-1]},
    "an over-long body": {f"objects/{DIGITS}": BODY + b"x"},
    "a bomb": {f"objects/{DIGITS}": bytes(50_000_000)},
    "a body too many": {**GOOD_OBJECT, f"objects/{OTHER_DIGITS}": OTHER},
    "a path upwards": {**GOOD_OBJECT, "../evil": b"x"},
    "a path upwards to a hash": {**GOOD_OBJECT, f"../objects/{OTHER_DIGITS}": b"x"},
    "an absolute path": {**GOOD_OBJECT, "/tmp/evil": b"x"},
    "a path of Windows": {**GOOD_OBJECT, "objects\\evil": b"x"},
    "a deeper path": {**GOOD_OBJECT, f"objects/objects/{OTHER_DIGITS}": b"x"},
    "a bare hash": {**GOOD_OBJECT, OTHER_DIGITS: b"x"},
    "a name in upper case": {f"objects/{DIGITS.upper()}": BODY},
    "a file of no package": {**GOOD_OBJECT, "README": b"x"},
}


def assert_refused(archive: Archive, package: Path) -> None:
    """The import fails whole, whatever was in the archive before."""
    before = list(archive.entries("s"))
    with pytest.raises(PackageError) as caught:
        archive.import_package(package, "s")
    assert str(package) in str(caught.value)
    assert list(archive.entries("s")) == before
    assert archive.verify().is_intact


@pytest.mark.parametrize("name", BAD_MANIFESTS)
def test_a_bad_manifest_is_refused(archive: Archive, package: Path, name: str) -> None:
    put(archive, "s", b"there before")
    write(package, BAD_MANIFESTS[name])
    assert_refused(archive, package)


@pytest.mark.parametrize("name", BAD_OBJECTS)
def test_bad_bodies_are_refused(archive: Archive, package: Path, name: str) -> None:
    put(archive, "s", b"there before")
    write(package, manifest(), BAD_OBJECTS[name])
    assert_refused(archive, package)


def test_two_sizes_of_one_body_are_refused(archive: Archive, package: Path) -> None:
    put(archive, "s", b"there before")
    described = manifest()
    described["folds"] += manifest(id=DIGITS[:13], size=1)["folds"]
    write(package, described)
    assert_refused(archive, package)


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
def test_a_member_twice_is_refused(archive: Archive, package: Path) -> None:
    put(archive, "s", b"there before")
    for name, data in (("manifest.json", b"{}"), (f"objects/{DIGITS}", BODY)):
        write(package, manifest())
        with zipfile.ZipFile(package, "a") as opened:
            opened.writestr(name, data)
        assert_refused(archive, package)


def test_a_name_cut_by_nul_is_refused(archive: Archive, package: Path) -> None:
    put(archive, "s", b"there before")
    write(package, manifest(), {f"objects/{DIGITS}#x": BODY})
    package.write_bytes(package.read_bytes().replace(b"#x", b"\0x"))
    assert_refused(archive, package)


def test_what_comes_last_can_still_be_refused(archive: Archive, package: Path) -> None:
    """All folds before the bad one are undone."""
    put(archive, "s", b"there before")
    good = {hashlib.sha256(body).hexdigest(): body for body in bodies(30)}
    described = manifest()
    described["folds"] = [
        {"id": digits[:12], "label": "", "size": len(body), "sha256": digits, "created": WHEN}
        for digits, body in good.items()
    ] + described["folds"]
    objects = {f"objects/{digits}": body for digits, body in good.items()}
    write(package, described, objects | {f"objects/{DIGITS}": BODY[:-1] + b"!"})
    assert_refused(archive, package)


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"no zip"),
        lambda path: path.write_bytes(b"PK\x05\x06" + bytes(18)),
        lambda path: path.write_bytes(b"PK\x03\x04" + os.urandom(500)),
        lambda path: write(path, WITHOUT_FOLDS, method=zipfile.ZIP_LZMA),
        lambda path: zipfile.ZipFile(path, "w").close(),
    ],
    ids=["empty", "text", "end record", "garbage", "lzma", "no members"],
)
def test_what_is_no_package(archive: Archive, package: Path, make: Callable[[Path], object]) -> None:
    put(archive, "s", b"there before")
    make(package)
    assert_refused(archive, package)


def test_a_missing_package_is_an_error_of_the_file(archive: Archive, package: Path) -> None:
    with pytest.raises(FileNotFoundError):
        archive.import_package(package, "s")
    with pytest.raises(OSError, match="directory"):
        archive.import_package(package.parent, "s")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.floats(0, 1, exclude_max=True), change=st.integers(1, 255), cut=st.booleans())
def test_any_damage_is_refused_or_harmless(tmp_path: Path, at: float, change: int, cut: bool) -> None:
    """A changed byte, or an early end: the exact folds come in, or none."""
    package = tmp_path / "package.zip"
    memory = io.BytesIO()
    write(memory, manifest())  # type: ignore[arg-type] # zipfile takes either
    data = memory.getvalue()
    position = int(at * len(data))
    tail = b"" if cut else bytes([data[position] ^ change]) + data[position + 1 :]
    package.write_bytes(data[:position] + tail)
    with Archive.memory() as archive:
        try:
            archive.import_package(package, "s")
        except PackageError:
            assert list(archive.entries("s")) == []
        else:
            assert archive.read("s", DIGITS) == BODY
