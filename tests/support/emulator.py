"""moto, started once for many worlds: each gets a table of its own. For one thread only: moto isn't atomic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from itertools import count
from typing import Any

import boto3
from moto import mock_aws
from moto.core import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends

from baton.adapters.dynamodb import items
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table, to_wire
from baton.domain.change import Change
from support.clock import FakeClock
from support.dynamo import all_items, create_table
from support.faults import Choked
from support.lawful import LawfulClient
from support.world import World


class Rig:
    """A world on a table of its own. ``choked`` is the choke point; ``raw`` is what lies behind it, for a second
    process that sees no faults."""

    def __init__(self, client: LawfulClient, table: str) -> None:
        self.raw, self.table = client, table
        self.choked = Choked(client)
        self.clock = FakeClock()
        self.store = DynamoStore(Table(self.choked, table, self.clock.sleep))
        self.other_store = DynamoStore(Table(client, table, self.clock.sleep))
        self.world = World(store=self.store, clock=self.clock)

    def settle(self) -> Rig:
        self.world.settle()
        return self

    def other(self) -> World:
        """Another process on the same table, whose calls are neither counted nor broken."""
        return World(store=self.other_store, clock=self.clock)

    def count(self, act: Callable[[], Any]) -> list[str]:
        """The calls that ``act`` makes to DynamoDB."""
        before = len(self.choked.calls)
        act()
        return self.choked.calls[before:]

    def plant(self, changes: Iterable[Change]) -> None:
        """Their HEADs alone, as they would be written."""
        table = dynamodb_backends[DEFAULT_ACCOUNT_ID]["us-east-1"].tables[self.table]
        for change in changes:
            table.put_item(to_wire(items.head_item(change.task)))

    def keep(self) -> Callable[[], None]:
        """What brings table, time and bells back to this moment: cheaper than living through the same story again."""
        tables = dynamodb_backends[DEFAULT_ACCOUNT_ID]["us-east-1"].tables
        held, now, bells = deepcopy(tables[self.table]), self.clock.time, list(self.world.doorbell.bells)

        def restore() -> None:
            tables[self.table] = deepcopy(held)
            self.clock.time = now
            self.world.doorbell.bells[:] = bells
            for store in (self.store, self.other_store):
                store.forget_rosters()
            self.choked.calls.clear()
            self.choked.plan = lambda _n, _op: None

        return restore

    def items(self) -> list[dict[str, Any]]:
        return all_items(self.raw.client, self.table)


class Emulator:
    """One table at a time: a rig lives until the next one is asked for."""

    def __init__(self) -> None:
        self.backend = boto3.client(
            "dynamodb", region_name="us-east-1", aws_access_key_id="testing", aws_secret_access_key="testing"
        )
        self.client = LawfulClient(self.backend)
        self._numbers = count()

    def rig(self) -> Rig:
        for old in self.backend.list_tables()["TableNames"]:
            self.backend.delete_table(TableName=old)
        table = f"baton-{next(self._numbers)}"
        create_table(self.backend, table)
        return Rig(self.client, table)

    def world(self) -> Rig:
        return self.rig().settle()


@contextmanager
def emulator() -> Iterator[Emulator]:
    """Ends with a look at what was asked: nothing that DynamoDB would have refused."""
    with mock_aws():
        running = Emulator()
        yield running
        assert running.client.broken == []
