"""A store whose calls are counted, so that something can happen at each of them: another's deed, or death."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support.fakes.store import InMemoryStore
from support.faults.choke_point import Crash
from support.faults.wrapped_store import WrappedStore

Step = Callable[[], object]


class CallHooks(WrappedStore):
    """``before[n] = step``: done before the call of that number, counted from ``begin`` on; ``after`` likewise. What a
    step itself calls isn't counted."""

    inner: InMemoryStore

    def __init__(self) -> None:
        super().__init__()
        self.begin()

    def begin(self, *, before: dict[int, Step] | None = None, after: dict[int, Step] | None = None) -> None:
        self.before, self.after = before or {}, after or {}
        self.calls: list[str] = []
        self._is_counting = True

    def begin_at(self, number: int, step: Step, *, when: str) -> None:
        """With one step, ``when`` it is ("before" or "after") the call of that number."""
        self.begin(**{"before": None, "after": None, when: {number: step}})

    def around(self, name: str, call: Any) -> Any:
        def counted(*args: Any, **kwargs: Any) -> Any:
            if not self._is_counting:
                return call(*args, **kwargs)
            self.calls.append(name)
            number = len(self.calls)
            self._do(self.before.get(number))
            answer = call(*args, **kwargs)
            self._do(self.after.get(number))
            return answer

        return counted

    def _do(self, step: Step | None) -> None:
        if step is not None:
            self._is_counting = False
            try:
                step()
            finally:
                self._is_counting = True


def die() -> None:
    raise Crash
