"""What a user of the stack hears of its tasks, with a rule of their own on its bus and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.table import to_wire
from baton.adapters.system import SystemClock
from baton.domain.times import rfc3339, seconds
from support.worlds.deployed import Deployed, until
from support.worlds.tenant import Tenant

Heard = Callable[[int], list[dict[str, Any]]]


@pytest.fixture
def heard(tenant: Tenant) -> Iterator[Heard]:
    """A queue behind a rule for the tenant's workspace: ``heard(n)`` waits for n events, each once, as they came."""
    sqs, events = tenant.deployed.aws("sqs"), tenant.deployed.aws("events")
    bus, name = tenant.deployed.bus_name, f"test-{uuid4().hex}"
    queue = sqs.create_queue(QueueName=name)["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    pattern = {"source": ["baton"], "detail-type": ["Baton Task Event"], "detail": {"workspace": [tenant.name]}}
    events.put_rule(Name=name, EventBusName=bus, EventPattern=json.dumps(pattern))
    events.put_targets(Rule=name, EventBusName=bus, Targets=[{"Id": "queue", "Arn": arn}])
    came: dict[str, dict[str, Any]] = {}

    def listen(count: int) -> list[dict[str, Any]]:
        def enough() -> bool:
            answer = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10, WaitTimeSeconds=1)
            for message in answer.get("Messages", []):
                detail = json.loads(message["Body"])["detail"]
                came.setdefault(detail["id"], detail)
                sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
            return len(came) >= count

        until(enough)
        return list(came.values())

    yield listen
    events.remove_targets(Rule=name, EventBusName=bus, Ids=["queue"])
    events.delete_rule(Name=name, EventBusName=bus)
    sqs.delete_queue(QueueUrl=queue)


@contextmanager
def bus_out_of_reach(deployed: Deployed) -> Iterator[None]:
    """The publisher may tell nobody anything."""
    function = deployed.stack.functions["PublishEvents"]
    role = deployed.aws("lambda").get_function_configuration(FunctionName=function)["Role"].rpartition("/")[2]
    denied = {"Effect": "Deny", "Action": "events:PutEvents", "Resource": "*"}
    policy = {"Version": "2012-10-17", "Statement": [denied]}
    deployed.aws("iam").put_role_policy(RoleName=role, PolicyName="away", PolicyDocument=json.dumps(policy))
    try:
        yield
    finally:
        deployed.aws("iam").delete_role_policy(RoleName=role, PolicyName="away")


def lived(tenant: Tenant, releases: int = 0) -> tuple[str, str]:
    """A task and the id of its claim, from its making to its end; given back so often before."""
    task_id = tenant.needing()
    tenant.human.post(f"/tasks/{task_id}/approve")
    for number in range(releases):
        released = {"claim_id": tenant.claim(task_id)["claim_id"], "reason": f"{number} {'not now ' * 60}"}
        released["not_before"] = "2026-11-21T00:00:00Z"  # is over: a second release has a pause otherwise
        tenant.reviewer.post(f"/tasks/{task_id}/release", released)
    claim = tenant.claim(task_id)
    tenant.reviewer.post(f"/tasks/{task_id}/heartbeat", {"claim_id": claim["claim_id"]})
    tenant.reviewer.post(f"/tasks/{task_id}/complete", {"claim_id": claim["claim_id"], "output": {"signed": True}})
    return task_id, claim["claim_id"]


def test_a_rule_hears_of_a_whole_task_in_order(tenant: Tenant, heard: Heard) -> None:
    task_id, claim_id = lived(tenant)
    trail = tenant.events(task_id)
    told = heard(len(trail))
    assert [each["seq"] for each in told] == [event["seq"] for event in trail]
    for each, event in zip(told, trail, strict=True):
        assert {name: each[name] for name in event.keys() - {"prev_hash", "hash"}} == {
            name: event[name] for name in event.keys() - {"prev_hash", "hash"}
        }
    assert [each["state_before"] for each in told] == [None, *(each["state"] for each in told[:-1])]
    assert told[-1]["state"] == "done"
    shown = tenant.task(task_id)
    assert {name: told[-1]["task"][name] for name in ("title", "target_agent", "handoff_id", "url")} == {
        name: shown[name] for name in ("title", "target_agent", "handoff_id", "url")
    }
    assert claim_id not in json.dumps(told)


def test_with_the_bus_out_of_reach_tasks_go_on_and_the_outside_hears_later(tenant: Tenant, heard: Heard) -> None:
    deployed = tenant.deployed
    with bus_out_of_reach(deployed):
        task_id, _ = lived(tenant, releases=2)
        task = deployed.deps.store.tasks.load(tenant.name, task_id)[0]
        assert (task.state, task.meta.has_chunks) == ("done", True), "some events have left HEAD untold"
        trail = tenant.events(task_id)
        until(lambda: any('"bus_away"' in line for line in deployed.logs("PublishEvents")))
        overdue(deployed)
        assert deployed.invoke("PublishEvents") == {"published": 0, "failed": 0, "complete": False}
        assert waiting(tenant) == len(trail)
    deployed.invoke("PublishEvents")
    assert [each["seq"] for each in heard(len(trail))] == [event["seq"] for event in trail]
    assert waiting(tenant) == 0


def overdue(deployed: Deployed) -> None:
    """As if everything in the outbox had waited for two minutes."""
    earlier, store = SystemClock().now() - seconds(120), deployed.deps.store
    for page in list(store.outbox.pending_tasks(earlier + timedelta(days=1))):
        for each in page:
            task = (each.workspace, each.task_id)
            for key in (keys.beginning(*task), keys.head(*task), *chunks(deployed, *task)):
                aged(deployed, key, rfc3339(earlier))
            store.outbox.look_again(each.workspace, each.task_id, earlier)


def chunks(deployed: Deployed, workspace: str, task_id: str) -> Iterator[keys.Key]:
    """Of events that HEAD had before."""
    trail = {":pk": keys.trail(workspace, task_id), ":first": keys.chunk_name(0), ":last": keys.chunk_name(10**8 - 1)}
    asked = {"KeyConditionExpression": "pk = :pk AND sk BETWEEN :first AND :last"}
    found = deployed.dynamo.query(
        TableName=deployed.stack.table, ExpressionAttributeValues=to_wire(trail), ConsistentRead=True, **asked
    )
    return (keys.Key(item["pk"]["S"], item["sk"]["S"]) for item in found["Items"])


def aged(deployed: Deployed, key: keys.Key, at: str) -> None:
    """Makes the events of an item so old. (Their hashes stay.)"""
    wire = {"TableName": deployed.stack.table, "Key": to_wire(key._asdict())}
    item = deployed.dynamo.get_item(**wire, ConsistentRead=True)["Item"]
    for entry in item.get("events", {"L": []})["L"]:
        entry["M"]["at"] = {"S": at}
    deployed.dynamo.put_item(TableName=deployed.stack.table, Item=item)


def waiting(tenant: Tenant) -> int:
    pages = tenant.deployed.deps.store.outbox.pending_tasks(SystemClock().now() + timedelta(days=1))
    return sum(len(each.events) for page in pages for each in page if each.workspace == tenant.name)
