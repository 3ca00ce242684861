"""Whether the model that gets a request can read a body back; otherwise nothing folds in it."""

from ctxf.conversations.guidance import Recovery, recovery_phrases
from ctxf.requests.model import JsonObject
from ctxf.requests.slots import Format

__all__ = ["find_way_back", "is_guided"]


def find_way_back(format: Format, tree: JsonObject, scope: str, recovery: Recovery) -> Recovery | None:
    """The one way of `recovery` that the request offers, None for none (PROTOCOL.md §13.7).

    A shell comes before a reading tool: clients offer a tool of ours late, or hide it until it is looked for,
    and guidance that named one and then the other would not be stable.
    """
    if recovery.command and not recovery.shell_tools:
        return Recovery(recovery.command)
    offered = set(format.tools(tree))
    if recovery.command and not offered.isdisjoint(recovery.shell_tools):
        return Recovery(recovery.command)
    for tool in recovery.read_tools:
        if tool in offered:
            return Recovery("", read_tools=(tool,))
    return recovery if is_guided(format, tree, scope, recovery) else None


def is_guided(format: Format, tree: JsonObject, scope: str, recovery: Recovery) -> bool:
    """Whether the instructions tell the model how to read from this scope."""
    phrases = recovery_phrases(scope, recovery)
    return any(phrase in text for text in format.system_texts(tree) for phrase in phrases)
