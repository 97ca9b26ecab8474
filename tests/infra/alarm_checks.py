"""Promises of template.yaml about what operators are told: alarms, the dashboard, the budget."""

from __future__ import annotations

import json
import re
from typing import Any

from baton.domain.events.bus_events import LONGEST_PAUSE
from infra.register import Problems, check, check_of
from infra.template import GATEWAY, URL, Properties, Template, events, functions, name_of, of_type

OWN = {"Fn::Sub": "Baton/${AWS::StackName}"}
SWEEPER = "sweep_stale_claims"
# Each front door's metrics: what is refused with a 5xx, of what.
DOORS = {GATEWAY: ("5xx", "Count", "HttpApi"), URL: ("Url5xxCount", "UrlRequestCount", "AllRoutes")}
GROWTH = "DIFF(FILL(visible, 0) + FILL(held, 0))"
RATE = "IF(FILL(failed, 0) >= 5, 100 * FILL(failed, 0) / requests, 0)"


def _metrics(alarm: Properties) -> list[Properties]:
    """The metrics that an alarm watches: one, or those that it calculates with."""
    if "MetricName" in alarm:
        return [alarm]
    return [each["MetricStat"]["Metric"] for each in alarm["Metrics"] if "MetricStat" in each]


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


def _judged(alarm: Properties) -> list[Any]:
    keys = ("ComparisonOperator", "Threshold", "EvaluationPeriods", "DatapointsToAlarm")
    return [alarm.get(key) for key in keys]


def _expression(alarm: Properties) -> Any:
    (found,) = [each["Expression"] for each in alarm.get("Metrics", [{"Expression": None}]) if "Expression" in each]
    return found


@check
def what_must_be_noticed_has_an_alarm(template: Template) -> Problems:
    wanted = {
        ("ApproximateNumberOfMessagesVisible", "DispatchDeadLetters.QueueName"),
        ("ApproximateAgeOfOldestMessage", "DispatchQueue.QueueName"),
        ("ApproximateNumberOfMessagesVisible", "TrackerDeadLetters.QueueName"),
        ("ApproximateAgeOfOldestMessage", "TrackerQueue.QueueName"),
        ("SweeperHeartbeat", SWEEPER),
        ("SweepUnfinished", SWEEPER),
        ("SweepFailed", SWEEPER),
        ("UndispatchedAgeSeconds", SWEEPER),
        ("UnpublishedAgeSeconds", "publish_events"),
        ("RequestFailed", ""),
        ("WrittenByNewer", ""),
    }
    wanted |= {(metric, function) for function in functions(template) for metric in ("Errors", "Throttles")}
    wanted |= {("IteratorAge", function) for function, _ in events(template, "DynamoDB")}
    for table in of_type(template, "AWS::DynamoDB::Table").values():
        throttled = ["Table", *(index["IndexName"] for index in table["GlobalSecondaryIndexes"])]
        wanted |= {(f"{way}ThrottleEvents", target) for target in throttled for way in ("Read", "Write")}
    for missing in wanted - set(_alarms(template)):
        yield f"no alarm on {missing}"


@check
def silence_of_those_who_look_is_an_alarm(template: Template) -> Problems:
    for (metric, _), alarm in _alarms(template).items():
        if (alarm["TreatMissingData"] == "breaching") is not (metric in {"SweeperHeartbeat", "UnpublishedAgeSeconds"}):
            yield f"{metric}: missing data means the opposite"
    heartbeat = _alarms(template).get(("SweeperHeartbeat", SWEEPER), {})
    if heartbeat.get("ComparisonOperator") != "LessThanThreshold" or heartbeat.get("Threshold") != 1:
        yield "a missing heartbeat isn't below the threshold"


@check
def each_dead_letter_alarms(template: Template) -> Problems:
    """Also the second, while the first still lies there; and none anew that somebody only looked at."""
    for queue in ("DispatchDeadLetters", "TrackerDeadLetters"):
        alarm = _alarms(template).get(("ApproximateNumberOfMessagesVisible", f"{queue}.QueueName"), {})
        if _judged(alarm) != ["GreaterThanThreshold", 0, 5, 1] or _expression(alarm) != GROWTH:
            yield f"one message in {queue} raises no alarm, or only the first one does"
        if alarm is not _alarms(template).get(("ApproximateNumberOfMessagesNotVisible", f"{queue}.QueueName")):
            yield f"a message of {queue} that somebody looks at is new when it is back"
        if "OKActions" in alarm:
            yield f"{queue} is said to be well again though the message lies there"


