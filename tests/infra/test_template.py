"""template.yaml keeps its promises, and each check would notice if it didn't."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from infra import (
    account_checks,
    alarm_checks,
    bell_checks,
    company_checks,
    data_checks,
    edge_checks,
    region_checks,
    release_checks,
    restore_checks,
    service_checks,
)
from infra.given import given
from infra.register import CHECKS, Check, problems
from infra.template import FRONT_DOORS, Template, load, of_type, shaped
from infra.translated import translated

Mutation = Callable[[Template], object]


def put(path: str, value: Any) -> Mutation:
    """Set what is at this path ("Table.BillingMode": a property of a resource)."""

    def change(template: Template) -> None:
        parent, last = _at(template, path)
        parent[last] = value

    return change


def drop(path: str) -> Mutation:
    def change(template: Template) -> None:
        parent, last = _at(template, path)
        del parent[last]

    return change


def remove(resource: str) -> Mutation:
    return lambda template: template["Resources"].pop(resource)


def grant(function: str, action: str, resource: Any) -> Mutation:
    """Allow one more thing to a function."""

    def change(template: Template) -> None:
        document = template["Resources"][f"{function}Role"]["Properties"]["Policies"][0]["PolicyDocument"]
        document["Statement"].append({"Effect": "Allow", "Action": [action], "Resource": resource})

    return change


def slow_files(template: Template) -> None:
    """Bound the console's files as a single page is."""
    settings = template["Resources"]["HttpStage"]["Properties"]["RouteSettings"]
    settings["ANY /console/{proxy+}"] = settings["ANY /console"]


def authorize(template: Template) -> None:
    """Let another function decide at the gateway."""
    template["Resources"]["Gate"] = {
        "Type": "AWS::ApiGatewayV2::Authorizer",
        "Properties": {"AuthorizerType": "REQUEST"},
    }


def add_topic(template: Template) -> None:
    template["Resources"]["Topic"] = {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "alarms"}}


def add_index(template: Template) -> None:
    """A successor without the rights to it."""
    indexes = template["Resources"]["Table"]["Properties"]["GlobalSecondaryIndexes"]
    indexes.append({**indexes[0], "IndexName": "queue-2"})


def _at(template: Template, path: str) -> tuple[Any, Any]:
    first, *steps = path.split("/")
    place: Any = template if first == "" else template["Resources"][first]["Properties"]
    keys = [int(step) if step.isdigit() else step for step in steps]
    for key in keys[:-1]:
        place = place[key]
    return place, keys[-1]


STATEMENTS = "Policies/0/PolicyDocument/Statement"
TABLE = {"Fn::GetAtt": ["Table", "Arn"]}
NO_TOKENS = {
    "Effect": "Deny",
    "Action": sorted(data_checks.WRITING),
    "Resource": TABLE,
    "Condition": {"ForAnyValue:StringLike": {"dynamodb:LeadingKeys": ["TOKEN#*", "WS#*#PEOPLE"]}},
}
QUEUE = {"Fn::GetAtt": ["DispatchQueue", "Arn"]}
TRACKER_QUEUE = {"Fn::GetAtt": ["TrackerQueue", "Arn"]}
SECRETS = {"Fn::Sub": data_checks.SECRETS}
DISPATCH_NOTICES = "ProcessTask/Events/Doorbell/Properties"
TRACKER_NOTICES = "SyncTracker/Events/Doorbell/Properties"
TICK = "SweepStaleClaims/Events/EveryMinute/Properties"
NEWS = "PublishEvents/Events/NewEvents/Properties"
LOOKS = "Ring/Events/Look/Properties"
CHANGES = "Ring/Events/Changes/Properties"
STREAM = {"Fn::GetAtt": ["Table", "StreamArn"]}
BUS = {"Fn::GetAtt": ["Bus", "Arn"]}

