"""Worlds with an event bus: what the bus was told, and the rounds of the publisher."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from baton.adapters.dynamodb.keys import BOARD_SHARDS
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

# What the bell is rung for beside tasks.
LISTS = ("#CONFIG#0", "#ALERTS", "#REVIEWS", "#TOOLS", *(f"#BOARD#{shard}" for shard in range(BOARD_SHARDS)))


@dataclass
class PublishedEvents:
    """A world with a bus. Its stream brings records only when ``stream`` is called."""

    world: World
    bus: FakeBus = field(default_factory=FakeBus)

    def stream(self) -> PublishReport:
        """The publisher gets all new records at once."""
        return publish_fresh(self.world.deps, self.bus, self.waiting())

    def tick(self) -> PublishReport:
        """The publisher's minute is over."""
        return publish_overdue(self.world.deps, self.bus)

    def waiting(self) -> list[OutboxEvent]:
        """Returns the events that the bus isn't known to have, whatever their age."""
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
        """Returns task and entry of each event, in the order in which the bus took them."""
        return [(each["task"]["id"], each["seq"]) for each in self.details()]


class Stream:
    """A table's stream. It collects what is written from its making on, and brings it when told to."""

    def __init__(self, dynamo: FakeDynamo) -> None:
        self.waiting: list[TableChange] = []
        dynamo.watch = self.waiting.extend

    def bring(self, deps: Deps, bus: Bus | None = None) -> PublishReport:
        """Brings all of it in one batch."""
        records = stream_records(self.waiting)
        self.waiting.clear()
        return publish_records(deps, bus or FakeBus(), records)


def entries(task_id: str, events: tuple[Event, ...]) -> list[tuple[str, int]]:
    return [(task_id, event.seq) for event in events]


def outbox_events(change: Change) -> tuple[OutboxEvent, ...]:
    """Returns the events of a change that the bus is to get."""
    task, state = change.task, None if change.before is None else str(change.before.state)
    found = []
    for event in change.events:
        before, state = state, str(event.data["changes"].get("state", state))
        found.append(
            OutboxEvent(workspace=task.workspace, task_id=task.id, event=event, state_before=before, state=state)
        )
    return tuple(found)


def stream_records(changes: Sequence[TableChange]) -> list[dict[str, Any]]:
    """Returns the records that the table's stream brings of these changes, by the template's filters."""
    found = []
    for _, old, now in changes:
        name = "INSERT" if old is None else "REMOVE" if now is None else "MODIFY"
        if name != "REMOVE" and "fresh" in (now or {}):
            found.append({"eventName": name, "dynamodb": {"NewImage": now}})
    return found


def bell_records(changes: Sequence[TableChange]) -> list[dict[str, Any]]:
    """Returns the records that the table's stream brings to the bell of these changes, by the template's filters."""
    found = []
    for (pk, sk), old, now in changes:
        if now is not None and (pk.endswith(LISTS) or (sk == "HEAD" and "fresh" in now)):
            found.append({"eventName": "INSERT" if old is None else "MODIFY", "dynamodb": {"NewImage": now}})
    return found