@check
def waiting_messages_alarm_in_time(template: Template) -> Problems:
    for queue, seconds in {"DispatchQueue": 900, "TrackerQueue": 3600}.items():
        alarm = _alarms(template).get(("ApproximateAgeOfOldestMessage", f"{queue}.QueueName"), {})
        if (alarm.get("ComparisonOperator"), alarm.get("Threshold")) != ("GreaterThanThreshold", seconds):
            yield f"a message may wait in {queue} for longer than {seconds} s"


@check
def an_event_that_stays_inside_alarms_until_it_is_out(template: Template) -> Problems:
    alarm = _alarms(template).get(("UnpublishedAgeSeconds", "publish_events"), {})
    longest = LONGEST_PAUSE.total_seconds()  # so long it may be before one that was refused is seen again
    found = [alarm.get(key) for key in ("ComparisonOperator", "Statistic", "Threshold", "Period")]
    if found != ["GreaterThanThreshold", "Maximum", longest, longest]:
        yield "an event that the bus doesn't take is noticed too late, or forgotten between two tries"


@check
def a_late_stream_alarms_before_it_gives_up(template: Template) -> Problems:
    for function, mapping in events(template, "DynamoDB"):
        alarm = _alarms(template).get(("IteratorAge", function), {})
        given_up_ms = mapping["MaximumRecordAgeInSeconds"] * 1_000  # no record gets older than that
        if alarm.get("Statistic") != "Maximum" or not 60_000 <= alarm.get("Threshold", 0) < given_up_ms:
            yield f"{function} is late, and nobody hears of it before its records are dropped"


@check
def rounds_that_end_too_early_alarm(template: Template) -> Problems:
    """One that is full of work does no harm, several in a row do."""
    for metric in ("SweepUnfinished", "SweepFailed"):
        if _judged(_alarms(template).get((metric, SWEEPER), {})) != ["GreaterThanThreshold", 0, 5, 3]:
            yield f"three of five rounds with {metric} raise no alarm, or a single one does"


def _rate_alarms(template: Template, door: str) -> Problems:
    failed, requests, target = DOORS[door]
    alarm = _alarms(template).get((failed, target), {})
    if alarm is not _alarms(template).get((requests, target)) or _expression(alarm) != RATE:
        yield f"{failed} isn't watched as a part of {requests}"
    if _judged(alarm)[:2] != ["GreaterThanThreshold", 1]:
        yield "more than one request in a hundred may fail"


@check_of(GATEWAY)
def failures_at_the_gateway_alarm(template: Template) -> Problems:
    yield from _rate_alarms(template, GATEWAY)


@check_of(URL)
def failures_at_the_url_alarm(template: Template) -> Problems:
    yield from _rate_alarms(template, URL)


@check
def alarms_that_calculate_can_be_told(template: Template) -> Problems:
    """One answer of each, which looks twice: FILL puts its number for a datapoint that is only late. And none where the
    engine refuses them."""
    for name, resource in template["Resources"].items():
        alarm = resource.get("Properties", {})
        if resource["Type"] != "AWS::CloudWatch::Alarm" or "Metrics" not in alarm:
            continue
        answers = [each["Id"] for each in alarm["Metrics"] if each.get("ReturnData", True)]
        if answers != ["found"] or alarm["EvaluationPeriods"] < 2 or alarm.get("DatapointsToAlarm") != 1:
            yield f"{name} has no single answer, or overlooks what comes late"
        if not resource.get("Condition", "").endswith("InCloud"):
            yield f"the local engine refuses {name}"


@check
def alarms_reach_somebody(template: Template) -> Problems:
    wanted = {"Fn::If": ["HasAlarmTopic", [{"Ref": "AlarmTopicArn"}], {"Ref": "AWS::NoValue"}]}
    for (metric, _), alarm in _alarms(template).items():
        if alarm.get("AlarmActions") != wanted:
            yield f"the alarm on {metric} tells nobody"


@check
def custom_metrics_have_the_namespace_of_their_alarms(template: Template) -> Problems:
    namespace = template["Globals"]["Function"]["Environment"]["Variables"].get("POWERTOOLS_METRICS_NAMESPACE")
    for alarm in of_type(template, "AWS::CloudWatch::Alarm").values():
        for metric in _metrics(alarm):
            is_ours = not str(metric["Namespace"]).startswith("AWS/")
            if is_ours and not metric["Namespace"] == namespace == OWN:
                yield f"{metric['MetricName']} is counted in {namespace} and watched in {metric['Namespace']}"


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
    if rule.get("Assertions", [{}])[0].get("Assert") != {"Fn::Not": [{"Fn::Equals": [{"Ref": "AlarmTopicArn"}, ""]}]}:
        yield "a budget without a topic tells nobody, silently"
