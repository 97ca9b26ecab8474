"""Promises of template.yaml about queues, permissions, the table and what its stream brings to the bus."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatch
from typing import Any

from baton.adapters.dynamodb import keys
from infra.register import Problems, check, check_of
from infra.template import (
    GATEWAY,
    Properties,
    Template,
    as_list,
    environment,
    events,
    functions,
    grants,
    name_of,
    of_type,
    role_of,
    statements,
)

QUEUE = "AWS::SQS::Queue"
ROLE = "AWS::IAM::Role"
DISPATCH, TRACKER = "DispatchQueue.Arn", "TrackerQueue.Arn"
BUS, STREAM = "Bus.Arn", "Table.StreamArn"
# IAM knows no resource for it.
LISTENERS = ("events:ListRules", "*")
DEAD_LETTERS = {"DispatchDeadLetters.Arn": "ProcessTask", "TrackerDeadLetters.Arn": "SyncTracker"}
ANSWERED_BY = {"DispatchQueue": "ProcessTask", "TrackerQueue": "SyncTracker", "BellQueue": "Ring"}
BOUNDED_BY: dict[str, Any] = {
    "ProcessTask": {"Ref": "MaximumConcurrency"},
    "SyncTracker": {"Ref": "TrackerConcurrency"},
    "Ring": 10,
}
# A message there that can't be handled is no loss, so it has no dead letters, and nobody is told of it by itself.
HINTS = {"BellQueue"}
# The name of a secret ends in a suffix that AWS chooses, once there is one; that and the workspace are left open.
SECRETS = "arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:secret:${AWS::StackName}/*/notion*"
CALLBACK_KEY = SECRETS.replace("/*/notion*", "/callback-key*")
# What a daily copy is made of, and where a daily export goes: AWS chooses the rest of either name.
RECOVERY_POINTS = "arn:${AWS::Partition}:backup:${AWS::Region}:${AWS::AccountId}:recovery-point:*"
EXPORTS = "arn:${AWS::Partition}:s3:::${ExportBucket}/${AWS::StackName}/*"
# Of the bell: AWS gives each connection an id.
CONNECTIONS = "arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${Bell}/live/*/@connections/*"
OPEN_ENDED = {SECRETS, CALLBACK_KEY, RECOVERY_POINTS, EXPORTS, CONNECTIONS}
# Of services of AWS's, on behalf of this account alone.
ASSUMED_BY = {"BackupRole": "backup.amazonaws.com", "ExportRole": "scheduler.amazonaws.com"}
# What whoever deploys names, and only with these conditions.
MODEL_KEY, MODEL_KEY_KMS, BEDROCK = "ModelKeySecret", "ModelKeyKms", "BedrockModels"
CONDITIONAL = {MODEL_KEY: "HasModelKey", MODEL_KEY_KMS: "HasModelKeyKms", BEDROCK: "HasBedrockModels"}
# Each task of a batch is noted by a call: 500 take a few seconds of the publisher's 50.
NEWS_AT_ONCE = 500
# Partitions, as its role names them. A role sees no sort key: a task's other items are in its partition.
WRITTEN_BY_THE_WEBHOOK = ["WS#*#TRACKER", "WS#*#ONCE#*", "WS#*#TASK#*"]
ISSUING_TOKENS = {"Api", "AllRoutes"}
WRITING = {"dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"}
FORBIDDEN = {
    "dynamodb:DeleteTable",
    "dynamodb:Scan",
    "dynamodb:UpdateTable",
    "secretsmanager:DeleteSecret",
    "secretsmanager:ListSecrets",
    "sqs:DeleteQueue",
    "sqs:PurgeQueue",
}
READING_A_STREAM = ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")
TAKING = ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility", "sqs:GetQueueAttributes")
# Waiting claims, but gives no work to others; the webhook is open to everybody, and so reaches neither work nor tokens.
GRANTED_ONLY_TO: dict[tuple[str, str], set[str]] = {
    ("sqs:SendMessage", DISPATCH): {
        "AllRoutes",
        "CreateHandoffMarker",
        "Api",
        "Wait",
        "McpDoor",
        "ProcessTask",
        "SyncTracker",
        "SweepStaleClaims",
    },
    ("sqs:SendMessage", TRACKER): {
        "AllRoutes",
        "CreateHandoffMarker",
        "Api",
        "Wait",
        "McpDoor",
        "NotionWebhook",
        "ProcessTask",
        "SyncTracker",
        "SweepStaleClaims",
    },
    ("secretsmanager:GetSecretValue", SECRETS): {"AllRoutes", "CreateHandoffMarker", "Api", "McpDoor", "SyncTracker"},
    ("secretsmanager:CreateSecret", SECRETS): {"AllRoutes", "Api"},
    ("secretsmanager:PutSecretValue", SECRETS): {"AllRoutes", "Api"},
    ("secretsmanager:GetSecretValue", CALLBACK_KEY): {"AllRoutes", "Api", "McpDoor"},
    ("secretsmanager:GetSecretValue", MODEL_KEY): {"ProcessTask"},
    ("kms:Decrypt", MODEL_KEY_KMS): {"ProcessTask"},
    ("bedrock:InvokeModel", BEDROCK): {"ProcessTask"},
    ("sqs:SendMessage", "BellQueue.Arn"): {"Ring", "SweepStaleClaims"},
    ("execute-api:ManageConnections", CONNECTIONS): {"Listen", "Ring"},
    **{
        (action, f"{queue}.Arn"): {function}
        for queue, function in ANSWERED_BY.items()
        for action in TAKING
        if queue not in HINTS or "Visibility" not in action
    },
    ("events:PutEvents", BUS): {"PublishEvents"},
    LISTENERS: {"PublishEvents"},
    **{(f"dynamodb:{action}", STREAM): {"PublishEvents", "Ring"} for action in READING_A_STREAM},
    **{("sqs:SendMessage", letters): {function} for letters, function in DEAD_LETTERS.items()},
}


# ---- queues ----------------------------------------------------------------------------------------------------------


def _dead_letters(template: Template) -> set[str]:
    return {
        name_of(queue["RedrivePolicy"]["deadLetterTargetArn"]).removesuffix(".Arn")
        for queue in of_type(template, QUEUE).values()
        if "RedrivePolicy" in queue
    }


@check
def every_queue_has_dead_letters(template: Template) -> Problems:
    for name, queue in of_type(template, QUEUE).items():
        if name in _dead_letters(template) | HINTS:
            continue
        target = name_of(queue.get("RedrivePolicy", {}).get("deadLetterTargetArn", ""))
        if target.removesuffix(".Arn") not in of_type(template, QUEUE):
            yield f"{name} has no dead-letter queue"
        elif not 3 <= queue["RedrivePolicy"]["maxReceiveCount"] <= 10:
            yield f"{name} gives a message up too early or too late"


@check
def dead_letters_come_from_one_queue(template: Template) -> Problems:
    """The policy names the source queue by its name: with references, neither queue could be created first."""
    queues = of_type(template, QUEUE)
    arn = "arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:"
    for queue in (each for each in queues.values() if "RedrivePolicy" in each):
        target = name_of(queue["RedrivePolicy"]["deadLetterTargetArn"]).removesuffix(".Arn")
        source = {"Fn::Sub": f"{arn}{name_of(queue.get('QueueName', ''))}"}
        wanted = {"redrivePermission": "byQueue", "sourceQueueArns": [source]}
        if queues.get(target, {}).get("RedriveAllowPolicy") != wanted:
            yield f"any queue of the account may send its dead letters to {target}"


@check
def dead_letters_are_kept_longer_than_messages(template: Template) -> Problems:
    queues = of_type(template, QUEUE)
    for name, queue in queues.items():
        target = name_of(queue.get("RedrivePolicy", {}).get("deadLetterTargetArn", "")).removesuffix(".Arn")
        if target in queues and queues[target]["MessageRetentionPeriod"] <= queue["MessageRetentionPeriod"]:
            yield f"{target} forgets a message of {name} too early: it keeps its first age when it is moved"


@check
def queues_are_encrypted(template: Template) -> Problems:
    for name, queue in of_type(template, QUEUE).items():
        if queue.get("SqsManagedSseEnabled") != {"Fn::If": ["HasKmsKey", False, True]}:
            yield f"{name} isn't encrypted"


@check
def visibility_covers_six_timeouts(template: Template) -> Problems:
    for function, event in events(template, "SQS"):
        queue = of_type(template, QUEUE)[name_of(event["Queue"]).removesuffix(".Arn")]
        if queue["VisibilityTimeout"] < 6 * functions(template)[function]["Timeout"]:
            yield f"{function}'s batch is handed out again while it may still be retried"


@check
def batches_fail_in_part(template: Template) -> Problems:
    for function, event in events(template, "SQS"):
        if event.get("FunctionResponseTypes") != ["ReportBatchItemFailures"]:
            yield f"one bad message fails {function}'s whole batch"


@check
def batches_are_small(template: Template) -> Problems:
    for function, event in events(template, "SQS"):
        if function == "ProcessTask" and event.get("BatchSize") != 1:
            yield "an agent's work waits behind another's model"
        if not event.get("BatchSize", 10) <= 5 or event.get("MaximumBatchingWindowInSeconds", 0):
            yield f"{function} takes too much at once, or waits for it"


@check
def concurrency_of_the_queue_is_bounded(template: Template) -> Problems:
    for function, event in events(template, "SQS"):
        bound = event.get("ScalingConfig", {}).get("MaximumConcurrency", {})
        choices = bound.get("Fn::If", []) if isinstance(bound, dict) else []
        if BOUNDED_BY[function] not in [bound, *choices]:
            yield f"{function}'s MaximumConcurrency isn't {BOUNDED_BY[function]}"


@check
def the_tracker_is_asked_by_few_at_once(template: Template) -> Problems:
    parameter = template["Parameters"]["TrackerConcurrency"]
    if (parameter["Default"], parameter["MinValue"]) != (2, 2):  # SQS takes no less
        yield "more than two callers share the tracker's 3 requests per second by default"
    for function, event in events(template, "SQS"):
        if function == "SyncTracker" and event.get("BatchSize") != 1:
            yield "a notice of one workspace waits for the tracker of another"


@check
def each_queue_has_one_that_answers(template: Template) -> Problems:
    found = sorted(
        (name_of(event["Queue"]).removesuffix(".Arn"), function) for function, event in events(template, "SQS")
    )
    if found != sorted(ANSWERED_BY.items()):
        yield f"the queues are answered by {found}"


# ---- permissions -----------------------------------------------------------------------------------------------------


@check
def each_function_has_a_role_of_its_own(template: Template) -> Problems:
    roles = [role_of(template, function) for function in functions(template)]
    if None in roles or len(set(roles)) < len(roles):
        yield "a function shares a role, or has none of this template"


@check
def roles_are_written_out(template: Template) -> Problems:
    for name, role in of_type(template, ROLE).items():
        if "arn:" in str(role.get("ManagedPolicyArns")):
            yield f"{name} uses a managed policy of AWS's: those allow every log group or queue"
    for name, function in functions(template).items():
        if "Policies" in function:
            yield f"{name} has policies beside its role, which SAM ignores"


@check
def only_lambda_assumes_the_functions_roles(template: Template) -> Problems:
    """And who makes copies and exports, theirs: not on behalf of another account."""
    here = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    for name, role in of_type(template, ROLE).items():
        for statement in role["AssumeRolePolicyDocument"]["Statement"]:
            service = ASSUMED_BY.get(name, "lambda.amazonaws.com")
            wanted = (service, here if name in ASSUMED_BY else None)
            if (statement["Principal"].get("Service"), statement.get("Condition")) != wanted:
                yield f"{name} may be assumed by somebody else"


@check
def no_action_has_a_wildcard(template: Template) -> Problems:
    for role in of_type(template, ROLE):
        for statement in statements(template, role):
            if "Action" not in statement or any("*" in action for action in as_list(statement["Action"])):
                yield f"{role} allows more actions than it names"


@check
def no_resource_has_a_wildcard(template: Template) -> Problems:
    for role in of_type(template, ROLE):
        for statement in statements(template, role):
            named = [name_of(each) for each in as_list(statement.get("Resource", "*"))]
            if (statement.get("Action"), *named) == LISTENERS:
                continue
            if any("*" in each for each in named if each not in OPEN_ENDED):
                yield f"{role} allows more resources than it names"


@check
def functions_touch_only_what_is_the_stacks(template: Template) -> Problems:
    indexes = {index["IndexName"] for index in _table(template)["GlobalSecondaryIndexes"]}
    data = {"Table.Arn", STREAM, BUS, SECRETS, CALLBACK_KEY, CONNECTIONS, *CONDITIONAL, *DEAD_LETTERS}
    data |= {f"{queue}.Arn" for queue in ANSWERED_BY} | {f"${{Table.Arn}}/index/{name}" for name in indexes}
    for function in functions(template):
        for _, resource in grants(template, function) - {LISTENERS}:
            if resource not in data | {f"{function}Logs.Arn"}:
                yield f"{function} may touch {resource}"


@check
def indexes_are_only_queried(template: Template) -> Problems:
    for function in functions(template):
        for action, resource in grants(template, function):
            if "/index/" in resource and action != "dynamodb:Query":
                yield f"{function} may {action} an index"


@check
def nothing_scans_or_destroys(template: Template) -> Problems:
    for function in functions(template):
        for action, _ in grants(template, function):
            if action in FORBIDDEN:
                yield f"{function} may {action}"


@check
def what_may_be_missing_is_granted_only_if_it_is_there(template: Template) -> Problems:
    """IAM takes no empty resource; and for a policy of its own, only one that a condition decides on."""
    for name, policy in of_type(template, "AWS::IAM::Policy").items():
        resources = {
            name_of(each)
            for statement in policy["PolicyDocument"]["Statement"]
            for each in as_list(statement.get("Resource", "*"))
        }
        conditions = {CONDITIONAL.get(each) for each in resources}
        if conditions != {template["Resources"][name].get("Condition")} or None in conditions:
            yield f"{name} grants {sorted(resources)} whatever the parameters say"
        if len(policy.get("Roles", [])) != 1 or policy.get("Users") or policy.get("Groups"):
            yield f"{name} isn't one function's"
    for parameter, condition in CONDITIONAL.items():
        if template["Parameters"][parameter]["Default"] != "":
            yield f"{parameter} is granted by default"
        if {"Ref": parameter} not in _values_in(template["Conditions"][condition]):
            yield f"{condition} doesn't look at {parameter}"


def _values_in(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(found for each in inner for found in _values_in(each))]


@check
def nobody_deletes_items(template: Template) -> Problems:
    """What is over is marked, or forgotten by TTL. So no right depends on how a condition on keys is judged inside a
    transaction, which AWS doesn't say."""
    for function in functions(template):
        for action, _ in grants(template, function):
            if fnmatch("dynamodb:DeleteItem", action) or fnmatch("dynamodb:BatchWriteItem", action):
                yield f"{function} may delete items: {action}"


