"""The contract of `ctxf.archive.base.Store`, against every store that there is."""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxf.archive import Archive, NewBody, Refused, ScopeSummary
from ctxf.archive.suggestions import edit_distance
from ctxf.errors import ArchiveMissing, BodyNotFound, InvalidId, InvalidScope
from tests.kit.archive import STORES, bodies, collision_pair, new, put

hexadecimal = st.text(st.sampled_from("0123456789abcdef"), max_size=14)


@pytest.fixture(params=STORES)
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Archive]:
    with Archive(STORES[request.param](tmp_path)) as archive:
        yield archive


# Bodies and ids


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\n",
        b"\0\xff\xfe" * 9,
        "na\u00efve\u2028".encode(),
        b"a" * 100_000,
        bytes(range(256)) * 300,
        b"\r\n",
    ],
    ids=len,
)
def test_a_body_comes_back_exactly(archive: Archive, body: bytes) -> None:
    (id,) = put(archive, "default", body)
    assert archive.read("default", id) == body
    assert archive.lookup("default", id) == body


def test_the_id_is_the_beginning_of_the_hash(archive: Archive) -> None:
    body = b"some text\n"
    assert put(archive, "default", body) == [hashlib.sha256(body).hexdigest()[:12]]


def test_the_same_body_keeps_its_id_label_and_date(archive: Archive) -> None:
    ((id,),) = archive.put("s", [[new(b"x", b"first")]])  # type: ignore[misc] # admitted
    before = archive.entry("s", id)
    assert archive.put("s", [[new(b"x", b"second")]]) == [(id,)]
    assert archive.entry("s", id) == before
    assert before.label == b"first"


def test_an_entry_says_what_is_known(archive: Archive) -> None:
    start = datetime.now(UTC)
    archive.put("s", [[new(b"four", "b\u00e9".encode())]])
    (entry,) = archive.entries("s")
    assert (entry.size, entry.label) == (4, "b\u00e9".encode())
    assert entry.digest == hashlib.sha256(b"four").digest()
    assert entry.id == entry.digest.hex()[:12]
    assert timedelta(seconds=-1) < entry.created - start < timedelta(minutes=1)
    assert entry.created.tzinfo is UTC


def test_a_collision_lengthens_the_second_id(archive: Archive) -> None:
    first, second = collision_pair()
    digits = hashlib.sha256(second).hexdigest()
    assert put(archive, "s", first, second) == [hashlib.sha256(first).hexdigest()[:12], digits[:13]]
    assert archive.read("s", digits[:12]) == first
    assert archive.read("s", digits[:13]) == second
    # Once given, for ever: in whatever order they come again, and in calls of their own.
    assert put(archive, "s", second) == [digits[:13]]
    assert put(archive, "s", second, first) == [digits[:13], digits[:12]]


def test_a_collision_in_one_group(archive: Archive) -> None:
    first, second = collision_pair()
    digits = hashlib.sha256(first).hexdigest()
    assert archive.put("s", [[new(second), new(first)]]) == [(digits[:12], digits[:13])]
    assert archive.read("s", digits[:13]) == first


def test_a_collision_in_another_scope_lengthens_nothing(archive: Archive) -> None:
    first, second = collision_pair()
    assert put(archive, "a", first) == put(archive, "b", second)
    (id,) = put(archive, "b", second)
    assert archive.read("a", id) == first
    assert archive.read("b", id) == second


# Groups and capacity


def test_nothing_to_put(archive: Archive) -> None:
    assert archive.put("s", []) == []


def test_a_group_gives_an_id_for_each_of_its_bodies(archive: Archive) -> None:
    outer, inner = new(b"outer inner"), new(b"inner")
    (ids,) = archive.put("s", [[outer, inner, inner]])
    assert isinstance(ids, tuple)
    assert [archive.read("s", id) for id in ids] == [b"outer inner", b"inner", b"inner"]
    assert [entry.id for entry in archive.entries("s")] == list(dict.fromkeys(ids))


def test_capacity_refuses_whole_groups(archive: Archive) -> None:
    admissions = archive.put(
        "s",
        [[new(b"a" * 60)], [new(b"b" * 30), new(b"c" * 30)], [new(b"d" * 40)], [new(b"e")]],
        capacity=100,
    )
    assert isinstance(admissions[0], tuple)
    assert admissions[1] == Refused(needed=60, free=40)
    assert isinstance(admissions[2], tuple)
    assert admissions[3] == Refused(needed=1, free=0)
    assert [entry.size for entry in archive.entries("s")] == [60, 40]
    assert archive.scopes() == [ScopeSummary("s", 2, 100)]


def test_what_is_there_needs_no_room(archive: Archive) -> None:
    (id,) = put(archive, "s", b"a" * 60)
    assert archive.put("s", [[new(b"a" * 60)]], capacity=10) == [(id,)]
    # One body of a group is there: only the other one counts, and counts once.
    more = [new(b"a" * 60), new(b"b" * 40), new(b"b" * 40)]
    assert archive.put("s", [more], capacity=99) == [Refused(needed=40, free=39)]
    assert isinstance(archive.put("s", [more], capacity=100)[0], tuple)


