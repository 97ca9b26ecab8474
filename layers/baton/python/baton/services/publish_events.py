"""The outside is told of every entry of every trail, at least once. Nothing here is ever in a task's way: what doesn't
get through stays in the outbox, and waits there."""

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
    """What one run came to. ``failed``: entries that the bus refused, or that nobody can read. ``oldest_seconds``: how
    long the oldest of the overdue ones had waited. ``complete``: False if the bus was away, or time ran out; the next
    run resumes."""

    published: int = 0
    failed: int = 0
    oldest_seconds: float = 0.0
    complete: bool = True


def publish_fresh(baton: Baton, bus: Bus, tellings: Sequence[Telling]) -> Told:
    """What the stream has just brought. What doesn't get through now is overdue in a minute. Raises ``Busy``."""
    this = Told()
    _publish(baton, bus, tellings, this)
    return this


def publish_overdue(baton: Baton, bus: Bus, may_go_on: Callable[[], bool] = lambda: True) -> Told:
    """What the stream should have brought, and didn't. Safe to run twice at once, and to stop anywhere: some of it is
    told twice then. Raises ``Busy``."""
    this, now = Told(), baton.clock.now()
    for page in baton.store.unsent(now - OVERDUE_AFTER):
        if not may_go_on():
            this.complete = False
            break
        waited = [(now - each.at).total_seconds() for each in page]
        this.oldest_seconds = max([this.oldest_seconds, *waited])
        delivery = _publish(baton, bus, [each.telling for each in page if each.telling is not None], this)
        _put_off(baton, page, delivery, now, this)
        if not this.complete:
            break
    return this


def _publish(baton: Baton, bus: Bus, tellings: Sequence[Telling], this: Told) -> Delivery:
    tasks = baton.store.heads([(each.workspace, each.task_id) for each in tellings])
    composed: list[tuple[Telling, Notice]] = []
    unreadable: dict[str, str] = {}
    for each in tellings:
        try:
            task = tasks.get((each.workspace, each.task_id))
            composed.append((each, notice(each, task, baton.task_url(each.task_id))))
        except Exception as exc:  # noqa: BLE001 - one bad entry never stops the rest
            unreadable[_id(each)] = type(exc).__name__
    delivery = bus.publish([told for _, told in composed])
    delivery = replace(delivery, refused={**delivery.refused, **unreadable})
    for each, told in composed:
        if told.id in delivery.accepted:
            this.published += 1
            _mark(baton, each)
    for id_, reason in delivery.refused.items():
        this.failed += 1
        baton.log("an event wasn't taken", action="event_refused", event_id=id_, error=reason)
    this.complete = len(delivery.accepted) + len(delivery.refused) == len(tellings)
    return delivery


def _mark(baton: Baton, telling: Telling) -> None:
    try:
        baton.store.mark_sent(telling.workspace, telling.task_id, telling.event.seq)
    except Busy:
        baton.log("an event will be told twice", action="event_unmarked", event_id=_id(telling))


def _put_off(baton: Baton, page: Sequence[Unsent], delivery: Delivery, now: datetime, this: Told) -> None:
    """So that what is never taken isn't always first in line."""
    for each in page:
        if each.telling is None:
            this.failed += 1
            baton.log("an event can't be read", action="event_unreadable", task_id=each.task_id, seq=each.seq)
        elif _id(each.telling) not in delivery.refused:
            continue
        looked_back_to = now - OVERDUE_AFTER
        baton.store.put_off(each.workspace, each.task_id, each.seq, looked_back_to + pause(now - each.at))


def _id(telling: Telling) -> str:
    return notice_id(telling.workspace, telling.task_id, telling.event.seq)
