"""A store whose calls all go through one function, those of its parts too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support.fakes.store import InMemoryStore
from support.faults.one_request import for_one_request


class WrappedStore:
    """A method of a subclass takes the place of the method of that name, in whichever part of the store that is. The
    wrapped store is ``inner``."""

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


class ActsBefore(WrappedStore):
    """Acts once, before the next call of the method ``name``."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self.act: Callable[[], Any] | None = None

    def around(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        if name != self._name or self.act is None:
            return call

        def raced(*args: Any, **more: Any) -> Any:
            act, self.act = self.act, None
            assert act is not None
            act()
            return call(*args, **more)

        return raced


class _Part:
    def __init__(self, store: WrappedStore, inner: Any) -> None:
        self._store, self._inner = store, inner

    def __getattr__(self, name: str) -> Any:
        if hasattr(type(self._store), name):
            return getattr(self._store, name)
        return self._store.around(name, getattr(self._inner, name))
