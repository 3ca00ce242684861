"""A request body in either form: its JSON as bytes, or what a parser made of it."""

from collections.abc import Iterable
from typing import Any, Generic, cast

from ctxf.errors import RequestNotRead
from ctxf.requests.model import BodyT, JsonObject
from ctxf.requests.slots import Edit, Path
from ctxf.requests.spelling import SpelledBody

__all__ = ["Body"]


class Body(Generic[BodyT]):
    """A body: `tree` is what it says, to be read only. Raises RequestNotRead.

    `with_results` is for who may change the results of tools, which stand deeper in it.
    """

    def __init__(self, body: BodyT, *, with_results: bool = False) -> None:
        self._body = body
        self._spelled = SpelledBody(body, with_results=with_results) if isinstance(body, bytes) else None
        tree = self._spelled.tree if self._spelled is not None else body
        if not isinstance(tree, dict):
            raise RequestNotRead(f"its body is no JSON object but a {type(tree).__name__}")
        self.tree: JsonObject = tree

    def apply(self, edits: Iterable[Edit]) -> BodyT:
        """The body with these changes, the body itself where there are none."""
        edits = list(edits)
        if not edits:
            return self._body
        if self._spelled is not None:
            return cast(BodyT, self._spelled.apply(edits))
        return cast(BodyT, _changed(self.tree, edits))


def _changed(tree: JsonObject, edits: Iterable[Edit]) -> JsonObject:
    """A copy that shares with `tree` whatever is not on the way to a change."""
    copies: dict[Path, Any] = {(): dict(tree)}
    # Texts first: inserting an element moves those behind it.
    for edit in sorted(edits, key=lambda edit: edit.kind == "prepend"):
        if edit.kind in ("set", "add"):
            _copy(copies, edit.path[:-1])[edit.path[-1]] = edit.value
        else:
            _copy(copies, edit.path).insert(
                0 if edit.kind == "prepend" else len(copies[edit.path]), edit.value
            )
    result: JsonObject = copies[()]
    return result


def _copy(copies: dict[Path, Any], path: Path) -> Any:
    """The copy of the container at `path`, made at the first call, and of those around it."""
    if path not in copies:
        holder = _copy(copies, path[:-1])
        copies[path] = holder[path[-1]] = holder[path[-1]].copy()
    return copies[path]
