"""Promises of template.yaml about the bell: its one way in, what its functions may do, that it can be switched off."""

from __future__ import annotations

import json

from baton.adapters.dynamodb import keys
from infra.data_checks import CONNECTIONS, HINTS, STREAM, WRITING
from infra.register import Problems, check, check_whole
from infra.service_checks import LIMITS
from infra.template import (
    Template,
    called,
    environment,
    events,
    functions,
    grants,
    name_of,
    of_type,
    role_of,
    statements,
)

LISTEN, RING, QUEUE = "Listen", "Ring", "BellQueue"
ROUTES = dict.fromkeys(("$connect", "$disconnect", "$default"), LISTEN)
# Partitions: connections and tickets; of Listen also what a caller has used of its limits.
WRITTEN = {LISTEN: ["BELL#*", "WS#*#USE#*"], RING: ["BELL#*"]}
READ = {"BatchGetItem", "GetItem", "Query", "UpdateItem"}
# Of a task what has new events; of what says that rights may have changed one of four copies; what else is in lists.
LISTED = ("#ALERTS", "#REVIEWS", "#TOOLS", *(f"#BOARD#{shard}" for shard in range(keys.BOARD_SHARDS)))
RUNG_FOR = [
    {"sk": {"S": ["HEAD"]}},
    {"pk": {"S": [{"suffix": each} for each in ("#CONFIG#0", *LISTED)]}},
]


@check
def the_bell_leads_to_listen_alone(template: Template) -> Problems:
    (bell,) = of_type(template, "AWS::Serverless::WebSocketApi").values()
    found = {key: called(route["FunctionArn"]) for key, route in bell["Routes"].items()}
    if found != ROUTES:
        yield f"connections reach {found}"
    if any(bell.get("DefaultRouteSettings", {}).get(each) != {"Ref": "RequestsPerSecond"} for each in LIMITS):
        yield "anybody may run up the bill by connections"


@check
def all_are_told_where_the_bell_is(template: Template) -> Problems:
    address = template["Outputs"]["BellUrl"]["Value"]
    for name in functions(template):
        if environment(template, name).get("BATON_BELL_URL") != address:
            yield f"{name} knows another bell"


@check
def those_who_ask_for_a_look_know_the_queue(template: Template) -> Problems:
    for name in functions(template):
        asks = ("sqs:SendMessage", f"{QUEUE}.Arn") in grants(template, name)
        if (name_of(environment(template, name).get("BATON_BELL_QUEUE_URL", "")) == QUEUE) is not asks:
            yield f"{name} must know the queue exactly if it may send there"


@check
def the_bell_changes_no_task(template: Template) -> Problems:
    """It reads what a principal may listen to, and writes who listens."""
    for function, partitions in WRITTEN.items():
        found = {action for action, resource in grants(template, function) if resource == "Table.Arn"}
        if found != {f"dynamodb:{verb}" for verb in READ}:
            yield f"{function} may {sorted(found)}"
        kept_out = [
            each["Condition"]["ForAnyValue:StringNotLike"]["dynamodb:LeadingKeys"]
            for each in statements(template, role_of(template, function) or "", "Deny")
            if "ForAnyValue:StringNotLike" in each.get("Condition", {}) and set(each["Action"]) == WRITING
        ]
        if kept_out != [partitions]:
            yield f"{function} writes {kept_out}"
        if ("execute-api:ManageConnections", CONNECTIONS) not in grants(template, function):
            yield f"{function} answers nobody"


@check
def the_stream_reaches_the_bell_at_once(template: Template) -> Problems:
    """Only news do. What was written before anybody could listen is rung for nobody."""
    ((_, event),) = [each for each in events(template, "DynamoDB") if each[0] == RING]
    if name_of(event["Stream"]) != STREAM or event.get("MaximumBatchingWindowInSeconds", 0) != 0:
        yield "a ring waits for others"
    if event.get("StartingPosition") != "LATEST":
        yield "what is long over is rung for"
    patterns = [json.loads(each["Pattern"]) for each in event.get("FilterCriteria", {}).get("Filters", [])]
    if [each["dynamodb"]["Keys"] for each in patterns] != RUNG_FOR or "fresh" not in str(patterns[0]):
        yield f"Ring is called for {patterns}"


@check_whole
def the_bell_can_be_switched_off(template: Template) -> Problems:
    switch = template["Parameters"]["Doorbell"]
    if (switch["Default"], switch["AllowedValues"]) != ("on", ["on", "off"]):
        yield "the bell isn't there by default, or can't be switched off"
    for section in ("Resources", "Outputs"):
        for name, each in template[section].items():
            if name.startswith((LISTEN, RING, "Bell")) and each.get("Condition") not in {"HasBell", "BellInCloud"}:
                yield f"{name} is there without a bell"


@check
def a_look_that_is_lost_is_made_up_for(template: Template) -> Problems:
    """So none is kept for much longer than a listener takes to look by itself."""
    for name in HINTS:
        if not of_type(template, "AWS::SQS::Queue")[name]["MessageRetentionPeriod"] <= 3_600:
            yield f"{name} keeps what nobody needs any more"
