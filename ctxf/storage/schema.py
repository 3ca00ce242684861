"""What a SQLite file of ours is: how to know it, what its tables look like, how it is spoken of."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ctxf.errors import StorageError

__all__ = ["FileKind", "Schema"]


class Schema(NamedTuple):
    """What a file of `version` looks like, and the way there.

    `create` makes the tables in an empty file. `steps[n]` takes a file of version n to n + 1; all steps
    that a file needs run in one immediate transaction when it is opened, so that another process sees
    the old file or the new one. A step never touches a payload: what was stored stays as it is.
    """

    version: int
    create: tuple[str, ...]
    steps: Mapping[int, tuple[str, ...]]


class FileKind(NamedTuple):
    """A kind of file. `application_id` is SQLite's, in the header: a file with another one is not ours.

    `name` is the kind in messages, `place` how a user names another file. The rest are the errors in which
    trouble is reported: any (path, problem, hint), no file (path), no writing (path, problem, hint), and
    damage (path, problem).
    """

    name: str
    application_id: int
    schema: Schema
    place: str
    error: Callable[[str, str, str], StorageError]
    missing: Callable[[str], StorageError]
    read_only: Callable[[str, str], StorageError]
    damaged: Callable[[str, str], StorageError]
