"""A store with something happening just before or after one of its calls, so that races come out the same each time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from baton.domain.errors import Busy
from baton.ports.queues import ReadyTask, Skills
from support.fakes.store import InMemoryStore
from support.faults.one_request import for_one_request

Step = Callable[[], object]


class HookedStore:
    """``before["commit"] = step``: the next call of ``commit`` runs ``step`` first, once. ``after`` likewise."""

    def __init__(self, store: Any = None) -> None:
        self._store = store or InMemoryStore()
        self.before: dict[str, Step] = {}
        self.after: dict[str, Step] = {}

    def at_one_version(self) -> Any:
        return for_one_request(self, "_store")

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)

        def hooked(*args: Any, **kwargs: Any) -> Any:
            self.before.pop(name, _nothing)()
            answer = call(*args, **kwargs)
            self.after.pop(name, _nothing)()
            return answer

        return hooked


class LaggingStore(HookedStore):
    """Its index of ready work shows nothing yet."""

    def ready(self, workspace: str, agent: str, now: datetime) -> tuple[Skills | None, Iterator[ReadyTask]]:
        skills, _ = self._store.queues.ready(workspace, agent, now)
        return skills, iter(())


class BusyStore:
    """``operation`` doesn't answer where one of its arguments is in ``busy_for``."""

    def __init__(self, store: Any, operation: str, busy_for: frozenset[str] = frozenset()) -> None:
        self._store, self._operation, self.busy_for = store, operation, busy_for

    def at_one_version(self) -> Any:
        return for_one_request(self, "_store")

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._store, name)

        def checked(*args: Any, **kwargs: Any) -> Any:
            if name == self._operation and not self.busy_for.isdisjoint(args):
                raise Busy
            return call(*args, **kwargs)

        return checked


class FailingStore:
    """Every call of it raises."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        raise self._error


def _nothing() -> None:
    return None
