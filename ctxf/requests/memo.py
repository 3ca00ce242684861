"""What is remembered between requests."""

__all__ = ["Memo"]


class Memo:
    """Remembers what was found in texts that come again with every request; bounded, thread-safe.

    One may serve a whole process. It never changes a result: what it knows of texts depends on their bytes
    alone, and what it knows of an archive it forgets as soon as anybody may have changed that.
    """

    def __init__(self, max_texts: int = 4096) -> None:
        self._max_texts = max_texts
