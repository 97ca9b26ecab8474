"""The liveness of an agent, estimated from its last contact (docs/spec/protocol.md §8)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

ACTIVE_FOR = timedelta(minutes=5)
IDLE_FOR = timedelta(minutes=30)
# A contact is stored only if the stored one is at least this old. One that brought work may be stored later: while the
# claim lives, its id tells of it.
MARKED_EVERY = timedelta(minutes=1)
CLAIM_MARKED_EVERY = timedelta(minutes=3)
MATCH_WEIGHT, LIVENESS_WEIGHT = 0.7, 0.3


class Presence(StrEnum):
    ACTIVE = "active"
    IDLE = "idle"
    GONE = "gone"


_LIVENESS_SCORES = {Presence.ACTIVE: 1.0, Presence.IDLE: 0.5, Presence.GONE: 0.0}


@dataclass(frozen=True, slots=True)
class Liveness:
    """The liveness of an agent at one time."""

    status: Presence
    last_contact_at: datetime | None = None  # its last request for work, to three minutes; None if there was none

    def score(self, match: float) -> float:
        """Returns the agent's score, 0 to 1 with four decimals. ``match``: of its capabilities, 0 to 1."""
        return round(MATCH_WEIGHT * match + LIVENESS_WEIGHT * _LIVENESS_SCORES[self.status], 4)


def liveness(last_contact_at: datetime | None, now: datetime, *, holds_claim: bool = False) -> Liveness:
    """Active while the agent holds a claim or for 5 minutes after a contact, idle until 30 minutes, then gone."""
    if holds_claim or _is_within(ACTIVE_FOR, last_contact_at, now):
        return Liveness(Presence.ACTIVE, last_contact_at)
    return Liveness(Presence.IDLE if _is_within(IDLE_FOR, last_contact_at, now) else Presence.GONE, last_contact_at)


def _is_within(length: timedelta, last_contact_at: datetime | None, now: datetime) -> bool:
    return last_contact_at is not None and now - last_contact_at < length
