"""The twin of the DynamoDB store, for tests and benches: the same promises, kept by one lock.

Values are frozen, and what isn't (payloads, answers) is copied on the way in and out, so that nothing is shared by
accident.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from baton.adapters.memory_alerts import MemoryAlerts
from baton.adapters.memory_events import MemoryEvents
from baton.adapters.memory_outbox import MemoryOutbox
from baton.adapters.memory_registry import page
from baton.adapters.memory_routes import MemoryRoutes
from baton.domain.direction import NO_PAIR, Direction, Escalation
from baton.domain.errors import Conflict, KeyTaken, Unknown
from baton.domain.settings import Settings
from baton.domain.task import State
from baton.domain.times import to_ms
from baton.ports import (
    AlertCounted,
    AlertRaised,
    AlertSaved,
    Body,
    Closed,
    Dossier,
    EndedClaim,
    Note,
    Opened,
    Output,
    Page,
    Ready,
    Remember,
    ReviewChanged,
    ReviewOpened,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import date, datetime

    from baton.domain.agent import Agent
    from baton.domain.change import Change
    from baton.domain.events import Event
    from baton.domain.idempotency import Once, Remembered
    from baton.domain.principal import Principal
    from baton.domain.review import Review
    from baton.domain.task import Claim, Recovery, Task
    from baton.ports import Extra

Pair = tuple[str, str, str]


@dataclass
class _Beside:
    """What lies beside a task's HEAD."""

    body: dict[str, Any]
    output: Any = None
    failure: dict[str, Any] | None = None
    recoveries: list[Recovery] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    ended_claims: dict[str, Remembered] = field(default_factory=dict)


