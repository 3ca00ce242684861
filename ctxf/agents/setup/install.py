"""Plan, apply and undo a set-up. A plan holds the complete new content of every file before any is written; a
failure while it is applied restores all files.

Each file is written in one step, through symbolic links, with its mode. What it held before is in the journal
first. Where nobody else has changed a file since, undoing puts these very bytes back, and a file or directory
that was not there goes away. Where somebody has, only what is ours is taken out.
"""

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ctxf.agents.setup.clients import Edit, Program
from ctxf.agents.setup.journal import Change, Journal, SetupError, aside_of, fingerprint, sweep
from ctxf.storage.files import new_file, read_file, replace_file

__all__ = ["Planned", "apply", "plan_install", "plan_uninstall", "without_journal"]

_BOM = "\N{BYTE ORDER MARK}"
_PUBLIC = 0o644


@dataclass(frozen=True, slots=True)
class Planned:
    """A file and what becomes of it: `current` to `wanted`, None where there is no file.

    `clean` is the file without anything of ours. `made` are directories that a set-up has made, or will make.
    """

    edit: Edit
    current: bytes | None
    clean: bytes | None
    wanted: bytes | None
    made: tuple[str, ...]

    @property
    def is_change(self) -> bool:
        return self.current != self.wanted


def plan_install(edits: Sequence[Edit], journal: Journal | None) -> list[Planned]:
    """What each file has to become. Raises SetupError; nothing is written."""
    plan = []
    for one in plan_uninstall(edits, journal):
        text = one.edit.missing if one.clean is None else _text(one.edit, one.clean)
        wanted = _edited(one.edit, one.edit.add, text or one.edit.missing)
        made = one.made or tuple(str(folder) for folder in _missing_folders(one.edit.path))
        plan.append(replace(one, wanted=wanted, made=made))
    return plan


def plan_uninstall(edits: Sequence[Edit], journal: Journal | None) -> list[Planned]:
    """What each file becomes without what is ours. Raises SetupError; nothing is written."""
    plan = []
    for edit in edits:
        change = None if journal is None else journal.change(edit.path)
        current = _read(edit.path)
        clean = _clean(edit, current, change)
        plan.append(Planned(edit, current, clean, clean, change.made if change else ()))
    return plan


def apply(plan: Sequence[Planned], verify: Callable[[], None] | None = None) -> None:
    """Write all of it, or nothing: whatever is raised, `verify` included, every file is as it was."""
    done: list[Planned] = []
    for one in plan:
        _sweep(one.edit.path)
    try:
        for one in plan:
            if not one.is_change:
                continue
            if _read(one.edit.path) != one.current:
                raise SetupError(f"{one.edit.path}: was written by somebody else meanwhile; try again")
            done.append(one)
            _write(one.edit, one.wanted)
        if verify is not None:
            verify()
    except BaseException as error:
        if left := [str(one.edit.path) for one in reversed(done) if not _put_back(one)]:
            raise SetupError(
                f"{', '.join(left)}: could not be put back; `--uninstall` tries again"
            ) from error
        raise
    for one in reversed(plan):
        if one.wanted is None:
            _remove_folders(one.made)


def without_journal(program: Program, plan: Sequence[Planned]) -> Journal:
    """The journal of a plan that is about to be applied."""
    return Journal(
        program,
        tuple(
            Change(str(one.edit.path), one.clean, fingerprint(one.wanted or b""), one.made) for one in plan
        ),
    )


def _clean(edit: Edit, current: bytes | None, change: Change | None) -> bytes | None:
    """The file without what is ours: what it was before, unless somebody has written it since."""
    if current is None:
        return None
    if change is not None and fingerprint(current) == change.after:
        return change.before
    text = _text(edit, current)
    cleaned = _edited(edit, edit.remove, text) if text.removeprefix(_BOM) else current
    was_missing = change is not None and change.before is None
    return None if was_missing and cleaned.strip() in (edit.missing.strip().encode(), b"") else cleaned


def _text(edit: Edit, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SetupError(f"{edit.path}: is not UTF-8; save it as UTF-8 and try again") from error


def _edited(edit: Edit, change: Callable[[str], str], text: str) -> bytes:
    bom = _BOM if text.startswith(_BOM) else ""
    try:
        return (bom + change(text.removeprefix(bom) or edit.missing)).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise SetupError(f"{edit.path}: {error}; correct the file and try again") from error


def _read(path: Path) -> bytes | None:
    try:
        return read_file(path)[0]
    except FileNotFoundError:
        if os.path.islink(path):
            raise SetupError(f"{path}: is a link that leads nowhere; repair or remove it") from None
        return None
    except OSError as error:
        raise SetupError(f"{path}: {error.strerror or error}") from error


def _write(edit: Edit, data: bytes | None) -> None:
    path = edit.path
    _sweep(path)
    if data is None:
        path.unlink(missing_ok=True)
    elif path.exists():
        replace_file(path, data, source=os.stat(path), in_place=True, aside=aside_of(path))
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_file(path, aside_of(path)) as temporary:
            temporary.write_bytes(data)
            if not edit.is_private:
                umask = os.umask(0)
                os.umask(umask)
                temporary.chmod(_PUBLIC & ~umask)


def _sweep(path: Path) -> None:
    # A directory that is missing or cannot be used: if a file has to be written there, that write reports it.
    with contextlib.suppress(OSError):
        sweep(path)


def _put_back(one: Planned) -> bool:
    """Restore a file, and tell whether that succeeded. If it was changed since, only our part is removed."""
    try:
        now = _read(one.edit.path)
        if now == one.wanted:
            _write(one.edit, one.current)
        elif now not in (one.current, None):
            if one.current != one.clean:
                return False  # an older entry of ours was there
            _write(one.edit, _edited(one.edit, one.edit.remove, _text(one.edit, now or b"")))
            return True
    except (OSError, SetupError):
        return False
    if one.current is None:
        _remove_folders(one.made)
    return True


def _missing_folders(path: Path) -> list[Path]:
    missing: list[Path] = []
    folder = path.parent
    while not folder.exists():
        missing.insert(0, folder)
        folder = folder.parent
    return missing


def _remove_folders(made: Sequence[str]) -> None:
    for folder in reversed(made):
        with contextlib.suppress(OSError):  # somebody else's files are in it
            os.rmdir(folder)
