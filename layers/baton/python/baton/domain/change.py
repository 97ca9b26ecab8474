"""One change of a task: as it was, as it will be, and the events that tell of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from baton.domain.agent import Runtime
from baton.domain.events import Event, record
from baton.domain.task import Flag, State, Task
from baton.domain.wake import next_look

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.principal import Principal
    from baton.domain.task import Recovery


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """``before``: None for a new task. ``ring``: the target agent's bell is due once this is committed. ``brought``:
    what a task that has waited goes on with."""

    before: Task | None
    task: Task
    events: tuple[Event, ...] = ()
    recovery: Recovery | None = None
    failure: dict[str, Any] | None = None
    brought: dict[str, Any] | None = None
    ring: bool = False
    reasons: tuple[str, ...] = field(default=())

    @property
    def ends(self) -> bool:
        return self.task.is_ended and (self.before is None or not self.before.is_ended)


# What an end from outside takes away, whatever the task was at.
OVER: dict[str, Any] = {"claim": None, "wait": None, "deferred_until": None}
# What changes when only a human can say how it goes on: the task waits for approval again.
TO_HUMAN: dict[str, Any] = {"state": State.NEEDS, "claim": None, "ready_at": None, "origin": None}


class Story:
    """One change in the making: each ``tell`` moves the task on and writes the event of it."""

    def __init__(self, before: Task | None, task: Task, by: Principal, at: datetime) -> None:
        self.before, self.task, self.by, self.at = before, task, by, at
        self.events: list[Event] = []
        self.extras: dict[str, Any] = {}

    def tell(self, type_: str, data: dict[str, Any] | None = None, **changes: Any) -> None:
        after = self.task.changed(updated_at=self.at, **changes)
        previous = self.task if self.events else self.before
        event = record(previous, after, type_, self.by, self.at, data or {})
        self.task = after.changed(seq=event.seq, chain=event.hash)
        self.events.append(event)

    def alert(self, flag: Flag) -> None:
        if flag not in self.task.flags:
            self.tell("alert_raised", {"flag": str(flag)}, flags=self.task.flags | {flag})

    def end(self, **extras: Any) -> Change:
        version = 1 if self.before is None else self.before.version + 1
        hidden_until = self.task.hidden_until
        task = self.task.changed(version=version, parked=hidden_until is not None and hidden_until > self.at)
        task = task.changed(wake_at=next_look(task, self.at))
        return Change(before=self.before, task=task, events=tuple(self.events), **self.extras, **extras)


def put_back(story: Story, type_: str, data: dict[str, Any], *, ready_at: datetime, **changes: Any) -> None:
    """Back where it came from; the dispatcher is rung for what it may take up again."""
    origin = story.task.origin or State.DELEGATED
    story.tell(type_, data, state=origin, claim=None, ready_at=ready_at, rings=0, **changes)
    story.extras["ring"] = origin is State.DELEGATED and story.task.runtime is Runtime.RUN
