"""The write guard: keeps references out of the files that an agent writes.

It reads the input of a tool before the tool runs. If every reference on a line of its own resolves in the
session's scope, the tool gets the originals instead. If one does not, the call is denied and the model is
told why: a file that holds a hash in place of its text is damaged, and it may take long until somebody
notices. A reference that the file on disk already holds is left alone, whether the file is edited or
rewritten: somebody folded that file on purpose, perhaps in a scope that this session cannot read.
"""

import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from ctxf.agents.hooks.expand import (
    HEAD,
    Behind,
    Expansion,
    Lookup,
    NoLineEnd,
    NotText,
    TooLarge,
    expand_patch,
    expand_text,
    reference_ids,
)
from ctxf.agents.hooks.heredocs import find_heredocs
from ctxf.conversations.clients import CLAUDE_CODE, CODEX, GEMINI
from ctxf.errors import ArchiveError, ArchiveMissing, BodyNotFound, CtxfError

__all__ = ["GUARDED_TOOLS", "Verdict", "check_tool"]

# A shell gets its command as one argument, and Linux takes 128 KiB for one.
_LONGEST_COMMAND: Final = 120_000
_LARGEST_FILE: Final = 16 << 20
_MARKDOWN: Final = (".md", ".markdown", ".mdx")
_PATCH_HEAD: Final = "*** Begin Patch"


class Verdict(NamedTuple):
    """`tool_input` is the new input, None where it stays; `denial` tells the model why the tool must not
    run; `note` is for it to know."""

    tool_input: dict[str, Any] | None = None
    denial: str = ""
    note: str = ""


class _Denied(Exception):
    """The tool must not run; the message is for the model."""


class _Field(NamedTuple):
    """The result of checking one text: the text to write, the ids expanded in it, the ids left in it."""

    text: str
    expanded: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class _Guard(NamedTuple):
    """What holds for one call of a tool."""

    lookup: Lookup
    read: Lookup
    command: str

    def text(
        self,
        text: str,
        *,
        path: str,
        behind: Behind = "nothing",
        held: Collection[str] = (),
        known: Collection[str] = (),
    ) -> _Field:
        """Check text for a file that holds the ids `held` already; ids in `known` may stay unresolved."""
        is_markdown = path.lower().endswith(_MARKDOWN)
        found = expand_text(text, self.lookup, is_markdown=is_markdown, behind=behind, held=held)
        return self._checked(found, known)

    def patch(self, patch: str) -> _Field:
        """A patch for `apply_patch`."""
        return self._checked(expand_patch(patch, self.lookup), ())

    def shell(self, command: str) -> _Field:
        """A shell command: only what stands in here-documents, as lines of their own."""
        heredocs = find_heredocs(command)
        if heredocs is None:
            return _Field(command)
        pieces: list[str] = []
        expanded: list[str] = []
        left: list[str] = []
        position = 0
        for heredoc in heredocs:
            text = command[heredoc.start : heredoc.end]
            found = (
                expand_patch(text, self.lookup)
                if text.startswith(_PATCH_HEAD)
                else expand_text(text, self.lookup, behind="line")
            )
            for id, error in found.missing:
                # A command may hold any text: an id that was never assigned is taken for a mere example.
                if not isinstance(error, BodyNotFound):
                    raise _Denied(self._explain(id, error))
                left.append(id)
            if found.expanded and not heredoc.can_hold(found.text):
                raise _Denied(
                    f"{_shown(found.expanded)} stands in a here-document that cannot hold its original as it "
                    f"is (its delimiter is not quoted, or occurs in it). {self._by_hand(found.expanded[0])}"
                )
            pieces += (command[position : heredoc.start], found.text)
            expanded += found.expanded
            position = heredoc.end
        pieces.append(command[position:])
        text = "".join(pieces)
        if expanded and len(text.encode("utf-8", "surrogatepass")) > _LONGEST_COMMAND:
            raise _Denied(f"with its original the command is too long. {self._by_hand(expanded[0])}")
        return _Field(text, tuple(expanded), tuple(left))

    def _checked(self, found: Expansion, known: Collection[str]) -> _Field:
        for id, error in found.missing:
            if id not in known:
                raise _Denied(self._explain(id, error))
        for id in dict.fromkeys(found.inline):
            if id not in known and _resolves(self.lookup, id):
                raise _Denied(
                    f"{_shown([id])} stands within a line, and files must not hold references. Write the "
                    "text itself, or give the reference a line of its own to get its original there"
                )
        left = (*found.quoted, *(id for id, _error in found.missing))
        return _Field(found.text, found.expanded, left)

    def _explain(self, id: str, error: CtxfError) -> str:
        if isinstance(error, NotText | TooLarge):
            return f"{error}. {self._by_hand(id)}"
        if isinstance(error, NoLineEnd):
            return (
                f"{_shown([id])} cannot be replaced there: {error}. Read it ({self.command} --id {id} "
                "--restore), and write the text itself in its place"
            )
        try:
            self.read(id)
        except ArchiveError:
            raise
        except CtxfError as explained:
            error = explained
        return (
            f"{_shown([id])} does not resolve, and would have been written as it stands: {error}. Correct "
            "the ID, or write the text itself"
        )

    def _by_hand(self, id: str) -> str:
        return f"Write it by a command of its own: {self.command} --id {id} --restore > FILE"


