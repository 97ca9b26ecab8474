"""A store that counts its calls. At any of them a test can let another process act, or this one die."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support.fakes.store import InMemoryStore
from support.faults.choke_point import Crash
from support.faults.wrapped_store import WrappedStore

Step = Callable[[], object]


class CallHooks(WrappedStore):
    """``before[n] = step``: the step is called before the call number n, counted from ``begin`` on; ``after`` likewise.
    The calls that a step makes aren't counted."""

    inner: InMemoryStore

    def __init__(self) -> None:
        super().__init__()
        self.begin()

    def begin(self, *, before: dict[int, Step] | None = None, after: dict[int, Step] | None = None) -> None:
        self.before, self.after = before or {}, after or {}
        self.calls: list[str] = []
        self._is_counting = True

    def begin_at(self, number: int, step: Step, *, when: str) -> None:
        """Begins with one step, "before" or "after" (``when``) the call of that number."""
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
