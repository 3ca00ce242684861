"""Scopes of conversations: stable, apart from each other, under a secret that is made once."""

import hashlib
import hmac
import multiprocessing
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxf.conversations.scopes import install_secret, read_secret, secret_path, session_scope
from ctxf.errors import SecretError
from ctxf.protocol.scopes import is_conversation_scope

SECRET = bytes(range(32))


def test_a_known_scope() -> None:
    """The derivation is part of the protocol: it must never change."""
    by_hand = hmac.new(SECRET, b"claude-code\x00b7a1", hashlib.sha256).digest()[:16]
    assert session_scope(SECRET, "claude-code", "b7a1") == "c-" + by_hand.hex()
    assert session_scope(SECRET, "claude-code", "b7a1") == "c-ded84afe1c3c1cb83d7142ee66dd0c63"


@given(client=st.text(max_size=9), session=st.text(st.characters(), max_size=99))
def test_every_session_has_a_scope(client: str, session: str) -> None:
    scope = session_scope(SECRET, client, session)
    assert is_conversation_scope(scope)
    assert scope == session_scope(SECRET, client, session)
    assert scope != session_scope(SECRET, client, session + "x")
    assert scope != session_scope(SECRET[::-1], client, session)


def test_clients_are_apart() -> None:
    assert session_scope(SECRET, "codex", "1") != session_scope(SECRET, "gemini", "1")


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o000, 0o777])
def test_the_secret_is_private_and_stays(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "new" / "place" / "secret"
    before = os.umask(umask)
    try:
        secret = install_secret(path)
    finally:
        os.umask(before)
    assert len(secret) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert install_secret(path) == read_secret(path) == secret
    assert install_secret(tmp_path / "other") != secret
    assert [child.name for child in path.parent.iterdir()] == ["secret"]


def test_reading_makes_none(tmp_path: Path) -> None:
    assert read_secret(tmp_path / "secret") is None
    assert list(tmp_path.iterdir()) == []


def test_many_processes_get_one_secret(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(6) as pool:
        secrets = pool.map(install_secret, [tmp_path / "d" / "secret"] * 24, chunksize=1)
    assert len(set(secrets)) == 1


@pytest.mark.parametrize(
    "content", [b"", b"00" * 32, b"0G" * 32 + b"\n", b"00" * 33 + b"\n", b"00" * 32 + b"\n\n"]
)
def test_a_file_that_is_no_secret_is_refused_and_kept(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "secret"
    path.write_bytes(content)
    with pytest.raises(SecretError, match="is not what ctxf wrote"):
        install_secret(path)
    assert path.read_bytes() == content


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    real = tmp_path / "real"
    install_secret(real)
    for name, make in (
        ("link", lambda path: path.symlink_to(real)),
        ("loose", lambda path: path.symlink_to(tmp_path / "nowhere")),
        ("folder", lambda path: path.mkdir()),
        ("pipe", os.mkfifo),
    ):
        make(tmp_path / name)
        with pytest.raises(SecretError):
            install_secret(tmp_path / name)
    assert not (tmp_path / "nowhere").exists()


def test_a_place_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SecretError, match="Not a directory"):
        install_secret(tmp_path / "file" / "secret")


def test_where_it_is() -> None:
    assert secret_path({"CTXF_HOME": "/a", "CTXF_ARCHIVE": "/b/x.db"}) == Path("/a/secret")
    assert secret_path({"XDG_DATA_HOME": "/d"}) == Path("/d/ctxf/secret")