def _write(field: str, path: str) -> "Callable[[_Guard, dict[str, Any]], Iterator[_Field]]":
    """A tool that writes `field` to the file `path`."""

    def check(guard: _Guard, tool_input: dict[str, Any]) -> Iterator[_Field]:
        file = str(tool_input.get(path, ""))
        text = tool_input[field]
        held = reference_ids(_content(file) or "") if HEAD in text else ()
        found = guard.text(text, path=file, held=held)
        tool_input[field] = found.text
        yield found

    return check


def _edit(guard: _Guard, tool_input: dict[str, Any]) -> Iterator[_Field]:
    """A tool that replaces `old_string` by `new_string` in `file_path`."""
    yield from _replace(guard, tool_input, str(tool_input.get("file_path", "")))


def _edits(guard: _Guard, tool_input: dict[str, Any]) -> Iterator[_Field]:
    edits = [dict(edit) for edit in tool_input["edits"]]
    for edit in edits:
        yield from _replace(guard, edit, str(tool_input.get("file_path", "")))
    tool_input["edits"] = edits


def _replace(guard: _Guard, edit: dict[str, Any], path: str) -> Iterator[_Field]:
    old = edit["old_string"]
    new = edit["new_string"]
    if HEAD not in old and HEAD not in new:
        return
    content = _content(path)
    held = reference_ids(old if content is None else content)
    behind: Behind = "nothing" if not old else "line" if old.endswith("\n") else "rest"
    found = guard.text(new, path=path, behind=behind, held=held, known=reference_ids(old))
    edit["new_string"] = found.text
    yield found
    if content is not None and HEAD in old and old.replace("\r\n", "\n") not in content:
        # The model quotes folded text, but the file holds the original.
        original = expand_text(old, guard.lookup, behind="rest", held=held)
        edit["old_string"] = original.text
        yield _Field(original.text, original.expanded)


def _patch(guard: _Guard, tool_input: dict[str, Any]) -> Iterator[_Field]:
    found = guard.patch(tool_input["command"])
    tool_input["command"] = found.text
    yield found


def _shell(guard: _Guard, tool_input: dict[str, Any]) -> Iterator[_Field]:
    found = guard.shell(tool_input["command"])
    tool_input["command"] = found.text
    yield found


_TOOLS: Final[Mapping[str, Mapping[str, Callable[[_Guard, dict[str, Any]], Iterator[_Field]]]]] = {
    CLAUDE_CODE: {
        "Write": _write("content", "file_path"),
        "Edit": _edit,
        "MultiEdit": _edits,
        "NotebookEdit": _write("new_source", "notebook_path"),
        "Bash": _shell,
    },
    CODEX: {"apply_patch": _patch, "Bash": _shell},
    GEMINI: {"write_file": _write("content", "file_path"), "replace": _edit, "run_shell_command": _shell},
}

GUARDED_TOOLS: Final = {client: tuple(tools) for client, tools in _TOOLS.items()}
"""The tools whose input is checked, by client."""


def check_tool(
    client: str, tool: str, tool_input: Mapping[str, Any], lookup: Lookup, read: Lookup, *, command: str
) -> Verdict:
    """Decide what a tool gets as its input, or that it must not run.

    `lookup` gives the body of an id or raises CtxfError; `read` is the same, and its error names near misses.
    `command` is what reads one in a shell. An input of another shape than the tool has is left alone.
    """
    check = _TOOLS.get(client, {}).get(tool)
    if check is None:
        return Verdict()
    changed = dict(tool_input)
    try:
        fields = list(check(_Guard(lookup, read, command), changed))
    except _Denied as denied:
        return Verdict(denial=f"ctxf: {denied}.")
    except ArchiveError as error:
        return Verdict(
            denial=f"ctxf: whether the references in it have originals cannot be told: {error}. Write the "
            "text itself, or try again when the archive can be read."
        )
    except (KeyError, TypeError, AttributeError):
        return Verdict()
    expanded = [id for field in fields for id in field.expanded]
    left = [id for field in fields for id in field.left]
    notes = []
    if expanded:
        notes.append(f"the original stands in place of {_shown(expanded)} in what was written")
    if left:
        notes.append(f"{_shown(left)} does not resolve in this session and was written as it stands")
    note = f"ctxf: {'; '.join(notes)}." if notes else ""
    return Verdict(changed if expanded else None, note=note)


def _shown(ids: "list[str] | tuple[str, ...]") -> str:
    return ", ".join(f"[[cf:v2:{id}]]" for id in dict.fromkeys(ids))


def _resolves(lookup: Lookup, id: str) -> bool:
    try:
        lookup(id)
    except ArchiveMissing:
        return False
    except ArchiveError:
        raise
    except CtxfError:
        return False
    return True


def _content(path: str) -> str | None:
    """What the file holds, with LF for CRLF as tools show it; None where it is too large.

    What cannot be read, or is no regular file, holds nothing.
    """
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            return ""
        if found.st_size > _LARGEST_FILE:
            return None
        return Path(path).read_bytes().decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    except (OSError, ValueError):
        return ""
