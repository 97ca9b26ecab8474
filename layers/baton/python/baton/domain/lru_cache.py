"""A cache of what a process has seen last. It says what to read first; what is stored decides."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

# The most values that are kept. Beyond it the least recently used goes, and costs its next use one call.
MAX_KEPT = 1_000

Key = TypeVar("Key")
Value = TypeVar("Value")


class LruCache(Generic[Key, Value]):
    """At most so many values; the least recently used goes first. Requests of several threads may share it: each step
    is one of the dictionary's own, and a value that another thread is about to put back is only missed."""

    def __init__(self, most: int = MAX_KEPT) -> None:
        self._most = most
        self._values: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        value = self._values.pop(key, None)
        if value is not None:
            self._values[key] = value
        return value

    def keep(self, key: Key, value: Value) -> None:
        self._values.pop(key, None)
        self._values[key] = value
        while len(self._values) > self._most:
            self._values.popitem(last=False)

    def forget(self, key: Key) -> None:
        self._values.pop(key, None)

    def clear(self) -> None:
        self._values.clear()
