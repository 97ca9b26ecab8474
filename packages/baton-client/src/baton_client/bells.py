"""The bells of a client, one for each topic that it waits for: none where websockets isn't installed, or too much is
waited for at once. Where none rings, long polls wait."""

from __future__ import annotations

import importlib.util
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from baton_client.core import Answer, Listen
from baton_client.profiles import Profile

if TYPE_CHECKING:
    from baton_client.bell import Bell, BellTimes

# Each is a thread and a connection; a principal has 50 connections, in all of its programs.
MOST_BELLS = 8
# What is due so soon may not have been rung for yet; of the rest a ring tells.
SOON_SECONDS = 10.0


class Bells:
    """For any number of threads."""

    def __init__(self, profile: Profile, say: Callable[[str], None], times: BellTimes | None = None) -> None:
        self._profile, self._say, self._times, self._lock = profile, say, times, threading.Lock()
        self._idle: dict[str, Bell] = {}
        self._in_use: dict[str, Bell | None] = {}
        self._is_there = importlib.util.find_spec("websockets") is not None

    def wait(self, step: Listen) -> Answer:
        """Returns 200 if it is time to look, 204 if the seconds are over; status 0 without a bell."""
        begun_at = time.monotonic()
        bell = self._taken(step.topic)
        if bell is None:
            return Answer()
        try:
            if step.due_at:
                bell.expect(step.due_at, SOON_SECONDS)
            is_time = bell.wait(step.seconds)
        finally:
            self._put_back(step.topic, bell)
        status = (200 if bell.was_due else 204) if is_time else 0
        return Answer(status, took=time.monotonic() - begun_at)

    def stop(self, topic: str) -> None:
        """Ends the wait for a topic, and its bell."""
        with self._lock:
            bell, self._in_use[topic] = self._in_use.get(topic), None
        if bell is not None:
            bell.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle, self._is_there = list(self._idle.values()), {}, False
        for topic in list(self._in_use):
            self.stop(topic)
        for each in idle:
            each.close()

    def _taken(self, topic: str) -> Bell | None:
        with self._lock:
            if not self._is_there or topic in self._in_use or len(self._in_use) >= MOST_BELLS:
                return None
            if (bell := self._idle.pop(topic, None)) is None:
                from baton_client.bell import Bell

                bell = Bell(self._profile, topic, self._say, self._times)
            self._in_use[topic] = bell
            return bell

    def _put_back(self, topic: str, bell: Bell) -> None:
        with self._lock:
            if self._in_use.pop(topic) is None:
                return  # it was stopped
            self._idle[topic] = bell
            over = [self._idle.pop(next(iter(self._idle))) for _ in range(len(self._idle) - MOST_BELLS)]
        for each in over:
            each.close()
