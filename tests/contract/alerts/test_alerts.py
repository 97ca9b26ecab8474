"""Alerts in the store: written along with what they tell of, counted exactly, found where they are."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from baton.domain.alerts.alert import MAX_PER_HOUR, AlertCount, AlertState, Severity
from baton.domain.errors import Conflict, KeyTaken, TooManyAlerts, Unknown
from baton.domain.idempotency import IdempotencyKey
from baton.ports.paging import Page
from baton.ports.store import Store
from baton.ports.writes import Add, Save, SaveResponse
from baton.services.alerts.handle_alert import acknowledge_alert, resolve_alert
from baton.services.alerts.list_alerts import AlertFilter, list_alerts
from baton.services.alerts.raise_alert import AlertRequest, raise_alert
from baton.services.tasks.sweep import sweep
from support.clock import NOON
from support.values.changes import new, stored, then
from support.values.records import add_alert, an_alert
from support.values.tasks import MS
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, agent, human

FULL = an_alert(
    severity=Severity.CRITICAL,
    message="Prüfung fehlt 🔎\n\tnow",
    task_id="task_1",
    acknowledged_at=NOON + MS,
    acknowledged_by="human:alice",
    resolved_at=NOON + 2 * MS,
    resolved_by="human:notion:1",
    note="was nothing",
    version=1,
)
BY, HOUR = "agent:auditor", timedelta(hours=1)
NOTHING = Page(())


@pytest.mark.parametrize("alert", [FULL, an_alert()])
def test_an_alert_is_read_back_as_it_was_raised(store: Store, alert: Any) -> None:
    store.commit(WORKSPACE, Save(alert))
    assert store.alerts.alert(WORKSPACE, alert.id) == alert
    assert store.alerts.newest(WORKSPACE, 10, None).items == (alert,)
    with pytest.raises(Unknown):
        store.alerts.alert(WORKSPACE, "alert_02")


def test_an_alert_is_there_if_and_only_if_its_change_is(store: Store) -> None:
    task = stored(store)
    store.commit(WORKSPACE, then(task, "alert_raised"), Save(an_alert(1, task_id=task.id)))
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, then(task, "alert_raised"), Save(an_alert(2, task_id=task.id)))
    assert store.alerts.newest(WORKSPACE, 10, None).items == (an_alert(1, task_id=task.id),)


def test_two_alerts_may_come_with_one_change(store: Store) -> None:
    store.commit(WORKSPACE, new("task_1"), *[Save(an_alert(n, task_id="task_1")) for n in (1, 2)])
    assert len(store.alerts.alerts_of_task(WORKSPACE, "task_1", 10, None).items) == 2


def test_an_alert_is_found_by_how_far_it_is(store: Store) -> None:
    alert = add_alert(store, 1)

    def found() -> list[str]:
        states = (AlertState.OPEN, AlertState.ACKNOWLEDGED, AlertState.RESOLVED)
        return [str(state) for state in states if store.alerts.unresolved_alerts(WORKSPACE, state, 10, None).items]

    assert found() == ["open"]
    alert = alert.acknowledged(human(), NOON)
    store.commit(WORKSPACE, Save(alert))
    assert found() == ["acknowledged"]
    alert = alert.resolved(human(), NOON)
    store.commit(WORKSPACE, Save(alert))
    assert store.alerts.newest(WORKSPACE, 10, None).items == (alert,)


def test_an_alert_changes_only_from_the_version_that_was_read(store: Store) -> None:
    alert = add_alert(store, 1)
    first = alert.acknowledged(human(), NOON)
    store.commit(WORKSPACE, Save(first))
    for version in (1, 2, 4):
        with pytest.raises(Conflict):
            store.commit(WORKSPACE, Save(replace(first, note="late", version=version)))
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, Save(an_alert(2, version=2)))
    assert store.alerts.newest(WORKSPACE, 10, None).items == (first,)


def raise_one(store: Store, number: int, by: str = BY, workspace: str = WORKSPACE) -> None:
    alert = an_alert(number, workspace)
    store.commit(workspace, Add(AlertCount(by, NOON), 1, MAX_PER_HOUR), Save(alert))


def test_an_hour_holds_so_many_of_one_caller_and_no_more(store: Store) -> None:
    for number in range(MAX_PER_HOUR):
        raise_one(store, number)
    with pytest.raises(TooManyAlerts) as refused:
        raise_one(store, 99)
    assert refused.value.fields == {"limit": MAX_PER_HOUR, "retry_after": 3_600}
    with pytest.raises(Unknown):
        store.alerts.alert(WORKSPACE, "alert_99")
    raise_one(store, 100, by="agent:audito")
    raise_one(store, 101, workspace="other")
    store.commit(WORKSPACE, Add(AlertCount(BY, NOON + HOUR), 1, MAX_PER_HOUR), Save(an_alert(102)))
    with pytest.raises(TooManyAlerts):
        store.commit(WORKSPACE, Add(AlertCount(BY, NOON + HOUR - MS), 1, MAX_PER_HOUR), Save(an_alert(103)))


def test_a_used_key_says_more_than_a_full_hour(store: Store) -> None:
    idempotency_key = IdempotencyKey(human(), "POST /alerts", "key", "hash")
    store.commit(WORKSPACE, SaveResponse(idempotency_key, {}))
    for number in range(MAX_PER_HOUR):
        raise_one(store, number)
    with pytest.raises(KeyTaken):
        store.commit(
            WORKSPACE, SaveResponse(idempotency_key, {}), Add(AlertCount(BY, NOON), 1, MAX_PER_HOUR), Save(an_alert(99))
        )


def test_alerts_about_nothing_are_no_tasks(store: Store) -> None:
    add_alert(store, 1)
    add_alert(store, 2, task_id="task_1")
    assert [alert.id for alert in store.alerts.alerts_of_task(WORKSPACE, "task_1", 10, None).items] == ["alert_02"]
    assert store.alerts.alerts_of_task(WORKSPACE, "task_10", 10, None) == NOTHING


# What it costs


def asked(task_id: str | None = None) -> AlertRequest:
    return AlertRequest(kind="disk-full", severity=Severity.INFO, message="full", task_id=task_id)


def a_key(route: str = "POST /alerts") -> IdempotencyKey:
    return IdempotencyKey(human(), route, "key", "hash")


def test_raising_takes_two_calls_and_one_more_for_a_key_or_a_task(rig: Rig) -> None:
    """The settings are read, as the guardrails hold for the message."""
    task_id, world = rig.world.needing(), rig.world
    costs = [
        (None, None, ["get_item", "transact_write_items"]),
        (None, a_key(), ["get_item", "get_item", "transact_write_items"]),
        (task_id, None, ["get_item", "get_item", "transact_write_items"]),
        (task_id, a_key("POST /x"), ["batch_get_item", "get_item", "transact_write_items"]),
    ]
    for about, idempotency_key, calls in costs:
        assert rig.count(partial(raise_alert, world.deps, agent("scout"), asked(about), idempotency_key)) == calls


def test_dealing_with_one_takes_two_calls_and_a_third_for_a_key(rig: Rig) -> None:
    alert, world = add_alert(rig.store, 1), rig.world
    assert rig.count(lambda: acknowledge_alert(world.deps, human(), alert.id)) == ["get_item", "put_item"]
    assert len(rig.count(lambda: resolve_alert(world.deps, human(), alert.id, None, a_key()))) == 3
    assert rig.count(lambda: resolve_alert(world.deps, human(), alert.id)) == ["get_item"]


def test_a_systems_alert_costs_no_call_of_its_own(rig: Rig) -> None:
    rig.world.ready()
    rig.clock.advance(3_600)
    calls = rig.count(lambda: sweep(rig.world.deps))
    assert calls.count("transact_write_items") == 1
    assert len(rig.store.alerts.newest(WORKSPACE, 10, None).items) == 1


def test_open_alerts_take_two_calls_however_many_were_dealt_with(rig: Rig) -> None:
    add_alert(rig.store, 1)
    for number in range(2, 60):
        done = add_alert(rig.store, number).resolved(human(), NOON)
        rig.store.commit(WORKSPACE, Save(done))
    page = []
    calls = rig.count(lambda: page.append(list_alerts(rig.world.deps, human(), AlertFilter(AlertState.OPEN), 25, None)))
    assert calls == ["query", "batch_get_item"]
    assert [alert.id for alert in page[0].items] == ["alert_01"]
