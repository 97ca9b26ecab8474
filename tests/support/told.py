"""What tests ask of the outside: what a bus was told, and a publisher's rounds."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from baton.domain.events import Event
from baton.ports import Unsent
from baton.services.publish_events import Told, publish_fresh, publish_overdue
from support.ports import MemoryBus
from support.world import World


@dataclass
class Outside:
    """A world with a bus. Its stream brings only what ``stream`` is asked to bring."""

    world: World
    bus: MemoryBus = field(default_factory=MemoryBus)

    def stream(self) -> Told:
        """All that is new reaches the publisher at once."""
        tellings = [each.telling for each in self.waiting() if each.telling is not None]
        return publish_fresh(self.world.baton, self.bus, tellings)

    def tick(self) -> Told:
        """The minute is over."""
        return publish_overdue(self.world.baton, self.bus)

    def waiting(self) -> list[Unsent]:
        """All of the outbox, whatever its age, for anybody to see."""
        end_of_time = self.world.clock.time.replace(year=9999)
        return [each for page in self.world.store.unsent(end_of_time) for each in page]

    def details(self) -> list[dict[str, Any]]:
        return [json.loads(notice.detail) for notice in self.bus.took]

    def told(self) -> list[tuple[str, int]]:
        """Of which task which entry, in the order in which the bus took them."""
        return [(each["task"]["id"], each["seq"]) for each in self.details()]


def entries(task_id: str, events: tuple[Event, ...]) -> list[tuple[str, int]]:
    return [(task_id, event.seq) for event in events]
