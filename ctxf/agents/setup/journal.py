"""What a set-up has changed, on disk before the first change: with it, uninstalling gives every byte back.

One file for each client and project, mode 0600 in the data directory, since it holds copies of
configurations, and these may hold keys.
"""

import base64
import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctxf.agents.setup.clients import Client, Program
from ctxf.errors import CtxfError
from ctxf.storage.files import data_directory, make_directories, new_file

__all__ = ["Change", "Journal", "SetupError", "aside_of", "fingerprint", "journal_path", "sweep"]

_VERSION = 1


class SetupError(CtxfError):
    """A client could not be set up; the message says what, where and what next."""


@dataclass(frozen=True, slots=True)
class Change:
    """A file before and after; `before` None: it was not there.

    `after` is the SHA-256 of what was written. `made` are directories that were not there, outermost first.
    """

    path: str
    before: bytes | None
    after: str
    made: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Journal:
    """A set-up: the program that was entered, and all changes."""

    program: Program
    changes: tuple[Change, ...]

    def change(self, path: Path) -> Change | None:
        """What was done to a file."""
        return next((change for change in self.changes if change.path == str(path)), None)

    def write(self, path: Path) -> None:
        """Durably, in one step. Raises OSError."""
        make_directories(path.parent)
        value = {
            "version": _VERSION,
            "command": [self.program.path, *self.program.options],
            "files": [
                {
                    "path": change.path,
                    "before": None
                    if change.before is None
                    else base64.b64encode(change.before).decode("ascii"),
                    "after": change.after,
                    "made": list(change.made),
                }
                for change in self.changes
            ],
        }
        sweep(path)
        aside = path.with_name(f"{path.name}.new")
        aside.unlink(missing_ok=True)
        with new_file(aside, aside_of(path)) as temporary:
            temporary.write_bytes(json.dumps(value, indent=1).encode("ascii") + b"\n")
        os.replace(aside, path)

    @staticmethod
    def remove(path: Path) -> None:
        """Remove the journal, a killed process's temporary file, and the directory if it is empty."""
        sweep(path)
        for left in (path, path.with_name(f"{path.name}.new")):
            left.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            path.parent.rmdir()

    @classmethod
    def read(cls, path: Path) -> "Journal | None":
        """The journal at `path`; None where there is none. Raises SetupError for one that is damaged."""
        try:
            value = json.loads(path.read_bytes())
            return cls(
                Program(value["command"][0], tuple(value["command"][1:])),
                tuple(_change(one) for one in value["files"]),
            )
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            raise SetupError(
                f"{path}: cannot be read ({error}); remove it, and ctxf takes out only what it finds"
            ) from error


def _change(value: Mapping[str, Any]) -> Change:
    before = value["before"]
    return Change(
        value["path"],
        None if before is None else base64.b64decode(before, validate=True),
        value["after"],
        tuple(value["made"]),
    )


def aside_of(path: Path) -> Path:
    """The temporary file for the next content of a file; a fixed name, so that it is found after a crash."""
    target = Path(os.path.realpath(path))
    return target.with_name(f".ctxf-setup-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}")


def sweep(path: Path) -> None:
    """Remove the temporary file that a killed process left beside a file. Raises OSError."""
    aside_of(path).unlink(missing_ok=True)


def fingerprint(data: bytes) -> str:
    """The hash by which a file's content is recognised."""
    return hashlib.sha256(data).hexdigest()


def journal_path(environ: Mapping[str, str], client: Client, project: Path | None) -> Path:
    """Where the journal is: in the data directory, apart for each project."""
    name = client.word
    if project is not None:
        name += f"-{hashlib.sha256(os.fsencode(project)).hexdigest()[:16]}"
    return data_directory(environ) / "setup" / f"{name}.json"
