"""What a process has seen lately: the tokens that it has admitted, and more of that kind. They say who is probably
calling, and so what to read first; what is present decides (docs/decisions/034-the-function-checks-the-token.md)."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

from baton.domain.access.token import Token

# The most tokens that a process keeps. Beyond it the least recently used goes, and costs its next request one call.
MAX_KNOWN = 1_000

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """So many values, the least recently used go first. Requests of several threads may share it: each step is one of
    the dictionary's own, and a value that another thread is about to put back is only missed."""

    def __init__(self, most: int = MAX_KNOWN) -> None:
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


KnownTokens = Recent[str, Token]
