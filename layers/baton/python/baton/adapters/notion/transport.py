"""The errand's time, kept while a request is under way.

httpx has a timeout per step (to connect, for each write, for each read); a server that answers a byte at a time, or a
slow connect followed by a slow answer, stretches their sum without end. Here every step gets what is left of the whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_REQUEST_SECONDS = 10.0
# Less than this isn't worth a request: it would end unclear.
MIN_SECONDS = 0.05
_STEPS: dict[str, type[httpx.TimeoutException]] = {
    "pool": httpx.PoolTimeout,
    "connect": httpx.ConnectTimeout,
    "write": httpx.WriteTimeout,
    "read": httpx.ReadTimeout,
}


class Budget:
    """``monotonic``: seconds since whenever, never going back."""

    def __init__(self, seconds: float, monotonic: Callable[[], float]) -> None:
        self._monotonic, self._until = monotonic, monotonic() + seconds

    @property
    def left(self) -> float:
        return self._until - self._monotonic()


class NoTimeLeft(httpx.PoolTimeout):
    """Nothing was asked."""


class BudgetedTransport(httpx.BaseTransport):
    """One errand's way to the transport that all errands share. Closing it closes nothing."""

    def __init__(self, shared: httpx.BaseTransport, budget: Budget) -> None:
        self._shared, self._budget = shared, budget

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self._budget.left < MIN_SECONDS:
            raise NoTimeLeft("the errand's time is over")
        timeouts = _Timeouts(self._budget)
        request.extensions = {**request.extensions, "timeout": timeouts}
        response = self._shared.handle_request(request)
        if not isinstance(response.stream, httpx.SyncByteStream):
            raise TypeError(response.stream)
        return httpx.Response(
            response.status_code,
            headers=response.headers,
            stream=_Timed(response.stream, timeouts),
            extensions=response.extensions,
        )


class _Timeouts(Mapping[str, float]):
    """httpcore looks up each step's timeout when it comes to that step: so what it finds is what is left then, and
    nothing is sent any more once there is nothing left."""

    def __init__(self, budget: Budget) -> None:
        self._budget, self._spare = budget, max(0.0, budget.left - MAX_REQUEST_SECONDS)

    def __getitem__(self, step: str) -> float:
        too_late = _STEPS[step]
        left = self._budget.left - self._spare
        if left <= 0:
            raise too_late("the request's time is over")
        return left

    def __iter__(self) -> Iterator[str]:
        return iter(_STEPS)

    def __len__(self) -> int:
        return len(_STEPS)


class _Timed(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream, timeouts: _Timeouts) -> None:
        self._stream, self._timeouts = stream, timeouts

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            self._timeouts["read"]
            yield chunk

    def close(self) -> None:
        self._stream.close()
