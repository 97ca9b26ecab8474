"""A store whose calls are counted, so that something can happen at each of them: another's deed, or death."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support.fakes.store import InMemoryStore
from support.faults.choke_point import Crash
from support.faults.one_request import for_one_request

Step = Callable[[], object]


class CallHooks:
    """``before[n] = step``: done before the call of that number, counted from ``begin`` on; ``after`` likewise. What a
    step itself calls isn't counted."""

    def __init__(self) -> None:
        self.inner = InMemoryStore()
        self.begin()

    def begin(self, *, before: dict[int, Step] | None = None, after: dict[int, Step] | None = None) -> None:
        self.before, self.after = before or {}, after or {}
        self.calls: list[str] = []
        self._is_counting = True

    def begin_at(self, number: int, step: Step, *, when: str) -> None:
        """With one step, ``when`` it is ("before" or "after") the call of that number."""
        self.begin(**{"before": None, "after": None, when: {number: step}})

    def at_one_version(self) -> Any:
        return for_one_request(self, "inner")

    def __getattr__(self, name: str) -> Any:
        call = getattr(self.inner, name)

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
