"""What tests ask of the outside: what a bus was told, and a publisher's rounds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from baton.domain.events.bus_events import OutboxEvent
from baton.domain.tasks.change import Change
from baton.domain.tasks.trail import Event
from baton.ports.deps import Deps
from baton.ports.events import Bus
from baton.services.events.publish_events import PublishReport, publish_fresh, publish_overdue, publish_records
from support.fakes.fake_dynamo import Change as TableChange
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.ports import FakeBus
from support.worlds.world import World


@dataclass
class PublishedEvents:
    """A world with a bus. Its stream brings only what ``stream`` is asked to bring."""

    world: World
    bus: FakeBus = field(default_factory=FakeBus)

    def stream(self) -> PublishReport:
        """All that is new reaches the publisher at once."""
        return publish_fresh(self.world.deps, self.bus, self.waiting())

    def tick(self) -> PublishReport:
        """The minute is over."""
        return publish_overdue(self.world.deps, self.bus)

    def waiting(self) -> list[OutboxEvent]:
        """What the bus isn't known to have, whatever its age."""
        end_of_time = self.world.clock.time.replace(year=9999)
        return [
            event
            for page in self.world.store.outbox.pending_tasks(end_of_time)
            for each in page
            for event in each.events
        ]

    def details(self) -> list[dict[str, Any]]:
        return [json.loads(notice.detail) for notice in self.bus.took]

    def told(self) -> list[tuple[str, int]]:
        """Of which task which entry, in the order in which the bus took them."""
        return [(each["task"]["id"], each["seq"]) for each in self.details()]


class Stream:
    """A table's stream: it has what was written since it was made, and brings it when it is told to."""

    def __init__(self, dynamo: FakeDynamo) -> None:
        self.waiting: list[TableChange] = []
        dynamo.watch = self.waiting.extend

    def bring(self, deps: Deps, bus: Bus | None = None) -> PublishReport:
        """In one batch."""
        records = stream_records(self.waiting)
        self.waiting.clear()
        return publish_records(deps, bus or FakeBus(), records)


def entries(task_id: str, events: tuple[Event, ...]) -> list[tuple[str, int]]:
    return [(task_id, event.seq) for event in events]


def outbox_events(change: Change) -> tuple[OutboxEvent, ...]:
    """What the bus is to be told of a change."""
    task, state = change.task, None if change.before is None else str(change.before.state)
    found = []
    for event in change.events:
        before, state = state, str(event.data["changes"].get("state", state))
        found.append(
            OutboxEvent(workspace=task.workspace, task_id=task.id, event=event, state_before=before, state=state)
        )
    return tuple(found)


def stream_records(changes: Sequence[TableChange]) -> list[dict[str, Any]]:
    """What the table's stream brings of such changes of items: by the filters of the template."""
    found = []
    for _, old, now in changes:
        name = "INSERT" if old is None else "REMOVE" if now is None else "MODIFY"
        if name != "REMOVE" and "fresh" in (now or {}):
            found.append({"eventName": name, "dynamodb": {"NewImage": now}})
    return found
