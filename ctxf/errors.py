"""Every exception that ctxf raises on purpose.

    CtxfError
    ├── InvalidScope (ValueError)      a scope name outside PROTOCOL.md §9
    ├── InvalidId (ValueError)         not an id, in no accepted spelling
    ├── UnknownLanguage (ValueError)   a name that means no language
    ├── SourceNotParsed                a source stays as it is: no grammar, a crash, a time limit
    ├── InvalidPattern (ValueError)    no regular expression
    ├── UnknownProtocol (ValueError)   a name that means no wire format of requests
    ├── RequestNotRead (ValueError)    a request body that is no JSON object
    │   └── NoConversation             one that has no list of messages where its protocol has it
    ├── ConfigError (ValueError)       a configuration file or variable that cannot be used
    ├── StorageError                   a file in which ctxf keeps things cannot do what was asked
    │   └── ArchiveError               the archive as a whole
    │       ├── ArchiveMissing         there is no archive at this place yet
    │       ├── ArchiveReadOnly        it can be read, not written
    │       └── ArchiveDamaged         its file is no longer what SQLite wrote
    ├── PackageError (ValueError)      a package of `ctxf export` that cannot be taken over
    ├── SecretError                    the install secret, which conversation scopes come from, cannot be used
    ├── ExtraMissing                   a command needs packages that are not installed
    ├── IdTaken (ValueError)           an id of a package stands for another body here
    ├── TextNotUtf8 (ValueError)       a body that is no text was to go into a str
    └── ReadError (LookupError)        one body cannot be given back
        ├── BodyNotFound               never stored in this scope
        ├── BodyForgotten              removed on request; the tombstone says when
        └── BodyDamaged                stored, but the bytes no longer match their hash

Branches follow what a caller can do about it; a message names what happened, where, and the next step.
Exit codes and HTTP statuses stand in tables of the edges.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final

if TYPE_CHECKING:
    from datetime import datetime

__all__ = [
    "ArchiveDamaged",
    "ArchiveError",
    "ArchiveMissing",
    "ArchiveReadOnly",
    "BodyDamaged",
    "BodyForgotten",
    "BodyNotFound",
    "ConfigError",
    "CtxfError",
    "ExtraMissing",
    "IdTaken",
    "InvalidId",
    "InvalidPattern",
    "InvalidScope",
    "NoConversation",
    "PackageError",
    "ReadError",
    "RequestNotRead",
    "SecretError",
    "SourceNotParsed",
    "StorageError",
    "TextNotUtf8",
    "UnknownLanguage",
    "UnknownProtocol",
]


class CtxfError(Exception):
    """Base of all of them."""


class InvalidScope(CtxfError, ValueError):
    """A scope is 1 to 256 printable ASCII bytes without blanks (PROTOCOL.md §9)."""

    def __init__(self, scope: object) -> None:
        self.scope = scope
        super().__init__(f"{scope!r} is no scope: use 1 to 256 printable ASCII characters without blanks")


class InvalidId(CtxfError, ValueError):
    """Neither 6 to 64 hexadecimal digits nor a reference `[[cf:v2:...]]` around them."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__(
            f"{text!r} is no id: give the 12 to 64 hexadecimal digits of a [[cf:v2:...]] reference"
        )


class UnknownLanguage(CtxfError, ValueError):
    """`name` is no language that any table or installed grammar knows."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"{name!r} is no known language; `ctxf languages` lists them")


class SourceNotParsed(CtxfError):
    """A source could not be parsed, so nobody can tell what is a comment in it, and it stays as it is.

    `wheel` is the package that would bring the missing grammar, if that is the problem.
    """

    def __init__(self, language: str, problem: str, wheel: str | None = None) -> None:
        self.language = language
        self.problem = problem
        self.wheel = wheel
        super().__init__(f"{language}: {problem}" + (f" (run: pip install {wheel})" if wheel else ""))


class InvalidPattern(CtxfError, ValueError):
    """A search was asked for something that is no regular expression."""

    def __init__(self, pattern: str, problem: str) -> None:
        self.pattern = pattern
        self.problem = problem
        super().__init__(f"{pattern!r} is no regular expression: {problem} (a fixed text needs -F)")


class UnknownProtocol(CtxfError, ValueError):
    """`name` is no wire format of chat requests."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name = name
        super().__init__(f"{name!r} is no known protocol; use {', '.join(known)}")


