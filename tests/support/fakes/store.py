"""The product's store, on a table that lives in this process."""

from __future__ import annotations

from baton.adapters.dynamodb.item_schema import TODAY, ItemSchema
from baton.adapters.dynamodb.patience import Patience, Pauses
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Layout, Table
from support.fakes.fake_dynamo import FakeDynamo
from support.faults.threads import StillClock

TABLE = "baton-test"
STILL = StillClock()


class InMemoryStore(DynamoStore):
    """``dynamo``: its table; a new one, unless another process has it too. ``pauses``: the pauses between tries, which
    a table without faults never needs. ``schema``: the number of another version of Baton."""

    def __init__(
        self,
        dynamo: FakeDynamo | None = None,
        pauses: Pauses = STILL,
        schema: ItemSchema = TODAY,
    ) -> None:
        self.dynamo = dynamo or FakeDynamo()
        super().__init__(Table(self.dynamo, TABLE, Patience(pauses), Layout(schema=schema)))
