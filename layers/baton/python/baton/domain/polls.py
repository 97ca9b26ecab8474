"""How many long polls of one principal may wait at once: each holds a process of its own, and asks the table twice a
second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.errors import TooManyPolls

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

MAX_POLLS = 5


def free_slots(held: Mapping[int, datetime], now: datetime) -> list[int]:
    """``held``: until when, by slot. Raises ``TooManyPolls``."""
    free = [slot for slot in range(MAX_POLLS) if slot not in held or held[slot] <= now]
    if not free:
        first = min(held.values()) - now
        raise TooManyPolls(MAX_POLLS, -int(-first.total_seconds() // 1))
    return free
