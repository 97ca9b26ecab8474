"""How much an entry counts beside how well its words fit: what it is, how old it is, where it stands. All factors are
of one product, so none brings up an entry whose words don't fit."""

from __future__ import annotations

import math
from datetime import timedelta

from baton.domain.memory.entry import DecisionStatus, EntryType

HALF_LIFE = timedelta(days=7)
_HALF_LIFE_MS = HALF_LIFE / timedelta(milliseconds=1)
# An old entry keeps this much: a decision of last year still holds, and only yields to a newer one that fits as well.
_KEPT_WITH_AGE = 0.7
# What an agent must know before it acts counts more than what others are busy with.
_OF_TYPES = {EntryType.DECISION: 1.3, EntryType.CONSTRAINT: 1.25, EntryType.WARNING: 1.2, EntryType.STATUS: 0.75}
_OF_STATUSES = {DecisionStatus.PROVISIONAL: 0.9, DecisionStatus.SUPERSEDED: 0.2, DecisionStatus.OVERRIDDEN: 0.2}
_PER_STEP = 0.12


def weight_of_type(entry_type: EntryType) -> float:
    return _OF_TYPES.get(entry_type, 1.0)


def weight_of_status(status: DecisionStatus | None) -> float:
    return 1.0 if status is None else _OF_STATUSES.get(status, 1.0)


def weight_of_age(age_ms: int) -> float:
    """Returns 1 for an entry of this moment, or of a clock that is ahead."""
    return _KEPT_WITH_AGE + (1 - _KEPT_WITH_AGE) * math.exp2(-max(age_ms, 0) / _HALF_LIFE_MS)


def weight_of_distance(steps: int | None) -> float:
    """``steps``: between the two scopes, as ``steps_between`` counts them. Returns 0 if they don't see each other."""
    return 0.0 if steps is None else 1 / (1 + _PER_STEP * steps)
