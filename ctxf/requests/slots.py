"""What a wire format says of a request body: its items in their order, and the texts that may be changed.

A format reads a body that somebody else made and that may hold anything: what has not the expected
shape is left out, never an error. Bodies are only read here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, Final, Literal, NamedTuple

from ctxf.requests.model import JsonObject

__all__ = [
    "Edit",
    "Format",
    "Item",
    "Path",
    "Side",
    "Slot",
    "is_bound",
    "message_items",
    "objects_in",
    "pointer",
    "texts_in",
]

Path = tuple[str | int, ...]
"""The keys and indexes that lead from the body to a value."""


class Side(Enum):
    """Who made an item; it decides what a reply is (PROTOCOL.md §13.3)."""

    MODEL = "model"
    INPUT = "input"  # a user's text, the result of a tool: it ends a reply
    OTHER = "other"  # instructions, and whatever is not known: it neither is a reply nor ends one


class Slot(NamedTuple):
    """A text of the model's own that may be changed."""

    path: Path
    text: str


class Item(NamedTuple):
    """A message, or another part of the history; `slots` only where the model made it."""

    side: Side
    slots: tuple[Slot, ...] = ()


class Edit(NamedTuple):
    """A change to a body: `set` the value at `path`, or `add` it as a new key, or put it into the array
    at `path` as its first (`prepend`) or last (`append`) element."""

    kind: Literal["set", "add", "prepend", "append"]
    path: Path
    value: Any


class Format(NamedTuple):
    """One wire format.

    `items` is the history; `tools` are the names of the tools on offer; `system_texts` all texts that
    instruct the model; `add_guidance` the edit that puts one more text behind them, None where there is no
    place for it; `is_elsewhere` tells of a body whose history the provider keeps. `has_history` tells of one
    that has the list of the format at all.
    """

    items: Callable[[JsonObject], Iterator[Item]]
    tools: Callable[[JsonObject], Iterator[str]]
    system_texts: Callable[[JsonObject], Iterator[str]]
    add_guidance: Callable[[JsonObject, str], Edit | None]
    has_history: Callable[[JsonObject], bool]
    is_elsewhere: Callable[[JsonObject], bool] = lambda _body: False


# What binds a text to more than its words: offsets into it, or a signature over it.
_BONDS: Final = frozenset(
    (
        *("citations", "annotations", "logprobs"),
        *("signature", "thoughtSignature", "thought_signature", "extra_content"),
        *("encrypted_content", "encryptedContent"),
    )
)


def is_bound(holder: JsonObject) -> bool:
    """Whether the object that holds a text holds something that a change of the text would make wrong."""
    return not _BONDS.isdisjoint(holder) and any(holder.get(key) for key in _BONDS)


def objects_in(value: object) -> Iterator[tuple[int, JsonObject]]:
    """The objects of an array, each with its index; nothing where there is no array."""
    if isinstance(value, list):
        for index, one in enumerate(value):
            if isinstance(one, dict):
                yield index, one


def texts_in(content: object, key: str = "text") -> Iterator[str]:
    """The texts of a content that is a text, or an array of parts that have one."""
    if isinstance(content, str):
        yield content
    for _index, part in objects_in(content):
        if isinstance(part.get(key), str):
            yield part[key]


def message_items(body: JsonObject, sides: Mapping[str, Side], bonds: Iterable[str] = ()) -> Iterator[Item]:
    """The items of `messages`, as Chat Completions and Anthropic have them; `sides` by role.

    `bonds` are more keys of a message that bind its text, see `is_bound`.
    """
    for index, message in objects_in(body.get("messages")):
        side = sides.get(str(message.get("role")), Side.OTHER)
        is_free = side is Side.MODEL and not (is_bound(message) or any(map(message.get, bonds)))
        yield Item(side, tuple(_message_slots(index, message)) if is_free else ())


def _message_slots(index: int, message: JsonObject) -> Iterator[Slot]:
    content = message.get("content")
    if isinstance(content, str):
        yield Slot(("messages", index, "content"), content)
    for number, part in objects_in(content):
        if part.get("type") == "text" and isinstance(part.get("text"), str) and not is_bound(part):
            yield Slot(("messages", index, "content", number, "text"), part["text"])


def pointer(path: Path) -> str:
    """The JSON pointer of a path (RFC 6901). No key of any format needs an escape."""
    return "/" + "/".join(map(str, path))
