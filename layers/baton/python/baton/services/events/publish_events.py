"""Publishes every entry of every trail, at least once. Publishing never delays a task: one with an event that the bus
doesn't accept stays in the outbox."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby, takewhile
from typing import Any

from baton.domain import errors, times
from baton.domain.events.bus_events import (
    GIVEN_UP_AFTER,
    LONGEST_PAUSE,
    OVERDUE_AFTER,
    BusEvent,
    OutboxEvent,
    bus_event,
    bus_event_id,
    rest,
    retry_delay,
)
from baton.domain.task_state import ENDED
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps
from baton.ports.events import Bus, PendingTask, PublishResult
from baton.ports.system import Workers, in_turn
from baton.services.events.tell_watches import tell_watches
from baton.services.stats.count_ended import Counted, count_ended
from baton.services.stats.record_decisions import record_decisions

Tasks = Mapping[tuple[str, str], Task | None]

# An end that can't be counted by then is given up: what stands in the way won't go by itself.
UNCOUNTED_AFTER = times.seconds(3 * 86_400)


@dataclass
class PublishReport:
    """The result of one run."""

    published: int = 0  # none while nobody listens to the bus, though events are handled
    failed: int = 0  # events that the bus refused, or that can't be read
    oldest_seconds: float = 0.0  # the longest time that an overdue event had waited
    complete: bool = True  # False if the bus was out of reach, or time ran out; the next run resumes

    def add(self, part: PublishReport) -> None:
        self.published += part.published
        self.failed += part.failed
        self.oldest_seconds = max(self.oldest_seconds, part.oldest_seconds)
        self.complete = self.complete and part.complete


def publish_records(
    deps: Deps, bus: Bus, records: Sequence[Mapping[str, Any]], workers: Workers = in_turn
) -> PublishReport:
    """Publishes the events in a batch of the table's stream. Watches are told first, so that a reader who learns of an
    event finds its effect in the lists. Raises ``Busy``."""
    outbox_events = deps.store.outbox.fresh_events(records)
    tell_watches(deps, {each.workspace for each in outbox_events}, records, workers)
    return publish_fresh(deps, bus, outbox_events, workers)


def publish_fresh(
    deps: Deps, bus: Bus, outbox_events: Sequence[OutboxEvent], workers: Workers = in_turn
) -> PublishReport:
    """Publishes new events, then records what they decided, and counts what they ended. An event that isn't accepted or
    recorded now is overdue in a minute. Raises ``Busy``."""
    result, tasks = PublishReport(), _tasks_of(deps, outbox_events)
    delivery = _publish(deps, bus, outbox_events, tasks, result)
    delivery = _without(delivery, record_decisions(deps, outbox_events, tasks, workers))
    ended = {(each.workspace, each.task_id) for each in outbox_events if each.state in ENDED}
    counted = count_ended(deps, [task for key in sorted(ended) if (task := tasks.get(key)) is not None], workers)
    of_each_task = [events for _, events in _by_task(outbox_events)]
    workers(of_each_task, lambda events: _note(deps, events, _told(events, delivery), counted))
    return result


def publish_overdue(
    deps: Deps, bus: Bus, may_go_on: Callable[[], bool] = lambda: True, workers: Workers = in_turn
) -> PublishReport:
    """Publishes the events that the stream should have brought, and didn't. Safe to run twice at once, and to stop
    anywhere: some events are then published twice. A task's events are in one page, which one worker publishes in
    order. Raises ``Busy``."""
    result, now = PublishReport(), deps.clock.now()
    for part in workers(_pages(deps, result, now, may_go_on), lambda page: _publish_page(deps, bus, page, result)):
        result.add(part)
    return result


def _pages(
    deps: Deps, result: PublishReport, now: datetime, may_go_on: Callable[[], bool]
) -> Iterator[Sequence[PendingTask]]:
    """Yields pages while there is time, and the bus is in reach."""
    pages = iter(deps.store.outbox.pending_tasks(now - OVERDUE_AFTER))
    while result.complete:
        page = next(pages, None)
        if page is None:
            return
        if may_go_on():
            yield page
        else:
            result.complete = False


def _publish_page(deps: Deps, bus: Bus, page: Sequence[PendingTask], result: PublishReport) -> PublishReport:
    """Also tells ``result`` when the bus is out of reach, so that no other page is taken."""
    part, now = PublishReport(), deps.clock.now()
    events = [event for each in page for event in each.events]
    part.oldest_seconds = max([0.0, *((now - each.event.at).total_seconds() for each in events)])
    tasks = {(each.workspace, each.task_id): each.task for each in page}
    delivery = _publish(deps, bus, events, tasks, part)
    delivery = _without(delivery, record_decisions(deps, events, tasks))
    if not part.complete:
        result.complete = False
    counted = count_ended(deps, [each.task for each in page if each.task and each.is_over and not each.is_counted])
    for each in page:
        if not each.is_readable:
            part.failed += 1
            deps.log("an event can't be read", action="event_unreadable", task_id=each.task_id)
        _settle(deps, each, delivery, now, is_counted=each.is_counted or (each.workspace, each.task_id) in counted)
    return part


def _tasks_of(deps: Deps, outbox_events: Iterable[OutboxEvent]) -> Tasks:
    return deps.store.outbox.heads([(each.workspace, each.task_id) for each in outbox_events])


def _publish(
    deps: Deps, bus: Bus, outbox_events: Sequence[OutboxEvent], tasks: Tasks, result: PublishReport
) -> PublishResult:
    composed: list[BusEvent] = []
    unreadable: dict[str, str] = {}
    for each in outbox_events:
        try:
            task = tasks.get((each.workspace, each.task_id))
            composed.append(bus_event(each, task, deps.task_url(each.task_id)))
        except Exception as exc:  # noqa: BLE001 - one bad entry never stops the rest
            unreadable[_id(each)] = type(exc).__name__
    delivery = bus.publish(composed) if composed else PublishResult()
    delivery = replace(delivery, refused={**delivery.refused, **unreadable})
    result.published += len(delivery.accepted) if delivery.is_sent else 0
    for id_, reason in delivery.refused.items():
        result.failed += 1
        deps.log("the bus refused an event", action="event_refused", event_id=id_, error=reason)
    result.complete = len(delivery.accepted) + len(delivery.refused) == len(outbox_events)
    return delivery


def _note(deps: Deps, events: Sequence[OutboxEvent], told: Sequence[OutboxEvent], counted: Counted) -> None:
    """Notes what was told of a task, and that the rest is late. A note that fails costs a repeat."""
    of, is_ended = events[-1], events[-1].state in ENDED
    is_told, is_counted = len(told) == len(events), (of.workspace, of.task_id) in counted
    try:
        if told:
            _mark(deps, told, is_over=is_ended and is_told and is_counted)
        if is_counted and not is_told:
            deps.store.outbox.mark_counted(of.workspace, of.task_id)
        late = events[len(told) :] or (() if is_counted or not is_ended else events[-1:])
        if late:
            deps.store.outbox.look_sooner(of.workspace, of.task_id, late[0].event.at)
    except errors.Busy:
        deps.log("an event will be published twice", action="event_unmarked", event_id=_id(events[0]))


def _settle(deps: Deps, waiting: PendingTask, delivery: PublishResult, now: datetime, *, is_counted: bool) -> None:
    """Notes what was told, and when to look at the task again."""
    if waiting.put_at is not None:
        _settle_absent(deps, waiting, waiting.put_at, now)
        return
    told = _told(waiting.events, delivery)
    late = waiting.events[len(told) :]
    is_told = waiting.is_over and not late
    is_over = is_told and (is_counted or _is_given_up(deps, waiting, now))
    if told:
        _mark(deps, told, is_over=is_over)
    elif is_over:
        deps.store.outbox.leave_outbox(waiting.workspace, waiting.task_id)
    if waiting.is_over and late and is_counted and not waiting.is_counted:
        deps.store.outbox.mark_counted(waiting.workspace, waiting.task_id)
    if late and _id(late[0]) not in delivery.refused:
        return  # the bus was out of reach: the next run begins here
    if not is_over:
        since = late[0].event.at if late else waiting.task.meta.updated_at if is_told and waiting.task else None
        pause = _pause(waiting, since, now) if late or not told else OVERDUE_AFTER
        deps.store.outbox.look_again(waiting.workspace, waiting.task_id, now - OVERDUE_AFTER + pause)


def _is_given_up(deps: Deps, waiting: PendingTask, now: datetime) -> bool:
    """True for an end that couldn't be counted for days. It is logged: the counts lack it."""
    if waiting.task is None or now - waiting.task.meta.updated_at < UNCOUNTED_AFTER:
        return False
    deps.log("the counts lack an ended task", action="end_given_up", task_id=waiting.task_id)
    return True


