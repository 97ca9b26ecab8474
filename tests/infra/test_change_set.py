"""How `make deploy` changes a stack: by what reaches CloudFormation, and what it answers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from infra.alarm_checks import GETTING_UP
from infra.given import given
from infra.template import FRONT_DOORS
from infra.wire import Wire
from tools.admin import deploy_answers as answers
from tools.admin.change_set import TRIGGERS, ChangeSet, watched_by
from tools.stack.background import StackError

STACK, URL = "baton", "https://s3.eu-central-1.amazonaws.com/bucket/baton/1.template"
ARN = "arn:aws:cloudwatch:eu-central-1:111122223333:alarm:"


def summary(logical_id: str, kind: str, physical_id: str) -> dict[str, str]:
    return {"LogicalResourceId": logical_id, "ResourceType": kind, "PhysicalResourceId": physical_id}


def with_alarms(**states: str) -> Wire:
    """A stack with these alarms."""
    there = [summary(name, "AWS::CloudWatch::Alarm", f"baton-{name}") for name in states]

    def described(params: dict[str, Any]) -> dict[str, Any]:
        asked = [name for name in states if f"baton-{name}" in params["AlarmNames"]]
        return {
            "MetricAlarms": [
                {"AlarmName": f"baton-{name}", "AlarmArn": f"{ARN}baton-{name}", "StateValue": states[name]}
                for name in asked
            ]
        }

    return Wire({"ListStackResources": {"StackResourceSummaries": there}, "DescribeAlarms": described})


def watched(wire: Wire, minutes: int = 10) -> tuple[dict[str, Any], str]:
    said: list[str] = []
    found = watched_by(wire.client("cloudformation"), wire.client("cloudwatch"), STACK, minutes, said.append)
    return found, "\n".join(said)


def test_the_alarms_that_callers_are_about_take_a_release_back() -> None:
    found, said = watched(with_alarms(**dict.fromkeys([*TRIGGERS, "DeadLettersAlarm"], "OK")))
    assert found["MonitoringTimeInMinutes"] == 10
    assert {each["Arn"] for each in found["RollbackTriggers"]} == {f"{ARN}baton-{name}" for name in TRIGGERS}
    assert "5 alarms watch it, and for 10 minutes after" in said


def test_an_alarm_that_rings_already_is_named_and_does_not_watch() -> None:
    """Else no release could mend what it rings for."""
    found, said = watched(with_alarms(FrontDoorFailuresAlarm="ALARM", StandstillAlarm="INSUFFICIENT_DATA"))
    assert [each["Arn"] for each in found["RollbackTriggers"]] == [f"{ARN}baton-StandstillAlarm"]
    assert "ring already, and don't watch this deployment: baton-FrontDoorFailuresAlarm" in said


@pytest.mark.parametrize(("wire", "minutes"), [(with_alarms(), 10), (with_alarms(StandstillAlarm="OK"), 0)])
def test_nothing_watches_where_there_are_no_alarms_or_nobody_wants_it(wire: Wire, minutes: int) -> None:
    """And what a deployment before has said is taken back."""
    assert watched(wire, minutes) == ({"RollbackTriggers": [], "MonitoringTimeInMinutes": 0}, "")


def test_what_watches_is_there_with_either_front_door() -> None:
    for door in FRONT_DOORS:
        assert set(TRIGGERS) <= set(given(FrontDoor=door).of_type("AWS::CloudWatch::Alarm"))
    assert len(TRIGGERS) <= 5
    assert {"FrontDoorFailuresAlarm", "StandstillAlarm"} == GETTING_UP & set(TRIGGERS)
    assert "SweeperMissingAlarm" not in TRIGGERS, "it rings after ten minutes, as the watch is over"


def test_how_long_is_said_in_minutes() -> None:
    assert [answers.minutes(said) for said in ("", "0", "180")] == [10, 0, 180]
    for said in ("181", "-1", "ten"):
        with pytest.raises(StackError, match="WATCH is a number of minutes"):
            answers.minutes(said)


# ---- the change itself -----------------------------------------------------------------------------------------------


def change(wire: Wire, status: str | None = "UPDATE_COMPLETE") -> tuple[ChangeSet, list[str]]:
    said: list[str] = []
    found = None if status is None else {"StackStatus": status}
    return ChangeSet(wire.client("cloudformation"), STACK, found, said.append, lambda _seconds: None), said


MADE = {"DescribeChangeSet": {"Status": "CREATE_COMPLETE"}}
WATCHED = {
    "RollbackTriggers": [{"Arn": f"{ARN}baton-x", "Type": "AWS::CloudWatch::Alarm"}],
    "MonitoringTimeInMinutes": 10,
}


def test_a_change_set_has_all_that_the_stack_is_given() -> None:
    wire = Wire(MADE)
    assert change(wire)[0].create(URL, {"LogLevel": "INFO", "Model": ""}, {"stack": STACK}, WATCHED)
    (sent,) = wire.sent("CreateChangeSet")
    assert (sent["ChangeSetType"], sent["TemplateURL"], sent["Capabilities"]) == ("UPDATE", URL, ["CAPABILITY_IAM"])
    assert sent["RollbackConfiguration"] == WATCHED
    assert sent["Parameters"] == [
        {"ParameterKey": "LogLevel", "ParameterValue": "INFO"},
        {"ParameterKey": "Model", "ParameterValue": ""},
    ]
    assert sent["Tags"] == [{"Key": "stack", "Value": STACK}]


@pytest.mark.parametrize("status", [None, "REVIEW_IN_PROGRESS"])
def test_a_stack_that_is_not_there_yet_is_created_and_watched_by_nothing(status: str | None) -> None:
    wire = Wire(MADE)
    assert change(wire, status)[0].create(URL, {}, {}, {})
    (sent,) = wire.sent("CreateChangeSet")
    assert sent["ChangeSetType"] == "CREATE"
    assert "RollbackConfiguration" not in sent


def refused(reason: str) -> Wire:
    return Wire({"DescribeChangeSet": {"Status": "FAILED", "StatusReason": reason}})


def test_where_nothing_changes_nothing_is_left_behind() -> None:
    wire = refused("The submitted information didn't contain changes. Submit different information.")
    assert not change(wire)[0].create(URL, {}, {}, {})
    assert len(wire.sent("DeleteChangeSet")) == 1


def test_what_cloudformation_refuses_is_told() -> None:
    with pytest.raises(StackError, match="Parameters: \\[Model\\] do not exist"):
        change(refused("Parameters: [Model] do not exist in the template"))[0].create(URL, {}, {}, {})


def test_the_changes_are_shown() -> None:
    of = {"LogicalResourceId": "Table", "ResourceType": "AWS::DynamoDB::Table"}
    changes = [{"ResourceChange": {**of, "Action": "Modify", "Replacement": "True"}}]
    it, said = change(Wire({"DescribeChangeSet": {"Status": "CREATE_COMPLETE", "Changes": changes}}))
    it.show()
    assert said == ["  Modify  Table (AWS::DynamoDB::Table), in its place a new one"]


def event(number: int, status: str, reason: str = "") -> dict[str, Any]:
    return {
        "EventId": str(number),
        "LogicalResourceId": STACK,
        "ResourceStatus": status,
        "StackId": STACK,
        "StackName": STACK,
        "Timestamp": datetime(2026, 11, 26, tzinfo=UTC),
        "ResourceStatusReason": reason,
    }


def playing(*statuses: str, events: list[dict[str, Any]]) -> Wire:
    """A stack that goes through these, one at each look, with one more event each time."""
    left: Iterator[str] = iter(statuses)
    shown = [0]

    def described(_params: dict[str, Any]) -> dict[str, Any]:
        shown[0] += 1
        stack = {"StackName": STACK, "StackStatus": next(left), "Outputs": [{"OutputKey": "ApiId", "OutputValue": "a"}]}
        return {"Stacks": [stack]}

    return Wire(
        {
            "DescribeStacks": described,
            "DescribeStackEvents": lambda _params: {"StackEvents": list(reversed(events[: shown[0] + 1]))},
        }
    )


def test_a_change_is_told_event_by_event_and_ends_with_the_outputs() -> None:
    events = [event(0, "CREATE_COMPLETE"), event(1, "UPDATE_IN_PROGRESS"), event(2, "UPDATE_COMPLETE")]
    wire = playing("UPDATE_COMPLETE", "UPDATE_IN_PROGRESS", "UPDATE_COMPLETE", events=[events[0], *events])
    it, said = change(wire)
    assert it.execute() == {"ApiId": "a"}
    assert said == ["  UPDATE_IN_PROGRESS baton", "  UPDATE_COMPLETE baton"]  # nothing of the deployment before
    assert len(wire.sent("ExecuteChangeSet")) == 1


def test_a_release_that_an_alarm_has_taken_back_is_a_failure_that_names_it() -> None:
    why = f"Rollback requested: {ARN}baton-StandstillAlarm is in ALARM"
    events = [event(0, "UPDATE_COMPLETE"), event(1, "UPDATE_IN_PROGRESS"), event(2, "UPDATE_ROLLBACK_IN_PROGRESS", why)]
    wire = playing("UPDATE_IN_PROGRESS", "UPDATE_ROLLBACK_IN_PROGRESS", "UPDATE_ROLLBACK_COMPLETE", events=events)
    with pytest.raises(StackError, match=r"UPDATE_ROLLBACK_COMPLETE\nbaton: Rollback requested: .*StandstillAlarm"):
        change(wire)[0].execute()
