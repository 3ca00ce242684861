"""A str is folded as UTF-8; lone surrogates, which json.loads makes, go through as three bytes each."""

__all__ = ["to_bytes", "to_str"]


def to_bytes(text: str | bytes) -> bytes:
    """The bytes of a text (PROTOCOL.md §2.1)."""
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def to_str(data: bytes) -> str:
    """The str of such bytes. Raises UnicodeDecodeError."""
    return data.decode("utf-8", "surrogatepass")