class RequestNotRead(CtxfError, ValueError):
    """A request's body is not what its protocol sends: it stays as it is."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(f"the request is left as it is: {problem}")


class NoConversation(RequestNotRead):
    """A body has not the list that its protocol keeps the conversation in: it may be of another one."""

    def __init__(self, protocol: str) -> None:
        self.protocol = protocol
        self.problem = f"no conversation of {protocol}"
        ValueError.__init__(self, f"{self.problem} in this request: left as it is")


class ConfigError(CtxfError, ValueError):
    """One field of one configuration source cannot be used.

    `where` is a file path or an environment variable, `line` its 1-based line when known, `field`
    the dotted name of the field when one is at fault.
    """

    def __init__(
        self, where: str, problem: str, *, line: int | None = None, field: str | None = None
    ) -> None:
        self.where = where
        self.line = line
        self.field = field
        self.problem = problem
        place = where if line is None else f"{where}:{line}"
        super().__init__(f"{place}: {problem}")


class StorageError(CtxfError):
    """A file in which ctxf keeps things cannot be opened, read or written.

    `path` is the file, `problem` what is wrong in short, `hint` the next step.
    """

    _what: ClassVar = "data directory"

    def __init__(self, path: str, problem: str, hint: str = "") -> None:
        self.path = path
        self.problem = problem
        self.hint = hint
        super().__init__(f"{self._what} {path}: {problem}" + (f" ({hint})" if hint else ""))


class ArchiveError(StorageError):
    """The archive cannot be opened, read or written."""

    _what = "archive"


class ArchiveMissing(ArchiveError):
    """There is no archive at this path; the first fold makes one."""

    def __init__(self, path: str) -> None:
        super().__init__(
            path, "does not exist", "the first fold makes it; CTXF_ARCHIVE or --archive names another"
        )


class ArchiveDamaged(ArchiveError):
    """The file is ours but SQLite cannot make sense of it any more."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(path, f"is damaged: {problem}", "keep the file and take the archive from a backup")


class ArchiveReadOnly(ArchiveError):
    """The archive can be read but takes no new bodies."""


class PackageError(CtxfError, ValueError):
    """The package in the file `path` is not taken over; `problem` says why. Nothing was changed."""

    def __init__(self, path: str, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"package {path}: {problem}; nothing was imported")


class IdTaken(CtxfError, ValueError):
    """The id stands for another body in this scope already, and an id never changes its meaning."""

    def __init__(self, scope: str, id: str) -> None:
        self.scope = scope
        self.id = id
        super().__init__(f"{id}: stands for another body in this scope already; use a scope of its own")


class SecretError(CtxfError):
    """The file `path` cannot serve as the install secret; without one no conversation has a scope."""

    def __init__(self, path: str, problem: str, hint: str = "") -> None:
        self.path = path
        self.problem = problem
        self.hint = hint
        super().__init__(f"install secret {path}: {problem}" + (f" ({hint})" if hint else ""))


_NEEDED_BY: Final = {"gateway": "the gateway", "mcp": "the MCP server, which agents read back with,"}


class ExtraMissing(CtxfError):
    """The packages of `extra` are not installed; `module` was missed first, `command` installs them."""

    def __init__(self, extra: str, module: str, command: str = "") -> None:
        self.extra = extra
        self.module = module
        needed_by = _NEEDED_BY.get(extra, "this")
        how = command or f"pip install 'ctxf[{extra}]'"
        super().__init__(f"{needed_by} needs the package {module}, which is not installed (run: {how})")


class TextNotUtf8(CtxfError, ValueError):
    """The body of `id` is not UTF-8, so it cannot stand in a str."""

    def __init__(self, id: str) -> None:
        self.id = id
        super().__init__(f"{id}: its body is not UTF-8; restore bytes instead of a str")


class ReadError(CtxfError, LookupError):
    """One body cannot be given back.

    `suggestions` holds ids of the same scope that the caller may have meant (PROTOCOL.md §9: a miss
    never tells of another scope).
    """

    def __init__(self, scope: str, id: str, problem: str, suggestions: Sequence[str] = ()) -> None:
        self.scope = scope
        self.id = id
        self.suggestions = tuple(suggestions)
        did_you_mean = f"; did you mean {', '.join(self.suggestions)}?" if self.suggestions else ""
        super().__init__(f"{id}: {problem}{did_you_mean}")


class BodyNotFound(ReadError):
    """No body of this id was ever stored in this scope."""

    def __init__(self, scope: str, id: str, suggestions: Sequence[str] = ()) -> None:
        problem = (
            "not in this scope of this archive (a reference made in another scope, by another archive or"
        )
        super().__init__(scope, id, f"{problem} by another tool does not resolve here)", suggestions)


class BodyForgotten(ReadError):
    """The body was removed by `ctxf forget`; `when` is in UTC."""

    def __init__(self, scope: str, id: str, when: "datetime") -> None:
        self.when = when
        super().__init__(
            scope,
            id,
            f"forgotten on {when:%Y-%m-%d}; folding the same text again, or importing a package that has it,"
            " brings it back",
        )


class BodyDamaged(ReadError):
    """The stored bytes are not the ones that were archived. They are never handed out."""

    def __init__(self, scope: str, id: str, problem: str) -> None:
        self.problem = problem
        super().__init__(
            scope,
            id,
            f"damaged in the archive ({problem}); take the archive from a backup or fold the text again",
        )
