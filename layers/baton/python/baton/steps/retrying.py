"""Retries on conflict."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeVar

from baton.domain import errors
from baton.ports.deps import Deps

ATTEMPTS = 12
FIRST_PAUSE_SECONDS = 0.01
LAST_PAUSE_SECONDS = 0.4

Answer = TypeVar("Answer")


def retry_on_conflict(deps: Deps, decide_and_commit: Callable[[], Answer]) -> Answer:
    """Calls until there is no ``Conflict``, at most 12 times with jittered pauses; then raises ``Busy``. The callable
    reads anew each time, agents and settings too: a decision is never committed on another attempt's read."""
    for attempt in range(ATTEMPTS):
        try:
            return decide_and_commit()
        except errors.Conflict:
            deps.store.read_anew()
            longest = min(FIRST_PAUSE_SECONDS * 2**attempt, LAST_PAUSE_SECONDS)
            deps.clock.sleep(random.uniform(0, longest))  # noqa: S311 - spreads retries, keeps no secret
    raise errors.Busy("Too many changes at once; the same request may be sent again.")
