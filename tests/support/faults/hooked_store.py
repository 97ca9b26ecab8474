"""Stores in which something happens at a call, so that a race has the same result each time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from baton.domain.errors import Busy
from baton.ports.queues import ReadyTask, Skills
from support.faults.wrapped_store import WrappedStore

Step = Callable[[], object]


class HookedStore(WrappedStore):
    """``before["commit"] = step``: the next call of ``commit`` runs ``step`` first, once. ``after`` likewise."""

    def __init__(self, inner: Any = None) -> None:
        super().__init__(inner)
        self.before: dict[str, Step] = {}
        self.after: dict[str, Step] = {}

    def around(self, name: str, call: Any) -> Any:
        def hooked(*args: Any, **kwargs: Any) -> Any:
            self.before.pop(name, _nothing)()
            answer = call(*args, **kwargs)
            self.after.pop(name, _nothing)()
            return answer

        return hooked


class LaggingStore(HookedStore):
    """A store whose index of ready work shows nothing yet."""

    def ready(self, workspace: str, agent: str, now: datetime) -> tuple[Skills | None, Iterator[ReadyTask]]:
        skills, _ = self.inner.queues.ready(workspace, agent, now)
        return skills, iter(())


class BusyStore(WrappedStore):
    """Raises ``Busy`` at a call of ``operation`` with an argument that is in ``busy_for``."""

    def __init__(self, inner: Any, operation: str, busy_for: frozenset[str] = frozenset()) -> None:
        super().__init__(inner)
        self._operation, self.busy_for = operation, busy_for

    def around(self, name: str, call: Any) -> Any:
        def checked(*args: Any, **kwargs: Any) -> Any:
            if name == self._operation and not self.busy_for.isdisjoint(args):
                raise Busy
            return call(*args, **kwargs)

        return checked


class FailingStore:
    """A store of which every call raises."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        raise self._error


def _nothing() -> None:
    return None
