"""Publishes every entry of every trail, at least once. Publishing never delays a task: an event that the bus doesn't
accept waits in the outbox."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from baton.domain.errors import Busy
from baton.domain.published import OVERDUE_AFTER, notice, notice_id, pause

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from baton.domain.published import Notice, Telling
    from baton.ports import Baton, Bus, Delivery, Unsent


@dataclass
class Told:
    """The result of one run."""

    published: int = 0
    failed: int = 0  # events that the bus refused, or that can't be read
    oldest_seconds: float = 0.0  # the longest time that an overdue event had waited
    complete: bool = True  # False if the bus was out of reach, or time ran out; the next run resumes


def publish_fresh(baton: Baton, bus: Bus, tellings: Sequence[Telling]) -> Told:
    """Publishes the stream's new entries. An event that isn't accepted now is overdue in a minute. Raises ``Busy``."""
    result = Told()
    _publish(baton, bus, tellings, result)
    return result


def publish_overdue(baton: Baton, bus: Bus, may_go_on: Callable[[], bool] = lambda: True) -> Told:
    """Publishes the events that the stream should have brought, and didn't. Safe to run twice at once, and to stop
    anywhere: some events are then published twice. Raises ``Busy``."""
    result, now = Told(), baton.clock.now()
    for page in baton.store.unsent(now - OVERDUE_AFTER):
        if not may_go_on():
            result.complete = False
            break
        waited = [(now - each.at).total_seconds() for each in page]
        result.oldest_seconds = max([result.oldest_seconds, *waited])
        delivery = _publish(baton, bus, [each.telling for each in page if each.telling is not None], result)
        _put_off(baton, page, delivery, now, result)
        if not result.complete:
            break
    return result


def _publish(baton: Baton, bus: Bus, tellings: Sequence[Telling], result: Told) -> Delivery:
    tasks = baton.store.heads([(each.workspace, each.task_id) for each in tellings])
    composed: list[tuple[Telling, Notice]] = []
    unreadable: dict[str, str] = {}
    for each in tellings:
        try:
            task = tasks.get((each.workspace, each.task_id))
            composed.append((each, notice(each, task, baton.task_url(each.task_id))))
        except Exception as exc:  # noqa: BLE001 - one bad entry never stops the rest
            unreadable[_id(each)] = type(exc).__name__
    delivery = bus.publish([event for _, event in composed])
    delivery = replace(delivery, refused={**delivery.refused, **unreadable})
    for each, event in composed:
        if event.id in delivery.accepted:
            result.published += 1
            _mark(baton, each)
    for id_, reason in delivery.refused.items():
        result.failed += 1
        baton.log("the bus refused an event", action="event_refused", event_id=id_, error=reason)
    result.complete = len(delivery.accepted) + len(delivery.refused) == len(tellings)
    return delivery


def _mark(baton: Baton, telling: Telling) -> None:
    try:
        baton.store.mark_sent(telling.workspace, telling.task_id, telling.event.seq)
    except Busy:
        baton.log("an event will be published twice", action="event_unmarked", event_id=_id(telling))


def _put_off(baton: Baton, page: Sequence[Unsent], delivery: Delivery, now: datetime, result: Told) -> None:
    """Keeps an event that is never accepted from always being first in line."""
    for each in page:
        if each.telling is None:
            result.failed += 1
            baton.log("an event can't be read", action="event_unreadable", task_id=each.task_id, seq=each.seq)
        elif _id(each.telling) not in delivery.refused:
            continue
        looked_back_to = now - OVERDUE_AFTER
        baton.store.put_off(each.workspace, each.task_id, each.seq, looked_back_to + pause(now - each.at))


def _id(telling: Telling) -> str:
    return notice_id(telling.workspace, telling.task_id, telling.event.seq)