@check
def those_who_may_read_the_callback_key_know_where_it_is(template: Template) -> Problems:
    """Without it each wait for an answer is refused as busy, for ever."""
    for function in GRANTED_ONLY_TO["secretsmanager:GetSecretValue", CALLBACK_KEY] & functions(template).keys():
        if environment(template, function).get("BATON_CALLBACKS_SEALED_BY") != {"Ref": "CallbackKey"}:
            yield f"{function} doesn't know the callback key"


@check
def rights_stay_with_those_who_need_them(template: Template) -> Problems:
    for function in functions(template):
        for action, resource in grants(template, function):
            is_shared = action.startswith(("dynamodb:", "logs:")) and resource != STREAM
            if not is_shared and function not in GRANTED_ONLY_TO.get((action, resource), ()):
                yield f"{function} may {action} {resource}"


@check
def those_who_need_a_right_have_it(template: Template) -> Problems:
    for right, needed_by in GRANTED_ONLY_TO.items():
        for function in sorted(needed_by & functions(template).keys()):
            if right not in grants(template, function):
                yield f"{function} may not {' '.join(right)}"


@check
def only_those_who_issue_tokens_write_them(template: Template) -> Problems:
    """A token that another function could put would let in whom it pleases. The refusal holds whether IAM is shown one
    key of a transaction at a time or all of them: nobody else has a token in one."""
    for function in functions(template):
        refused = [
            statement
            for statement in statements(template, role_of(template, function) or "", "Deny")
            if _keeps_from_tokens(statement.get("Condition", {}))
            and set(statement["Action"]) == WRITING
            and name_of(statement["Resource"]) == "Table.Arn"
        ]
        writes = any(resource == "Table.Arn" and action in WRITING for action, resource in grants(template, function))
        if writes and bool(refused) is (function in ISSUING_TOKENS):
            yield f"{function} must be able to write tokens exactly if it issues them"