class MemoryStore(MemoryOutbox, MemoryAlerts, MemoryRoutes, MemoryEvents):
    def __init__(self) -> None:
        super().__init__()
        self._tasks: dict[tuple[str, str], Task] = {}
        self._beside: dict[tuple[str, str], _Beside] = {}
        self._directions: dict[Pair, Direction] = {}
        self._reviews: dict[tuple[str, str], Review] = {}
        self._notes: dict[tuple[str, str], list[Note]] = {}

    # Tasks

    def load(self, workspace: str, task_id: str, once: Once | None = None) -> tuple[Task, Remembered | None]:
        with self._lock:
            return self._task(workspace, task_id), self.remembered(once) if once else None

    def read(self, workspace: str, task_id: str, *, with_body: bool = False) -> Dossier:
        with self._lock:
            task, beside = self._task(workspace, task_id), self._beside[workspace, task_id]
            return Dossier(
                task=task,
                body=deepcopy(beside.body) if with_body else None,
                output=deepcopy(beside.output),
                failure=deepcopy(beside.failure),
                recoveries=tuple(beside.recoveries),
                mirror=self.mirror(workspace, task_id),
            )

    def read_for_claim(self, workspace: str, task_id: str, agent: str) -> tuple[Dossier, Agent | None]:
        with self._lock:
            dossier = self.read(workspace, task_id, with_body=True)
            return replace(dossier, mirror=None), self.agent(workspace, agent)

    def commit(self, workspace: str, change: Change | None, extras: Sequence[Extra] = ()) -> None:
        with self._lock:
            for extra in extras:
                if isinstance(extra, Remember):  # a used key says more than a change that came too late
                    self._check(workspace, extra)
            if change is not None:
                held = self._tasks.get((workspace, change.task.id))
                if (held.version if held else None) != (change.before.version if change.before else None):
                    raise Conflict("task")
            for extra in extras:
                self._check(workspace, extra)
            if change is not None:
                self._apply(workspace, change)
            for extra in extras:
                self._write(workspace, change, extra)

    def renew(
        self, workspace: str, task_id: str, claim_id: str, by: Principal, now: datetime, lease_seconds: int | None
    ) -> Claim:
        with self._lock:
            task = self._task(workspace, task_id)
            before = task.current_claim(claim_id, by)
            claim = before.renewed(now, lease_seconds, task.hard_deadline)
            if claim != before:
                self._tasks[workspace, task_id] = replace(task, claim=claim, version=task.version + 1)
            return claim

    def ended_claim(self, workspace: str, task_id: str, claim_id: str) -> Remembered | None:
        with self._lock:
            beside = self._beside.get((workspace, task_id))
            return deepcopy(beside.ended_claims.get(claim_id)) if beside else None

    def ready(self, workspace: str, agent: str, now: datetime) -> Iterator[Ready]:
        with self._lock:
            found = [
                task
                for (owner, _), task in self._tasks.items()
                if owner == workspace and task.target_agent == agent and task.is_ready(now)
            ]
        for task in sorted(found, key=_queue_order):
            if task.ready_at is not None:
                yield Ready(task.id, task.ready_at)

    def needs(self, workspace: str, limit: int, cursor: str | None) -> Page:
        with self._lock:
            found = [t for (owner, _), t in self._tasks.items() if owner == workspace and t.state is State.NEEDS]
        keys = {f"{task.priority}#{to_ms(task.created_at):015d}#{task.id}": task for task in found}
        return page(keys, limit, cursor)

    def due(self, now: datetime) -> Iterator[tuple[str, str]]:
        with self._lock:
            found = [task for task in self._tasks.values() if task.wake_at is not None and task.wake_at <= now]
        for task in sorted(found, key=lambda t: (t.claim is None, t.wake_at, t.id)):
            yield task.workspace, task.id

    def events(self, workspace: str, task_id: str, after: int, limit: int) -> tuple[Event, ...]:
        with self._lock:
            beside = self._beside.get((workspace, task_id))
            return tuple(deepcopy(beside.events[max(after, 0) : max(after, 0) + limit])) if beside else ()

    def notes(self, workspace: str, about: str, limit: int) -> tuple[Note, ...]:
        with self._lock:
            return tuple(deepcopy(self._notes.get((workspace, about), [])[::-1][:limit]))

    def tasks_of_agent(self, workspace: str, agent: str, limit: int, cursor: str | None) -> Page:
        return self._newest(workspace, lambda task: task.target_agent == agent, limit, cursor)

    def tasks_of_day(self, workspace: str, day: date, limit: int, cursor: str | None) -> Page:
        return self._newest(workspace, lambda task: task.created_at.date() == day, limit, cursor)

    # Markers

    def marker_facts(
        self, workspace: str, pair: tuple[str, str] | None, once: Once | None
    ) -> tuple[Settings, Direction, Remembered | None]:
        with self._lock:
            direction = self._direction(workspace, *(pair or NO_PAIR))
            return self.settings(workspace), direction, self.remembered(once) if once else None

    def review(self, workspace: str, review_id: str) -> Review:
        with self._lock:
            if (workspace, review_id) not in self._reviews:
                raise Unknown("manual review")
            return deepcopy(self._reviews[workspace, review_id])

    def reviews(self, workspace: str, limit: int, cursor: str | None) -> Page:
        with self._lock:
            found = {review.id: deepcopy(review) for (owner, _), review in self._reviews.items() if owner == workspace}
        return page(found, limit, cursor, newest_first=True)

    # Inside

    def _task(self, workspace: str, task_id: str) -> Task:
        if (workspace, task_id) not in self._tasks:
            raise Unknown("task")
        return self._tasks[workspace, task_id]

    def _newest(self, workspace: str, matches: Callable[[Task], bool], limit: int, cursor: str | None) -> Page:
        with self._lock:
            found = {t.id: t for (owner, _), t in self._tasks.items() if owner == workspace and matches(t)}
        return page(found, limit, cursor, newest_first=True)

    def _direction(self, workspace: str, source: str, target: str) -> Direction:
        return self._directions.get((workspace, source, target), Direction(workspace, source, target))

    def _check(self, workspace: str, extra: Extra) -> None:
        """Raises what the condition of the extra's write would."""
        match extra:
            case Remember(once):
                if once.digest in self._remembered:
                    raise KeyTaken
            case Opened(direction=read) | ReviewOpened(direction=read):
                if self._direction(workspace, read.source, read.target).version != read.version:
                    raise Conflict("direction")
            case ReviewChanged(review):
                held = self._reviews.get((workspace, review.id))
                if held is None or held.version != review.version - 1:
                    raise Conflict("manual review")
            case AlertRaised() | AlertCounted() | AlertSaved():
                self._check_alert(workspace, extra)
            case _:
                self._check_outbox(workspace, extra)

    def _apply(self, workspace: str, change: Change) -> None:
        key = workspace, change.task.id
        beside = self._beside.setdefault(key, _Beside(body={}))
        self._tasks[key] = change.task
        beside.events += deepcopy(list(change.events))
        self._owe(change)
        if change.recovery is not None:
            beside.recoveries.append(change.recovery)
        if change.failure is not None:
            beside.failure = deepcopy(change.failure)

    def _write(self, workspace: str, change: Change | None, extra: Extra) -> None:
        match extra:
            case Body(content) if change is not None:
                self._beside[workspace, change.task.id].body = deepcopy(content)
            case Output(content) if change is not None:
                self._beside[workspace, change.task.id].output = deepcopy(content)
            case EndedClaim(claim_id, answer) if change is not None:
                self._beside[workspace, change.task.id].ended_claims[claim_id] = deepcopy(answer)
            case Remember(once, answer):
                self._remembered[once.digest] = deepcopy(once.remember(answer))
            case Note():
                self._notes.setdefault((workspace, extra.about), []).append(deepcopy(extra))
            case ReviewChanged(review):
                self._reviews[workspace, review.id] = deepcopy(review)
            case AlertRaised() | AlertCounted() | AlertSaved():
                self._write_alert(workspace, extra)
            case Opened() | ReviewOpened() | Closed():
                self._write_direction(workspace, extra)
            case _:
                self._write_outbox(workspace, change.task if change else None, extra)

    def _write_direction(self, workspace: str, extra: Opened | ReviewOpened | Closed) -> None:
        pair = extra if isinstance(extra, Closed) else extra.direction
        held = self._direction(workspace, pair.source, pair.target)
        match extra:
            case Opened(_, task_id, at, forget, ends_review):
                kept = [e for e in held.escalations if e.task_id not in forget]
                held = replace(
                    held,
                    escalations=(*kept, Escalation(task_id, at)),
                    version=held.version + 1,
                    review_id=None if ends_review else held.review_id,
                )
            case ReviewOpened(review, _):
                self._reviews[workspace, review.id] = deepcopy(review)
                held = replace(held, review_id=review.id, version=held.version + 1)
            case Closed(_, _, closed_id):
                escalations = (replace(e, closed=True) if e.task_id == closed_id else e for e in held.escalations)
                held = replace(held, escalations=tuple(escalations))
        self._directions[workspace, held.source, held.target] = held


class MemoryDoorbell:
    """Keeps its bells for a test to look at or deliver."""

    def __init__(self) -> None:
        self.bells: list[tuple[str, str, str, int]] = []

    def ring(self, workspace: str, agent: str, task_id: str, delay_seconds: int = 0) -> None:
        self.bells.append((workspace, agent, task_id, delay_seconds))


class MemoryDeadLetters:
    def __init__(self) -> None:
        self.letters: list[tuple[str, str]] = []

    def give_up(self, body: str, reason: str) -> None:
        self.letters.append((body, reason))


def _queue_order(task: Task) -> tuple[str, datetime | None, str]:
    return task.priority, task.ready_at, task.id
