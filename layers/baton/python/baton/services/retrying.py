"""Deciding again when somebody else changed it first."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, TypeVar

from baton.domain.errors import Busy, Conflict

if TYPE_CHECKING:
    from collections.abc import Callable

    from baton.ports import Clock

ATTEMPTS = 12
FIRST_PAUSE_SECONDS = 0.01
LAST_PAUSE_SECONDS = 0.4

Answer = TypeVar("Answer")


def decided_again(clock: Clock, decide_and_commit: Callable[[], Answer]) -> Answer:
    """Calls until it doesn't raise ``Conflict``, at most 12 times with jittered pauses, then raises ``Busy``. The
    callable reads afresh each time: a decision is never committed on an older reading than its own."""
    for attempt in range(ATTEMPTS):
        try:
            return decide_and_commit()
        except Conflict:
            longest = min(FIRST_PAUSE_SECONDS * 2**attempt, LAST_PAUSE_SECONDS)
            clock.sleep(random.uniform(0, longest))  # noqa: S311 - spreads retries, keeps no secret
    raise Busy("Too many changes at once; the same request may be sent again.")
