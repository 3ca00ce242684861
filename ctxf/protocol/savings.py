"""What a fold saves, in estimated tokens (PROTOCOL.md §7.2)."""

from collections.abc import Callable

__all__ = ["DEFAULT_MIN_SAVINGS_TOKENS", "CountTokens", "estimate_tokens", "tokens_saved"]

DEFAULT_MIN_SAVINGS_TOKENS = 256

CountTokens = Callable[[str], int]
"""An estimator of another kind: the tokens of a text. Invalid UTF-8 reaches it as U+FFFD."""


def estimate_tokens(size: int) -> int:
    """Tokens of `size` bytes of UTF-8: one for every four bytes begun.

    Deliberately coarse: it must give the same figure everywhere and cost nothing. Against real
    tokenizers it is some 10 to 20 % high for OpenAI's and 30 % low for Claude's.
    """
    return -(-size // 4)


def tokens_saved(body: bytes, reference_line: bytes, count_tokens: CountTokens | None = None) -> int:
    """Estimated tokens that a reference line in place of `body` saves; negative when it costs some."""
    if count_tokens is None:
        return estimate_tokens(len(body)) - estimate_tokens(len(reference_line))
    return count_tokens(body.decode("utf-8", "replace")) - count_tokens(
        reference_line.decode("utf-8", "replace")
    )
