"""The store's outbox to the bus: events that the bus hasn't accepted yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.agents.registry import Registry
from baton.adapters.dynamodb.events.outbox_event_items import outbox_event_from
from baton.adapters.dynamodb.table import ConditionFailed, from_wire
from baton.domain import times
from baton.domain.events.bus_events import OutboxEvent
from baton.domain.tasks.task import Task
from baton.ports.events import PendingEvent

UNSENT_PAGE = 50
# The event is still in the outbox: a late write must not put it back for good.
STILL_WAITING = "begins_with(#shard, :outbox)"
_INDEX_KEY = {"#shard": "wake_pk", "#due": "wake_sk"}
_UNREADABLE = (KeyError, TypeError, ValueError)


class EventOutbox(Registry):
    def pending_events(self, until: datetime) -> Iterator[Sequence[PendingEvent]]:
        for shard in self._outbox_shards(until):
            start, more = "0", True
            while more:
                page = self._index_page(keys.WAKE_INDEX, shard, start, UNSENT_PAGE, until=keys.wake_until(until))
                if page:
                    start = page[-1]["wake_sk"]
                    yield self._waiting([keys.Key(entry["pk"], entry["sk"]) for entry in page])
                more = len(page) == UNSENT_PAGE

    def heads(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Task]:
        found = self._table.get_many([keys.head(*each) for each in dict.fromkeys(wanted)]) if wanted else {}
        tasks = {}
        for item in found.values():
            with suppress(*_UNREADABLE):
                task = items.task_from(item)
                tasks[task.workspace, task.id] = task
        return tasks

    def mark_sent(self, workspace: str, task_id: str, seq: int) -> None:
        self._move(workspace, task_id, seq, "REMOVE #shard, #due", {})

    def put_off(self, workspace: str, task_id: str, seq: int, until: datetime) -> None:
        due = keys.outbox_index_key(task_id, seq, until).sk
        self._move(workspace, task_id, seq, "SET #due = :due", {":due": due})

    def _outbox_shards(self, at: datetime) -> list[str]:
        """Returns all shards. Each minute another one comes first, as a run may end before it has read them all."""
        shards = self._table.shards.all_of(keys.OUTBOX)
        first = times.to_ms(at) // 60_000 % len(shards)
        return shards[first:] + shards[:first]

    def _waiting(self, wanted: list[keys.Key]) -> list[PendingEvent]:
        """Returns the events that still wait: the index lags."""
        found = self._table.get_many(wanted)
        waiting = [found[key] for key in wanted if "wake_pk" in found.get(key, {})]
        return list(map(_pending_event, waiting))

    def _move(self, workspace: str, task_id: str, seq: int, expression: str, values: dict[str, Any]) -> None:
        with suppress(ConditionFailed):
            self._table.update(
                keys.event(workspace, task_id, seq),
                UpdateExpression=expression,
                ConditionExpression=STILL_WAITING,
                ExpressionAttributeNames=_INDEX_KEY,
                ExpressionAttributeValues={":outbox": keys.OUTBOX, **values},
            )


def outbox_events_in(records: Sequence[dict[str, Any]]) -> list[OutboxEvent]:
    """Returns the readable events of a batch of the table's stream. The others stay in the outbox, where their age
    raises an alarm."""
    events = (_readable(from_wire(record["dynamodb"]["NewImage"])) for record in records)
    return [outbox_event for outbox_event in events if outbox_event is not None]


def _pending_event(item: dict[str, Any]) -> PendingEvent:
    workspace, task_id = keys.parse_task(item["pk"])
    return PendingEvent(workspace, task_id, keys.parse_event(item["sk"]), _since(item), _readable(item))


def _since(item: dict[str, Any]) -> datetime:
    """Returns the epoch if the time can't be read, so that the event's age raises an alarm."""
    try:
        return times.parse_rfc3339(item["at"])
    except _UNREADABLE:
        return times.EPOCH


def _readable(item: dict[str, Any]) -> OutboxEvent | None:
    try:
        return outbox_event_from(item)
    except _UNREADABLE:
        return None
