"""Counters that a commit raises up to a ceiling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_writes import ItemWrite
from baton.adapters.dynamodb.puts import update
from baton.domain import errors, times
from baton.domain.alerts.alert import AlertCount, too_many_alerts
from baton.domain.handoffs.workflow import HandoffCount
from baton.ports.writes import Add

# There is room for this many more, or nothing was counted yet and there is room from the start.
HAS_ROOM = "#count <= :room"
HAS_ROOM_OR_IS_NEW = "attribute_not_exists(#count) OR #count <= :room"
# Nothing was counted yet.
IS_NEW = "attribute_not_exists(#count)"
# Well past the counted hour, however far clocks differ.
ALERTS_FORGOTTEN_AFTER = times.seconds(86_400)


@dataclass(frozen=True, slots=True)
class CounterType:
    """How counters of a type are stored."""

    key: Callable[[str, Any], keys.Key]
    refused: Callable[[Any], errors.BatonError]
    start: Callable[[Any], int] = lambda _: 0  # the count so far, if nothing was counted yet
    is_first: Callable[[Any], bool] = lambda _: False  # counts only if nothing was counted yet
    ttl: Callable[[Any], int] | None = None


COUNTERS: dict[type, CounterType] = {
    # A workflow can't have more handoffs than it may, however many are made at once.
    HandoffCount: CounterType(
        key=lambda workspace, counter: keys.handoff_count(workspace, counter.workflow_id),
        refused=lambda _: errors.Conflict("workflow"),
        start=lambda counter: int(counter.start),
        is_first=lambda counter: bool(counter.is_first),
    ),
    # A caller gone wrong can't flood the humans with alerts.
    AlertCount: CounterType(
        key=lambda workspace, counter: keys.alert_count(workspace, counter.by, counter.at),
        refused=lambda counter: too_many_alerts(counter.at),
        ttl=lambda counter: times.to_ms(counter.at + ALERTS_FORGOTTEN_AFTER) // 1_000,
    ),
}


def added(workspace: str, add: Add) -> ItemWrite:
    counter, stored = add.counter, COUNTERS[type(add.counter)]
    condition = _condition(add, stored.start(counter), is_first=stored.is_first(counter))
    sets = "SET #count = if_not_exists(#count, :start) + :number"
    values = {":start": stored.start(counter), ":number": add.number}
    if condition != IS_NEW:
        values[":room"] = add.most - add.number
    if stored.ttl is not None:
        sets, values[":ttl"] = f"{sets}, #ttl = :ttl", stored.ttl(counter)
    return update(stored.key(workspace, counter), sets, condition, values, lambda: stored.refused(counter))


def _condition(add: Add, start: int, *, is_first: bool) -> str:
    if start + add.number > add.most:
        return HAS_ROOM
    return IS_NEW if is_first else HAS_ROOM_OR_IS_NEW
