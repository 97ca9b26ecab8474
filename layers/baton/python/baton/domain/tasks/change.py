"""One change of a task: the task before and after it, and its events. How they are stored is the store's business: the
task after a change has no tail, and is read again before anything else is decided on it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from baton.domain.access.principal import Principal
from baton.domain.task_state import State
from baton.domain.tasks import trail
from baton.domain.tasks.event_type import EventType
from baton.domain.tasks.receipts import AskedRequest
from baton.domain.tasks.tail import UNREAD
from baton.domain.tasks.task import Claim, Flag, Recovery, Task
from baton.domain.tasks.task_items import TaskOutput
from baton.domain.tasks.wake import wake_entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The result of a command, ready to be committed."""

    before: Task | None  # None for a new task
    task: Task
    events: tuple[trail.Event, ...] = ()
    body: dict[str, Any] | None = None  # a new task's payload, which never changes
    begun_by: str | None = None  # whose message the new task begins a conversation with; None if it begins none
    output: TaskOutput | None = None  # of a task that ends
    recovery: Recovery | None = None
    failure: dict[str, Any] | None = None
    resume_payload: dict[str, Any] | None = None  # the resume payload: what a task gets that has waited
    inbox_id: str | None = None  # names the task's end in the source agent's inbox; None if no agent is told
    by_holder: bool = False  # the holder of the task's claim sent the command
    notifies: bool = False  # a dispatch notice is due after the commit
    reasons: tuple[str, ...] = field(default=())  # why the sweeper changed the task; for logs
    asked: AskedRequest | None = None  # the request, if its repeat is answered from the trail

    @property
    def ended_claim(self) -> Claim | None:
        """The claim that is over with this change."""
        before, now = None if self.before is None else self.before.claim, self.task.claim
        return before if before is not None and (now is None or now.claim_id != before.claim_id) else None

    def followed_by(self, later: Change) -> Change:
        """Returns both changes as one, in one step of the version. ``later`` was decided on the task of this one."""
        return replace(
            later,
            before=self.before,
            task=later.task.changed(version=self.task.meta.version),
            events=(*self.events, *later.events),
            recovery=later.recovery or self.recovery,
            failure=later.failure or self.failure,
            resume_payload=later.resume_payload or self.resume_payload,
            reasons=(*self.reasons, *later.reasons),
        )

    @property
    def ends(self) -> bool:
        return self.task.is_ended and (self.before is None or not self.before.is_ended)


# Fields that an end from outside clears, whatever the state was.
CLEARED: dict[str, Any] = {"claim": None, "wait": None, "deferred_until": None}
# Fields of a task that goes back to a human: it waits for approval again.
TO_HUMAN: dict[str, Any] = {"state": State.NEEDS, "claim": None, "ready_at": None, "origin": None}


class EventRecorder:
    """Records the events of one change: each ``record`` changes the task and adds the event."""

    def __init__(self, before: Task | None, task: Task, by: Principal, at: datetime) -> None:
        self.before, self.task, self.by, self.at = before, task, by, at
        self.events: list[trail.Event] = []
        self.extras: dict[str, Any] = {}

    def record(self, type_: EventType, data: dict[str, Any] | None = None, **changes: Any) -> None:
        if changes.get("state") is State.NEEDS:  # a task that comes back needs a new approval
            changes |= {"ok_by": (), "approved_as": self.task.shown_as, "came_as": None}
            approval = changes.get("approval", self.task.approval)
            changes["approval"] = None if approval is None else approval.again(self.at, self.task.created_at)
        after = self.task.changed(updated_at=self.at, **changes)
        previous = self.task if self.events else self.before
        event = trail.record(previous, after, trail.EventCause(type_, self.by, self.at, data or {}))
        self.task = after.changed(seq=event.seq, chain=event.hash)
        self.events.append(event)

    def alert(self, flag: Flag) -> None:
        if flag not in self.task.flags:
            self.record(EventType.ALERT_RAISED, {"flag": str(flag)}, flags=self.task.flags | {flag})

    def end(self, **extras: Any) -> Change:
        version = 1 if self.before is None else self.before.meta.version + 1
        hidden_until = self.task.hidden_until
        task = self.task.changed(version=version, parked=hidden_until is not None and hidden_until > self.at)
        wake_at, wakes_first = wake_entry(self.before, task, self.at)
        task = task.changed(wake_at=wake_at, wakes_first=wakes_first, tail=() if self.before is None else UNREAD)
        return Change(before=self.before, task=task, events=tuple(self.events), **self.extras, **extras)


def requeue(
    recorder: EventRecorder, type_: EventType, data: dict[str, Any], *, ready_at: datetime, **changes: Any
) -> None:
    """Requeues the task in the state that it was claimed from. Delegated work that Baton runs gets a dispatch
    notice."""
    origin = recorder.task.origin or State.DELEGATED
    recorder.record(type_, data, state=origin, claim=None, ready_at=ready_at, rings=0, **changes)
    recorder.extras["notifies"] = origin is State.DELEGATED and recorder.task.is_run
