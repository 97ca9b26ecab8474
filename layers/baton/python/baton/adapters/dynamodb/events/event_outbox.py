"""The store's outbox to the bus. A task has one place in it, on the item that begins its trail, until the bus has its
last event."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from baton.adapters.dynamodb import items, keys
from baton.adapters.dynamodb.item_writes import Item
from baton.adapters.dynamodb.table import ConditionFailed, Table, from_wire
from baton.adapters.dynamodb.trail_items import UNREADABLE, Numbered, entries_of, numbered, outbox_event_of
from baton.domain import errors, times
from baton.domain.events.bus_events import OutboxEvent
from baton.domain.task_state import ENDED
from baton.domain.tasks.task import Task
from baton.ports.events import PendingTask

UNSENT_PAGE = 50
# The most events of a task that one look tells.
MAX_AT_ONCE = 100
# The bus has every event before these, and not yet all of these: what it refused is never passed over.
FOLLOWS_WHAT_WAS_TOLD = "#told >= :before AND #told < :told"
# The task still has its place: nothing puts it back.
STILL_WAITING = "begins_with(#wake_pk, :outbox)"
# A look is due later than it is to be now.
IS_LATER = "#wake_sk > :due"


class EventOutbox:
    """``rows``: returns events of a trail, unread, from its HEAD and beginning, after a number."""

    def __init__(self, table: Table, rows: Callable[[Item, Item | None, int, int], list[Numbered]]) -> None:
        self._table, self._rows = table, rows

    def fresh_events(self, records: Sequence[Mapping[str, Any]]) -> list[OutboxEvent]:
        """The image in a record is that of HEAD, or of a watch. The HEAD of a new task has no events: they are in its
        beginning."""
        images = (from_wire(record["dynamodb"]["NewImage"]) for record in records)
        heads = [each for each in images if not (keys.is_watch(each["pk"]) or self._table.schema.is_newer(each))]
        wanted = [_beginning_of(head) for head in heads if _is_new(head)]
        beginnings = self._table.get_all(wanted, newer_too=True)
        pieces = (beginnings.get(_beginning_of(head), {}) if _is_new(head) else head for head in heads)
        return [each for piece in pieces if piece for each in self._fresh(piece)]

    def pending_tasks(self, until: datetime) -> Iterator[Sequence[PendingTask]]:
        for shard in self._outbox_shards(until):
            for page in self._table.index_pages(keys.WAKE_INDEX, shard, UNSENT_PAGE, last=keys.wake_until(until)):
                yield self._waiting([keys.parse_task(entry["pk"]) for entry in page], until)

    def heads(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Task]:
        heads = [keys.head(*each) for each in dict.fromkeys(wanted)]
        tasks = (self._task_from(item) for item in self._table.get_all(heads, newer_too=True).values())
        return {(task.workspace, task.id): task for task in tasks if task is not None}

    def mark_told(self, workspace: str, task_id: str, first: int, last: int, *, is_over: bool) -> None:
        sets = "SET #told = :told REMOVE #wake_pk, #wake_sk" if is_over else "SET #told = :told"
        self._mark(workspace, task_id, sets, FOLLOWS_WHAT_WAS_TOLD, {":before": first - 1, ":told": last})

    def look_again(self, workspace: str, task_id: str, at: datetime) -> None:
        self._move(workspace, task_id, at, STILL_WAITING)

    def look_sooner(self, workspace: str, task_id: str, at: datetime) -> None:
        self._move(workspace, task_id, at, f"{STILL_WAITING} AND {IS_LATER}")

    def leave_outbox(self, workspace: str, task_id: str) -> None:
        self._mark(workspace, task_id, "REMOVE #wake_pk, #wake_sk", STILL_WAITING, {":outbox": keys.OUTBOX})

    def mark_counted(self, workspace: str, task_id: str) -> None:
        values = {":outbox": keys.OUTBOX, ":counted": True}
        self._mark(workspace, task_id, "SET #counted = :counted", STILL_WAITING, values)

    def counted(self, workspace: str, task_ids: Sequence[str]) -> set[str]:
        wanted = {keys.beginning(workspace, task_id): task_id for task_id in task_ids}
        found = self._table.get_all(list(wanted), newer_too=True)
        return {task_id for key, task_id in wanted.items() if not _is_uncounted(found.get(key, {}))}

    def _outbox_shards(self, at: datetime) -> list[str]:
        """Returns all shards. Each minute another one comes first, as a run may end before it has read them all."""
        shards = self._table.shards.all_of(keys.OUTBOX)
        first = times.to_ms(at) // 60_000 % len(shards)
        return shards[first:] + shards[:first]

    def _waiting(self, wanted: list[tuple[str, str]], until: datetime) -> list[PendingTask]:
        """Returns the tasks that still have their places: the index lags."""
        pairs = [(keys.beginning(*each), keys.head(*each)) for each in wanted]
        found = self._table.get_many([key for pair in pairs for key in pair], newer_too=True)
        return [
            self._pending(task, found[first], found.get(head), until)
            for task, (first, head) in zip(wanted, pairs, strict=True)
            if "wake_pk" in found.get(first, {})
        ]

    def _pending(self, task: tuple[str, str], first: Item, head: Item | None, until: datetime) -> PendingTask:
        """Reads the trail's chunks only if they have events that the bus hasn't."""
        workspace, task_id = task
        if any(self._table.schema.is_newer(each or {}) for each in (first, head)):
            return PendingTask(workspace, task_id, is_readable=False)
        if head is None:
            put_at = _put_at(first)
            return PendingTask(workspace, task_id, is_readable=put_at is not None, put_at=put_at)
        try:
            told, seq = int(first["told"]), int(head["seq"])
            rows = self._rows(head, first, told, MAX_AT_ONCE) if told < seq else []
        except UNREADABLE:
            return PendingTask(workspace, task_id, is_readable=False)
        is_over, is_counted = _is_over(head), not _is_uncounted(first)
        waiting = PendingTask(workspace, task_id, is_over=is_over, task=self._task_from(head), is_counted=is_counted)
        for row in rows:
            try:
                each = outbox_event_of(workspace, task_id, row)
            except UNREADABLE:
                return replace(waiting, is_readable=False, is_over=False)
            if each.event.at > until:
                return replace(waiting, is_over=False)
            waiting = replace(waiting, events=(*waiting.events, each))
        return waiting if told + len(rows) == seq else replace(waiting, is_over=False)

    def _move(self, workspace: str, task_id: str, at: datetime, condition: str) -> None:
        values = {":outbox": keys.OUTBOX, ":due": keys.outbox_index_key(task_id, at).sk}
        self._mark(workspace, task_id, "SET #wake_sk = :due", condition, values)

    def _mark(self, workspace: str, task_id: str, sets: str, condition: str, values: Item) -> None:
        with suppress(ConditionFailed, errors.WrittenByNewer):
            self._table.update(keys.beginning(workspace, task_id), sets, condition, values)

    def _fresh(self, piece: Item) -> Iterator[OutboxEvent]:
        """Yields the readable ones of the events that the image's commit added. The others stay in the outbox, where
        their age raises an alarm; so do those of a newer version, which has a publisher of its own."""
        if self._table.schema.is_newer(piece):
            return
        workspace, task_id = keys.parse_task(piece["pk"])
        for row in _fresh_rows(self._table.schema.read(piece)):
            with suppress(*UNREADABLE):
                yield outbox_event_of(workspace, task_id, row)

    def _task_from(self, head: Item) -> Task | None:
        if not self._table.schema.is_newer(head):
            with suppress(*UNREADABLE):
                return items.task_from(head)
        return None


def _fresh_rows(piece: Item) -> list[Numbered]:
    """Returns none of a piece whose numbers can't be read: one such piece never holds up the others of a batch."""
    try:
        rows = list(numbered(piece))
        fresh = len(rows) if piece["sk"] == keys.BEGINNING else int(piece.get("fresh", 0))
    except UNREADABLE:
        return []
    return rows[len(rows) - min(fresh, len(rows)) :]


def _is_new(head: Item) -> bool:
    return "events" not in head


def _beginning_of(head: Item) -> keys.Key:
    return keys.beginning(*keys.parse_task(head["pk"]))


def _put_at(beginning: Item) -> datetime | None:
    """Returns the time of its first event; None if the item was damaged."""
    with suppress(IndexError, *UNREADABLE):
        return times.parse_rfc3339(entries_of(beginning)[0]["at"])
    return None


def _is_uncounted(beginning: Item) -> bool:
    """True while the task has its place, which it leaves once its end is counted, and isn't marked."""
    return "wake_pk" in beginning and "counted" not in beginning


def _is_over(head: Item) -> bool:
    return head.get("state") in ENDED