def test_a_lowered_capacity_leaves_no_room_and_takes_nothing(archive: Archive) -> None:
    (id,) = put(archive, "s", b"a" * 60)
    assert archive.put("s", [[new(b"b")]], capacity=10) == [Refused(needed=1, free=0)]
    assert archive.read("s", id) == b"a" * 60


def test_each_scope_has_a_capacity_of_its_own(archive: Archive) -> None:
    assert isinstance(archive.put("a", [[new(b"a" * 60)]], capacity=60)[0], tuple)
    assert isinstance(archive.put("b", [[new(b"a" * 60)]], capacity=60)[0], tuple)


def test_a_group_of_nothing_new_fits_anywhere(archive: Archive) -> None:
    assert archive.put("s", [[new(b"")]], capacity=0) == [(hashlib.sha256(b"").hexdigest()[:12],)]
    assert archive.put("s", [[]], capacity=0) == [()]


# Scopes


def test_a_lookup_never_crosses_scopes(archive: Archive) -> None:
    (id,) = put(archive, "a", b"secret")
    put(archive, "b", b"other")
    for call in (archive.read, archive.lookup, archive.entry):
        with pytest.raises(BodyNotFound) as caught:
            call("b", id)
        assert caught.value.suggestions == ()
        with pytest.raises(BodyNotFound) as elsewhere:
            call("never-used", id)
        # A miss does not tell that another scope has it.
        assert str(caught.value) == str(elsewhere.value)
    assert archive.known_ids("b", [id]) == []
    assert archive.known_ids("a", [id, id, "f" * 12]) == [id]


def test_near_misses_never_cross_scopes(archive: Archive) -> None:
    (id,) = put(archive, "a", b"secret")
    put(archive, "b", b"other")
    with pytest.raises(BodyNotFound) as caught:
        archive.read("b", id[:-1])
    assert caught.value.suggestions == ()


def test_scopes_are_listed_by_name_when_they_hold_something(archive: Archive) -> None:
    put(archive, "b", b"1", b"22")
    put(archive, "a", b"22")
    archive.put("empty", [[new(b"1")]], capacity=0)
    assert archive.scopes() == [ScopeSummary("a", 1, 2), ScopeSummary("b", 2, 3)]


@pytest.mark.parametrize("scope", ["a", "!", "~" * 256, "c-" + "0" * 32, "it's;--", "%", "A"])
def test_scope_names(archive: Archive, scope: str) -> None:
    (id,) = put(archive, scope, b"x")
    assert archive.read(scope, id) == b"x"
    assert [one.name for one in archive.scopes()] == [scope]


def test_scope_names_differ_by_case(archive: Archive) -> None:
    (id,) = put(archive, "a", b"x")
    put(archive, "A", b"y")
    with pytest.raises(BodyNotFound):
        archive.read("A", id)


@pytest.mark.parametrize("scope", ["", " ", "a b", "\u00e9", "a\n", "x" * 257, "\0"])
def test_what_is_no_scope(archive: Archive, scope: str) -> None:
    for call in (
        lambda: archive.put(scope, [[new(b"x")]]),
        lambda: archive.read(scope, "0" * 12),
        lambda: archive.lookup(scope, "0" * 12),
        lambda: archive.entry(scope, "0" * 12),
        lambda: list(archive.entries(scope)),
        lambda: archive.known_ids(scope, []),
    ):
        with pytest.raises(InvalidScope):
            call()


# Listing


def test_listing_goes_page_by_page_in_order(archive: Archive) -> None:
    contents = bodies(1203, size=1)
    archive.put("s", [[new(content)] for content in contents])
    put(archive, "t", b"elsewhere")
    entries = list(archive.entries("s"))
    assert [entry.digest for entry in entries] == [hashlib.sha256(content).digest() for content in contents]
    positions = [entry.position for entry in entries]
    assert positions == sorted(set(positions))


def test_a_listing_goes_on_while_others_write(archive: Archive) -> None:
    archive.put("s", [[new(content)] for content in bodies(600, size=1)])
    entries = archive.entries("s")
    first = next(entries)
    put(archive, "s", b"late")
    rest = list(entries)
    assert len(rest) == 600
    assert rest[-1].size == 4
    assert first.position < rest[0].position


def test_an_empty_scope_lists_nothing(archive: Archive) -> None:
    put(archive, "s", b"x")
    assert list(archive.entries("t")) == []


# Misses


def test_near_misses(archive: Archive) -> None:
    (id,) = put(archive, "s", b"the body")
    put(archive, "s", *bodies(50, size=1))
    other = "0" if id[4] != "0" else "1"
    for typed in (
        id[:-1],  # a digit lost at the end
        id[:5] + id[6:],  # in the middle
        id[1:],  # at the beginning
        id[:6],  # the unique beginning
        id[:4] + other + id[5:],  # a digit wrong
        id[:4] + other + id[4:],  # one too many
        id + other,  # at the end
        id[:7] + id[8] + id[7] + id[9:],  # two swapped
        id[:8] + id[8] + id[8:],  # one doubled
        id + "0123456789abcdef",  # a longer one, as if copied from elsewhere
    ):
        if typed == id:
            continue
        with pytest.raises(BodyNotFound) as caught:
            archive.read("s", typed)
        assert caught.value.suggestions == (id,), typed
        assert id in str(caught.value)


