"""Promises of template.yaml about what operators are told: alarms, the dashboard, the budget."""

from __future__ import annotations

import json
import re
from typing import Any

from baton.domain.events.bus_events import LONGEST_PAUSE
from infra.cloudwatch import watched
from infra.data_checks import HINTS
from infra.register import Problems, check
from infra.template import Properties, Template, events, functions, name_of, of_type

OWN = {"Fn::Sub": "Baton/${AWS::StackName}"}
SWEEPER = "sweep_stale_claims"
MOST_METRICS = 10  # of one alarm that calculates
# What somebody must get up for. All else can wait until morning.
GETTING_UP = {
    *("FrontDoorFailuresAlarm", "FrontDoorRefusalsAlarm", "StandstillAlarm", "SweeperMissingAlarm"),
    "DispatchStuckAlarm",
}
TICKETS: Any = {"Fn::If": ["HasTicketTopic", {"Ref": "TicketTopicArn"}, {"Ref": "AlarmTopicArn"}]}
TOLD: Any = {"Fn::Not": [{"Fn::Equals": [{"Ref": "AlarmTopicArn"}, ""]}]}


def _metrics(alarm: Properties) -> list[Properties]:
    """The metrics that an alarm watches."""
    return [each["Metric"] for each in watched(alarm).values()]


def _target(metric: Properties) -> str:
    """What a metric is of; empty if of the whole stack."""
    dimensions = metric.get("Dimensions", [])
    return name_of(dimensions[-1]["Value"]) if dimensions else ""


def _alarms(template: Template) -> dict[tuple[str, str], Properties]:
    """By each metric that they watch, and what it is of."""
    return {
        (metric["MetricName"], _target(metric)): alarm
        for alarm in of_type(template, "AWS::CloudWatch::Alarm").values()
        for metric in _metrics(alarm)
    }


@check
def what_must_be_noticed_has_an_alarm(template: Template) -> Problems:
    """What each is told by, and that it is told in time: tests/infra/test_alarms.py."""
    wanted = {("Errors", function) for function in functions(template)}
    wanted |= {("IteratorAge", function) for function, _ in events(template, "DynamoDB")}
    wanted |= {
        ("ConcurrentExecutions", name)
        for name, function in of_type(template, "AWS::Serverless::Function").items()
        if "ReservedConcurrentExecutions" in function
    }
    for name, queue in of_type(template, "AWS::SQS::Queue").items():
        if name in HINTS:
            continue
        watched_by = (
            "ApproximateAgeOfOldestMessage" if "RedrivePolicy" in queue else "ApproximateNumberOfMessagesVisible"
        )
        wanted.add((watched_by, f"{name}.QueueName"))
    for table in of_type(template, "AWS::DynamoDB::Table").values():
        throttled = ["Table", *(index["IndexName"] for index in table["GlobalSecondaryIndexes"])]
        wanted |= {(f"{way}ThrottleEvents", target) for target in throttled for way in ("Read", "Write")}
    for missing in wanted - set(_alarms(template)):
        yield f"no alarm on {missing}"


@check
def an_event_that_stays_inside_alarms_until_it_is_out(template: Template) -> Problems:
    alarm = _alarms(template).get(("UnpublishedAgeSeconds", "publish_events"), {"Metrics": []})
    longest = LONGEST_PAUSE.total_seconds()  # so long it may be before one that was refused is seen again
    found = {each["Period"] for each in watched(alarm).values()}
    if found != {longest} or alarm["Threshold"] != longest:
        yield "an event that the bus doesn't take is noticed too late, or forgotten between two tries"


@check
def a_late_stream_alarms_before_it_gives_up(template: Template) -> Problems:
    for function, mapping in events(template, "DynamoDB"):
        alarm = _alarms(template).get(("IteratorAge", function), {})
        given_up_ms = mapping["MaximumRecordAgeInSeconds"] * 1_000  # no record gets older than that
        if function == "Ring" and "FILL(late_ms, 0) > 120000" in str(alarm) and given_up_ms > 120_000:
            continue  # told with all else that is about the bell
        if alarm.get("Statistic") != "Maximum" or not 60_000 <= alarm.get("Threshold", 0) < given_up_ms:
            yield f"{function} is late, and nobody hears of it before its records are dropped"


@check
def alarms_that_calculate_can_be_told(template: Template) -> Problems:
    """One answer of each, of no more metrics than CloudWatch takes; none where the engine refuses them. The newest
    minute is always late, and FILL puts its number there: each window is longer, or one datapoint of several is enough,
    or the number is the one that alarms."""
    for name, resource in template["Resources"].items():
        alarm = resource.get("Properties", {})
        if resource["Type"] != "AWS::CloudWatch::Alarm" or "Metrics" not in alarm:
            continue
        answers = [each["Id"] for each in alarm["Metrics"] if each.get("ReturnData", True)]
        if answers != ["found"] or len(watched(alarm)) > MOST_METRICS:
            yield f"{name} has no single answer, or too many metrics"
        is_short = any(each["Period"] < 300 for each in watched(alarm).values())
        if is_short and alarm.get("DatapointsToAlarm") != 1 and alarm["ComparisonOperator"] != "LessThanThreshold":
            yield f"{name} never sees what comes late"
        if not resource.get("Condition", "").endswith("InCloud"):
            yield f"the local engine refuses {name}"


