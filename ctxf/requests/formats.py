"""The table of wire formats."""

from typing import Final

__all__ = ["PROTOCOLS"]

PROTOCOLS: Final = ("chat", "responses", "anthropic", "gemini")
