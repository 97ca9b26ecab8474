"""A source → target pair: the circuit breaker and the cap on escalations (docs/spec/marker.md §4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from baton.domain.settings import MAX_WINDOW_DAYS
from baton.domain.times import seconds

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.settings import Settings

# The expression that forgets them has to stay under 4 KB; the next escalation forgets more.
MOST_FORGOTTEN_AT_ONCE = 50
# Of whoever isn't known: no agent has an empty slug.
NO_PAIR = ("", "")
_REMEMBERED = seconds(MAX_WINDOW_DAYS * 86_400)


@dataclass(frozen=True, slots=True)
class Escalation:
    """One task in the window. ``closed`` is set in the transaction that ends the task."""

    task_id: str
    created_at: datetime
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Duplicate:
    task_id: str


@dataclass(frozen=True, slots=True)
class Capped:
    """``review_id``: the manual review that is already open for this direction, if any."""

    review_id: str | None
    count: int


@dataclass(frozen=True, slots=True)
class Free:
    """A task may be created."""


Verdict = Duplicate | Capped | Free


@dataclass(frozen=True, slots=True)
class Direction:
    """``version`` rises with every entry made here and every review opened or released, not with a closing: a closing
    can only free the way, so it never makes a decision wrong that was taken without knowing of it."""

    workspace: str
    source: str
    target: str
    escalations: tuple[Escalation, ...] = ()
    review_id: str | None = None
    version: int = 0

    def decide(self, now: datetime, settings: Settings) -> Verdict:
        """Exactly as old as the window is outside of it; one millisecond less is inside."""
        recent = [e for e in self.escalations if now - e.created_at < settings.window]
        blocking = [e for e in recent if not e.closed or settings.breaker_scope == "any"]
        if blocking:
            return Duplicate(max(blocking, key=lambda e: (not e.closed, e.created_at, e.task_id)).task_id)
        if len(recent) >= settings.escalation_cap:
            return Capped(self.review_id, len(recent))
        return Free()

    def forgettable(self, now: datetime) -> tuple[str, ...]:
        """Tasks that are outside of every window that can be set, the oldest of them."""
        old = [e.task_id for e in self.escalations if now - e.created_at >= _REMEMBERED]
        return tuple(old[:MOST_FORGOTTEN_AT_ONCE])
