"""A stack's next state, by CloudFormation's own change sets: what it would change, and the change, watched by alarms.

`sam deploy` does the same but for the alarms: it hands on no rollback configuration.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from botocore.exceptions import WaiterError

from tools.admin.deploy_answers import Parameters, Say
from tools.stack.background import StackError

NAME = "baton-deploy"
# What callers see first. At most five: CloudFormation takes no more.
TRIGGERS = (
    *("FrontDoorFailuresAlarm", "StandstillAlarm", "FrontDoorErrorsAlarm", "BackgroundErrorsAlarm"),
    "RequestFailedAlarm",
)
ALARM = "AWS::CloudWatch::Alarm"
NOTHING = ("didn't contain changes", "No updates are to be performed")
POLL_SECONDS = 3.0
LOCAL_POLL_SECONDS = 0.2  # of the local engine, which is done in a moment

Configuration = dict[str, Any]


def resources(cloudformation: Any, stack: str, kind: str) -> dict[str, str]:
    """The physical id of every resource of this type, by logical id."""
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack)
    return {
        each["LogicalResourceId"]: each["PhysicalResourceId"]
        for page in pages
        for each in page["StackResourceSummaries"]
        if each["ResourceType"] == kind and each.get("PhysicalResourceId")
    }


def watched_by(cloudformation: Any, cloudwatch: Any, stack: str, minutes: int, say: Say) -> Configuration:
    """What takes a release back. An alarm that rings already would take back any, also the one that mends it; and one
    that isn't there would fail the deployment. CloudFormation remembers what a deployment said, so each says it."""
    there = resources(cloudformation, stack, ALARM) if minutes else {}
    names = [there[each] for each in TRIGGERS if each in there]
    found = cloudwatch.describe_alarms(AlarmNames=names)["MetricAlarms"] if names else []
    ringing = [each["AlarmName"] for each in found if each["StateValue"] == "ALARM"]
    quiet = [each for each in found if each["AlarmName"] not in ringing]
    if ringing:
        say(f"these alarms ring already, and don't watch this deployment: {', '.join(ringing)}")
    if quiet:
        say(f"{len(quiet)} alarms watch it, and for {minutes} minutes after: if one rings, the release goes back")
    return {
        "RollbackTriggers": [{"Arn": each["AlarmArn"], "Type": ALARM} for each in quiet],
        "MonitoringTimeInMinutes": minutes if quiet else 0,
    }


@dataclass(frozen=True)
class ChangeSet:
    """``found``: the stack as it is, or None. ``template_url``: where the packaged template lies. ``poll_seconds``: how
    often it looks whether it goes on."""

    cloudformation: Any
    stack: str
    found: Mapping[str, Any] | None
    say: Say
    sleep: Callable[[float], None] = time.sleep
    poll_seconds: float = POLL_SECONDS

    @cached_property
    def _of(self) -> dict[str, str]:
        return {"StackName": self.stack, "ChangeSetName": f"{NAME}-{time.time_ns()}"}

    @property
    def _is_new(self) -> bool:
        """One that was only looked at has no resources, and is still to be created."""
        return self.found is None or self.found["StackStatus"] == "REVIEW_IN_PROGRESS"

    def create(self, template_url: str, wanted: Parameters, tags: Mapping[str, str], watched: Configuration) -> bool:
        """False if there is nothing to change. Raises StackError."""
        self.cloudformation.create_change_set(
            **self._of,
            ChangeSetType="CREATE" if self._is_new else "UPDATE",
            TemplateURL=template_url,
            Capabilities=["CAPABILITY_IAM"],
            Parameters=[{"ParameterKey": name, "ParameterValue": value} for name, value in wanted.items()],
            Tags=[{"Key": name, "Value": value} for name, value in tags.items()],
            **({"RollbackConfiguration": watched} if watched else {}),
        )
        try:
            self.cloudformation.get_waiter("change_set_create_complete").wait(
                **self._of, WaiterConfig={"Delay": self.poll_seconds, "MaxAttempts": 200}
            )
        except WaiterError as error:
            reason = str(error.last_response.get("StatusReason", error))
            if any(each in reason for each in NOTHING):
                self.drop()
                return False
            raise StackError(f"CloudFormation refuses it: {reason}") from error
        return True

    def drop(self) -> None:
        self.cloudformation.delete_change_set(**self._of)

    def show(self) -> None:
        pages = self.cloudformation.get_paginator("describe_change_set").paginate(**self._of)
        for change in (each["ResourceChange"] for page in pages for each in page.get("Changes", [])):
            replaced = ", in its place a new one" if change.get("Replacement") == "True" else ""
            self.say(f"  {change['Action']:7} {change['LogicalResourceId']} ({change['ResourceType']}){replaced}")

    def execute(self) -> dict[str, str]:
        """The stack's outputs. Tells each event; raises StackError where the stack went back."""
        told = {each["EventId"] for each in self._events()}
        known_before = len(told)
        self.cloudformation.execute_change_set(**self._of)
        problems: list[str] = []
        while True:
            stack = self.cloudformation.describe_stacks(StackName=self.stack)["Stacks"][0]
            for event in reversed([each for each in self._events(told) if each["EventId"] not in told]):
                told.add(event["EventId"])
                reason = event.get("ResourceStatusReason", "")
                self.say(f"  {event['ResourceStatus']} {event['LogicalResourceId']} {reason}".rstrip())
                if reason and ("FAILED" in event["ResourceStatus"] or "ROLLBACK_IN" in event["ResourceStatus"]):
                    problems.append(f"{event['LogicalResourceId']}: {reason}")
            has_begun = len(told) > known_before  # until then the status is that of the deployment before
            if has_begun and not stack["StackStatus"].endswith("_IN_PROGRESS"):
                break
            self.sleep(self.poll_seconds)
        if stack["StackStatus"] not in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}:
            raise StackError("\n".join([f"{self.stack} is {stack['StackStatus']}", *problems[:3]]))
        return {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", [])}

    def _events(self, known: set[str] | None = None) -> Iterator[dict[str, Any]]:
        """The newest first, up to a known one."""
        if self._is_new and known is None:
            return
        for page in self.cloudformation.get_paginator("describe_stack_events").paginate(StackName=self.stack):
            for event in page["StackEvents"]:
                if known is not None and event["EventId"] in known:
                    return
                yield event
            if known is None:
                return
