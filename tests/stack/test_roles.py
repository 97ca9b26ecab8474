"""What each function's role may not do. What it has to be able to do is shown by everything else here, which runs
under the same roles."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

import botocore.session
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from support.worlds.deployed import Deployed
from tools.stack.deployment import STACK_NAME

FUNCTIONS = [
    "CreateHandoffMarker",
    "Api",
    "Wait",
    "McpDoor",
    "Console",
    "NotionWebhook",
    "ProcessTask",
    "SyncTracker",
    "PublishEvents",
    "SweepStaleClaims",
    "Listen",
    "Ring",
]
ASKING_THE_TRACKER = ["CreateHandoffMarker", "Api", "McpDoor", "SyncTracker"]
KEY = {"pk": {"S": "ROLES"}, "sk": {"S": "ROLES"}}


class Role:
    """The clients that a function has. (The engine lets its administrator take any role; on AWS only Lambda may.)"""

    def __init__(self, deployed: Deployed, function: str) -> None:
        name = deployed.stack.functions[function]
        arn = deployed.aws("lambda").get_function_configuration(FunctionName=name)["Role"]
        keys = deployed.aws("sts").assume_role(RoleArn=arn, RoleSessionName="test")["Credentials"]
        self._session = botocore.session.Session()
        self._session.set_config_variable("user_agent_appid", deployed.stack.engine_key)
        self._session.set_credentials(keys["AccessKeyId"], keys["SecretAccessKey"], keys["SessionToken"])
        self._stack = deployed.stack
        self._clients: dict[str, Any] = {}

    def client(self, service: str, url: str = "", host: str = "") -> Any:
        """``url``, ``host``: of the service, where it has an address of its own."""
        if service not in self._clients:
            client = self._clients[service] = self._session.create_client(
                service,
                region_name=self._stack.region,
                endpoint_url=url or self._stack.endpoint_url,
                config=Config(proxies={}),
            )
            if host:
                client.meta.events.register(
                    "before-sign", lambda request, **_: request.headers.add_header("Host", host)
                )
        return self._clients[service]

    def may(self, service: str, operation: str, **request: Any) -> bool:
        """Whether it is let through, whatever comes of it then."""
        try:
            getattr(self.client(service), operation)(**request)
        except ClientError as error:
            return "AccessDenied" not in error.response["Error"]["Code"]
        return True


@pytest.fixture(scope="module")
def roles(deployed: Deployed) -> dict[str, Role]:
    return {function: Role(deployed, function) for function in FUNCTIONS}


def those_that_may(roles: dict[str, Role], service: str, operation: str, **request: Any) -> list[str]:
    return [function for function, role in roles.items() if role.may(service, operation, **request)]


def query(table: str, index: str) -> dict[str, Any]:
    return {
        "TableName": table,
        "IndexName": index,
        "KeyConditionExpression": "#pk = :pk",
        "ExpressionAttributeNames": {"#pk": f"{index}_pk"},
        "ExpressionAttributeValues": {":pk": {"S": "ROLES"}},
    }


def test_nobody_may_scan_or_change_the_table_or_delete_from_it(deployed: Deployed, roles: dict[str, Role]) -> None:
    table = deployed.stack.table
    assert those_that_may(roles, "dynamodb", "scan", TableName=table) == []
    assert those_that_may(roles, "dynamodb", "scan", TableName=table, IndexName="queue") == []
    assert those_that_may(roles, "dynamodb", "delete_table", TableName=table) == []
    assert those_that_may(roles, "dynamodb", "update_table", TableName=table, BillingMode="PAY_PER_REQUEST") == []
    delete = [{"Delete": {"TableName": table, "Key": KEY}}]
    assert those_that_may(roles, "dynamodb", "delete_item", TableName=table, Key=KEY) == []
    assert those_that_may(roles, "dynamodb", "transact_write_items", TransactItems=delete) == []
    assert those_that_may(roles, "dynamodb", "get_item", TableName="another-table", Key=KEY) == []


def test_each_index_is_read_by_those_that_work_with_it(deployed: Deployed, roles: dict[str, Role]) -> None:
    table = deployed.stack.table
    who = those_that_may(roles, "dynamodb", "query", **query(table, "queue"))
    assert who == ["CreateHandoffMarker", "Api", "Wait", "McpDoor", "ProcessTask", "SyncTracker", "Listen", "Ring"]
    who = those_that_may(roles, "dynamodb", "query", **query(table, "wake"))
    assert sorted(who) == ["Listen", "PublishEvents", "Ring", "SweepStaleClaims", "SyncTracker"]


def test_only_process_task_takes_notices_and_gives_them_up(deployed: Deployed, roles: dict[str, Role]) -> None:
    queue, dead_letters = deployed.stack.queue_url, deployed.stack.dlq_url
    assert those_that_may(roles, "sqs", "receive_message", QueueUrl=queue) == ["ProcessTask"]
    assert those_that_may(roles, "sqs", "get_queue_attributes", QueueUrl=queue) == ["ProcessTask"]
    again = {"QueueUrl": queue, "ReceiptHandle": "none", "VisibilityTimeout": 10}
    assert those_that_may(roles, "sqs", "change_message_visibility", **again) == ["ProcessTask"]
    assert those_that_may(roles, "sqs", "purge_queue", QueueUrl=queue) == []
    assert those_that_may(roles, "sqs", "receive_message", QueueUrl=dead_letters) == []
    who = those_that_may(roles, "sqs", "send_message", QueueUrl=dead_letters, MessageBody="roles")
    assert who == ["ProcessTask"]
    deployed.empty_dead_letters()


def test_only_sync_tracker_takes_the_trackers_notices_and_gives_them_up(
    deployed: Deployed, roles: dict[str, Role]
) -> None:
    queue, dead_letters = deployed.stack.tracker_queue_url, deployed.stack.tracker_dlq_url
    # What is received here must not be hidden from the function.
    assert those_that_may(roles, "sqs", "receive_message", QueueUrl=queue, VisibilityTimeout=0) == ["SyncTracker"]
    assert those_that_may(roles, "sqs", "get_queue_attributes", QueueUrl=queue) == ["SyncTracker"]
    again = {"QueueUrl": queue, "ReceiptHandle": "none", "VisibilityTimeout": 10}
    assert those_that_may(roles, "sqs", "change_message_visibility", **again) == ["SyncTracker"]
    assert those_that_may(roles, "sqs", "purge_queue", QueueUrl=queue) == []
    assert those_that_may(roles, "sqs", "receive_message", QueueUrl=dead_letters) == []
    who = those_that_may(roles, "sqs", "send_message", QueueUrl=dead_letters, MessageBody="roles")
    assert who == ["SyncTracker"]
    deployed.aws("sqs").purge_queue(QueueUrl=dead_letters)


def test_only_the_publisher_looks_who_listens(deployed: Deployed, roles: dict[str, Role]) -> None:
    assert those_that_may(roles, "events", "list_rules", EventBusName=deployed.bus_name) == ["PublishEvents"]


def test_whoever_changes_tasks_may_ring_for_the_tracker(deployed: Deployed, roles: dict[str, Role]) -> None:
    notice = json.dumps({"workspace": "roles", "task_id": None})
    who = those_that_may(roles, "sqs", "send_message", QueueUrl=deployed.stack.tracker_queue_url, MessageBody=notice)
    assert who == [function for function in FUNCTIONS if function not in {"Console", "PublishEvents", "Listen", "Ring"}]


def test_the_trackers_tokens_are_written_by_the_api_only(deployed: Deployed, roles: dict[str, Role]) -> None:
    name, elsewhere = "baton/roles/notion", ["other/roles/notion", "baton/roles/other", "notion"]
    for operation, field in (("create_secret", "Name"), ("put_secret_value", "SecretId")):
        who = those_that_may(roles, "secretsmanager", operation, **{field: name}, SecretString="roles")
        assert who == ["Api"]
        for other in elsewhere:
            assert those_that_may(roles, "secretsmanager", operation, **{field: other}, SecretString="roles") == []
    deployed.aws("secretsmanager").create_secret(Name="other/roles/notion", SecretString="roles")
    assert those_that_may(roles, "secretsmanager", "get_secret_value", SecretId="other/roles/notion") == []
    for secret in (name, "baton/nobody/notion"):  # also where there is none: that has to be told apart
        assert those_that_may(roles, "secretsmanager", "get_secret_value", SecretId=secret) == ASKING_THE_TRACKER
    assert those_that_may(roles, "secretsmanager", "list_secrets") == []
    assert those_that_may(roles, "secretsmanager", "describe_secret", SecretId=name) == []
    assert those_that_may(roles, "secretsmanager", "update_secret", SecretId=name, SecretString="x") == []
    assert those_that_may(roles, "secretsmanager", "delete_secret", SecretId=name) == []


def test_the_webhook_searches_nothing(deployed: Deployed, roles: dict[str, Role]) -> None:
    table, role = deployed.stack.table, roles["NotionWebhook"]
    key = {":pk": {"S": "ROLES"}}
    names = {"#pk": "pk"}
    asked = {"KeyConditionExpression": "#pk = :pk", "ExpressionAttributeNames": names}
    assert role.may("dynamodb", "get_item", TableName=table, Key=KEY)
    assert not role.may("dynamodb", "query", TableName=table, ExpressionAttributeValues=key, **asked)
    assert not role.may("dynamodb", "query", **query(table, "queue"))
    assert not role.may("dynamodb", "query", **query(table, "wake"))


def test_the_webhook_gives_no_work_to_agents(deployed: Deployed, roles: dict[str, Role]) -> None:
    notice = json.dumps({"workspace": "roles", "agent": "nobody", "task_id": "task_none"})
    who = those_that_may(roles, "sqs", "send_message", QueueUrl=deployed.stack.queue_url, MessageBody=notice)
    assert who == ["CreateHandoffMarker", "Api", "Wait", "McpDoor", "ProcessTask", "SyncTracker", "SweepStaleClaims"]


def test_only_the_publisher_tells_the_outside_and_only_on_the_stacks_bus(
    deployed: Deployed, roles: dict[str, Role]
) -> None:
    entry = {"Source": "roles", "DetailType": "roles", "Detail": "{}"}
    on_ours = {**entry, "EventBusName": deployed.bus_name}
    assert those_that_may(roles, "events", "put_events", Entries=[on_ours]) == ["PublishEvents"]
    assert those_that_may(roles, "events", "put_events", Entries=[entry]) == []
    assert those_that_may(roles, "events", "list_event_buses") == []
    assert those_that_may(roles, "events", "put_rule", Name="roles", EventBusName=deployed.bus_name) == []


def test_the_publisher_adds_nothing_to_the_table(deployed: Deployed, roles: dict[str, Role]) -> None:
    table, role = deployed.stack.table, roles["PublishEvents"]
    assert not role.may("dynamodb", "put_item", TableName=table, Item=KEY)
    assert not role.may("dynamodb", "get_item", TableName=table, Key=KEY)
    assert not role.may("dynamodb", "query", **query(table, "queue"))


def test_the_bell_puts_nothing_into_the_table(deployed: Deployed, roles: dict[str, Role]) -> None:
    """Which partitions it updates, tests/infra/bell_checks.py holds: the engine knows no leading keys."""
    table = deployed.stack.table
    change = {"UpdateExpression": "SET #ttl = :ttl", "ExpressionAttributeNames": {"#ttl": "ttl"}}
    values = {":ttl": {"N": "1"}}
    for function in ("Listen", "Ring"):
        role = roles[function]
        assert role.may("dynamodb", "get_item", TableName=table, Key=KEY)
        key = {"pk": {"S": "BELL#roles"}, "sk": {"S": "LISTENER"}}
        assert role.may("dynamodb", "update_item", TableName=table, Key=key, ExpressionAttributeValues=values, **change)
        assert not role.may("dynamodb", "put_item", TableName=table, Item=KEY)


def test_looks_are_asked_for_by_the_sweeper_and_made_by_ring(deployed: Deployed, roles: dict[str, Role]) -> None:
    found = deployed.aws("cloudformation").describe_stack_resource(StackName=STACK_NAME, LogicalResourceId="BellQueue")
    queue = found["StackResourceDetail"]["PhysicalResourceId"]
    assert those_that_may(roles, "sqs", "receive_message", QueueUrl=queue, VisibilityTimeout=0) == ["Ring"]
    assert those_that_may(roles, "sqs", "get_queue_attributes", QueueUrl=queue) == ["Ring"]
    assert those_that_may(roles, "sqs", "purge_queue", QueueUrl=queue) == []
    look = json.dumps({"workspace": "roles", "task_id": "task_roles", "number": 1})
    assert those_that_may(roles, "sqs", "send_message", QueueUrl=queue, MessageBody=look) == [
        "SweepStaleClaims",
        "Ring",
    ]


def test_only_the_bells_functions_reach_its_connections(deployed: Deployed, roles: dict[str, Role]) -> None:
    bell = urlsplit(deployed.client(deployed.stack.tokens["human"]).get("/bell")["url"])
    place = f"{deployed.stack.endpoint_url}{bell.path}"

    def that_may(operation: str, **request: Any) -> list[str]:
        for role in roles.values():
            role.client("apigatewaymanagementapi", place, bell.netloc)
        return those_that_may(roles, "apigatewaymanagementapi", operation, ConnectionId="roles=", **request)

    assert that_may("post_to_connection", Data=b"{}") == ["Listen", "Ring"]
    assert that_may("delete_connection") == ["Listen", "Ring"]
    assert that_may("get_connection") == ["Listen", "Ring"]


def test_no_role_reaches_other_services(deployed: Deployed, roles: dict[str, Role]) -> None:
    function = deployed.stack.functions["Api"]
    assert those_that_may(roles, "lambda", "invoke", FunctionName=function, Payload=b"{}") == []
    assert those_that_may(roles, "lambda", "get_function_configuration", FunctionName=function) == []
    assert those_that_may(roles, "iam", "list_roles") == []
    assert those_that_may(roles, "s3", "list_buckets") == []
    assert those_that_may(roles, "logs", "describe_log_groups") == []