def test_misses_by_two_or_three_digits(archive: Archive) -> None:
    (id,) = put(archive, "s", b"the body")
    put(archive, "s", *bodies(50, size=1))
    other = {digit: "0" if digit != "0" else "1" for digit in "0123456789abcdef"}
    for typed in (
        id[:5] + other[id[5]] + id[6:-1] + other[id[-1]],
        id[:4] + id[5:9] + other[id[9]] + id[9:],  # one lost, one too many
        id[:5] + id[6] + id[5] + id[7:9] + id[10] + id[9] + id[11],  # two pairs swapped
        id[:6] + id[8] + id[7] + id[6] + id[9:],
    ):
        with pytest.raises(BodyNotFound) as caught:
            archive.read("s", typed)
        assert caught.value.suggestions == (id,), typed


@given(hexadecimal, hexadecimal)
def test_edit_distance(one: str, other: str) -> None:
    distance = edit_distance(one, other)
    assert distance == edit_distance(other, one)
    assert (distance == 0) == (one == other)
    assert abs(len(one) - len(other)) <= distance <= max(len(one), len(other))
    assert edit_distance(one + "a", one) == 1
    assert edit_distance(one[:3] + "ab" + one[3:], one[:3] + "ba" + one[3:]) == 1


def test_a_miss_without_near_misses(archive: Archive) -> None:
    put(archive, "s", b"the body")
    with pytest.raises(BodyNotFound) as caught:
        archive.read("s", "0" * 12)
    assert (caught.value.scope, caught.value.id, caught.value.suggestions) == ("s", "0" * 12, ())


def test_a_lengthened_id_that_lost_its_tail_is_the_shorter_one(archive: Archive) -> None:
    first, second = collision_pair()
    ids = put(archive, "s", first, second)
    with pytest.raises(BodyNotFound) as caught:
        archive.read("s", ids[0][:11])
    assert set(caught.value.suggestions) == set(ids)


# Spellings of an id


def test_a_read_takes_other_spellings(archive: Archive) -> None:
    (id,) = put(archive, "s", b"the body")
    for spelling in (id, id.upper(), f"[[cf:v2:{id}]]", f"[[CF:V2:{id.upper()}]]", f" {id}\n"):
        assert archive.read("s", spelling) == b"the body"
        assert archive.entry("s", spelling).id == id


def test_a_read_takes_all_64_digits(archive: Archive) -> None:
    first, second = collision_pair()
    for body in (first, second):
        (id,) = put(archive, "s", body)
        digits = hashlib.sha256(body).hexdigest()
        assert archive.read("s", digits) == body
        assert archive.read("s", digits.upper()) == body
        assert archive.entry("s", digits).id == id
        with pytest.raises(BodyNotFound):
            archive.read("s", digits[:-1] + ("0" if digits[-1] != "0" else "1"))


def test_restore_takes_an_id_only_as_it_was_given(archive: Archive) -> None:
    (id,) = put(archive, "s", b"the body")
    for spelling in (id.upper(), f"[[cf:v2:{id}]]", id[:-1], hashlib.sha256(b"the body").hexdigest()):
        with pytest.raises(BodyNotFound):
            archive.lookup("s", spelling)


@pytest.mark.parametrize(
    "text", ["", "abc", "12345", "g" * 12, "0" * 65, "[[cf:v1:4db3a91c6e2f]]", "0x4db3a91c"]
)
def test_what_is_no_id(archive: Archive, text: str) -> None:
    put(archive, "s", b"x")
    with pytest.raises(InvalidId):
        archive.read("s", text)


# Life


def test_closing_loses_nothing_that_a_file_holds(tmp_path: Path) -> None:
    archive = Archive(STORES["sqlite"](tmp_path))
    (id,) = put(archive, "s", b"x")
    archive.close()
    archive.close()
    assert archive.read("s", id) == b"x"
    archive.close()
    assert Archive.open(tmp_path / "archive.db").read("s", id) == b"x"


def test_reading_makes_no_archive(tmp_path: Path) -> None:
    with Archive.open(tmp_path / "none" / "archive.db") as archive:
        for call in (lambda: archive.read("s", "0" * 12), lambda: list(archive.entries("s")), archive.scopes):
            with pytest.raises(ArchiveMissing):
                call()
        assert archive.put("s", []) == []
    assert list(tmp_path.iterdir()) == []


def test_a_digest_is_bytes(archive: Archive) -> None:
    body = NewBody(b"x", hashlib.sha256(b"x").digest(), b"")
    assert archive.put("s", [[body]]) == [(body.digest.hex()[:12],)]
