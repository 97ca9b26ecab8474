"""Each alarm rings for what it is there for, and all are silent in a normal week: over the template's own alarms, as SAM
hands them on, and what AWS would have measured. None of it has run on AWS."""

from __future__ import annotations

from functools import cache

import pytest

from infra.cloudwatch import ALARM, OK, states
from infra.failures import BEGUN, FAILURES, OVER, Failure, the_fifty_first_worker_waits
from infra.given import given
from infra.template import FRONT_DOORS, GATEWAY, Properties
from infra.weeks import LOADS, OFFICE, PARAMETERS, Deployment, Load, normal_week, ordinary

TOPICS = {"AlarmTopicArn": "get-up", "TicketTopicArn": "tomorrow"}


@cache
def alarms(door: str) -> dict[str, Properties]:
    return given(FrontDoor=door, **PARAMETERS, **TOPICS).of_type("AWS::CloudWatch::Alarm")


def day_of(door: str, *failures: Failure) -> Deployment:
    found = ordinary(door, OFFICE, 14 * 60)
    for fails in failures:
        fails(found)
    return found


def rung(door: str, measured: Deployment, *, since: int = 0) -> dict[str, int]:
    """The first minute in which each alarm that rings does."""
    found = {name: list(states(alarm, measured)) for name, alarm in alarms(door).items()}
    return {name: each.index(ALARM, since) for name, each in found.items() if ALARM in each[since:]}


def test_each_alarm_has_a_failure() -> None:
    for door in FRONT_DOORS:
        assert {alarm for alarm, _, doors, _, _ in FAILURES if door in doors} == set(alarms(door))


@pytest.mark.parametrize("door", FRONT_DOORS)
@pytest.mark.parametrize("load", LOADS, ids=lambda load: load.name)
def test_a_normal_week_is_silent(door: str, load: Load) -> None:
    assert rung(door, normal_week(door, load)) == {}


@pytest.mark.parametrize(
    ("alarm", "door", "within", "fails"),
    [
        pytest.param(alarm, door, within, fails, id=f"{alarm}-{name}-{door}")
        for alarm, name, doors, within, fails in FAILURES
        for door in doors
    ],
)
def test_a_failure_is_told_in_time_and_so_is_its_end(alarm: str, door: str, within: int, fails: Failure) -> None:
    found = list(states(alarms(door)[alarm], day_of(door, fails)))
    assert ALARM not in found[:BEGUN]
    assert BEGUN <= found.index(ALARM) <= BEGUN + within
    assert found[-1] == OK
    assert ALARM not in found[OVER + 70 :]


def test_polls_beyond_their_reserve_wake_nobody() -> None:
    told = {
        name: alarms(GATEWAY)[name]["AlarmActions"]
        for name in rung(GATEWAY, day_of(GATEWAY, the_fifty_first_worker_waits))
    }
    assert told == {"ReservesNearlyFullAlarm": ["tomorrow"]}


@pytest.mark.parametrize("door", FRONT_DOORS)
def test_a_first_deployment_is_silent(door: str) -> None:
    """Alarms are made after eight minutes, when the queue has been there for five, and the sweeper not yet."""
    found = Deployment(door, 60)
    for at in range(60):
        if at >= 3:
            found.queues(at)
        if at >= 10:
            found.swept(at)
            found.looked_at_events(at)
    assert rung(door, found, since=8) == {}
