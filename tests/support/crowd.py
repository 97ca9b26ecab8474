"""Workers that all wait at one deployment, as discrete events: Baton's own rule for a poll's length and the worker's
own pauses, between a gateway and a function with a reserve that refuse what is too much."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from baton.domain import errors
from baton.domain.access.polls import Room
from baton_cli.worker.api_client import AnswerKind, ApiAnswer
from baton_cli.worker.poll_backoff import PollBackoff
from baton_cli.worker.poller import POLL_SECONDS
from baton_client.core import is_refused

RESERVE = 50
REQUESTS_PER_SECOND = 200
TRIP_SECONDS = 0.01  # there and back
LOOK_SECONDS = 0.06  # of a function that doesn't wait
NOTHING = ApiAnswer(AnswerKind.DONE, status=204)
THROTTLED = ApiAnswer(AnswerKind.RETRY, foreign=503)


@dataclass
class Waiter:
    """``looked_until``: when its last look ended. ``gap``: the longest time without a look, and ``turn`` without a
    poll that waited."""

    backoff: PollBackoff = field(default_factory=lambda: PollBackoff(asked_seconds=POLL_SECONDS))
    looked_until: float = 0.0
    waited_until: float = 0.0
    gap: float = 0.0
    turn: float = 0.0

    def looks(self, begin: float, end: float, *, waits: bool) -> None:
        self.gap, self.looked_until = max(self.gap, begin - self.looked_until), end
        if waits:
            self.turn, self.waited_until = max(self.turn, begin - self.waited_until), end


class Crowd:
    """``room``: as the function knows it; ``Room()`` lets each poll wait as long as it asks. ``looks``: whether a
    refused worker looks once without waiting. ``one_function``: that takes looks as well, as at a Function URL."""

    def __init__(
        self, workers: int, room: Room, *, looks: bool = True, one_function: bool = False, seed: int = 1
    ) -> None:
        self._one_function = one_function
        self._random, self._room, self._looks, self._number = random.Random(seed), room, looks, count()
        self.waiters = [Waiter() for _ in range(workers)]
        self._due: list[tuple[float, int, Waiter]] = []
        self._ends: list[float] = []  # of the function's running calls
        self._polls: list[float] = []  # the ends of those that wait
        self._taken: deque[float] = deque()  # the requests of the last second
        self.requests = self.throttled = 0
        for waiter in self.waiters:
            heappush(self._due, (self._random.uniform(0, POLL_SECONDS), next(self._number), waiter))

    def run(self, seconds: float) -> None:
        while self._due[0][0] < seconds:
            now, _, waiter = heappop(self._due)
            heappush(self._due, (self._asked(waiter, now), next(self._number), waiter))
        for waiter in self.waiters:
            waiter.looks(max(seconds, waiter.looked_until), seconds, waits=True)

    @property
    def gap(self) -> float:
        return max(waiter.gap for waiter in self.waiters)

    @property
    def turn(self) -> float:
        return max(waiter.turn for waiter in self.waiters)

    def _asked(self, waiter: Waiter, now: float) -> float:
        """Returns when the waiter asks the next time."""
        answer, ended, refusal, asked_at = *self._polled(waiter, now), None, now
        if self._looks and is_refused(answer.code, answer.foreign):
            refusal, asked_at = answer, ended
            answer, ended = self._looked(waiter, ended)
        return ended + waiter.backoff.pause_after(answer, asked_at, ended, refusal)

    def _polled(self, waiter: Waiter, now: float) -> tuple[ApiAnswer, float]:
        if not self._is_let_in(now):
            return THROTTLED, now + TRIP_SECONDS
        if self._is_full(now):
            return THROTTLED, now + TRIP_SECONDS
        ended = now + LOOK_SECONDS
        try:
            seconds = self._room.seconds(len(self._polls) + 1, POLL_SECONDS)
        except errors.TooManyPolls as exc:
            heappush(self._ends, ended)
            waiter.looks(now, now, waits=False)
            answer = ApiAnswer(AnswerKind.RETRY, {"code": exc.code}, float(exc.fields["retry_after"]), 429)
            return answer, ended + TRIP_SECONDS
        ended += seconds
        heappush(self._ends, ended)
        heappush(self._polls, ended)
        waiter.looks(now, ended, waits=True)
        return NOTHING, ended + TRIP_SECONDS * self._random.uniform(0.5, 1.5)

    def _looked(self, waiter: Waiter, now: float) -> tuple[ApiAnswer, float]:
        if not self._is_let_in(now) or (self._one_function and self._is_full(now)):
            return THROTTLED, now + TRIP_SECONDS
        if self._one_function:
            heappush(self._ends, now + LOOK_SECONDS)
        waiter.looks(now, now, waits=False)
        return NOTHING, now + LOOK_SECONDS + TRIP_SECONDS

    def _is_full(self, now: float) -> bool:
        for running in (self._ends, self._polls):
            while running and running[0] <= now:
                heappop(running)
        self.throttled += len(self._ends) >= RESERVE
        return len(self._ends) >= RESERVE

    def _is_let_in(self, now: float) -> bool:
        """Requests come in order but for those of a look, which is milliseconds ahead."""
        while self._taken and self._taken[0] <= now - 1:
            self._taken.popleft()
        if len(self._taken) >= REQUESTS_PER_SECOND:
            return False
        self._taken.append(now)
        self.requests += 1
        return True
