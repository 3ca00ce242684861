"""`/-/`: the status page and its figures, and who may see them."""

import html
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from ctxf.archive import Archive
from tests.gateway.test_folding import SESSION, TURNS, anthropic_body, folding_gateway
from tests.kit.cli import BODY, TIMEOUT, id_of
from tests.kit.gateway import Pairs, Running, echo, gateway, provider

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def fold_one(running: Running) -> None:
    body = json.dumps(anthropic_body(TURNS)).encode()
    assert running.send(b"/anthropic/v1/messages", body, SESSION).status == 200


def key(running: Running) -> Pairs:
    return [(b"X-Ctxf-Key", running.guard.key.encode())]


def test_health() -> None:
    with gateway(1) as running:
        reply = running.send(b"/-/health")
        assert json.loads(reply.body) == {"status": "ok", "version": "0"}
        assert running.send(b"/-/health", method=b"HEAD").status == 200


def test_figures_are_for_all_and_blocks_for_who_has_the_key(tmp_path: Path) -> None:
    with provider(echo) as upstream, folding_gateway(tmp_path / "archive.db", upstream) as running:
        fold_one(running)
        fold_one(running)
        plain = json.loads(running.send(b"/-/stats").body)
        opened = json.loads(running.send(b"/-/stats", headers=key(running)).body)
    (session,) = plain["sessions"]
    assert (plain["requests"], plain["blocks"], session["requests"], session["blocks"]) == (2, 1, 2, 1)
    assert plain["bytes_before"] == sum(one["bytes_before"] for one in plain["minutes"])
    assert 0 < plain["bytes_after"] < plain["bytes_before"]
    assert plain["tokens_saved_estimate"] == session["tokens_saved_estimate"] > 0
    assert plain["folding"] == {"folded": 2}
    assert "latest" not in plain
    assert id_of(BODY) not in json.dumps(plain)
    assert "c-" not in json.dumps(opened)  # a scope is a capability
    (block,) = opened["latest"]
    assert (block["label"], block["id"], block["size"]) == ("log", id_of(BODY), len(BODY))


def test_originals_are_for_who_has_the_key(tmp_path: Path) -> None:
    with provider(echo) as upstream, folding_gateway(tmp_path / "archive.db", upstream) as running:
        fold_one(running)
        for headers in ([], [(b"X-Ctxf-Key", b"wrong")], [(b"X-Ctxf-Token", running.guard.key.encode())]):
            assert running.send(b"/-/original/1", headers=headers).status == 403
        reply = running.send(b"/-/original/1", headers=key(running))
        assert (reply.status, reply.body) == (200, BODY)
        assert reply.all(b"content-type") == [b"text/plain; charset=utf-8"]
        assert reply.all(b"x-content-type-options") == [b"nosniff"]
        for number in (b"0", b"2", b"x", b"", b"1/", b"../1"):
            assert running.send(b"/-/original/" + number, headers=key(running)).status == 404
        with Archive.open(tmp_path / "archive.db") as archive:
            (scope,) = archive.scopes()
            archive.forget(scope.name)
        gone = running.send(b"/-/original/1", headers=key(running))
        assert gone.status == 404
        assert b"forgotten on" in gone.body


@pytest.mark.parametrize("path", [b"/-/", b"/-/page.css", b"/-/page.js"])
def test_the_page_needs_nothing_from_elsewhere(path: bytes) -> None:
    with gateway(1) as running:
        reply = running.send(path)
    assert reply.status == 200
    (policy,) = reply.all(b"content-security-policy")
    assert policy.startswith(b"default-src 'none'")
    assert b"http" not in reply.body.replace(b"http://www.w3.org/2000/svg", b"")
    assert b"innerHTML" not in reply.body


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [(b"/-/nothing", b"GET", 404), (b"/-/stats", b"POST", 405), (b"/-/../stats", b"GET", 404)],
)
def test_what_is_not_there(path: bytes, method: bytes, status: int) -> None:
    with gateway(1) as running:
        assert running.send(path, method=method).status == status


@pytest.mark.clients
def test_the_page_in_a_browser(tmp_path: Path) -> None:
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        pytest.skip("no Chromium is installed")
    with provider(echo) as upstream, folding_gateway(tmp_path / "archive.db", upstream) as running:
        fold_one(running)
        shown = {}
        for fragment in ("", f"#{running.guard.key}"):
            address = f"http://127.0.0.1:{running.port}/-/{fragment}"
            command = [
                browser,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--virtual-time-budget=5000",
            ]
            done = subprocess.run(
                [*command, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", address],
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
                check=True,
            )
            shown[bool(fragment)] = html.unescape(done.stdout)
    for dom in shown.values():
        assert "<dt>Blocks folded</dt><dd>1</dd>" in dom
        assert "Up for less than a minute" in dom
        assert "bar-after" in dom
    assert f"<code>{id_of(BODY)}</code>" in shown[True]
    assert 'aria-label="Show the original of log"' in shown[True]
    assert id_of(BODY) not in shown[False]
    assert "by the address that the gateway printed" in shown[False]
