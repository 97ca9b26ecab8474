"""Whether an agent is there, as far as its last contact tells (docs/spec/protocol.md §8)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

ACTIVE_FOR = timedelta(minutes=5)
IDLE_FOR = timedelta(minutes=30)
# A contact is marked when the last mark is this old.
MARKED_EVERY = timedelta(minutes=1)
MATCH_WEIGHT, LIVENESS_WEIGHT = 0.7, 0.3


class Presence(StrEnum):
    ACTIVE = "active"
    IDLE = "idle"
    GONE = "gone"


_WORTH = {Presence.ACTIVE: 1.0, Presence.IDLE: 0.5, Presence.GONE: 0.0}


@dataclass(frozen=True, slots=True)
class Liveness:
    """``last_contact_at``: when it last asked for work, give or take a minute; None if it never did."""

    status: Presence
    last_contact_at: datetime | None = None

    def score(self, match: float) -> float:
        """What an agent that matches so well (0 to 1) is worth: 0 to 1, to four digits."""
        return round(MATCH_WEIGHT * match + LIVENESS_WEIGHT * _WORTH[self.status], 4)


def liveness(last_contact_at: datetime | None, now: datetime, *, holds_claim: bool = False) -> Liveness:
    """Active for less than 5 minutes after a contact and while it holds a claim, idle for less than 30, then gone."""
    if holds_claim or _is_within(ACTIVE_FOR, last_contact_at, now):
        return Liveness(Presence.ACTIVE, last_contact_at)
    return Liveness(Presence.IDLE if _is_within(IDLE_FOR, last_contact_at, now) else Presence.GONE, last_contact_at)


def _is_within(length: timedelta, last_contact_at: datetime | None, now: datetime) -> bool:
    return last_contact_at is not None and now - last_contact_at < length
