"""Changes to commit, as the domain hands them to a store, but without its rules about which may follow which."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from baton.adapters.dynamodb.trail_items import appended
from baton.domain.access.principal import Principal
from baton.domain.task_state import State
from baton.domain.tasks.change import Change
from baton.domain.tasks.event_type import EventType
from baton.domain.tasks.task import Claim, Task
from baton.domain.tasks.task_items import TaskOutput
from baton.domain.tasks.trail import EventCause, record
from baton.domain.times import seconds
from baton.ports.store import Store
from support.clock import NOON
from support.values.tasks import a_new_task
from support.worlds.world import agent, human


def new(id_: str = "task_1", **values: Any) -> Change:
    task = a_new_task(id=id_, master_task_id=id_, **values)
    event = record(None, task, EventCause(EventType.HANDOFF_INITIATED, human(task.workspace), task.created_at, {}))
    return Change(before=None, task=task.changed(version=1, seq=1, chain=event.hash), events=(event,))


def then(task: Task, type_: str = "changed", at: datetime = NOON, **changes: Any) -> Change:
    """Returns the next change, with one event. ``type_`` may be one that this release doesn't know."""
    after = task.changed(**changes)
    event = record(task, after, EventCause(cast(EventType, type_), human(task.workspace), at, {}))
    after = after.changed(updated_at=at, version=task.meta.version + 1, seq=event.seq, chain=event.hash)
    return _as_read_again(Change(before=task, task=after, events=(event,)))


def ended(task: Task, state: State = State.DONE, **data: Any) -> Change:
    """Returns the change that ends the task: by its worker, with the fields of a completion's event, or by a human."""
    after = task.changed(state=state, claim=None, has_output=True, updated_at=NOON)
    type_ = EventType.HANDOFF_COMPLETED if data else EventType.RESOLVED
    event = record(task, after, EventCause(type_, agent("auditor"), NOON, data))
    after = after.changed(version=task.meta.version + 1, seq=event.seq, chain=event.hash)
    return _as_read_again(Change(before=task, task=after, events=(event,), by_holder=True))


def looked_at(task: Task, **changes: Any) -> Change:
    """Returns a change without an event, as the sweeper's bookkeeping makes it."""
    return _as_read_again(Change(before=task, task=task.changed(version=task.meta.version + 1, **changes)))


def _as_read_again(change: Change) -> Change:
    """Returns the change with its HEAD's tail, so that a test can go on from its task without reading it."""
    return replace(change, task=appended(change).task)


def stored(store: Store, id_: str = "task_1", **values: Any) -> Task:
    change = new(id_, **values)
    store.commit(change.task.workspace, change)
    return change.task


def plant(store: Store, changes: Iterable[Change]) -> None:
    for change in changes:
        store.commit(change.task.workspace, change)


def queued(store: Store, id_: str, ready_at: datetime = NOON, **values: Any) -> Task:
    """Stores a task that is approved and in its agent's queue."""
    return stored(store, id_, state=State.DELEGATED, ready_at=ready_at, **values)


def a_claim(by: Principal | None = None, at: datetime = NOON, lease_seconds: int = 300, fence: int = 1) -> Claim:
    by = by or agent("auditor")
    return Claim(
        claim_id=f"clm_{fence}",
        fence=fence,
        agent="auditor",
        worker="worker-1",
        principal=by.key,
        lease_seconds=lease_seconds,
        claimed_at=at,
        heartbeat_at=at,
        expires_at=at + seconds(lease_seconds),
    )


def claimed(store: Store, id_: str = "task_1", claim: Claim | None = None, **values: Any) -> Task:
    claim = claim or a_claim()
    return stored(
        store,
        id_,
        state=State.CLAIMED,
        origin=State.DELEGATED,
        claim=claim,
        fence=claim.fence,
        **{"wake_at": claim.expires_at, "wakes_first": True, **values},
    )


def with_body(change: Change, body: dict[str, Any]) -> Change:
    return replace(change, body=body)


def with_output(change: Change, output: Any, completion: dict[str, Any] | None = None) -> Change:
    return replace(change, output=TaskOutput(output, completion))
