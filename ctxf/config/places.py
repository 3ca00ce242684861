"""Where configuration files stand, and which of them exist."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, NamedTuple

__all__ = ["PROJECT_FILE_NAME", "ConfigFile", "find_files"]

PROJECT_FILE_NAME: Final = ".context-folding.toml"


class ConfigFile(NamedTuple):
    """A place that was looked at.

    `kind` is "user" for the user's own file, "named" for the one named instead of it, "project" for one
    in the working directory or above. `named_by` says who named it: "--config", "CTXF_CONFIG" or "".
    """

    path: str
    kind: Literal["user", "named", "project"]
    found: bool
    named_by: str = ""


def find_files(environ: Mapping[str, str], cwd: Path, config_file: Path | None) -> tuple[ConfigFile, ...]:
    """The files looked for, in the order in which they apply; none is read.

    Relative names start from `cwd`.
    """
    cwd = Path(os.path.abspath(cwd))
    own = _own_file(environ, cwd, config_file)
    project = _project_files(cwd)
    if own is None:
        return tuple(project)
    # A project's file that the user named is the user's choice: it is read once, and trusted.
    return (own, *(place for place in project if place.path != own.path))


def _own_file(environ: Mapping[str, str], cwd: Path, config_file: Path | None) -> ConfigFile | None:
    if config_file is not None:
        return _named(cwd, config_file, "--config")
    if name := environ.get("CTXF_CONFIG"):
        return _named(cwd, name, "CTXF_CONFIG")
    folder = _config_home(environ)
    return None if folder is None else _look(folder / "context-folding" / "config.toml", "user")


def _named(cwd: Path, name: str | Path, named_by: str) -> ConfigFile:
    path = os.path.abspath(cwd / name)
    return ConfigFile(path, "named", os.path.lexists(path), named_by)


def _config_home(environ: Mapping[str, str]) -> Path | None:
    """`$XDG_CONFIG_HOME`, ignored where it is relative as the XDG specification asks, or `~/.config`."""
    for variable, below in (("XDG_CONFIG_HOME", ""), ("HOME", ".config")):
        folder = environ.get(variable, "")
        if os.path.isabs(folder):
            return Path(folder, below)
    try:
        home = Path.home()
    except RuntimeError:  # a user without an entry, in a bare container
        return None
    return home / ".config" if home.is_absolute() else None


def _project_files(cwd: Path) -> list[ConfigFile]:
    """The places from `cwd` upward, as far as the nearest file or the Git root.

    Outside a Git repository nothing above `cwd` is looked at: what lies in `/tmp` or `/home` is no
    part of any project.
    """
    places = []
    for folder in _folders_to_git_root(cwd):
        place = _look(folder / PROJECT_FILE_NAME, "project")
        places.append(place)
        if place.found:
            break
    return places


def _folders_to_git_root(cwd: Path) -> list[Path]:
    folders = []
    for folder in (cwd, *cwd.parents):
        folders.append(folder)
        if os.path.lexists(folder / ".git"):
            return folders
    return [cwd]


def _look(path: Path, kind: Literal["user", "project"]) -> ConfigFile:
    # lexists: a link to nothing is a file that somebody meant to be there, and reading it will say so.
    return ConfigFile(str(path), kind, os.path.lexists(path))
