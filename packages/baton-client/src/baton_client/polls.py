"""Requests that wait, or are made again and again, as values: they give way where too many wait."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from baton_client.core import Flow, Patience, Pause, Request, body_of, exchange, is_refused

T = TypeVar("T")
NOT_MODIFIED = 304


@dataclass(slots=True)
class WaitBackoff:
    """The backoff of long polls where too many wait: the caller looks once without waiting, and stays away for a while,
    the longer, the more often it was refused. ``refusals``: how often waits were refused, less the waits since."""

    refusals: int = 0
    drawn: Callable[[float, float], float] = random.uniform

    def pause_after_refusal(self, retry_after: float) -> float:
        """Returns the seconds until the next wait."""
        self.refusals = min(self.refusals + 1, 5)
        return self._pause(retry_after)

    def pause_after_wait(self, asked_seconds: float, seconds: float) -> float:
        """Returns the seconds until the next wait, after one in vain: none if it was as long as asked. One that was cut
        short gives way to others."""
        self.refusals = max(0, self.refusals - 1)
        return self._pause() if seconds < asked_seconds * 0.9 else 0.0

    def _pause(self, at_least: float = 0.0) -> float:
        pause: float = min(0.5 * 2**self.refusals, 8.0)  # with its jitter, at most 10 s
        return max(at_least, pause) * self.drawn(1.0, 1.25)


@dataclass(slots=True)
class LongPoll:
    """Looks that wait, in turn. If a wait was refused or cut short, the next one begins with a pause. For one flow."""

    patience: Patience
    backoff: WaitBackoff = field(default_factory=WaitBackoff)
    pause: float = 0.0

    def wait(
        self, request: Request[T], look: Request[T], seconds: float, left: float | None = None
    ) -> Flow[tuple[T, float]]:
        """Returns the body of a request that waits for ``seconds``, and how long that took. Where too many wait, it is
        that of ``look``, which doesn't wait. An outage is waited out for ``left`` seconds, by default as long as in
        any other request."""
        patience = self.patience if left is None else self.patience.lasting(left)
        paused = min(self.pause, seconds)
        if paused:
            yield Pause(paused)
        answer = yield from exchange(request, patience, seconds + 15.0, is_wait=True)
        if is_refused(answer.code, answer.foreign):
            self.pause = self.backoff.pause_after_refusal(answer.retry_after)
            found = yield from exchange(look, patience)
            return body_of(found), paused + answer.since + found.since
        self.pause = self.backoff.pause_after_wait(seconds, answer.took)
        return body_of(answer), paused + answer.since


@dataclass(slots=True)
class Again:
    """GETs that are sent again and again. If an answer is the same as the last time, the API sends no body (RFC 9110
    §13). From the second time on it may be half a minute old, which costs the API less, unless it has to be fresh."""

    known: dict[str, tuple[str, Any]] = field(default_factory=dict[str, tuple[str, Any]])

    def get(self, request: Request[T], patience: Patience, *, is_fresh: bool = False) -> Flow[T]:
        tag, known = self.known.get(request.path, ("", None))
        headers = {"If-None-Match": tag, "Cache-Control": f"max-age={0 if is_fresh else 30}"} if tag else {}
        answer = yield from exchange(replace(request, headers=headers), patience)
        is_same = answer.status == NOT_MODIFIED and tag != ""
        body = known if is_same else body_of(answer)
        self.known[request.path] = (answer.headers.get("etag", tag if is_same else ""), body)
        return body  # type: ignore[no-any-return]
