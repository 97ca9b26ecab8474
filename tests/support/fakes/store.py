"""The product's store, on a table that lives in this process."""

from __future__ import annotations

from collections.abc import Callable

from baton.adapters.dynamodb.item_schema import TODAY, ItemSchema
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Layout, Table
from support.fakes.fake_dynamo import FakeDynamo

TABLE = "baton-test"


class InMemoryStore(DynamoStore):
    """``dynamo``: its table; a new one, unless another process has it too. ``sleep``: the pause between attempts, which
    a table without faults never needs. ``schema``: the number of another version of Baton."""

    def __init__(
        self,
        dynamo: FakeDynamo | None = None,
        sleep: Callable[[float], None] = lambda _seconds: None,
        schema: ItemSchema = TODAY,
    ) -> None:
        self.dynamo = dynamo or FakeDynamo()
        super().__init__(Table(self.dynamo, TABLE, sleep, Layout(schema=schema)))
