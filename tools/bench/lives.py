"""A task with its whole trail, made by the domain's own steps, and its items as the product's store writes them, once
the bus was told of it and its end was counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

from baton.adapters.dynamodb.item_schema import NUMBER, TODAY
from baton.adapters.dynamodb.table import DEFAULT_SHARDS
from baton.adapters.dynamodb.tasks.change_writes import change_writes
from baton.adapters.dynamodb.trail_items import appended
from baton.domain.events.bus_events import OutboxEvent
from baton.domain.tasks import commands
from baton.domain.tasks.change import Change
from baton.domain.tasks.task import Task
from baton.domain.tasks.trail import Event
from baton.domain.tasks.transitions import transition

Item = dict[str, Any]
BATCH = 25  # of BatchWriteItem
# What says that something is still to be told.
FRESH, OUTBOX = ("fresh",), ("wake_pk", "wake_sk")


@dataclass
class Life:
    """A task, its trail, and the changes whose items are still there: the first one, and the last."""

    task: Task
    first: Change
    last: Change
    told: list[OutboxEvent] = field(default_factory=list)

    def after(self, change: Change) -> Life:
        self.last, before = change, None if change.before is None else str(change.before.state)
        for event in change.events:
            after = str(event.data["changes"].get("state", before))
            told = {"workspace": change.task.workspace, "task_id": change.task.id}
            self.told.append(OutboxEvent(**told, event=event, state_before=before, state=after))
            before = after
        self.task = appended(change).task
        return self

    def do(self, command: commands.TaskCommand, at: datetime) -> None:
        self.after(transition(self.task, command, at))

    @property
    def events(self) -> list[Event]:
        return [each.event for each in self.told]

    def stored(self) -> Iterator[Item]:
        """No task here has so many events that some of them have left its HEAD."""
        writes = change_writes(self.first) + ([] if self.last is self.first else change_writes(self.last))
        items = {(item["pk"]["S"], item["sk"]["S"]): item for item in (write.request["Item"] for write in writes)}
        for (_, name), item in items.items():
            told = {"told": {"N": str(self.task.meta.seq)}} if name == "BEGINNING" else {}
            left_out = OUTBOX if told else FRESH
            yield {key: value for key, value in item.items() if key not in left_out} | told


def put(client: Any, table: str, items: Iterable[Item]) -> None:
    """Puts items in the table's format, whatever was there."""
    sent = ({**DEFAULT_SHARDS.placed(item), NUMBER: {"N": str(TODAY.number)}} for item in items)
    while batch := list(islice(sent, BATCH)):
        client.batch_write_item(RequestItems={table: [{"PutRequest": {"Item": item}} for item in batch]})