def _keeps_from_tokens(condition: Properties) -> bool:
    only = condition.get("ForAnyValue:StringNotLike", {}).get("dynamodb:LeadingKeys", ["*"])
    return condition == {"ForAnyValue:StringLike": {"dynamodb:LeadingKeys": ["TOKEN#*", "WS#*#PEOPLE"]}} or not any(
        fnmatch("TOKEN#id", each) for each in only
    )


@check
def a_key_of_kms_opens_the_models_secret_only(template: Template) -> Problems:
    for function in functions(template):
        for statement in statements(template, role_of(template, function) or ""):
            service = {"kms:ViaService": {"Fn::Sub": "secretsmanager.${AWS::Region}.${AWS::URLSuffix}"}}
            if "kms:Decrypt" in as_list(statement["Action"]) and statement.get("Condition") != {
                "StringEquals": service
            }:
                yield f"{function} may decrypt whatever that key has encrypted"


@check_of(GATEWAY)
def the_webhook_touches_single_items_of_the_table(template: Template) -> Problems:
    found = {action for action, resource in grants(template, "NotionWebhook") if resource == "Table.Arn"}
    if found != {f"dynamodb:{verb}" for verb in ("GetItem", "BatchGetItem", "PutItem", "UpdateItem")}:
        yield f"NotionWebhook may {sorted(found)}"
    kept_out = [
        each["Condition"]["ForAnyValue:StringNotLike"]["dynamodb:LeadingKeys"]
        for each in statements(template, role_of(template, "NotionWebhook") or "", "Deny")
        if "ForAnyValue:StringNotLike" in each.get("Condition", {}) and set(each["Action"]) == WRITING
    ]
    if kept_out != [WRITTEN_BY_THE_WEBHOOK]:
        yield "NotionWebhook writes more than what came, and what is due by it"
    if any("/index/" in resource for _, resource in grants(template, "NotionWebhook")):
        yield "NotionWebhook searches"


