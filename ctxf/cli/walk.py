"""The files below directories, without those that Git ignores."""

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Self

import click

from ctxf.cli.terminal import escape, say

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

__all__ = ["files_below"]


def files_below(paths: Sequence[str]) -> Iterator[str]:
    """Each file of `paths`, and of each directory the regular files below it, in the order of their names.

    Links below a directory are not followed: what they lead to is elsewhere, or comes up by itself.
    """
    for path in paths:
        if os.path.isdir(path):
            yield from _walk(path)
        elif path == "-":
            raise click.UsageError("--recursive needs the name of a directory.")
        else:
            yield path


def _walk(top: str) -> Iterator[str]:
    ignore = _IgnoreFiles.around(os.path.abspath(top))
    for folder, directories, files in os.walk(top, onerror=_say_unreadable):
        place = os.path.abspath(folder)
        ignore.enter(place)
        # In place: os.walk goes only where this list leads.
        directories[:] = sorted(name for name in directories if _is_wanted(place, name, ignore))
        for name in sorted(files):
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path) and not ignore.matches(place, name):
                yield path


def _is_wanted(folder: str, name: str, ignore: "_IgnoreFiles") -> bool:
    is_link = os.path.islink(os.path.join(folder, name))
    return name != ".git" and not is_link and not ignore.matches(folder, f"{name}/")


def _say_unreadable(error: OSError) -> None:
    say(f"{escape(str(error.filename))}: {error.strerror}")


class _IgnoreFiles:
    """The .gitignore files on the way down; the deepest one that says anything of a path decides."""

    def __init__(self) -> None:
        self._specs: list[tuple[str, GitIgnoreSpec]] = []

    @classmethod
    def around(cls, folder: str) -> Self:
        """Those of the repository that `folder` is in, from its root down to the folder's parent.

        None when they ignore the folder itself: whoever names it wants what is in it.
        """
        above = [folder]
        while not os.path.lexists(os.path.join(above[-1], ".git")):
            parent = os.path.dirname(above[-1])
            if parent == above[-1]:
                return cls()
            above.append(parent)
        files = cls()
        files.enter(above[-1], os.path.join(".git", "info", "exclude"))
        for place, name in zip(above[:0:-1], map(os.path.basename, above[-2::-1]), strict=True):
            files.enter(place)
            if files.matches(place, f"{name}/"):
                return cls()
        return files

    def enter(self, folder: str, name: str = ".gitignore") -> None:
        """Read the folder's own file, and forget those of folders that we have left."""
        self._specs = [one for one in self._specs if _is_below(folder, one[0])]
        try:
            with open(os.path.join(folder, name), "rb") as file:
                lines = file.read().decode("utf-8", "surrogateescape").split("\n")
        except OSError:
            return
        # Imported here because only --recursive needs it: `ctxf restore` would take 88 ms, not 76 ms.
        from pathspec import GitIgnoreSpec  # noqa: PLC0415

        spec = GitIgnoreSpec.from_lines(line.removesuffix("\r") for line in lines)
        self._specs.append((folder, spec))

    def matches(self, folder: str, name: str) -> bool:
        for origin, spec in reversed(self._specs):
            relative = os.path.relpath(folder, origin)
            path = name if relative == os.curdir else f"{relative}/{name}"
            verdict = spec.check_file(path).include
            if verdict is not None:
                return verdict
        return False


def _is_below(folder: str, origin: str) -> bool:
    return folder == origin or folder.startswith(os.path.join(origin, ""))
