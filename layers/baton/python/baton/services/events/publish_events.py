"""Publishes every entry of every trail, at least once. Publishing never delays a task: an event that the bus doesn't
accept waits in the outbox."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from baton.domain import errors
from baton.domain.events.bus_events import OVERDUE_AFTER, BusEvent, OutboxEvent, bus_event, bus_event_id, retry_delay
from baton.ports.deps import Deps
from baton.ports.events import Bus, PendingEvent, PublishResult


@dataclass
class PublishReport:
    """The result of one run."""

    published: int = 0
    failed: int = 0  # events that the bus refused, or that can't be read
    oldest_seconds: float = 0.0  # the longest time that an overdue event had waited
    complete: bool = True  # False if the bus was out of reach, or time ran out; the next run resumes


def publish_fresh(deps: Deps, bus: Bus, outbox_events: Sequence[OutboxEvent]) -> PublishReport:
    """Publishes the stream's new entries. An event that isn't accepted now is overdue in a minute. Raises ``Busy``."""
    result = PublishReport()
    _publish(deps, bus, outbox_events, result)
    return result


def publish_overdue(deps: Deps, bus: Bus, may_go_on: Callable[[], bool] = lambda: True) -> PublishReport:
    """Publishes the events that the stream should have brought, and didn't. Safe to run twice at once, and to stop
    anywhere: some events are then published twice. Raises ``Busy``."""
    result, now = PublishReport(), deps.clock.now()
    for page in deps.store.pending_events(now - OVERDUE_AFTER):
        if not may_go_on():
            result.complete = False
            break
        waited = [(now - each.at).total_seconds() for each in page]
        result.oldest_seconds = max([result.oldest_seconds, *waited])
        delivery = _publish(deps, bus, [each.outbox_event for each in page if each.outbox_event is not None], result)
        _put_off(deps, page, delivery, now, result)
        if not result.complete:
            break
    return result


def _publish(deps: Deps, bus: Bus, outbox_events: Sequence[OutboxEvent], result: PublishReport) -> PublishResult:
    tasks = deps.store.heads([(each.workspace, each.task_id) for each in outbox_events])
    composed: list[tuple[OutboxEvent, BusEvent]] = []
    unreadable: dict[str, str] = {}
    for each in outbox_events:
        try:
            task = tasks.get((each.workspace, each.task_id))
            composed.append((each, bus_event(each, task, deps.task_url(each.task_id))))
        except Exception as exc:  # noqa: BLE001 - one bad entry never stops the rest
            unreadable[_id(each)] = type(exc).__name__
    delivery = bus.publish([event for _, event in composed])
    delivery = replace(delivery, refused={**delivery.refused, **unreadable})
    for each, event in composed:
        if event.id in delivery.accepted:
            result.published += 1
            _mark(deps, each)
    for id_, reason in delivery.refused.items():
        result.failed += 1
        deps.log("the bus refused an event", action="event_refused", event_id=id_, error=reason)
    result.complete = len(delivery.accepted) + len(delivery.refused) == len(outbox_events)
    return delivery


def _mark(deps: Deps, outbox_event: OutboxEvent) -> None:
    try:
        deps.store.mark_sent(outbox_event.workspace, outbox_event.task_id, outbox_event.event.seq)
    except errors.Busy:
        deps.log("an event will be published twice", action="event_unmarked", event_id=_id(outbox_event))


def _put_off(
    deps: Deps, page: Sequence[PendingEvent], delivery: PublishResult, now: datetime, result: PublishReport
) -> None:
    """Keeps an event that is never accepted from always being first in line."""
    for each in page:
        if each.outbox_event is None:
            result.failed += 1
            deps.log("an event can't be read", action="event_unreadable", task_id=each.task_id, seq=each.seq)
        elif _id(each.outbox_event) not in delivery.refused:
            continue
        looked_back_to = now - OVERDUE_AFTER
        deps.store.put_off(each.workspace, each.task_id, each.seq, looked_back_to + retry_delay(now - each.at))


def _id(outbox_event: OutboxEvent) -> str:
    return bus_event_id(outbox_event.workspace, outbox_event.task_id, outbox_event.event.seq)