@check
def the_publisher_changes_no_task(template: Template) -> Problems:
    """It reads HEADs and trails, may take away an entry's place in the outbox, and makes nothing new."""
    found = {(action, resource) for action, resource in grants(template, "PublishEvents") if "Table" in resource}
    wanted = {(f"dynamodb:{verb}", "Table.Arn") for verb in ("BatchGetItem", "Query", "UpdateItem")}
    wanted |= {("dynamodb:Query", "${Table.Arn}/index/wake")}
    if found - {(f"dynamodb:{action}", STREAM) for action in READING_A_STREAM} != wanted:
        yield f"PublishEvents may {sorted(found)}"


# ---- the table -------------------------------------------------------------------------------------------------------


def _table(template: Template) -> Properties:
    (table,) = of_type(template, "AWS::DynamoDB::Table").values()
    return table


@check
def the_table_can_be_restored(template: Template) -> Problems:
    if _table(template).get("PointInTimeRecoverySpecification") != {"PointInTimeRecoveryEnabled": True}:
        yield "no point-in-time recovery"


@check
def the_table_is_encrypted(template: Template) -> Problems:
    own = {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": {"Ref": "KmsKey"}}
    if _table(template).get("SSESpecification") != {"Fn::If": ["HasKmsKey", own, {"SSEEnabled": True}]}:
        yield "no encryption under a key of KMS"


@check
def the_table_is_protected_unless_asked_otherwise(template: Template) -> Problems:
    if _table(template).get("DeletionProtectionEnabled") != {"Ref": "DeletionProtection"}:
        yield "deletion protection isn't the parameter"
    if template["Parameters"]["DeletionProtection"]["Default"] != "true":
        yield "deletion protection is off by default"


@check
def the_table_is_paid_per_request(template: Template) -> Problems:
    if _table(template).get("BillingMode") != "PAY_PER_REQUEST":
        yield "the table costs while it is idle"


@check
def the_table_has_two_sparse_indexes_that_hold_no_payload(template: Template) -> Problems:
    found = {
        index["IndexName"]: ([key["AttributeName"] for key in index["KeySchema"]], index["Projection"])
        for index in _table(template)["GlobalSecondaryIndexes"]
    }
    chosen_by = ["requires", "source_agent", "accepts", "produces", "max_concurrent", "active", "workflow_id"]
    wanted: dict[str, Any] = {
        "queue": (["queue_pk", "queue_sk"], {"ProjectionType": "INCLUDE", "NonKeyAttributes": chosen_by}),
        "wake": (["wake_pk", "wake_sk"], {"ProjectionType": "KEYS_ONLY"}),
    }
    if found != wanted:
        yield f"the indexes are {found}: none is changed under its name, as decision 056 says"


@check
def index_names_carry_a_version(template: Template) -> Problems:
    """``queue``, then ``queue-2``, by the same attributes: so one is added, filled and switched to, and then the other
    goes. Meanwhile who may query one may query both, as the releases before and after do."""
    indexes = {
        index["IndexName"]: tuple(key["AttributeName"] for key in index["KeySchema"])
        for index in _table(template)["GlobalSecondaryIndexes"]
    }
    for name, attributes in indexes.items():
        if not re.fullmatch(r"[a-z]+(-([2-9]|[1-9]\d+))?", name) or attributes != keys.attributes_of(name):
            yield f"{name} isn't a version of an index by {attributes}"
    if missing := {keys.QUEUE_INDEX, keys.WAKE_INDEX} - indexes.keys():
        yield f"the code reads {sorted(missing)}, which the table doesn't have"
    for function in functions(template):
        queried = {resource.split("/index/")[1] for _, resource in grants(template, function) if "/index/" in resource}
        if queried != {name for name in indexes if _is_version_of(name, queried)}:
            yield f"{function} may query {sorted(queried)}, and no other version"


def _is_version_of(index: str, others: set[str]) -> bool:
    return keys.attributes_of(index) in map(keys.attributes_of, others)


@check
def the_table_forgets_what_is_marked(template: Template) -> Problems:
    if _table(template).get("TimeToLiveSpecification") != {"AttributeName": "ttl", "Enabled": True}:
        yield "no TTL on the attribute ttl"


# ---- the stream ------------------------------------------------------------------------------------------------------


@check
def the_stream_brings_whole_items(template: Template) -> Problems:
    if _table(template).get("StreamSpecification") != {"StreamViewType": "NEW_IMAGE"}:
        yield "an event would have to be read again to be told"


@check
def the_stream_reaches_the_publisher(template: Template) -> Problems:
    found = [(function, name_of(event.get("Stream", ""))) for function, event in _news(template)]
    if found != [("PublishEvents", STREAM)]:
        yield f"the stream brings its news to {found}"
    for function, event in _news(template):
        if event.get("BatchSize", 100) > NEWS_AT_ONCE:
            yield f"{function} gets more at once than it can tell in its time"
        if event.get("MaximumBatchingWindowInSeconds", 0) != 1:
            yield f"{function} is called for every write by itself, or tells late"
        if not 2 <= event.get("ParallelizationFactor", 1) <= 10:
            yield f"{function} is one for all tasks of a shard, and late under load"
        if event.get("StartingPosition") != "TRIM_HORIZON":
            yield f"{function} misses what is written while its mapping is made"


def _news(template: Template) -> list[tuple[str, Properties]]:
    """Of the publisher: what reaches the bell, bell_checks holds."""
    return [each for each in events(template, "DynamoDB") if each[0] != "Ring"]


@check
def only_new_events_come_out_of_the_stream(template: Template) -> Problems:
    """Else every write of Baton's would call the function, those of the function itself included."""
    news = {"eventName": ["INSERT", "MODIFY"], "dynamodb": {"NewImage": {"fresh": {"N": [{"exists": True}]}}}}
    for function, event in _news(template):
        filters = event.get("FilterCriteria", {}).get("Filters", [])
        if [json.loads(each["Pattern"]) for each in filters] != [news]:
            yield f"{function} is called for {filters}"


@check
def what_the_stream_cannot_deliver_blocks_nothing(template: Template) -> Problems:
    for function, event in events(template, "DynamoDB"):
        retries, age = event.get("MaximumRetryAttempts", -1), event.get("MaximumRecordAgeInSeconds", -1)
        if not 0 <= retries <= 5 or not 60 <= age <= 300 or event.get("BisectBatchOnFunctionError") is not True:
            yield f"a batch that {function} can't handle holds up all that comes after it"
