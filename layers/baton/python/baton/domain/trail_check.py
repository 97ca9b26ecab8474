"""Checking a trail (docs/spec/protocol.md §7) entry by entry, so that one of any length takes no more memory than its
task.

``scripts/verify_trail.py`` does the same with code of its own, for trails that have left Baton.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from baton.domain.events import GENESIS, facts, from_facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from baton.domain.events import Event
    from baton.domain.task import Task

# A heartbeat moves them, and leaves no entry.
_OF_A_LEASE = {"lease_seconds", "heartbeat_at", "expires_at"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A trail as far as it was read. ``entries``: how many there were; ``hash``: of the last one before the first that
    doesn't hold, which is ``broken_at``; ``told``: what those before it say of the task."""

    entries: int = 0
    hash: str = GENESIS
    told: Mapping[str, Any] = field(default_factory=dict)
    broken_at: int | None = None
    problem: str | None = None

    def on(self, events: Iterable[Event]) -> Reading:
        """With further entries, in their order."""
        reading = self
        for event in events:
            reading = reading._with(event)
        return reading

    def past_unreadable(self) -> Reading:
        """With an entry that can't be made out at all."""
        read = replace(self, entries=self.entries + 1)
        return read if self.broken_at is not None else read._broken(read.entries, "can't be read")

    def ended_as(self, task: Task) -> Reading:
        """The whole trail: a task knows how long its own is, and how it ends."""
        if self.broken_at is not None:
            return self
        if self.entries < task.seq:
            return self._broken(self.entries + 1, f"is missing: the task's trail has {task.seq}")
        if self.entries > task.seq:
            return self._broken(task.seq + 1, f"is unknown to the task, whose trail has {task.seq}")
        if self.hash != task.chain:
            return self._broken(self.entries, "isn't the one that the task knows as its last: its hash is another")
        return self

    def differences(self, task: Task) -> tuple[str, ...]:
        """The fields in which ``task`` isn't what its trail tells."""
        try:
            told = facts(from_facts(dict(self.told), updated_at=task.updated_at))
        except (AttributeError, KeyError, TypeError, ValueError):
            return ("trail",)  # it holds, but tells of no task
        kept = facts(task)
        return tuple(name for name in kept if _comparable(kept[name]) != _comparable(told[name]))

    def _with(self, event: Event) -> Reading:
        number = self.entries + 1
        read = replace(self, entries=number)
        if self.broken_at is not None:
            return read
        if event.seq != number:
            return read._broken(number, f"is missing: in its place is number {event.seq}")
        if event.prev_hash != self.hash:
            return read._broken(number, "isn't chained to the one before it")
        if not event.is_intact():
            return read._broken(number, "was altered: its hash isn't that of its content")
        if not isinstance(changes := event.data.get("changes"), dict):
            return read._broken(number, "doesn't say what it changed")
        return replace(read, hash=event.hash, told={**self.told, **changes})

    def _broken(self, number: int, problem: str) -> Reading:
        return replace(self, broken_at=number, problem=f"Entry {number} {problem}.")


def _comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: item for name, item in value.items() if name not in _OF_A_LEASE}
    return value