def _settle_absent(deps: Deps, waiting: PendingTask, put_at: datetime, now: datetime) -> None:
    """Settles the place of a task that doesn't exist: its creation was refused or has died. The place is given up after
    ``GIVEN_UP_AFTER``. If the task comes to be, the stream and its place tell of it."""
    if now - put_at >= GIVEN_UP_AFTER:
        deps.store.outbox.leave_outbox(waiting.workspace, waiting.task_id)
    else:
        deps.store.outbox.look_again(waiting.workspace, waiting.task_id, now - OVERDUE_AFTER + rest(now - put_at))


def _pause(waiting: PendingTask, refused_since: datetime | None, now: datetime) -> timedelta:
    """Returns the time until the next look. A task that can't be told is never first in line for long."""
    if refused_since is not None:
        return retry_delay(now - refused_since)
    if waiting.task is None or not waiting.is_readable:
        return LONGEST_PAUSE
    return rest(now - waiting.task.meta.updated_at)


def _by_task(outbox_events: Sequence[OutboxEvent]) -> Iterable[tuple[tuple[str, str], list[OutboxEvent]]]:
    def task(each: OutboxEvent) -> tuple[str, str]:
        return each.workspace, each.task_id

    return ((key, list(events)) for key, events in groupby(sorted(outbox_events, key=task), key=task))


def _without(delivery: PublishResult, again: set[str]) -> PublishResult:
    """Returns the delivery without the events that have to come again, though the bus has them."""
    return replace(delivery, accepted=delivery.accepted - again) if again else delivery


def _told(events: Sequence[OutboxEvent], delivery: PublishResult) -> list[OutboxEvent]:
    """Returns the events before the first one that the bus hasn't accepted."""
    return list(takewhile(lambda each: _id(each) in delivery.accepted, events))


def _mark(deps: Deps, told: Sequence[OutboxEvent], *, is_over: bool) -> None:
    first, last = told[0], told[-1]
    deps.store.outbox.mark_told(first.workspace, first.task_id, first.event.seq, last.event.seq, is_over=is_over)


def _id(outbox_event: OutboxEvent) -> str:
    return bus_event_id(outbox_event.workspace, outbox_event.task_id, outbox_event.event.seq)
