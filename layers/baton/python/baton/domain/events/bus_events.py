"""Events for the event bus: one per entry of a task's trail, in a documented shape (docs/events.md)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from baton.domain import times
from baton.domain.numbers import dumps
from baton.domain.tasks import trail
from baton.domain.tasks.task import Task

SOURCE = "baton"
DETAIL_TYPE = "Baton Task Event"
# Rises only if a field changes its meaning or is removed; a new field doesn't raise it.
VERSION = "1"
# The bus and the queues behind it take 256 KB an entry, the bus's envelope included.
MAX_DETAIL_BYTES = 250_000
# An entry that the stream hasn't delivered by then counts as lost.
OVERDUE_AFTER = times.seconds(60)
LONGEST_PAUSE = times.seconds(900)
# A beginning without its task is given up then: twice as long as any function runs, as clocks differ.
GIVEN_UP_AFTER = times.seconds(1_800)
# The longest time between two looks at a task all of whose events were told.
LONGEST_REST = times.seconds(10_800)
_SUMMARY_FIELDS = (
    *("title", "kind", "priority", "source_agent", "target_agent"),
    *("handoff_id", "workflow_id", "master_task_id", "parent_id"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxEvent:
    """One event in the outbox, with the task's state before and after it."""

    workspace: str
    task_id: str
    event: trail.Event
    state_before: str | None  # None for a new task
    state: str


@dataclass(frozen=True, slots=True)
class BusEvent:
    """One event as the bus gets it."""

    id: str  # the same for every attempt to send it
    at: datetime
    detail: str  # JSON


def bus_event_id(workspace: str, task_id: str, seq: int) -> str:
    return f"{workspace}:{task_id}:{seq}"


def bus_event(outbox_event: OutboxEvent, task: Task | None, url: str) -> BusEvent:
    """Returns the bus event. ``task``: as it is now, for the summary; None if it can't be read, and the event goes out
    without the summary."""
    event = outbox_event.event
    id_ = bus_event_id(outbox_event.workspace, outbox_event.task_id, event.seq)
    detail = {
        "version": VERSION,
        "id": id_,
        "workspace": outbox_event.workspace,
        "type": event.type,
        "at": times.rfc3339(event.at),
        "seq": event.seq,
        "state": outbox_event.state,
        "state_before": outbox_event.state_before,
        "principal": {"kind": event.principal_kind, "id": event.principal_id},
        "fence": event.fence,
        "task": {"id": outbox_event.task_id, "url": url, **({} if task is None else _summary(task))},
        "data": event.data,
        "cut": [],
    }
    return BusEvent(id_, event.at, _fitting(detail))


def retry_delay(age: timedelta) -> timedelta:
    """Returns the pause before an entry is sent again that the bus refused: its age, from 1 to 15 minutes."""
    return min(max(age, OVERDUE_AFTER), LONGEST_PAUSE)


def rest(quiet: timedelta) -> timedelta:
    """Returns the time until the next look at a task that had nothing to tell: four times as long as nothing has
    happened to it, from a minute to three hours. The stream brings what happens; a look finds only what it lost."""
    return min(max(4 * quiet, OVERDUE_AFTER), LONGEST_REST)


def _summary(task: Task) -> dict[str, Any]:
    return {name: getattr(task, name) for name in _SUMMARY_FIELDS}


def _fitting(detail: dict[str, Any]) -> str:
    """Returns the detail as JSON of at most ``MAX_DETAIL_BYTES``: the largest parts of ``data`` are left out and named
    in ``cut``. The trail keeps them."""
    text = _json(detail)
    while len(text.encode()) > MAX_DETAIL_BYTES and detail["data"]:
        largest = max(detail["data"], key=lambda name: len(_json(detail["data"][name]).encode()))
        data = {name: value for name, value in detail["data"].items() if name != largest}
        detail = {**detail, "data": data, "cut": [*detail["cut"], largest]}
        text = _json(detail)
    return text


def _json(value: Any) -> str:
    return dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
