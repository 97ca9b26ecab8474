"""Each alarm rings for what it is there for, and all are silent in a normal week: over the template's own alarms, as
SAM hands them on, and what AWS would have measured. None of it has run on AWS."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any

import pytest

from infra.cloudwatch import ALARM, OK, states
from infra.failures import (
    BEGUN,
    FAILURES,
    OVER,
    Failure,
    polls_have_all_their_places,
    polls_have_all_their_places_at_the_url,
    the_fifty_first_worker_waits,
)
from infra.given import given
from infra.template import FRONT_DOORS, GATEWAY, URL, Properties
from infra.weeks import HOUR, LOADS, OFFICE, PARAMETERS, Deployment, Load, normal_week, ordinary
from support.faults.soak import IS_WHOLE

TOPICS = {"AlarmTopicArn": "get up", "TicketTopicArn": "tomorrow"}
FORGOTTEN = 70  # minutes after its end until no failure is in any window


@cache
def alarms(door: str) -> dict[str, Properties]:
    return given(FrontDoor=door, **PARAMETERS, **TOPICS).of_type("AWS::CloudWatch::Alarm")


@cache
def week(door: str, load: Load) -> Deployment:
    return normal_week(door, load)


@cache
def usual_day(door: str) -> Deployment:
    return ordinary(door, OFFICE, 14 * HOUR)


@cache
def day_of(door: str, fails: Failure) -> Deployment:
    found = usual_day(door).copy()
    fails(found)
    return found


@cache
def first_hour(door: str) -> Deployment:
    """The queue is there after three minutes, the sweeper after ten, the alarms in between."""
    found = Deployment(door, HOUR)
    for at in range(3, HOUR):
        found.queues(at)
        if at >= 10:
            found.swept(at)
            found.looked_at_events(at)
    return found


ALARMS_ARE_MADE = 8


def untold(alarm: Properties, measured: Deployment, within: int) -> Iterator[str]:
    """What is wrong with how a failure is told."""
    found = list(states(alarm, measured))
    if ALARM in found[:BEGUN]:
        yield "it rings before"
    if ALARM not in found[BEGUN : BEGUN + within + 1]:
        yield "it doesn't ring in time"
    if ALARM in found[OVER + FORGOTTEN :] or found[-1] != OK:
        yield "it doesn't end"


def complaints(name: str, alarm: Properties, door: str) -> Iterator[str]:
    """Of all that happens to one alarm."""
    for of, _, doors, within, fails in FAILURES:
        if of == name and door in doors:
            yield from untold(alarm, day_of(door, fails), within)
    if ALARM in states(alarm, week(door, OFFICE)):
        yield "it rings in a normal week"
    if ALARM in list(states(alarm, first_hour(door)))[ALARMS_ARE_MADE:]:
        yield "it rings at the first deployment"
    if alarm["AlarmActions"] == ["get up"] and ALARM in states(alarm, day_of(GATEWAY, the_fifty_first_worker_waits)):
        yield "a poll beyond its reserve wakes somebody"


@cache
def complaints_of_ours(name: str) -> list[str]:
    return list(complaints(name, alarms(GATEWAY)[name], GATEWAY))


def test_each_alarm_has_a_failure() -> None:
    for door in FRONT_DOORS:
        assert {alarm for alarm, _, doors, _, _ in FAILURES if door in doors} == set(alarms(door))


# Each load at one door; under ``make soak`` each at both.
WEEKS = [
    (load, door)
    for number, load in enumerate(LOADS)
    for turn, door in enumerate(FRONT_DOORS)
    if IS_WHOLE or number // 2 == turn
]


@pytest.mark.parametrize(("load", "door"), WEEKS, ids=lambda each: getattr(each, "name", each))
def test_a_normal_week_is_silent(door: str, load: Load) -> None:
    assert [name for name, alarm in alarms(door).items() if ALARM in states(alarm, week(door, load))] == []


@pytest.mark.parametrize(
    ("alarm", "door", "within", "fails"),
    [
        pytest.param(alarm, door, within, fails, id=f"{alarm}-{name}-{door}")
        for alarm, name, doors, within, fails in FAILURES
        for door in doors
    ],
)
def test_a_failure_is_told_in_time_and_so_is_its_end(alarm: str, door: str, within: int, fails: Failure) -> None:
    assert list(untold(alarms(door)[alarm], day_of(door, fails), within)) == []


@pytest.mark.parametrize(
    ("door", "fails"),
    [
        (GATEWAY, the_fifty_first_worker_waits),
        (GATEWAY, polls_have_all_their_places),
        (URL, polls_have_all_their_places_at_the_url),
    ],
)
def test_polls_beyond_their_reserve_wake_nobody(door: str, fails: Failure) -> None:
    measured = day_of(door, fails)
    told = {name: alarm["AlarmActions"] for name, alarm in alarms(door).items() if ALARM in states(alarm, measured)}
    assert told == {"ReservesNearlyFullAlarm": ["tomorrow"]}


@pytest.mark.parametrize("door", FRONT_DOORS)
def test_a_first_deployment_is_silent(door: str) -> None:
    found = {name: list(states(alarm, first_hour(door))) for name, alarm in alarms(door).items()}
    assert [name for name, each in found.items() if ALARM in each[ALARMS_ARE_MADE:]] == []


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("FrontDoorFailuresAlarm", "found", "IF(FILL(failed, 0) >= 5, 100 * FILL(failed, 0) / requests, 0)"),
        ("FrontDoorFailuresAlarm", "found", "100 * FILL(failed, 0) / requests"),
        ("FrontDoorFailuresAlarm", "Threshold", 10),
        ("FrontDoorRefusalsAlarm", "found", "100 * FILL(refused, 0) / requests"),
        ("FrontDoorRefusalsAlarm", "EvaluationPeriods", 1),
        ("StandstillAlarm", "Stat", "SampleCount"),
        ("StandstillAlarm", "EvaluationPeriods", 12),
        ("SweeperMissingAlarm", "found", "FILL(rounds, 0)"),
        ("SweeperMissingAlarm", "found", "rounds"),
        ("SweeperMissingAlarm", "EvaluationPeriods", 2),
        ("DispatchStuckAlarm", "Threshold", 600),
        ("SlowAlarm", "found", "MAX([api_slow, markers_slow])"),
        ("SlowAlarm", "found", "IF(api_slow * api_calls / 100 >= 5, api_slow, 0)"),
        ("SlowAlarm", "Threshold", 50),
        ("FrontDoorErrorsAlarm", "Threshold", 0),
        ("FrontDoorErrorsAlarm", "found", "FILL(api, 0)"),
        ("BackgroundErrorsAlarm", "Threshold", 0),
        ("RequestFailedAlarm", "found", "failed"),
        ("RequestFailedAlarm", "Threshold", 0),
        ("WrittenByNewerAlarm", "EvaluationPeriods", 1),
        ("WrittenByNewerAlarm", "found", "met"),
        ("ReservesNearlyFullAlarm", "EvaluationPeriods", 1),
        ("ReservesNearlyFullAlarm", "found", "100 * FILL(waits, 0) / 50"),
        ("AccountNearlyFullAlarm", "found", "100 * unreserved / SERVICE_QUOTA(used)"),
        ("TableThrottlesAlarm", "found", "FILL(reads, 0) + FILL(writes, 0)"),
        ("TableThrottlesAlarm", "EvaluationPeriods", 1),
        ("UndispatchedAlarm", "Threshold", 600),
        ("OldestMessageAlarm", "Threshold", 900),
        ("DeadLettersAlarm", "found", "FILL(visible, 0) + FILL(tracker_visible, 0)"),
        ("DeadLettersAlarm", "EvaluationPeriods", 1),
        ("TrackerOldestMessageAlarm", "Threshold", 900),
        ("SweepUnfinishedAlarm", "DatapointsToAlarm", 1),
        ("SweepFailedAlarm", "DatapointsToAlarm", 1),
        ("SweepFailedAlarm", "Threshold", 10),
        ("UnpublishedAlarm", "found", "FILL(age, 901)"),
        ("UnpublishedAlarm", "found", "IF(rounds > 0, FILL(age, 0))"),
        ("StreamAgeAlarm", "Threshold", 30_000),
        ("BellAlarm", "Threshold", 0),
        ("BellAlarm", "found", "MAX([FILL(listens, 0), FILL(rings, 0), FILL(lost, 0)])"),
        ("BellAlarm", "found", "MAX([FILL(rings, 0), IF(FILL(lost, 0) > FILL(sent, 0), FILL(lost, 0), 0)])"),
    ],
)
def test_an_alarm_that_is_made_otherwise_is_noticed(name: str, key: str, value: Any) -> None:
    alarm = deepcopy(alarms(GATEWAY)[name])
    assert complaints_of_ours(name) == []
    for place in [alarm, *(each.get("MetricStat", each) for each in alarm.get("Metrics", []))]:
        if key in place:
            place[key] = value
        if key == "found" == place.get("Id"):
            place["Expression"] = value
    assert next(complaints(name, alarm, GATEWAY), None) is not None
