"""The limit of waiting long polls per principal: each occupies a process and reads the table twice a second."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from baton.domain import errors

MAX_POLLS = 5


def free_slots(held: Mapping[int, datetime], now: datetime) -> list[int]:
    """Returns the slots that are free. ``held``: slot → when its poll ends. Raises ``TooManyPolls`` if none is free."""
    free = [slot for slot in range(MAX_POLLS) if slot not in held or held[slot] <= now]
    if not free:
        first = min(held.values()) - now
        raise errors.TooManyPolls(MAX_POLLS, -int(-first.total_seconds() // 1))
    return free
