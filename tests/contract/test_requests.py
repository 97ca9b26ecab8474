"""What is asked of DynamoDB is what DynamoDB takes. Every request of every test is held to these rules by the fake;
here they are held to theirs, and given what tests seldom do."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.puts import NOT_THERE_YET, VERSION_UNCHANGED
from baton.adapters.dynamodb.table import from_wire, to_wire
from baton.adapters.dynamodb.tasks.change_writes import change_writes
from baton.adapters.dynamodb.writes import item_writes
from baton.domain.errors import Busy
from baton.domain.escalations.direction import CountedEscalation, Direction
from baton.domain.settings.settings import MAX_CAP, MAX_WINDOW_DAYS, Settings
from baton.ports.writes import OpenEscalation
from support.clock import NOON
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.fake_dynamo.client import UNLAWFUL
from support.fakes.fake_dynamo.rules import CALLS, Unlawful, check
from support.values.changes import new, then
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, human

KEY = to_wire({"pk": "a", "sk": "b"})
PUT: dict[str, Any] = {"Item": KEY, "ConditionExpression": "attribute_not_exists(#pk)"} | {
    "ExpressionAttributeNames": {"#pk": "pk"}
}
UPDATE: dict[str, Any] = {
    "Key": KEY,
    "UpdateExpression": "SET #a.#b = :v REMOVE #a.#c",
    "ExpressionAttributeNames": {"#a": "a", "#b": "b", "#c": "c"},
    "ExpressionAttributeValues": {":v": {"N": "1"}},
}
QUERY: dict[str, Any] = {
    "KeyConditionExpression": "#pk = :pk AND #sk BETWEEN :a AND :b",
    "ExpressionAttributeNames": {"#pk": "pk", "#sk": "sk"},
    "ExpressionAttributeValues": to_wire({":pk": "x", ":a": "a", ":b": "b"}),
    "ConsistentRead": True,
    "Limit": 1,
}


def transaction(*writes: dict[str, Any]) -> dict[str, Any]:
    return {"TransactItems": list(writes), "ClientRequestToken": "t"}


def batch(*members: dict[str, Any]) -> dict[str, Any]:
    return {"RequestItems": {"t": list(members)}}


def test_lawful_requests_pass() -> None:
    check("put_item", PUT)
    check("batch_write_item", batch({"PutRequest": {"Item": KEY}}))
    check("update_item", UPDATE)
    check("query", QUERY)
    check("transact_write_items", transaction({"Put": PUT}))


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("scan", {}),
        ("delete_item", {"Key": KEY}),
        ("update_item", UPDATE | {"ExpressionAttributeNames": UPDATE["ExpressionAttributeNames"] | {"#d": "d"}}),
        ("update_item", UPDATE | {"ExpressionAttributeNames": {"#a": "a", "#b": "b"}}),
        ("update_item", UPDATE | {"ExpressionAttributeValues": {":v": {"N": "1"}, ":w": {"N": "1"}}}),
        ("update_item", UPDATE | {"UpdateExpression": "SET #a = :v REMOVE #a.#b, #c"}),
        ("update_item", UPDATE | {"UpdateExpression": "SET #a.#b = :v, #a.#b.#c = :v"}),
        ("update_item", UPDATE | {"UpdateExpression": "SET #a.#b = :v SET #a.#c = :v"}),
        ("update_item", UPDATE | {"UpdateExpression": "SET #a.#b = :v, state = :v REMOVE #c"}),
        ("update_item", UPDATE | {"ExpressionAttributeNames": {"#a": "pk", "#b": "b", "#c": "c"}}),
        ("update_item", UPDATE | {"UpdateExpression": "SET #a.#b = :v DELETE #c :v"}),
        ("update_item", UPDATE | {"ExpressionAttributeValues": {":v": {"SS": []}}}),
        ("update_item", UPDATE | {"ExpressionAttributeValues": {":v": {"N": "1" * 39}}}),
        ("update_item", UPDATE | {"UpdateExpression": UPDATE["UpdateExpression"] + ", #a.#c" * 500}),
        ("query", QUERY | {"ExpressionAttributeValues": to_wire({":pk": "x", ":a": "c", ":b": "b"})}),
        ("query", QUERY | {"ExpressionAttributeValues": to_wire({":pk": "", ":a": "a", ":b": "b"})}),
        ("query", QUERY | {"KeyConditionExpression": "#pk = :pk AND #sk > :a AND #sk < :b"}),
        ("query", QUERY | {"IndexName": "queue"}),
        ("query", QUERY | {"ConsistentRead": False}),
        ("query", QUERY | {"Limit": 0}),
        ("put_item", PUT | {"ReturnValues": "ALL_NEW"}),
        ("put_item", PUT | {"Item": KEY | {"x": {"S": "x" * 500_000}}}),
        ("put_item", PUT | {"ExpressionAttributeNames": {"#pk": "pk", "#sk": "sk"}}),
        ("batch_write_item", batch({"PutRequest": PUT})),
        ("batch_write_item", batch({"PutRequest": {"Item": KEY}}, {"DeleteRequest": {"Key": KEY}})),
        ("batch_write_item", batch({"UpdateRequest": {"Key": KEY}})),
        ("transact_write_items", transaction({"Put": PUT}, {"Update": UPDATE})),
        ("transact_write_items", transaction()),
        ("transact_write_items", transaction({"Put": {"Item": to_wire({"pk": "", "sk": "b"})}})),
        ("transact_write_items", transaction({"Put": {"Item": KEY | to_wire({"queue_pk": "a"})}})),
        ("transact_write_items", transaction({"Put": {"Item": KEY | {"x": {"S": "x" * 500_000}}}})),
        ("transact_write_items", transaction({"ConditionCheck": {"Key": KEY}})),
        ("transact_write_items", transaction({"Put": PUT | {"ExpressionAttributeValues": {}}})),
        ("batch_get_item", {"RequestItems": {"t": {"Keys": [KEY, KEY], "ConsistentRead": True}}}),
        ("batch_get_item", {"RequestItems": {"t": {"Keys": [KEY]}}}),
    ],
)
def test_unlawful_requests_are_refused_and_seen(operation: str, request_: dict[str, Any]) -> None:
    with pytest.raises(Unlawful):
        check(operation, request_)
    if operation in CALLS:
        with pytest.raises(Unlawful):
            getattr(FakeDynamo(), operation)(**request_)
        assert len(UNLAWFUL) == 1
        UNLAWFUL.clear()


def test_the_trail_is_append_only() -> None:
    """A beginning is written once. HEAD goes on from the version that was read alone, with all of its events."""
    first = new()
    (beginning,) = [each.request for each in change_writes(first) if each.key.sk == keys.BEGINNING]
    assert beginning["ConditionExpression"] == NOT_THERE_YET
    told, task = [], first.task
    for number in range(3):
        change = then(task, title=str(number))
        (head,) = [each.request for each in change_writes(change) if each.key.sk == keys.HEAD]
        assert head["ConditionExpression"] == VERSION_UNCHANGED
        told.append(from_wire(head["Item"])["events"])
        task = change.task
    assert [[entry["seq"] for entry in events] for events in told] == [[2], [2, 3], [2, 3, 4]]


def test_a_direction_that_slept_with_a_full_memory_can_be_opened_again() -> None:
    """Twenty a day for thirty days, then silence: all are forgotten at once."""
    full = Direction(
        WORKSPACE,
        "scout",
        "auditor",
        tuple(
            CountedEscalation(f"task_{n:026d}", NOON - timedelta(days=31, minutes=n), closed=True)
            for n in range(MAX_CAP * MAX_WINDOW_DAYS)
        ),
        version=7,
    )
    forget = full.forgettable(NOON)
    assert len(forget) == len(full.escalations)
    extra = OpenEscalation(full, "task_1", NOON, forget, ends_review=True)
    writes = item_writes(WORKSPACE, extra)
    check("transact_write_items", transaction(*({write.kind: write.request} for write in writes)))
    assert full.decide(NOON, Settings()) == Direction(WORKSPACE, "scout", "auditor").decide(NOON, Settings())


class PartialClient:
    """Answers a batch with a part of it, as DynamoDB may whenever it is throttled."""

    def __init__(self, client: Any, answers: int) -> None:
        self.client, self.left = client, answers

    def __getattr__(self, operation: str) -> Any:
        return getattr(self.client, operation)

    def batch_get_item(self, RequestItems: dict[str, Any]) -> Any:  # noqa: N803 - the client's own word
        ((table, asked),) = RequestItems.items()
        keys = asked["Keys"]
        take = 1 if self.left > 0 else 0
        self.left -= 1
        answer: dict[str, Any] = {"Responses": {}, "UnprocessedKeys": {}}
        if take:
            answer = self.client.batch_get_item(RequestItems={table: {**asked, "Keys": keys[:take]}})
        if keys[take:]:
            answer["UnprocessedKeys"] = {table: {**asked, "Keys": keys[take:]}}
        return answer


def partial(rig: Rig, answers: int) -> None:
    rig.choked.client = PartialClient(rig.choked.client, answers)


def test_a_batch_answered_in_parts_is_read_to_its_end(rig: Rig) -> None:
    rig.world.deps.store.settings.save_settings(WORKSPACE, Settings(escalation_cap=5, version=1), human(), NOON)
    partial(rig, 10)
    agent, settings = rig.store.agents.dispatch_inputs(WORKSPACE, "auditor")
    assert agent is not None
    assert settings.escalation_cap == 5


def test_a_batch_that_is_never_answered_is_busy_not_empty(rig: Rig) -> None:
    partial(rig, 1)
    with pytest.raises(Busy):
        rig.store.agents.dispatch_inputs(WORKSPACE, "auditor")
