"""An index gets a successor while the table is in use: it is added and filled, the next release reads it, and then the
old one goes (docs/decisions/056-an-index-is-never-changed.md). Over moto: the fake can't change a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.ports.store import Store
from contract.access.test_isolation import OURS, READINGS, answer, fill
from support.clock import NOON
from support.fakes.dynamo import create_table, table_definition
from support.fakes.fake_dynamo import FakeDynamo
from support.faults.threads import StillClock
from support.faults.wrapped_store import WrappedStore

TABLE = "baton"
CONSTANTS = {keys.QUEUE_INDEX: "QUEUE_INDEX", keys.WAKE_INDEX: "WAKE_INDEX"}


@pytest.fixture
def dynamo() -> Iterator[Any]:
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        create_table(client, TABLE)
        yield client


@pytest.fixture
def store(dynamo: Any) -> Store:
    return DynamoStore(Table(dynamo, TABLE, Patience(StillClock())))


class AskedIndexes(WrappedStore):
    """Around a client: ``seen`` is true once an index was asked."""

    seen = False

    def around(self, name: str, call: Any) -> Any:
        def asked(**request: Any) -> Any:
            self.seen |= "IndexName" in request
            return call(**request)

        return asked


def of_indexes() -> list[str]:
    """Returns the names of the readings that ask an index. No other meets a change of one."""
    asked = AskedIndexes(FakeDynamo())
    store = DynamoStore(Table(asked, TABLE, Patience(StillClock())))
    fill(store, OURS)
    found = []
    for name, reading in READINGS.items():
        asked.seen = False
        answer(reading, store, OURS)
        found += [name] if asked.seen else []
    return found


def all_readings(store: Store, names: list[str]) -> dict[str, Any]:
    """What each of them finds, and those of all workspaces."""
    return {name: answer(READINGS[name], store, OURS) for name in names} | {
        "due": list(store.queues.due(NOON)),
        "trackers due": list(store.tracker.tracker_circuits_due(NOON)),
        "events": [each for page in store.outbox.pending_tasks(NOON) for each in page],
    }


def change_indexes(dynamo: Any, change: dict[str, Any]) -> None:
    attributes = table_definition()["AttributeDefinitions"]
    dynamo.update_table(TableName=TABLE, AttributeDefinitions=attributes, GlobalSecondaryIndexUpdates=[change])


def test_a_successor_shows_what_was_there_and_the_next_release_needs_the_old_index_no_more(
    store: Store, dynamo: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, OURS)
    names = of_indexes()
    before = all_readings(store, names)
    assert {"ready", "needs", "tasks of day", "unresolved alerts", "entries below a scope"} <= {*names}
    assert all(before[reading] for reading in ("due", "trackers due", "events"))
    for index in table_definition()["GlobalSecondaryIndexes"]:
        name, successor = index["IndexName"], f"{index['IndexName']}-2"
        change_indexes(dynamo, {"Create": {**index, "IndexName": successor}})
        monkeypatch.setattr(keys, CONSTANTS[name], successor)  # the next release
        change_indexes(dynamo, {"Delete": {"IndexName": name}})
    assert all_readings(store, names) == before
    (inbox_item,) = store.inboxes.inbox(OURS, "scout", 10, None).items
    store.inboxes.acknowledge(OURS, "scout", [inbox_item.id])
    assert store.inboxes.inbox(OURS, "scout", 10, None).items == ()


@pytest.mark.parametrize("name", CONSTANTS)
def test_every_version_of_an_index_is_by_the_same_attributes(name: str) -> None:
    (index,) = [each for each in table_definition()["GlobalSecondaryIndexes"] if each["IndexName"] == name]
    pair = tuple(key["AttributeName"] for key in index["KeySchema"])
    assert keys.attributes_of(name) == keys.attributes_of(f"{name}-2") == keys.attributes_of(f"{name}-10") == pair