REJECTED: list[tuple[Check, str, Mutation]] = [
    (data_checks.every_queue_has_dead_letters, "no redrive", drop("DispatchQueue/RedrivePolicy")),
    (data_checks.every_queue_has_dead_letters, "no redrive of the tracker's", drop("TrackerQueue/RedrivePolicy")),
    (
        data_checks.every_queue_has_dead_letters,
        "given up at once",
        put("DispatchQueue/RedrivePolicy/maxReceiveCount", 1),
    ),
    (
        data_checks.dead_letters_are_kept_longer_than_messages,
        "kept equally long",
        put("DispatchDeadLetters/MessageRetentionPeriod", 345600),
    ),
    (
        data_checks.dead_letters_are_kept_longer_than_messages,
        "the tracker's kept equally long",
        put("TrackerDeadLetters/MessageRetentionPeriod", 345600),
    ),
    (data_checks.dead_letters_come_from_one_queue, "from any", drop("TrackerDeadLetters/RedriveAllowPolicy")),
    (data_checks.dead_letters_come_from_one_queue, "from another", put("DispatchQueue/QueueName", "dispatch")),
    (data_checks.queues_are_encrypted, "plain", drop("DispatchQueue/SqsManagedSseEnabled")),
    (data_checks.queues_are_encrypted, "plain dead letters", drop("TrackerDeadLetters/SqsManagedSseEnabled")),
    (data_checks.visibility_covers_six_timeouts, "one second less", put("DispatchQueue/VisibilityTimeout", 719)),
    (data_checks.visibility_covers_six_timeouts, "longer function", put("ProcessTask/Timeout", 121)),
    (data_checks.visibility_covers_six_timeouts, "longer sending", put("SyncTracker/Timeout", 121)),
    (data_checks.batches_fail_in_part, "as a whole", drop(f"{DISPATCH_NOTICES}/FunctionResponseTypes")),
    (data_checks.batches_fail_in_part, "the tracker's as a whole", drop(f"{TRACKER_NOTICES}/FunctionResponseTypes")),
    (data_checks.batches_are_small, "default size", drop(f"{DISPATCH_NOTICES}/BatchSize")),
    (data_checks.batches_are_small, "one behind the other", put(f"{DISPATCH_NOTICES}/BatchSize", 5)),
    (data_checks.batches_are_small, "a window", put(f"{DISPATCH_NOTICES}/MaximumBatchingWindowInSeconds", 5)),
    (data_checks.concurrency_of_the_queue_is_bounded, "unbounded", drop(f"{DISPATCH_NOTICES}/ScalingConfig")),
    (data_checks.concurrency_of_the_queue_is_bounded, "the bell's unbounded", drop(f"{LOOKS}/ScalingConfig")),
    (
        data_checks.no_resource_has_a_wildcard,
        "every connection of the account",
        grant("Ring", "execute-api:ManageConnections", {"Fn::Sub": "arn:${AWS::Partition}:execute-api:*"}),
    ),
    (
        data_checks.only_those_who_issue_tokens_write_them,
        "the bell does",
        put("ListenRole/" + STATEMENTS + "/1/Condition/ForAnyValue:StringNotLike/dynamodb:LeadingKeys", ["TOKEN#*"]),
    ),
    (
        bell_checks.the_bell_leads_to_listen_alone,
        "to the API",
        put("Bell/Routes/$default/FunctionArn", {"Ref": "Api.Alias"}),
    ),
    (bell_checks.the_bell_leads_to_listen_alone, "without end", drop("Bell/DefaultRouteSettings")),
    (
        bell_checks.all_are_told_where_the_bell_is,
        "one isn't",
        put("Api/Environment/Variables/BATON_BELL_URL", "wss://elsewhere.example"),
    ),
    (
        bell_checks.those_who_ask_for_a_look_know_the_queue,
        "one doesn't",
        drop("SweepStaleClaims/Environment/Variables/BATON_BELL_QUEUE_URL"),
    ),
    (bell_checks.the_bell_changes_no_task, "puts", grant("Ring", "dynamodb:PutItem", TABLE)),
    (bell_checks.the_bell_changes_no_task, "whatever it likes", drop("RingRole/" + STATEMENTS + "/1")),
    (
        bell_checks.the_bell_changes_no_task,
        "tasks too",
        put(
            "ListenRole/" + STATEMENTS + "/1/Condition/ForAnyValue:StringNotLike/dynamodb:LeadingKeys",
            ["BELL#*", "WS#*"],
        ),
    ),
    (bell_checks.the_bell_changes_no_task, "is silent", drop("RingRole/" + STATEMENTS + "/4")),
    (bell_checks.the_stream_reaches_the_bell_at_once, "late", put(f"{CHANGES}/MaximumBatchingWindowInSeconds", 1)),
    (bell_checks.the_stream_reaches_the_bell_at_once, "all of it", put(f"{CHANGES}/StartingPosition", "TRIM_HORIZON")),
    (bell_checks.the_stream_reaches_the_bell_at_once, "no revocation", drop(f"{CHANGES}/FilterCriteria/Filters/1")),
    (bell_checks.the_bell_can_be_switched_off, "in part", drop("/Resources/RingLogs/Condition")),
    (bell_checks.the_bell_can_be_switched_off, "from the beginning", put("/Parameters/Doorbell/Default", "off")),
    (bell_checks.a_look_that_is_lost_is_made_up_for, "for days", put("BellQueue/MessageRetentionPeriod", 345_600)),
    (
        data_checks.concurrency_of_the_queue_is_bounded,
        "the tracker's unbounded",
        drop(f"{TRACKER_NOTICES}/ScalingConfig"),
    ),
    (
        data_checks.concurrency_of_the_queue_is_bounded,
        "another's bound",
        put(f"{TRACKER_NOTICES}/ScalingConfig/MaximumConcurrency/Fn::If/2", {"Ref": "MaximumConcurrency"}),
    ),
    (
        data_checks.the_tracker_is_asked_by_few_at_once,
        "many by default",
        put("/Parameters/TrackerConcurrency/Default", 10),
    ),
    (
        data_checks.the_tracker_is_asked_by_few_at_once,
        "fewer than SQS takes",
        put("/Parameters/TrackerConcurrency/MinValue", 1),
    ),
    (
        data_checks.the_tracker_is_asked_by_few_at_once,
        "several workspaces at once",
        put(f"{TRACKER_NOTICES}/BatchSize", 5),
    ),
    (data_checks.each_queue_has_one_that_answers, "nobody listens", drop("ProcessTask/Events")),
    (data_checks.each_queue_has_one_that_answers, "nobody sends", drop("SyncTracker/Events")),
    (data_checks.each_queue_has_one_that_answers, "the other's queue", put(f"{TRACKER_NOTICES}/Queue", QUEUE)),
    (
        data_checks.each_function_has_a_role_of_its_own,
        "shared",
        put("Wait/Role", {"Fn::GetAtt": ["ApiRole", "Arn"]}),
    ),
    (data_checks.each_function_has_a_role_of_its_own, "made by SAM", drop("Wait/Role")),
    (
        data_checks.roles_are_written_out,
        "managed",
        put("ApiRole/ManagedPolicyArns", ["arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"]),
    ),
    (data_checks.roles_are_written_out, "ignored policies", put("Api/Policies", ["AmazonDynamoDBFullAccess"])),
    (
        data_checks.only_lambda_assumes_the_functions_roles,
        "any account",
        put("ApiRole/AssumeRolePolicyDocument/Statement/0/Principal", {"AWS": "*"}),
    ),
    (
        data_checks.only_lambda_assumes_the_functions_roles,
        "another account's schedule",
        drop("ExportRole/AssumeRolePolicyDocument/Statement/0/Condition"),
    ),
    (data_checks.no_action_has_a_wildcard, "all of DynamoDB", grant("Api", "dynamodb:*", TABLE)),
    (data_checks.no_action_has_a_wildcard, "all reads", grant("Api", "dynamodb:Get*", TABLE)),
    (data_checks.no_resource_has_a_wildcard, "everything", grant("Api", "dynamodb:GetItem", "*")),
    (data_checks.no_resource_has_a_wildcard, "every secret", grant("Api", "secretsmanager:GetSecretValue", "*")),
    (
        data_checks.no_resource_has_a_wildcard,
        "every secret of the account",
        grant(
            "Api",
            "secretsmanager:GetSecretValue",
            {"Fn::Sub": "arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:secret:*"},
        ),
    ),
    (
        data_checks.no_resource_has_a_wildcard,
        "every index",
        grant("Api", "dynamodb:Query", {"Fn::Sub": "${Table.Arn}/index/*"}),
    ),
    (
        data_checks.functions_touch_only_what_is_the_stacks,
        "another table",
        grant("Wait", "dynamodb:GetItem", {"Fn::Sub": "arn:aws:dynamodb:us-east-1:111122223333:table/other"}),
    ),
    (
        data_checks.functions_touch_only_what_is_the_stacks,
        "another function's logs",
        grant("Wait", "logs:PutLogEvents", {"Fn::GetAtt": ["ApiLogs", "Arn"]}),
    ),
    (
        data_checks.functions_touch_only_what_is_the_stacks,
        "one secret of another stack",
        grant(
            "Api",
            "secretsmanager:GetSecretValue",
            {"Fn::Sub": "arn:aws:secretsmanager:us-east-1:111122223333:secret:other/acme/notion-a1b2c3"},
        ),
    ),
    (
        data_checks.indexes_are_only_queried,
        "an index read otherwise",
        grant("Api", "dynamodb:GetItem", {"Fn::Sub": "${Table.Arn}/index/queue"}),
    ),
    (data_checks.nothing_scans_or_destroys, "scan", grant("Api", "dynamodb:Scan", TABLE)),
    (data_checks.nothing_scans_or_destroys, "delete", grant("SweepStaleClaims", "dynamodb:DeleteTable", TABLE)),
    (
        data_checks.rights_stay_with_those_who_need_them,
        "waiting takes messages",
        grant("Wait", "sqs:ReceiveMessage", QUEUE),
    ),
    (data_checks.rights_stay_with_those_who_need_them, "api takes messages", grant("Api", "sqs:ReceiveMessage", QUEUE)),
    (
        data_checks.rights_stay_with_those_who_need_them,
        "process-task takes the tracker's messages",
        grant("ProcessTask", "sqs:ReceiveMessage", TRACKER_QUEUE),
    ),
    (
        data_checks.rights_stay_with_those_who_need_them,
        "the webhook gives out work",
        grant("NotionWebhook", "sqs:SendMessage", QUEUE),
    ),
    (
        data_checks.rights_stay_with_those_who_need_them,
        "the webhook reads tokens",
        grant("NotionWebhook", "secretsmanager:GetSecretValue", SECRETS),
    ),
    (
        data_checks.rights_stay_with_those_who_need_them,
        "sync-tracker writes tokens",
        grant("SyncTracker", "secretsmanager:PutSecretValue", SECRETS),
    ),
    (
        data_checks.rights_stay_with_those_who_need_them,
        "another way to write tokens",
        grant("Api", "secretsmanager:UpdateSecret", SECRETS),
    ),
    (
        data_checks.rights_stay_with_those_who_need_them,
        "the tracker's dead letters taken away",
        grant("SyncTracker", "sqs:DeleteMessage", {"Fn::GetAtt": ["TrackerDeadLetters", "Arn"]}),
    ),
    (
        data_checks.rights_stay_with_those_who_need_them,
        "api asks models",
        grant("Api", "bedrock:InvokeModel", {"Ref": "BedrockModels"}),
    ),
    (
        data_checks.rights_stay_with_those_who_need_them,
        "the model's key shared",
        put("ProcessTaskModelKey/Roles", [{"Ref": "ProcessTaskRole"}, {"Ref": "ApiRole"}]),
    ),
    (
        data_checks.those_who_need_a_right_have_it,
        "a key that can't be read",
        remove("ProcessTaskModelKey"),
    ),
    (
        data_checks.no_resource_has_a_wildcard,
        "every model",
        put("ProcessTaskBedrock/PolicyDocument/Statement/0/Resource", "*"),
    ),
    (
        data_checks.what_may_be_missing_is_granted_only_if_it_is_there,
        "always",
        drop("/Resources/ProcessTaskBedrock/Condition"),
    ),
    (
        data_checks.what_may_be_missing_is_granted_only_if_it_is_there,
        "the other's condition",
        put("/Resources/ProcessTaskBedrock/Condition", "HasModelKey"),
    ),
    (
        data_checks.what_may_be_missing_is_granted_only_if_it_is_there,
        "everybody's",
        put("ProcessTaskModelKey/Groups", ["people"]),
    ),
    (
        data_checks.what_may_be_missing_is_granted_only_if_it_is_there,
        "a model by default",
        put("/Parameters/BedrockModels/Default", "arn:aws:bedrock:us-east-1::foundation-model/x"),
    ),
    (
        data_checks.what_may_be_missing_is_granted_only_if_it_is_there,
        "another parameter's",
        put("/Conditions/HasModelKey", {"Fn::Not": [{"Fn::Equals": [{"Ref": "Model"}, ""]}]}),
    ),
    (
        data_checks.nobody_deletes_items,
        "api deletes",
        grant("Api", "dynamodb:DeleteItem", TABLE),
    ),
    (
        data_checks.nobody_deletes_items,
        "wait deletes",
        grant("Wait", "dynamodb:DeleteItem", TABLE),
    ),
    (
        data_checks.those_who_may_read_the_callback_key_know_where_it_is,
        "no key's name",
        drop("McpDoor/Environment/Variables/BATON_CALLBACKS_SEALED_BY"),
    ),
    (data_checks.only_those_who_issue_tokens_write_them, "all do", drop("SyncTrackerRole/" + STATEMENTS + "/1")),
    (
        data_checks.only_those_who_issue_tokens_write_them,
        "in part",
        put("ProcessTaskRole/" + STATEMENTS + "/1/Action", ["dynamodb:PutItem"]),
    ),
    (
        data_checks.only_those_who_issue_tokens_write_them,
        "only where all are tokens",
        put(
            "WaitRole/" + STATEMENTS + "/1/Condition",
            {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["TOKEN#*"]}},
        ),
    ),
    (
        data_checks.only_those_who_issue_tokens_write_them,
        "nobody does",
        put("ApiRole/" + STATEMENTS + "/0", NO_TOKENS),
    ),
    (
        data_checks.a_key_of_kms_opens_the_models_secret_only,
        "whatever it encrypts",
        drop("ProcessTaskModelKeyKms/PolicyDocument/Statement/0/Condition"),
    ),
    (
        data_checks.nothing_scans_or_destroys,
        "api destroys tokens",
        grant("Api", "secretsmanager:DeleteSecret", SECRETS),
    ),
    (
        data_checks.those_who_need_a_right_have_it,
        "sync-tracker has none",
        put("SyncTrackerRole/Policies/0/PolicyDocument/Statement", []),
    ),
    (
        data_checks.those_who_need_a_right_have_it,
        "nobody notifies the tracker",
        put("WaitRole/Policies/0/PolicyDocument/Statement", []),
    ),
    (
        data_checks.the_webhook_touches_single_items_of_the_table,
        "reads partitions",
        grant("NotionWebhook", "dynamodb:Query", TABLE),
    ),
    (
        data_checks.the_webhook_touches_single_items_of_the_table,
        "searches",
        grant("NotionWebhook", "dynamodb:Query", {"Fn::Sub": "${Table.Arn}/index/queue"}),
    ),
    (
        data_checks.the_webhook_touches_single_items_of_the_table,
        "writes whatever it likes but tokens",
        drop("NotionWebhookRole/Policies/0/PolicyDocument/Statement/2"),
    ),
    (
        data_checks.rights_stay_with_those_who_need_them,
        "dead letters taken away",
        grant("ProcessTask", "sqs:DeleteMessage", {"Fn::GetAtt": ["DispatchDeadLetters", "Arn"]}),
    ),
    (data_checks.the_table_can_be_restored, "no recovery", drop("Table/PointInTimeRecoverySpecification")),
    (data_checks.the_table_is_encrypted, "plain", put("Table/SSESpecification/Fn::If/2", {"SSEEnabled": False})),
    (
        data_checks.the_table_is_encrypted,
        "with another's key",
        put("Table/SSESpecification/Fn::If/1/KMSMasterKeyId", {"Ref": "ModelKeyKms"}),
    ),
    (company_checks.every_role_is_bounded, "but for one", drop("WaitRole/PermissionsBoundary")),
    (company_checks.every_role_is_bounded, "but for one of SAM's", drop(f"{TICK}/PermissionsBoundary")),
    (company_checks.the_key_encrypts_all_data, "but a queue", drop("TrackerDeadLetters/KmsMasterKeyId")),
    (company_checks.the_key_encrypts_all_data, "but the bus", drop("Bus/KmsKeyIdentifier")),
    (company_checks.the_key_encrypts_all_data, "but a log", drop("WaitLogs/KmsKeyId")),
    (company_checks.the_key_encrypts_all_data, "but a new thing", add_topic),
    (
        company_checks.roles_that_reach_encrypted_data_may_use_the_key,
        "not all",
        drop("NotionWebhookRole/ManagedPolicyArns"),
    ),
    (
        company_checks.roles_that_reach_encrypted_data_may_use_the_key,
        "others too",
        put("ConsoleRole/ManagedPolicyArns", company_checks.KEY_USE),
    ),
    (
        company_checks.roles_that_reach_encrypted_data_may_use_the_key,
        "for anything",
        drop("KmsKeyUse/PolicyDocument/Statement/0/Condition"),
    ),
    (
        company_checks.key_and_boundary_are_optional,
        "a boundary",
        put("/Parameters/PermissionsBoundary/Default", "arn:aws:iam::111122223333:policy/bound"),
    ),
    (data_checks.the_table_is_protected_unless_asked_otherwise, "never", drop("Table/DeletionProtectionEnabled")),
    (
        data_checks.the_table_is_protected_unless_asked_otherwise,
        "only when asked",
        put("/Parameters/DeletionProtection/Default", "false"),
    ),
    (
        restore_checks.data_outlives_the_stack_but_not_a_creation_that_failed,
        "deleted",
        drop("/Resources/Table/DeletionPolicy"),
    ),
    (
        restore_checks.data_outlives_the_stack_but_not_a_creation_that_failed,
        "left behind",
        put("/Resources/Table/DeletionPolicy", "Retain"),
    ),
    (
        restore_checks.data_outlives_the_stack_but_not_a_creation_that_failed,
        "replaced",
        put("/Resources/Table/UpdateReplacePolicy", "Delete"),
    ),
    (
        restore_checks.data_outlives_the_stack_but_not_a_creation_that_failed,
        "without its key",
        drop("/Resources/CallbackKey/DeletionPolicy"),
    ),
    (
        restore_checks.an_existing_table_is_taken_wherever_the_own_one_would_be,
        "but by the functions",
        put("/Globals/Function/Environment/Variables/BATON_TABLE", {"Ref": "Table"}),
    ),
    (
        restore_checks.an_existing_table_is_taken_wherever_the_own_one_would_be,
        "but for a right",
        put("WaitRole/" + STATEMENTS + "/2/Resource", TABLE),
    ),
    (
        restore_checks.an_existing_table_is_taken_wherever_the_own_one_would_be,
        "but for a refusal",
        put("WaitRole/" + STATEMENTS + "/1/Resource", TABLE),
    ),
    (
        restore_checks.an_existing_table_is_taken_wherever_the_own_one_would_be,
        "but for an index",
        put("SweepStaleClaimsRole/" + STATEMENTS + "/3/Resource", {"Fn::Sub": "${Table.Arn}/index/wake"}),
    ),
    (
        restore_checks.an_existing_table_is_taken_wherever_the_own_one_would_be,
        "another label",
        put(f"{NEWS}/Stream/Fn::If/2", {"Fn::Sub": f"{restore_checks.ARN}/stream/${{Release}}"}),
    ),
    (
        restore_checks.an_existing_table_is_taken_wherever_the_own_one_would_be,
        "but for the dashboard",
        put("Dashboard/DashboardBody/Fn::Sub/1/TableName", {"Ref": "Table"}),
    ),
    (
        restore_checks.an_existing_table_is_taken_wherever_the_own_one_would_be,
        "but for an output",
        put("/Outputs/TableName/Value", {"Ref": "Table"}),
    ),
    (restore_checks.there_is_one_table, "two", drop("/Resources/Table/Condition")),
    (restore_checks.there_is_one_table, "none to listen to", put(f"{NEWS}/Stream", STREAM)),
    (
        restore_checks.there_is_one_table,
        "by the stream",
        put("/Conditions/OwnTable", {"Fn::Equals": [{"Ref": "ExistingTableStream"}, ""]}),
    ),
    (restore_checks.an_existing_table_comes_with_its_stream, "without", drop("/Rules/ExistingTableHasAStream")),
    (restore_checks.an_existing_table_comes_with_its_stream, "alone", drop("/Rules/StreamIsOfAnExistingTable")),
    (
        restore_checks.an_existing_table_comes_with_its_stream,
        "somebody's",
        put("/Parameters/ExistingTable/Default", "baton"),
    ),
    (data_checks.the_table_is_paid_per_request, "provisioned", put("Table/BillingMode", "PROVISIONED")),
    (
        data_checks.the_table_has_two_sparse_indexes_that_hold_no_payload,
        "everything copied",
        put("Table/GlobalSecondaryIndexes/1/Projection/ProjectionType", "ALL"),
    ),
    (
        data_checks.the_table_has_two_sparse_indexes_that_hold_no_payload,
        "one missing",
        drop("Table/GlobalSecondaryIndexes/0"),
    ),
    (
        data_checks.the_publisher_changes_no_task,
        "reads no trail",
        put("PublishEventsRole/" + STATEMENTS + "/2/Action", ["dynamodb:BatchGetItem", "dynamodb:UpdateItem"]),
    ),
    (
        data_checks.index_names_carry_a_version,
        "a name without a rule",
        put("Table/GlobalSecondaryIndexes/0/IndexName", "queue_v2"),
    ),
    (
        data_checks.index_names_carry_a_version,
        "a first version with a number",
        put("Table/GlobalSecondaryIndexes/0/IndexName", "queue-1"),
    ),
    (
        data_checks.index_names_carry_a_version,
        "switched to before the code is",
        put("Table/GlobalSecondaryIndexes/0/IndexName", "queue-2"),
    ),
    (
        data_checks.index_names_carry_a_version,
        "other attributes",
        put("Table/GlobalSecondaryIndexes/1/KeySchema/0/AttributeName", "queue_pk"),
    ),
    (data_checks.index_names_carry_a_version, "a version that nobody may read", add_index),
    (data_checks.the_publisher_changes_no_task, "writes", grant("PublishEvents", "dynamodb:PutItem", TABLE)),
    (
        data_checks.the_publisher_changes_no_task,
        "looks for work",
        grant("PublishEvents", "dynamodb:Query", {"Fn::Sub": "${Table.Arn}/index/queue"}),
    ),
    (
        data_checks.rights_stay_with_those_who_need_them,
        "the sweeper tells the outside",
        grant("SweepStaleClaims", "events:PutEvents", BUS),
    ),
    (
        data_checks.rights_stay_with_those_who_need_them,
        "the api reads the stream",
        grant("Api", "dynamodb:GetRecords", STREAM),
    ),
    (
        data_checks.rights_stay_with_those_who_need_them,
        "the publisher makes rules",
        grant("PublishEvents", "events:PutRule", BUS),
    ),
    (
        data_checks.those_who_need_a_right_have_it,
        "the publisher has none",
        put("PublishEventsRole/Policies/0/PolicyDocument/Statement", []),
    ),
    (data_checks.no_resource_has_a_wildcard, "every bus", grant("PublishEvents", "events:PutEvents", "*")),
    (
        data_checks.rights_stay_with_those_who_need_them,
        "the api looks who listens",
        grant("Api", "events:ListRules", "*"),
    ),
    (data_checks.the_stream_brings_whole_items, "none", drop("Table/StreamSpecification")),
    (
        data_checks.the_stream_brings_whole_items,
        "keys alone",
        put("Table/StreamSpecification/StreamViewType", "KEYS_ONLY"),
    ),
    (data_checks.the_stream_reaches_the_publisher, "nobody", drop("PublishEvents/Events/NewEvents")),
    (data_checks.the_stream_reaches_the_publisher, "the latest only", put(f"{NEWS}/StartingPosition", "LATEST")),
    (data_checks.the_stream_reaches_the_publisher, "too many at once", put(f"{NEWS}/BatchSize", 1_000)),
    (data_checks.the_stream_reaches_the_publisher, "one for all", drop(f"{NEWS}/ParallelizationFactor")),
    (data_checks.the_stream_reaches_the_publisher, "at once", drop(f"{NEWS}/MaximumBatchingWindowInSeconds")),
    (data_checks.the_stream_reaches_the_publisher, "late", put(f"{NEWS}/MaximumBatchingWindowInSeconds", 60)),
    (data_checks.only_new_events_come_out_of_the_stream, "every write", drop(f"{NEWS}/FilterCriteria")),
    (
        data_checks.only_new_events_come_out_of_the_stream,
        "its own writes too",
        put(f"{NEWS}/FilterCriteria/Filters/0/Pattern", '{"dynamodb": {"Keys": {"sk": {"S": ["HEAD"]}}}}'),
    ),
    (data_checks.what_the_stream_cannot_deliver_blocks_nothing, "for a day", drop(f"{NEWS}/MaximumRetryAttempts")),
    (
        data_checks.what_the_stream_cannot_deliver_blocks_nothing,
        "as a whole",
        drop(f"{NEWS}/BisectBatchOnFunctionError"),
    ),
    (data_checks.the_table_forgets_what_is_marked, "never", put("Table/TimeToLiveSpecification/Enabled", False)),
    (service_checks.logs_end_some_day, "for ever", drop("WaitLogs/RetentionInDays")),
    (service_checks.logs_end_some_day, "no group", remove("ApiLogs")),
    (service_checks.logs_hold_what_somebody_reads, "text", drop("/Globals/Function/LoggingConfig/LogFormat")),
    (
        service_checks.logs_hold_what_somebody_reads,
        "no metric at WARNING",
        put("/Globals/Function/LoggingConfig/ApplicationLogLevel", {"Ref": "LogLevel"}),
    ),
    (
        service_checks.logs_hold_what_somebody_reads,
        "each call's report",
        put("Wait/LoggingConfig/SystemLogLevel", "INFO"),
    ),
    (
        service_checks.logs_hold_what_somebody_reads,
        "no DEBUG",
        put("/Conditions/LogsDebug", {"Fn::Equals": [{"Ref": "LogLevel"}, "INFO"]}),
    ),
    (service_checks.layers_are_attached, "none", put("ProcessTask/Layers", [])),
    (service_checks.the_runtime_is_one_setting, "one of its own", put("Api/Runtime", "python3.12")),
    (service_checks.the_runtime_is_one_setting, "another default", put("/Parameters/Runtime/Default", "python3.11")),
    (service_checks.the_runtime_is_one_setting, "a dear one", put("/Parameters/Architecture/Default", "x86_64")),
    (service_checks.handlers_are_built, "another handler", put("Api/Handler", "api.main.handler")),
    (service_checks.functions_know_their_table_and_name, "no queue", drop("Api/Environment/Variables/BATON_QUEUE_URL")),
    (
        service_checks.functions_know_their_table_and_name,
        "a change that the tracker doesn't hear of",
        drop("Wait/Environment/Variables/BATON_TRACKER_QUEUE_URL"),
    ),
    (
        service_checks.functions_know_their_table_and_name,
        "a webhook that gives out work",
        put("NotionWebhook/Environment/Variables/BATON_QUEUE_URL", {"Ref": "DispatchQueue"}),
    ),
    (
        service_checks.functions_know_their_table_and_name,
        "no bus",
        drop("PublishEvents/Environment/Variables/BATON_BUS"),
    ),
    (
        service_checks.functions_know_their_table_and_name,
        "a bus for all",
        put("Api/Environment/Variables/BATON_BUS", {"Ref": "Bus"}),
    ),
    (
        service_checks.those_who_ask_the_tracker_know_where,
        "no address",
        drop("CreateHandoffMarker/Environment/Variables/BATON_NOTION_URL"),
    ),
    (
        service_checks.those_who_ask_the_tracker_know_where,
        "another stack's tokens",
        put("SyncTracker/Environment/Variables/BATON_SECRETS_PREFIX", "baton"),
    ),
    (
        service_checks.those_who_ask_the_tracker_know_where,
        "one that doesn't ask",
        put("Wait/Environment/Variables/BATON_NOTION_URL", {"Ref": "NotionUrl"}),
    ),
    (
        service_checks.those_who_ask_the_tracker_know_where,
        "tokens with another key",
        drop("Api/Environment/Variables/BATON_SECRETS_KMS"),
    ),
    (
        service_checks.those_who_ask_the_tracker_know_where,
        "another Notion",
        put("/Parameters/NotionUrl/Default", "http://127.0.0.1:4567"),
    ),
    (service_checks.chains_of_notices_are_bounded_by_baton_alone, "stopped", drop("ProcessTask/RecursiveLoop")),
    (
        service_checks.chains_of_notices_are_bounded_by_baton_alone,
        "the tracker's stopped",
        put("SyncTracker/RecursiveLoop", "Terminate"),
    ),
    (
        service_checks.chains_of_notices_are_bounded_by_baton_alone,
        "one without chains",
        put("PublishEvents/RecursiveLoop", "Allow"),
    ),
    (
        service_checks.who_asks_models_knows_which,
        "no address",
        drop("ProcessTask/Environment/Variables/BATON_MODEL_URL"),
    ),
    (
        service_checks.who_asks_models_knows_which,
        "no script",
        drop("ProcessTask/Environment/Variables/BATON_SCRIPT"),
    ),
    (
        service_checks.who_asks_models_knows_which,
        "one that doesn't ask",
        put("Api/Environment/Variables/BATON_MODEL_URL", {"Ref": "ModelUrl"}),
    ),
    (
        service_checks.who_asks_models_knows_which,
        "somebody's server",
        put("/Parameters/ModelUrl/Default", "https://api.openai.com/v1"),
    ),
    (
        service_checks.dead_letters_have_their_place,
        "the other's",
        put("SyncTracker/Environment/Variables/BATON_TRACKER_DLQ_URL", {"Ref": "DispatchDeadLetters"}),
    ),
    (
        service_checks.functions_know_their_table_and_name,
        "another's name",
        put("Wait/Environment/Variables/POWERTOOLS_SERVICE_NAME", "api"),
    ),
    (
        service_checks.no_secret_is_in_the_environment,
        "a model's key",
        put("ProcessTask/Environment/Variables/BATON_MODEL_KEY", {"Ref": "ModelKey"}),
    ),
    (
        service_checks.no_secret_is_in_the_environment,
        "a token",
        put("Api/Environment/Variables/NOTION_TOKEN", {"Ref": "NotionToken"}),
    ),
    (
        service_checks.the_defaults_deploy_into_a_new_account,
        "a reserve",
        put("/Parameters/WaitConcurrency/Default", 50),
    ),
    (
        service_checks.the_defaults_deploy_into_a_new_account,
        "no way out",
        put("/Parameters/UrlConcurrency/MinValue", 5),
    ),
    (
        service_checks.the_defaults_deploy_into_a_new_account,
        "notices take all",
        put("/Parameters/MaximumConcurrency/Default", 10),
    ),
    (service_checks.waiting_never_starves_work, "unbounded", drop("Wait/ReservedConcurrentExecutions")),
    (service_checks.waiting_never_starves_work, "models' too", drop("McpDoor/ReservedConcurrentExecutions")),
    (service_checks.waiting_never_starves_work, "pages", drop("Console/ReservedConcurrentExecutions")),
    (service_checks.waiting_is_not_paid_for_memory_that_nobody_uses, "as all others", drop("Wait/MemorySize")),
    (service_checks.waiting_is_not_paid_for_memory_that_nobody_uses, "models' waiting", drop("McpDoor/MemorySize")),
    (service_checks.timeouts_fit_what_calls_them, "waits too long", put("Wait/Timeout", 30)),
    (service_checks.there_is_one_front_door, "both", drop("/Resources/HttpApi/Condition")),
    (service_checks.there_is_one_front_door, "always the URL", drop("/Resources/AllRoutesUrl/Condition")),
    (service_checks.there_is_one_front_door, "a function of the other's", drop("/Resources/Api/Condition")),
    (
        service_checks.there_is_one_front_door,
        "the webhook's alone",
        put("AllRoutesUrl/TargetFunctionArn", {"Ref": "SyncTracker.Alias"}),
    ),
    (
        service_checks.callers_are_told_where_baton_answers,
        "none",
        put("AllRoutes/Environment/Variables/BATON_PUBLIC_URL", ""),
    ),
    (
        service_checks.callers_are_told_where_baton_answers,
        "the gateway's where there is none",
        put("/Outputs/ApiUrl/Value", {"Fn::Sub": "https://${HttpApi}"}),
    ),
    (service_checks.the_url_has_a_bound, "unbounded", drop("AllRoutes/ReservedConcurrentExecutions")),
    (service_checks.anybody_may_ask_the_url_and_nothing_else, "half of it", remove("AllRoutesPermission")),
    (
        service_checks.anybody_may_ask_the_url_and_nothing_else,
        "by any call",
        drop("AllRoutesPermission/InvokedViaFunctionUrl"),
    ),
    (service_checks.anybody_may_ask_the_url_and_nothing_else, "signed", put("AllRoutesUrl/AuthType", "AWS_IAM")),
    (
        service_checks.anybody_may_ask_the_url_and_nothing_else,
        "any page",
        put("AllRoutesUrl/Cors", {"AllowOrigins": ["*"]}),
    ),
    (
        service_checks.timeouts_fit_what_calls_them,
        "short lease",
        put("ProcessTask/Environment/Variables/BATON_LEASE_SECONDS", "149"),
    ),
    (service_checks.timeouts_fit_what_calls_them, "endless round", put("SweepStaleClaims/Timeout", 60)),
    (service_checks.timeouts_fit_what_calls_them, "endless telling", put("PublishEvents/Timeout", 60)),
    (
        service_checks.every_function_that_callers_reach_checks_the_token,
        "another handler",
        put("Api/Handler", "sweep_stale_claims.handler.lambda_handler"),
    ),
    (
        service_checks.every_function_that_callers_reach_checks_the_token,
        "a function for queues",
        put("WaitIntegration/IntegrationUri", {"Ref": "ProcessTask.Alias"}),
    ),
    (
        service_checks.who_checks_no_token_reaches_nothing,
        "the table",
        grant("Console", "dynamodb:GetItem", TABLE),
    ),
    (service_checks.the_gateway_lets_everybody_through, "an authorizer", authorize),
    (service_checks.the_gateway_lets_everybody_through, "closed", put("DefaultRoute/AuthorizationType", "AWS_IAM")),
    (service_checks.the_gateway_lets_everybody_through, "by omission", drop("WaitForClaimRoute/AuthorizationType")),
    (service_checks.the_gateway_lets_everybody_through, "no webhook", remove("NotionWebhookRoute")),
    (service_checks.the_gateway_lets_everybody_through, "no callbacks", remove("CallbackRoute")),
    (service_checks.routes_reach_their_functions, "no default", remove("DefaultRoute")),
    (
        service_checks.routes_reach_their_functions,
        "waiting in the api",
        put("AwaitTaskRoute/Target", {"Fn::Sub": "integrations/${ApiIntegration}"}),
    ),
    (service_checks.the_gateway_may_call_what_it_calls, "one missing", remove("WaitPermission")),
    (service_checks.the_gateway_may_call_what_it_calls, "any gateway", drop("ApiPermission/SourceArn")),
    (service_checks.accesses_are_logged_without_tokens, "no log", drop("HttpStage/AccessLogSettings")),
    (
        service_checks.accesses_are_logged_without_tokens,
        "with the token",
        put("HttpStage/AccessLogSettings/Format", "$context.requestId $request.header.Authorization"),
    ),
    (
        service_checks.accesses_are_logged_without_tokens,
        "with the webhook's secret",
        put("HttpStage/AccessLogSettings/Format", "$context.requestId $context.path"),
    ),
    (
        service_checks.every_line_of_the_access_log_is_json,
        "a sentence of AWS's",
        put("HttpStage/AccessLogSettings/Format", '{"error":"$context.integrationErrorMessage"}'),
    ),
    (
        service_checks.every_line_of_the_access_log_is_json,
        "a dash",
        put("HttpStage/AccessLogSettings/Format", '{"ms":$context.responseLatency}'),
    ),
    (service_checks.requests_are_limited, "unlimited", drop("HttpStage/DefaultRouteSettings")),
    (service_checks.routes_without_a_token_have_limits_of_their_own, "none", drop("HttpStage/RouteSettings")),
    (
        service_checks.routes_without_a_token_have_limits_of_their_own,
        "too few files",
        slow_files,
    ),
    (service_checks.what_looks_every_minute_does, "no telling", drop("PublishEvents/Events/EveryMinute")),
    (service_checks.what_looks_every_minute_does, "disabled", put(f"{TICK}/State", "DISABLED")),
    (service_checks.what_looks_every_minute_does, "hourly", put(f"{TICK}/ScheduleExpression", "rate(1 hour)")),
    (service_checks.missed_rounds_do_not_pile_up, "repeated", drop("SweepStaleClaims/EventInvokeConfig")),
    (service_checks.missed_rounds_do_not_pile_up, "told again", drop("PublishEvents/EventInvokeConfig")),
    (service_checks.outputs_name_everything, "no bus", drop("/Outputs/EventBusName")),
    (account_checks.every_kind_of_resource_is_known_to_have_a_name_or_none, "a topic", add_topic),
    (account_checks.two_stacks_share_no_name, "SAM's name of a schedule", drop(f"{TICK}/OmitName")),
    (account_checks.two_stacks_share_no_name, "SAM's name of a layer", drop("BatonLayer/LayerName")),
    (account_checks.two_stacks_share_no_name, "a function's", put("Api/FunctionName", "baton-api")),
    (
        account_checks.names_fit_with_the_longest_stack_name,
        "a longer function",
        put("Wait/FunctionName", {"Fn::Sub": "${AWS::StackName}-create-handoff-markers"}),
    ),
    (
        release_checks.callers_come_by_the_alias,
        "the gateway by the function",
        put("ApiIntegration/IntegrationUri", {"Fn::GetAtt": ["Api", "Arn"]}),
    ),
    (
        release_checks.callers_come_by_the_alias,
        "the URL by the function",
        put("AllRoutesUrl/TargetFunctionArn", {"Fn::GetAtt": ["AllRoutes", "Arn"]}),
    ),
    (
        release_checks.callers_come_by_the_alias,
        "a right to the function",
        put("WaitPermission/FunctionName", {"Ref": "Wait"}),
    ),
    (release_checks.callers_come_by_the_alias, "no alias", drop("/Globals/Function/AutoPublishAlias")),
    (release_checks.the_gateway_may_call_an_alias_before_it_does, "after", drop("/Resources/ApiIntegration/DependsOn")),
    (
        release_checks.a_new_core_is_published_with_every_function,
        "the handler's code alone",
        drop("BatonLayer/PublishLambdaVersion"),
    ),
    (
        release_checks.a_new_core_is_published_with_every_function,
        "but for one",
        drop("Api/AutoPublishAliasAllProperties"),
    ),
    (
        release_checks.a_release_publishes_every_function,
        "but for one",
        drop("SweepStaleClaims/AutoPublishCodeSha256"),
    ),
    (
        release_checks.a_release_publishes_every_function,
        "with nothing new in it",
        drop("/Globals/Function/Environment/Variables/BATON_RELEASE"),
    ),
    (
        release_checks.what_was_published_stays_whole,
        "without its layers",
        put("DependenciesLayer/RetentionPolicy", "Delete"),
    ),
    (
        release_checks.what_was_published_stays_whole,
        "gone",
        put("/Globals/Function/VersionDeletionPolicy", "Delete"),
    ),
    (
        account_checks.two_stacks_share_no_metric,
        "the dashboard's",
        put("Dashboard/DashboardBody", '{"widgets": [{"properties": {"metrics": [["Baton", "RequestFailed"]]}}]}'),
    ),
    (account_checks.two_stacks_share_no_metric, "one alarm's", put("UndispatchedAlarm/Namespace", "Baton")),
    (
        account_checks.two_stacks_share_no_metric,
        "every function's",
        put("/Globals/Function/Environment/Variables/POWERTOOLS_METRICS_NAMESPACE", "Baton"),
    ),
    (alarm_checks.the_dashboard_shows_what_is_there, "no JSON", put("Dashboard/DashboardBody/Fn::Sub/0", "{")),
    (
        alarm_checks.the_dashboard_shows_what_is_there,
        "another door",
        put(
            "Dashboard/DashboardBody/Fn::Sub/1/Requests",
            {"Fn::Sub": '["AWS", "5xx", "ApiId", "${HttpApi}"]'},
        ),
    ),
    (
        alarm_checks.the_dashboard_shows_what_is_there,
        "not all functions",
        put("Dashboard/DashboardBody/Fn::Sub/1/Functions", '["AWS/Lambda", "Errors"]'),
    ),
    (alarm_checks.a_budget_tells_somebody, "unasked", put("/Parameters/MonthlyBudget/Default", 50)),
    (alarm_checks.a_budget_tells_somebody, "no topic", drop("/Rules")),
    (region_checks.nothing_leaves_the_region_unasked, "always", drop("/Resources/BackupPlan/Condition")),
    (region_checks.nothing_leaves_the_region_unasked, "ours", put("/Parameters/ExportBucket/Default", "ours")),
    (
        region_checks.copies_are_made_every_day_and_kept_where_they_are_needed,
        "no copy",
        drop("BackupPlan/BackupPlan/BackupPlanRule/0/CopyActions"),
    ),
    (
        region_checks.copies_are_made_every_day_and_kept_where_they_are_needed,
        "weekly",
        put("BackupPlan/BackupPlan/BackupPlanRule/0/ScheduleExpression", "cron(0 3 ? * SUN *)"),
    ),
    (
        region_checks.the_export_is_of_the_table_and_goes_to_the_bucket,
        "another call",
        put("ExportSchedule/Target/Arn", "arn:aws:scheduler:::aws-sdk:dynamodb:deleteTable"),
    ),
    (
        region_checks.the_export_is_of_the_table_and_goes_to_the_bucket,
        "another format",
        put("ExportSchedule/Target/Input/Fn::Sub/0", "{}"),
    ),
    (
        region_checks.who_copies_and_exports_may_do_nothing_else,
        "every bucket",
        put(f"ExportRole/{STATEMENTS}/1/Resource", {"Fn::Sub": "arn:${AWS::Partition}:s3:::${ExportBucket}/*"}),
    ),
    (
        region_checks.who_copies_and_exports_may_do_nothing_else,
        "restores too",
        put(f"BackupRole/{STATEMENTS}/0/Action", ["dynamodb:*"]),
    ),
    (
        region_checks.who_copies_and_exports_may_use_the_key_that_encrypts_the_table,
        "not for exports",
        drop("ExportRole/ManagedPolicyArns"),
    ),
    (
        region_checks.who_copies_and_exports_may_use_the_key_that_encrypts_the_table,
        "for anything",
        drop("BackupKeyUse/PolicyDocument/Statement/1/Condition"),
    ),
    (region_checks.the_callback_key_is_there_too, "alone", drop("CallbackKey/ReplicaRegions")),
    (edge_checks.a_domain_leads_to_the_api, "no domain", remove("Domain")),
    (
        edge_checks.a_domain_leads_to_the_api,
        "another certificate",
        drop("Domain/DomainNameConfigurations/0/CertificateArn"),
    ),
    (
        edge_checks.a_domain_leads_to_the_api,
        "old TLS",
        put("Domain/DomainNameConfigurations/0/SecurityPolicy", "TLS_1_0"),
    ),
    (edge_checks.a_domain_leads_to_the_api, "below a path", put("DomainMapping/ApiMappingKey", "v1")),
    (edge_checks.a_domain_leads_to_the_api, "too early", drop("/Resources/DomainMapping/DependsOn")),
    (
        edge_checks.callers_are_told_of_the_domain,
        "untold",
        put("/Outputs/ApiUrl/Value/Fn::If/1/Fn::If/2", {"Fn::Sub": "https://${HttpApi}"}),
    ),
    (edge_checks.what_is_not_asked_for_is_not_there, "always", drop("/Resources/Domain/Condition")),
    (edge_checks.what_is_not_asked_for_is_not_there, "ours", put("/Parameters/DomainName/Default", "baton.example")),
    (edge_checks.what_is_not_asked_for_is_not_there, "shut", put("HttpApi/DisableExecuteApiEndpoint", True)),
    *(
        (edge_checks.a_domain_that_can_not_work_is_refused_before_anything_is_changed, rule, drop(f"/Rules/{rule}"))
        for rule in ("DomainHasACertificate", "CertificateIsOfADomain", "ApiHasAnAddress")
    ),
    (
        edge_checks.a_domain_that_can_not_work_is_refused_before_anything_is_changed,
        "a Function URL's",
        drop("/Rules/DomainHasACertificate/Assertions/1"),
    ),
    (
        edge_checks.every_function_knows_the_edge,
        "none",
        drop("/Globals/Function/Environment/Variables/BATON_EDGE_DIGESTS"),
    ),
    (
        edge_checks.every_function_knows_the_edge,
        "another one",
        put("Console/Environment/Variables/BATON_EDGE_DIGESTS", ""),
    ),
    (service_checks.outputs_name_everything, "no tracker's queue", drop("/Outputs/TrackerQueueUrl")),
    (service_checks.outputs_name_everything, "no table", drop("/Outputs/TableName")),
    (alarm_checks.what_must_be_noticed_has_an_alarm, "no dead letters", remove("DeadLettersAlarm")),
    (alarm_checks.what_must_be_noticed_has_an_alarm, "no age of messages", remove("TrackerOldestMessageAlarm")),
    (
        alarm_checks.what_must_be_noticed_has_an_alarm,
        "no errors of one",
        put("BackgroundErrorsAlarm/Metrics", [{"Id": "found", "Expression": "FILL(runs, 0)"}]),
    ),
    (alarm_checks.what_must_be_noticed_has_an_alarm, "no reserve", remove("ReservesNearlyFullAlarm")),
    (alarm_checks.what_must_be_noticed_has_an_alarm, "no throttles of an index", drop("TableThrottlesAlarm/Metrics/5")),
    (
        alarm_checks.what_must_be_noticed_has_an_alarm,
        "another index",
        put("Table/GlobalSecondaryIndexes/0/IndexName", "q"),
    ),
    (alarm_checks.what_must_be_noticed_has_an_alarm, "no age of the stream", remove("StreamAgeAlarm")),
    (alarm_checks.an_event_that_stays_inside_alarms_until_it_is_out, "none", remove("UnpublishedAlarm")),
    (
        alarm_checks.an_event_that_stays_inside_alarms_until_it_is_out,
        "off between two tries",
        put("UnpublishedAlarm/Metrics/1/MetricStat/Period", 300),
    ),
    (alarm_checks.a_late_stream_alarms_before_it_gives_up, "after that", put("StreamAgeAlarm/Threshold", 300_000)),
    (
        alarm_checks.a_late_stream_alarms_before_it_gives_up,
        "the bell's never",
        put(f"{CHANGES}/MaximumRecordAgeInSeconds", 120),
    ),
    (alarm_checks.a_late_stream_alarms_before_it_gives_up, "on average", put("StreamAgeAlarm/Statistic", "Average")),
    (alarm_checks.alarms_that_calculate_can_be_told, "two answers", drop("DeadLettersAlarm/Metrics/1/ReturnData")),
    (
        alarm_checks.alarms_that_calculate_can_be_told,
        "more than CloudWatch takes",
        put(
            "BackgroundErrorsAlarm/Metrics",
            [{"Id": f"m{n}", "ReturnData": n == 0, "MetricStat": {"Period": 300, "Metric": {}}} for n in range(11)],
        ),
    ),
    (alarm_checks.alarms_that_calculate_can_be_told, "what comes late", drop("DeadLettersAlarm/DatapointsToAlarm")),
    (
        alarm_checks.alarms_that_calculate_can_be_told,
        "locally too",
        put("/Resources/TableThrottlesAlarm/Condition", "ThroughUrl"),
    ),
    (alarm_checks.alarms_reach_whom_they_are_for, "nobody", drop("UndispatchedAlarm/AlarmActions")),
    (
        alarm_checks.alarms_reach_whom_they_are_for,
        "tomorrow",
        put("SweeperMissingAlarm/AlarmActions/Fn::If/1", [alarm_checks.TICKETS]),
    ),
    (
        alarm_checks.alarms_reach_whom_they_are_for,
        "at night",
        put("DeadLettersAlarm/AlarmActions/Fn::If/1", [{"Ref": "AlarmTopicArn"}]),
    ),
    (alarm_checks.alarms_reach_whom_they_are_for, "no end", drop("SlowAlarm/OKActions")),
    (alarm_checks.alarms_reach_whom_they_are_for, "tickets alone", drop("/Rules/TicketsComeBesideAlarms")),
    (alarm_checks.alarms_say_where_to_read, "nowhere", put("SlowAlarm/AlarmDescription", "The API is slow.")),
    (
        alarm_checks.custom_metrics_have_the_namespace_of_their_alarms,
        "another namespace",
        put("UndispatchedAlarm/Namespace", "Other"),
    ),
    (alarm_checks.what_is_counted_in_logs_is_watched, "by nobody", remove("FrontDoorRefusalsAlarm")),
    (
        alarm_checks.what_is_counted_in_logs_is_watched,
        "all the time",
        put("RefusedFilter/MetricTransformations/0/DefaultValue", 0),
    ),
    (
        account_checks.two_stacks_share_no_metric,
        "a filter's",
        put("RefusedFilter/MetricTransformations/0/MetricNamespace", "Baton"),
    ),
]


