"""Keeps a tracker session's time budget during a request.

httpx has a timeout per step (to connect, for each write, for each read). A server that answers a byte at a time, or a
slow connect followed by a slow answer, stretches their sum without end. Here every step gets the time that is left of
the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import httpx

from baton.adapters.deadline import Deadline

MAX_REQUEST_SECONDS = 10.0
# With less time than this a request isn't sent: its outcome would be unclear.
MIN_SECONDS = 0.05
_STEPS: dict[str, type[httpx.TimeoutException]] = {
    "pool": httpx.PoolTimeout,
    "connect": httpx.ConnectTimeout,
    "write": httpx.WriteTimeout,
    "read": httpx.ReadTimeout,
}


class NoTimeLeft(httpx.PoolTimeout):
    """No request was sent."""


class SessionTransport(httpx.BaseTransport):
    """One session's access to the transport that all sessions share. Closing it doesn't close the shared one."""

    def __init__(self, shared: httpx.BaseTransport, deadline: Deadline) -> None:
        self._shared, self.deadline = shared, deadline

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self.deadline.left < MIN_SECONDS:
            raise NoTimeLeft("the session's time is over")
        timeouts = _Timeouts(self.deadline)
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
    """httpcore looks up each step's timeout when it begins that step, so it gets the time left at that moment. Once no
    time is left, the lookup raises and nothing more is sent."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline, self._spare = deadline, max(0.0, deadline.left - MAX_REQUEST_SECONDS)

    def __getitem__(self, step: str) -> float:
        too_late = _STEPS[step]
        left = self._deadline.left - self._spare
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
