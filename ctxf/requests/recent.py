"""A small cache: the values used most recently."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Final, Generic, TypeVar

__all__ = ["Recent"]

_T = TypeVar("_T")

_MOST_BYTES: Final = 32 << 20


class Recent(Generic[_T]):
    """Values by key, the least recently used forgotten first. Threads may share one."""

    def __init__(self, max_bytes: int = _MOST_BYTES) -> None:
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._values: OrderedDict[bytes, tuple[int, _T]] = OrderedDict()
        self._bytes = 0

    def get(self, key: bytes, size: int, make: Callable[[], _T]) -> _T:
        """The value for `key`, made by `make` unless it is there; it counts with `size` bytes."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key][1]
        value = make()
        with self._lock:
            if key not in self._values and size <= self._max_bytes:
                self._values[key] = size, value
                self._bytes += size
                while self._bytes > self._max_bytes:
                    self._bytes -= self._values.popitem(last=False)[1][0]
        return value
