"""A direction, source → target: the circuit breaker and the cap on escalations (docs/spec/marker.md §4)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime

from baton.domain import times
from baton.domain.settings.settings import MAX_WINDOW_DAYS, Settings

# The direction of unknown agents: no agent has an empty slug.
NO_PAIR = ("", "")
_LONGEST_WINDOW = times.seconds(MAX_WINDOW_DAYS * 86_400)


@dataclass(frozen=True, slots=True)
class CountedEscalation:
    """One task of the direction."""

    task_id: str
    created_at: datetime
    # Known to have ended, or to be closed in the tracker. An end is final, so what is known once stays true.
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The breaker refuses: an escalation in the window blocks another one."""

    task_id: str


@dataclass(frozen=True, slots=True)
class CapReached:
    """The cap refuses: the window is full."""

    review_id: str | None  # the manual review that is open for this direction, if any
    count: int


@dataclass(frozen=True, slots=True)
class Free:
    """A task may be created."""


Verdict = Duplicate | CapReached | Free


@dataclass(frozen=True, slots=True)
class Direction:
    """The escalations of one direction."""

    workspace: str
    source: str
    target: str
    escalations: tuple[CountedEscalation, ...] = ()
    review_id: str | None = None
    # Rises with every new escalation and every review that is opened or ended, not with a task's end: that can only
    # turn a refusal into a yes, so a decision made without it is never unsafe.
    version: int = 0

    def decide(self, now: datetime, settings: Settings) -> Verdict:
        """Decides on an escalation at ``now``. An earlier one exactly as old as the window doesn't count."""
        recent = self._recent(now, settings)
        blocking = [e for e in recent if not e.closed or settings.breaker_scope == "any"]
        if blocking:
            return Duplicate(max(blocking, key=lambda e: (not e.closed, e.created_at, e.task_id)).task_id)
        if len(recent) >= settings.escalation_cap:
            return CapReached(self.review_id, len(recent))
        return Free()

    def in_question(self, now: datetime, settings: Settings) -> tuple[str, ...]:
        """Returns the tasks of the window that aren't known as closed. Before a decision somebody has to look whether
        they have ended."""
        return tuple(e.task_id for e in self._recent(now, settings) if not e.closed)

    def with_closed(self, task_ids: Collection[str]) -> Direction:
        escalations = (replace(e, closed=True) if e.task_id in task_ids else e for e in self.escalations)
        return replace(self, escalations=tuple(escalations))

    def _recent(self, now: datetime, settings: Settings) -> list[CountedEscalation]:
        return [e for e in self.escalations if now - e.created_at < settings.window]

    def forgettable(self, now: datetime) -> tuple[str, ...]:
        """Returns the tasks that are outside of the longest window that a workspace can set."""
        return tuple(e.task_id for e in self.escalations if now - e.created_at >= _LONGEST_WINDOW)
