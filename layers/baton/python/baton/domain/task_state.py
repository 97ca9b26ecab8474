"""The states of a task (docs/spec/lifecycle.md §1)."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    NEEDS = "needs"
    DELEGATED = "delegated"
    NEXT = "next"
    CLAIMED = "claimed"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    REJECTED = "rejected"
    CANCELLED = "cancelled"


ENDED = frozenset({State.DONE, State.FAILED, State.REJECTED, State.CANCELLED})