def test_the_template_keeps_its_promises() -> None:
    assert {check.__name__: found for check in CHECKS if (found := list(problems(check, load())))} == {}


@pytest.mark.parametrize(
    ("check", "mutate"),
    [pytest.param(check, mutate, id=f"{check.__name__}-{name}") for check, name, mutate in REJECTED],
)
def test_a_template_that_breaks_it_is_rejected(check: Check, mutate: Mutation) -> None:
    broken = load()
    mutate(broken)
    assert list(problems(check, broken)) != []


def test_the_front_doors_share_what_does_the_work() -> None:
    """They differ in the functions that callers reach, and in what leads there."""
    kinds = [set(of_type(shaped(load(), front_door), "AWS::Serverless::Function")) for front_door in FRONT_DOORS]
    assert kinds[0] ^ kinds[1] == {
        *("CreateHandoffMarker", "Api", "Wait", "McpDoor", "Console", "NotionWebhook", "AllRoutes")
    }
    assert load()["Parameters"]["FrontDoor"]["AllowedValues"] == list(FRONT_DOORS)
    assert load()["Parameters"]["FrontDoor"]["Default"] == "ApiGateway"


def test_sam_hands_on_which_functions_may_have_long_chains() -> None:
    made = of_type(translated(load()), "AWS::Lambda::Function")
    assert {name for name, each in made.items() if each.get("RecursiveLoop") == "Allow"} == {
        "ProcessTask",
        "Ring",
        "SyncTracker",
    }


def test_a_table_is_as_warm_as_it_is_asked_to_be() -> None:
    def warmth(**asked: str) -> list[object]:
        table = given(**asked).of_type("AWS::DynamoDB::Table")["Table"]
        return [each.get("WarmThroughput") for each in (table, *table["GlobalSecondaryIndexes"])]

    writes, reads = {"WriteUnitsPerSecond": "40000"}, {"ReadUnitsPerSecond": "25000"}
    assert warmth() == [None, None, None]
    assert warmth(WarmWrites="40000") == [writes, None, None]
    assert warmth(WarmReads="25000") == [reads, None, None]
    assert warmth(WarmWrites="40000", WarmReads="25000") == [writes | reads, None, None]
    assert warmth(WarmIndexWrites="40000") == [None, writes, writes]


def test_every_check_is_shown_to_reject_something() -> None:
    assert {check.__name__ for check, _, _ in REJECTED} == {check.__name__ for check in CHECKS}
