"""What the outside is told of a task's trail: one notice per entry, in a documented shape (docs/events.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from baton.domain.numbers import dumps
from baton.domain.times import rfc3339, seconds

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from baton.domain.change import Change
    from baton.domain.events import Event
    from baton.domain.task import Task

SOURCE = "baton"
DETAIL_TYPE = "Baton Task Event"
# Rises only when a field changes its meaning or goes away; a new one may join at any time.
VERSION = "1"
# A bus takes 256 KB an entry, and so do queues behind it, together with what the bus wraps around the detail.
MAX_DETAIL_BYTES = 250_000
# What the stream hasn't brought by then has been missed.
OVERDUE_AFTER = seconds(60)
LONGEST_PAUSE = seconds(900)
_OF_TASK = (
    *("title", "kind", "priority", "source_agent", "target_agent"),
    *("handoff_id", "workflow_id", "master_task_id", "parent_id"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """One entry of a trail, and the task's state around it. ``state_before``: None for a new task."""

    workspace: str
    task_id: str
    event: Event
    state_before: str | None
    state: str


@dataclass(frozen=True, slots=True)
class Notice:
    """What goes onto the bus. ``id``: the same each time that it is sent. ``detail``: JSON."""

    id: str
    at: datetime
    detail: str


def tellings(change: Change) -> tuple[Telling, ...]:
    """One for each event, in order."""
    told = []
    state = None if change.before is None else str(change.before.state)
    for event in change.events:
        before, state = state, event.data["changes"].get("state", state)
        told.append(
            Telling(
                workspace=change.task.workspace,
                task_id=change.task.id,
                event=event,
                state_before=before,
                state=str(state),
            )
        )
    return tuple(told)


def notice_id(workspace: str, task_id: str, seq: int) -> str:
    return f"{workspace}:{task_id}:{seq}"


def notice(telling: Telling, task: Task | None, url: str) -> Notice:
    """``task``: as it is now; None where it can't be read, which keeps nobody from hearing of the event."""
    event = telling.event
    id_ = notice_id(telling.workspace, telling.task_id, event.seq)
    detail = {
        "version": VERSION,
        "id": id_,
        "workspace": telling.workspace,
        "type": event.type,
        "at": rfc3339(event.at),
        "seq": event.seq,
        "state": telling.state,
        "state_before": telling.state_before,
        "principal": {"kind": event.principal_kind, "id": event.principal_id},
        "fence": event.fence,
        "task": {"id": telling.task_id, "url": url, **({} if task is None else _summary(task))},
        "data": event.data,
        "cut": [],
    }
    return Notice(id_, event.at, _fitting(detail))


def pause(age: timedelta) -> timedelta:
    """How long to leave an entry alone that the bus refused: doubles as it grows older, from a minute to 15."""
    return min(max(age, OVERDUE_AFTER), LONGEST_PAUSE)


def _summary(task: Task) -> dict[str, Any]:
    return {name: getattr(task, name) for name in _OF_TASK}


def _fitting(detail: dict[str, Any]) -> str:
    """The largest parts of ``data`` go until the rest fits; ``cut`` names them. The trail keeps them."""
    text = _json(detail)
    while len(text.encode()) > MAX_DETAIL_BYTES and detail["data"]:
        largest = max(detail["data"], key=lambda name: len(_json(detail["data"][name]).encode()))
        data = {name: value for name, value in detail["data"].items() if name != largest}
        detail = {**detail, "data": data, "cut": [*detail["cut"], largest]}
        text = _json(detail)
    return text


def _json(value: Any) -> str:
    return dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
