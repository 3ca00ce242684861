"""The names of the clients whose sessions ctxf knows."""

from typing import Final

__all__ = ["CLAUDE_CODE", "CODEX", "GEMINI"]

# They are part of how a scope is derived (PROTOCOL.md §9): to change one is to change every scope.
CLAUDE_CODE: Final = "claude-code"
CODEX: Final = "codex"
GEMINI: Final = "gemini"