@check
def alarms_reach_whom_they_are_for(template: Template) -> Problems:
    for name, alarm in of_type(template, "AWS::CloudWatch::Alarm").items():
        topic: Any = {"Ref": "AlarmTopicArn"} if name in GETTING_UP else TICKETS
        wanted = {"Fn::If": ["HasAlarmTopic", [topic], {"Ref": "AWS::NoValue"}]}
        if alarm.get("AlarmActions") != wanted or alarm.get("OKActions", wanted) != wanted:
            yield f"{name} tells nobody, or not those whom it is for"
        # A new dead letter is told though others lie there; so there is no end to tell.
        if ("OKActions" in alarm) is (name == "DeadLettersAlarm"):
            yield f"{name} tells of an end that there isn't, or not of one that there is"
    if missing := GETTING_UP - set(of_type(template, "AWS::CloudWatch::Alarm")):
        yield f"nobody gets up for {sorted(missing)}"
    rule = template.get("Rules", {}).get("TicketsComeBesideAlarms", {})
    if rule.get("Assertions", [{}])[0].get("Assert") != TOLD:
        yield "with a topic for tickets alone nobody hears what they must get up for"


@check
def alarms_say_where_to_read(template: Template) -> Problems:
    for name, alarm in of_type(template, "AWS::CloudWatch::Alarm").items():
        if not alarm["AlarmDescription"].endswith(f". docs/alarms.md#{name.lower()}"):
            yield f"whoever hears of {name} doesn't know what to do"


@check
def custom_metrics_have_the_namespace_of_their_alarms(template: Template) -> Problems:
    namespace = template["Globals"]["Function"]["Environment"]["Variables"].get("POWERTOOLS_METRICS_NAMESPACE")
    for alarm in of_type(template, "AWS::CloudWatch::Alarm").values():
        for metric in _metrics(alarm):
            is_ours = not str(metric["Namespace"]).startswith("AWS/")
            if is_ours and not metric["Namespace"] == namespace == OWN:
                yield f"{metric['MetricName']} is counted in {namespace} and watched in {metric['Namespace']}"


@check
def what_is_counted_in_logs_is_watched(template: Template) -> Problems:
    for name, counted in of_type(template, "AWS::Logs::MetricFilter").items():
        (made,) = counted["MetricTransformations"]
        if (made["MetricName"], "") not in _alarms(template) or made["MetricNamespace"] != OWN:
            yield f"{name} counts what no alarm watches"
        if "DefaultValue" in made:
            yield f"{name} costs a metric where nothing is counted"


# ---- dashboard and budget --------------------------------------------------------------------------------------------


def _put_together(body: Any) -> str:
    """The text of a !Sub with its own values, each other reference by its name."""
    match body:
        case {"Fn::Sub": [str(text), dict(values)]}:
            for name, value in values.items():
                text = text.replace(f"${{{name}}}", _put_together(value))
            return text
        case {"Fn::Sub": str(text)}:
            return text
    return str(body)


@check
def the_dashboard_shows_what_is_there(template: Template) -> Problems:
    """With either front door, and each function that there is."""
    for dashboard in of_type(template, "AWS::CloudWatch::Dashboard").values():
        text = _put_together(dashboard["DashboardBody"])
        try:
            widgets = json.loads(text)["widgets"]
        except ValueError as error:
            yield f"the dashboard isn't JSON: {error}"
            continue
        named = {name.split(".")[0] for name in re.findall(r"\$\{([^}]+)\}", text)} - {"AWS::Region", "AWS::StackName"}
        if gone := named - set(template["Resources"]):
            yield f"the dashboard shows {sorted(gone)}, which aren't there"
        if unseen := set(functions(template)) - named:
            yield f"the dashboard doesn't show {sorted(unseen)}"
        if any(each["properties"]["region"] != "${AWS::Region}" for each in widgets):
            yield "a widget shows another region"


@check
def a_budget_tells_somebody(template: Template) -> Problems:
    """Where one is asked for: by default there is none. `make deploy` makes it."""
    asked = template["Parameters"]["MonthlyBudget"]
    if (asked["Default"], asked["MinValue"]) != (0, 0):
        yield "a budget that nobody asked for"
    rule = template.get("Rules", {}).get("BudgetTellsSomebody", {})
    if rule.get("Assertions", [{}])[0].get("Assert") != TOLD:
        yield "a budget without a topic tells nobody, silently"
