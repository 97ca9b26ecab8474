"""The outbox of events, and the bus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from baton.domain.events.bus_events import BusEvent, OutboxEvent
from baton.domain.tasks.task import Task


@dataclass(frozen=True, slots=True)
class PendingEvent:
    """A pending event: an entry of a trail that the bus hasn't accepted."""

    workspace: str
    task_id: str
    seq: int
    at: datetime  # pending since then
    outbox_event: OutboxEvent | None  # None if it can't be read


class EventStore(Protocol):
    """The outbox of events. Every entry of every trail is in it from its own transaction until ``mark_sent``."""

    def pending_events(self, until: datetime) -> Iterator[Sequence[PendingEvent]]:
        """Yields the pending events, page by page: those pending since ``until`` or earlier that aren't put off beyond
        it, in order within a task. The index lags, but an event that was marked before its page was read is left out.
        Reads only items that are due."""

    def heads(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Task]:
        """Returns the tasks, by workspace and id. At most 100, in one read. Tasks that can't be read are left out."""

    def mark_sent(self, workspace: str, task_id: str, seq: int) -> None:
        """Marks an event as accepted by the bus. May be repeated any number of times. Raises ``Busy``."""

    def put_off(self, workspace: str, task_id: str, seq: int, until: datetime) -> None:
        """Hides an event from every ``pending_events`` before ``until``. Does nothing if the event was marked
        meanwhile. Raises ``Busy``."""


@dataclass(frozen=True, slots=True)
class PublishResult:
    """The bus's answer. An id in neither set: the bus was out of reach, and may have accepted the event all the
    same."""

    accepted: frozenset[str] = frozenset()
    refused: Mapping[str, str] = field(default_factory=dict)  # id → the bus's error


class Bus(Protocol):
    def publish(self, notices: Sequence[BusEvent]) -> PublishResult:
        """Publishes events, in this order as far as the bus keeps one. Never raises. Each event is accepted or refused
        by itself."""
