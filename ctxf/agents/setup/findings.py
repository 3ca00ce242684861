"""What `ctxf doctor CLIENT` reports: is the client installed, and is ctxf set up in it and working?"""

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ctxf.agents.setup.checks import check_program
from ctxf.agents.setup.clients import CLIENT_NAMES, client_edits
from ctxf.agents.setup.install import plan_uninstall
from ctxf.agents.setup.journal import Journal, journal_path
from ctxf.conversations.scopes import read_secret, secret_path
from ctxf.errors import CtxfError

__all__ = ["ClientFinding", "client_findings"]


@dataclass(frozen=True, slots=True)
class ClientFinding:
    """One thing looked at; `next_step` is empty where all is well."""

    name: str
    value: str
    next_step: str = ""


def client_findings(word: str) -> Iterator[ClientFinding]:
    """Look at the user's own set-up of a client; nothing is changed."""
    client = CLIENT_NAMES[word]
    setup = f"run: ctxf setup {word}"
    found = shutil.which(client.executable)
    yield ClientFinding(client.title, found or "not in the PATH", "" if found else f"install {client.title}")
    yield _secret()
    try:
        journal = Journal.read(journal_path(os.environ, client, None))
        if journal is None:
            yield ClientFinding("set-up", "none for this user", setup)
            return
        yield ClientFinding("set-up", journal.program.shell())
        edits = client_edits(client, journal.program, os.environ, Path.home(), None)
        for one in plan_uninstall(edits, journal):
            is_there = one.current is not None and one.edit.is_there(one.current.decode("utf-8-sig"))
            state = one.edit.what if is_there else f"lacks {one.edit.what}"
            yield ClientFinding(one.edit.path.name, state, "" if is_there else setup)
        check_program(client, journal.program)
    except (CtxfError, OSError, ValueError, RuntimeError) as error:
        yield ClientFinding("set-up", str(error), f"correct it, or {setup}")
        return
    yield ClientFinding("server and hook", "answer")


def _secret() -> ClientFinding:
    try:
        path = secret_path(os.environ)
        if read_secret(path) is None:
            return ClientFinding("secret", "not there yet; the first session makes it")
        exposed = stat.S_IMODE(path.stat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO)
    except (CtxfError, OSError) as error:
        return ClientFinding("secret", str(error), "see the message")
    return ClientFinding("secret", str(path), f"run: chmod 600 {path}" if exposed else "")
