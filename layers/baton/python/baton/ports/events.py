"""The outbox of events, and the bus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from baton.domain.events.bus_events import BusEvent, OutboxEvent
from baton.domain.tasks.task import Task


@dataclass(frozen=True, slots=True)
class PendingTask:
    """A task with a place in the outbox that is due."""

    workspace: str
    task_id: str
    events: tuple[OutboxEvent, ...] = ()  # that the bus hasn't accepted yet as far as is known, in order
    is_readable: bool = True  # False if the entry after ``events`` can't be read
    is_over: bool = False  # nothing follows after ``events``: the task has ended
    task: Task | None = None  # as it is now; None if it can't be read
    is_counted: bool = False  # its end is in the counters, as ``mark_counted`` says
    # When what there is of the task was put, if the task itself isn't there yet, and perhaps never will be.
    put_at: datetime | None = None


class EventStore(Protocol):
    """The outbox of events. A task has a place in it from just before it is there until the bus has its last event."""

    def fresh_events(self, records: Sequence[Mapping[str, Any]]) -> list[OutboxEvent]:
        """Returns the events in a batch of the table's stream, in order within a task. One read for the beginnings of
        new tasks, at most 100, and none without such. Events that can't be read are left out. Raises ``Busy``."""

    def pending_tasks(self, until: datetime) -> Iterator[Sequence[PendingTask]]:
        """Yields the tasks whose place is due at ``until`` or earlier, page by page, each with its events up to
        ``until``. The index lags, but a task that left the outbox before its page was read is left out. Reads only what
        is due."""

    def heads(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Task]:
        """Returns the tasks, by workspace and id. At most 100, in one read. Tasks that can't be read are left out."""

    def mark_told(self, workspace: str, task_id: str, first: int, last: int, *, is_over: bool) -> None:
        """Marks events as accepted by the bus; ``is_over``: the task leaves the outbox. Does nothing unless all events
        before them are marked and some of them aren't, so that an event that the bus refused is never passed over. May
        be repeated any number of times. Raises ``Busy``."""

    def look_again(self, workspace: str, task_id: str, at: datetime) -> None:
        """Moves the task's place to ``at``. Does nothing if the task left the outbox meanwhile. Raises ``Busy``."""

    def look_sooner(self, workspace: str, task_id: str, at: datetime) -> None:
        """Moves the task's place to ``at``, unless it is due earlier. Does nothing if the task left the outbox
        meanwhile. Raises ``Busy``."""

    def leave_outbox(self, workspace: str, task_id: str) -> None:
        """Takes the place away from a task that has ended, was told whole and is counted, or that never came to be.
        Raises ``Busy``."""

    def mark_counted(self, workspace: str, task_id: str) -> None:
        """Notes that the end of a task is in the counters, though it stays in the outbox. Does nothing if it has left.
        Raises ``Busy``."""

    def counted(self, workspace: str, task_ids: Sequence[str]) -> set[str]:
        """Returns those of the tasks, all of which have ended, whose ends are known to be in the counters: they have
        left the outbox, or are marked. One read per hundred."""


@dataclass(frozen=True, slots=True)
class PublishResult:
    """The bus's answer. An id in neither set: the bus was out of reach, and may have accepted the event all the
    same."""

    accepted: frozenset[str] = frozenset()
    refused: Mapping[str, str] = field(default_factory=dict)  # id → the bus's error
    is_sent: bool = True  # False if nobody listens to the bus: it accepts events without being sent them


class Bus(Protocol):
    def publish(self, notices: Sequence[BusEvent]) -> PublishResult:
        """Publishes events, in this order as far as the bus keeps one. Never raises. Each event is accepted or refused
        by itself."""
