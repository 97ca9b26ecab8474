"""A store with something around it: each call of it, and of its parts, goes through one function."""

from __future__ import annotations

from typing import Any

from support.fakes.store import InMemoryStore
from support.faults.one_request import for_one_request


class WrappedStore:
    """A method of a subclass takes the place of the method of that name, whichever part has it; what is in the store
    itself, it finds in ``inner``."""

    def __init__(self, inner: Any = None) -> None:
        self.inner: Any = inner or InMemoryStore()

    def at_one_version(self) -> Any:
        return for_one_request(self, "inner")

    def around(self, name: str, call: Any) -> Any:
        """Returns what is called in the place of ``call``, the method of that name."""
        return call

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        return self.around(name, found) if callable(found) else _Part(self, found)


class _Part:
    def __init__(self, store: WrappedStore, inner: Any) -> None:
        self._store, self._inner = store, inner

    def __getattr__(self, name: str) -> Any:
        if hasattr(type(self._store), name):
            return getattr(self._store, name)
        return self._store.around(name, getattr(self._inner, name))
