"""What tests ask of the outside: what a bus was told, and a publisher's rounds."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from baton.domain.tasks.trail import Event
from baton.ports.events import PendingEvent
from baton.services.events.publish_events import PublishReport, publish_fresh, publish_overdue
from support.fakes.ports import FakeBus
from support.worlds.world import World


@dataclass
class PublishedEvents:
    """A world with a bus. Its stream brings only what ``stream`` is asked to bring."""

    world: World
    bus: FakeBus = field(default_factory=FakeBus)

    def stream(self) -> PublishReport:
        """All that is new reaches the publisher at once."""
        outbox_events = [each.outbox_event for each in self.waiting() if each.outbox_event is not None]
        return publish_fresh(self.world.deps, self.bus, outbox_events)

    def tick(self) -> PublishReport:
        """The minute is over."""
        return publish_overdue(self.world.deps, self.bus)

    def waiting(self) -> list[PendingEvent]:
        """All of the outbox, whatever its age, for anybody to see."""
        end_of_time = self.world.clock.time.replace(year=9999)
        return [each for page in self.world.store.pending_events(end_of_time) for each in page]

    def details(self) -> list[dict[str, Any]]:
        return [json.loads(notice.detail) for notice in self.bus.took]

    def told(self) -> list[tuple[str, int]]:
        """Of which task which entry, in the order in which the bus took them."""
        return [(each["task"]["id"], each["seq"]) for each in self.details()]


def entries(task_id: str, events: tuple[Event, ...]) -> list[tuple[str, int]]:
    return [(task_id, event.seq) for event in events]
