"""The writes of single items and of batches as DynamoDB does them, and what every write costs: whatever engine is
asked."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError, ParamValidationError

from baton.adapters.dynamodb.table import from_wire, to_wire
from support.fakes.dynamo import Wire
from support.fakes.fake_dynamo import Charge, FakeDynamo
from support.fakes.fake_dynamo.client import UNLAWFUL
from support.fakes.fake_dynamo.rules import Unlawful
from tools.bench.meter import Meter

KEY = {"pk": "a", "sk": "b"}
ABSENT = {"ConditionExpression": "attribute_not_exists(#pk)", "ExpressionAttributeNames": {"#pk": "pk"}}
QUEUED: dict[str, Any] = {"queue_pk": "q", "queue_sk": "1"}
# The rest of an item of so many bytes: the key's names and values take six.
KB = 1_024


def unchanged(version: int) -> dict[str, Any]:
    return {
        "ConditionExpression": "#version = :seen",
        "ExpressionAttributeNames": {"#version": "version"},
        "ExpressionAttributeValues": to_wire({":seen": version}),
    }


def item(size: int = 0, **more: object) -> dict[str, Any]:
    """``size``: of the item without ``more``."""
    filled = {"x": "x" * (size - 7)} if size else {}
    return to_wire({**KEY, **filled, **more})


def stored(wire: Wire, key: dict[str, Any] | None = None) -> dict[str, Any] | None:
    answer = wire.client.get_item(TableName=wire.table, Key=to_wire(key or KEY), ConsistentRead=True)
    return from_wire(answer["Item"]) if "Item" in answer else None


def queued(wire: Wire) -> list[dict[str, Any]]:
    answer = wire.client.query(
        TableName=wire.table,
        IndexName="queue",
        KeyConditionExpression="#pk = :pk",
        ExpressionAttributeNames={"#pk": "queue_pk"},
        ExpressionAttributeValues=to_wire({":pk": "q"}),
    )
    return [from_wire(each) for each in answer["Items"]]


def refused(wire: Wire, **request: Any) -> dict[str, Any]:
    """The answer to a put whose condition is false."""
    with pytest.raises(ClientError) as caught:
        wire.client.put_item(TableName=wire.table, **request)
    response: dict[str, Any] = dict(caught.value.response)
    assert response["Error"]["Code"] == "ConditionalCheckFailedException"
    return response


def test_a_put_makes_an_item_once_and_shows_the_one_that_was_there_if_asked(wire: Wire) -> None:
    answer = wire.client.put_item(TableName=wire.table, Item=item(version=1), **ABSENT)
    assert "Attributes" not in answer
    shown = refused(wire, Item=item(version=2), ReturnValuesOnConditionCheckFailure="ALL_OLD", **ABSENT)
    assert from_wire(shown["Item"]) == {**KEY, "version": 1}
    assert "Item" not in refused(wire, Item=item(version=2), **ABSENT)
    assert stored(wire) == {**KEY, "version": 1}


def test_a_put_on_a_version_replaces_the_whole_item(wire: Wire) -> None:
    assert "Item" not in refused(
        wire, Item=item(version=2), ReturnValuesOnConditionCheckFailure="ALL_OLD", **unchanged(1)
    )
    wire.client.put_item(TableName=wire.table, Item=item(version=1, gone="x", **QUEUED))
    assert [each["pk"] for each in queued(wire)] == ["a"]
    answer = wire.client.put_item(TableName=wire.table, Item=item(version=2), ReturnValues="ALL_OLD", **unchanged(1))
    assert from_wire(answer["Attributes"])["gone"] == "x"
    assert stored(wire) == {**KEY, "version": 2}
    assert queued(wire) == []
    refused(wire, Item=item(version=3), **unchanged(1))


def test_a_batch_writes_over_and_deletes_whatever_is_there_or_not(wire: Wire) -> None:
    wire.client.put_item(TableName=wire.table, Item=to_wire({"pk": "a", "sk": "over", "gone": "x"}))
    wire.client.put_item(TableName=wire.table, Item=to_wire({"pk": "a", "sk": "deleted", **QUEUED}))
    answer = wire.client.batch_write_item(
        RequestItems={
            wire.table: [
                {"PutRequest": {"Item": to_wire({"pk": "a", "sk": "over", "new": 1})}},
                {"PutRequest": {"Item": to_wire({"pk": "b", "sk": "new", **QUEUED})}},
                {"DeleteRequest": {"Key": to_wire({"pk": "a", "sk": "deleted"})}},
                {"DeleteRequest": {"Key": to_wire({"pk": "a", "sk": "never"})}},
            ]
        }
    )
    assert answer["UnprocessedItems"] == {}
    assert stored(wire, {"pk": "a", "sk": "over"}) == {"pk": "a", "sk": "over", "new": 1}
    assert stored(wire, {"pk": "a", "sk": "deleted"}) is None
    assert [each["pk"] for each in queued(wire)] == ["b"]


PUT = {"PutRequest": {"Item": item()}}
UNLAWFUL_BATCHES: dict[str, list[dict[str, Any]]] = {
    "an item that is too large": [{"PutRequest": {"Item": item(500_000)}}],
    "26 items": [{"PutRequest": {"Item": to_wire({"pk": "a", "sk": str(number)})}} for number in range(26)],
    "no item": [],
    "an item twice": [PUT, {"DeleteRequest": {"Key": to_wire(KEY)}}],
    "a key that isn't one": [{"DeleteRequest": {"Key": {"pk": {"S": "a"}}}}],
}


@pytest.mark.parametrize("name", UNLAWFUL_BATCHES)
def test_an_unlawful_batch_writes_nothing(wire: Wire, name: str) -> None:
    with pytest.raises((ClientError, ParamValidationError, Unlawful)):
        wire.client.batch_write_item(RequestItems={wire.table: UNLAWFUL_BATCHES[name]})
    assert stored(wire) is None
    UNLAWFUL.clear()


def put(wire: Wire, meter: Meter, new: dict[str, Any], **more: Any) -> None:
    meter.put_item(TableName=wire.table, Item=new, **more)


def update(wire: Wire, meter: Meter, size: int, **_: Any) -> None:
    meter.update_item(
        TableName=wire.table,
        Key=to_wire(KEY),
        UpdateExpression="SET #x = :x",
        ExpressionAttributeNames={"#x": "x"},
        ExpressionAttributeValues=to_wire({":x": "x" * (size - 7)}),
    )


def transact(wire: Wire, meter: Meter, kind: str, **inner: Any) -> None:
    write = {kind: {"TableName": wire.table, **inner}}
    meter.transact_write_items(TransactItems=[write], ClientRequestToken=uuid4().hex)


def batch(wire: Wire, meter: Meter, *members: dict[str, Any]) -> None:
    meter.batch_write_item(RequestItems={wire.table: list(members)})


HERE = {"ConditionExpression": "attribute_exists(#pk)", "ExpressionAttributeNames": {"#pk": "pk"}}
# What is there, what is done, units of the table and of its indexes.
COSTS: dict[str, tuple[dict[str, Any] | None, Any, float, float]] = {
    "a new KB": (None, lambda w, m: put(w, m, item(KB)), 1, 0),
    "a byte more": (None, lambda w, m: put(w, m, item(KB + 1)), 2, 0),
    "the larger before": (item(3 * KB), lambda w, m: put(w, m, item(100)), 3, 0),
    "an update": (item(100), lambda w, m: update(w, m, 2 * KB), 2, 0),
    "an entry that comes": (item(), lambda w, m: put(w, m, item(**QUEUED)), 1, 1),
    "an entry that goes": (item(**QUEUED), lambda w, m: put(w, m, item()), 1, 1),
    "an entry that moves": (item(**QUEUED), lambda w, m: put(w, m, item(**QUEUED | {"queue_sk": "2"})), 1, 2),
    "an entry that stays": (item(**QUEUED), lambda w, m: put(w, m, item(100, **QUEUED)), 1, 0),
    "an entry that shows it": (item(**QUEUED), lambda w, m: put(w, m, item(source_agent="s", **QUEUED)), 1, 1),
    "an entry of 2 KB": (item(), lambda w, m: put(w, m, item(source_agent="s" * 1_100, **QUEUED)), 2, 2),
    "a transaction": (None, lambda w, m: transact(w, m, "Put", Item=item(KB + 1, **QUEUED)), 4, 1),
    "a deletion in one": (item(KB), lambda w, m: transact(w, m, "Delete", Key=to_wire(KEY)), 2, 0),
    "a check in one": (item(KB + 1), lambda w, m: transact(w, m, "ConditionCheck", Key=to_wire(KEY), **HERE), 4, 0),
    "a check of nothing": (None, lambda w, m: transact(w, m, "ConditionCheck", Key=to_wire(KEY), **ABSENT), 2, 0),
    "a batch": (
        item(KB + 1, **QUEUED),
        lambda w, m: batch(w, m, PUT, {"DeleteRequest": {"Key": to_wire({"pk": "a", "sk": "never"})}}),
        3,
        1,
    ),
}


@pytest.mark.parametrize("name", COSTS)
def test_a_write_costs_what_is_documented(wire: Wire, name: str) -> None:
    there, act, table_units, index_units = COSTS[name]
    if there:
        wire.client.put_item(TableName=wire.table, Item=there)
    meter = Meter(wire.client)
    act(wire, meter)
    usage = meter.taken()
    assert (usage.write_units, usage.index_units) == (table_units, index_units)


REFUSED: dict[str, tuple[dict[str, Any] | None, Any, float]] = {
    "a put": (item(KB + 1), lambda w, m: put(w, m, item(5 * KB), **ABSENT), 2),
    "a put where nothing is": (None, lambda w, m: put(w, m, item(5 * KB), **HERE), 1),
    "a transaction": (item(KB + 1), lambda w, m: transact(w, m, "Put", Item=item(5 * KB), **ABSENT), 4),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_write_costs_what_the_item_that_it_met_does(wire: Wire, name: str) -> None:
    there, act, units = REFUSED[name]
    if there:
        wire.client.put_item(TableName=wire.table, Item=there)
    meter = Meter(wire.client)
    with pytest.raises(ClientError):
        act(wire, meter)
    assert meter.taken().all_write_units == units


def test_reads_cost_by_the_size_of_each_item_and_of_what_a_query_finds(wire: Wire) -> None:
    meter = Meter(wire.client)
    for sk, size in (("1", 4 * KB), ("2", 4 * KB + 1), ("3", 10)):
        wire.client.put_item(TableName=wire.table, Item=to_wire({"pk": "a", "sk": sk, "x": "x" * (size - 7)}))

    def key(sk: str) -> dict[str, Any]:
        return to_wire({"pk": "a", "sk": sk})

    def get(sk: str, *, is_consistent: bool) -> None:
        meter.get_item(TableName=wire.table, Key=key(sk), ConsistentRead=is_consistent)

    def query() -> None:
        meter.query(
            TableName=wire.table,
            KeyConditionExpression="#pk = :pk",
            ExpressionAttributeNames={"#pk": "pk"},
            ExpressionAttributeValues=to_wire({":pk": "a"}),
            ConsistentRead=True,
        )

    def batch_get(*sks: str) -> None:
        meter.batch_get_item(RequestItems={wire.table: {"Keys": [key(sk) for sk in sks], "ConsistentRead": True}})

    costs = {
        1.0: lambda: get("1", is_consistent=True),
        2.0: lambda: get("2", is_consistent=True),
        0.5: lambda: get("never", is_consistent=False),
        5.0: lambda: batch_get("1", "2", "3", "never"),
        3.0: query,
    }
    for units, act in costs.items():
        act()
        assert meter.taken().read_units == units


def test_the_bill_tells_which_partition_key_a_write_falls_on() -> None:
    dynamo, bill = FakeDynamo(), list[Charge]()
    dynamo.bill = bill.extend
    dynamo.put_item(TableName="t", Item=item(KB + 1, **QUEUED))
    with pytest.raises(ClientError):
        dynamo.put_item(TableName="t", Item=item(), **ABSENT)
    assert bill == [Charge(None, "a", 2), Charge("queue", "q", 1), Charge(None, "a", 2)]
