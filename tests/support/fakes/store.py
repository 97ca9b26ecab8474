"""The product's store, on a table that lives in this process."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from baton.adapters.dynamodb import keys
from baton.adapters.dynamodb.item_schema import TODAY, ItemSchema
from baton.adapters.dynamodb.patience import Patience, Pauses
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Layout, Table
from baton.domain import times
from baton.domain.access.person import HeldRight, Person
from baton.domain.access.rights import Right
from support.fakes.fake_dynamo import FakeDynamo
from support.faults.threads import StillClock

TABLE = "baton-test"
STILL = StillClock()


class PeopleOfTests:
    """The store's tokens. Tests of use cases act for people without a token: such a person counts as an administrator.
    A name with a listed token, revoked or not, is a person by these tokens alone."""

    def __init__(self, inner: Any, dynamo: FakeDynamo) -> None:
        self._inner, self._dynamo = inner, dynamo

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def person(self, workspace: str, name: str) -> Person:
        """A listed session alone doesn't make its name a person."""
        listed = self._dynamo.items.get(keys.tokens(workspace), {}).values()
        of_people = [item for item in listed if item["kind"] == {"S": "human"} and "session_of" not in item]
        if any(item["subject"] == {"S": name} for item in of_people):
            found: Person = self._inner.person(workspace, name)
            return found
        return Person(
            workspace, name, (HeldRight("unlisted", Right.ADMINISTRATOR),), ended_at=self._ended_at(workspace, name)
        )

    def _ended_at(self, workspace: str, name: str) -> datetime | None:
        """Without a call: for a person with a token it takes none either."""
        people = self._dynamo.items.get(keys.people(workspace).pk, {}).get(keys.people(workspace).sk, {})
        ended = json.loads(people.get("ended", {}).get("S", "{}"))
        return times.from_ms(ended[name]) if name in ended else None


class StoreOfTests(DynamoStore):
    """The store over ``table``. ``dynamo``: the table's contents."""

    def __init__(self, table: Table, dynamo: FakeDynamo) -> None:
        self.dynamo = dynamo
        super().__init__(table)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, PeopleOfTests(value, self.dynamo) if name == "tokens" else value)


class InMemoryStore(StoreOfTests):
    """``dynamo``: its table; a new one, unless another process has it too. ``pauses``: the pauses between tries, which
    a table without faults never needs. ``schema``: the number of another version of Baton."""

    def __init__(
        self,
        dynamo: FakeDynamo | None = None,
        pauses: Pauses = STILL,
        schema: ItemSchema = TODAY,
    ) -> None:
        dynamo = dynamo or FakeDynamo()
        super().__init__(Table(dynamo, TABLE, Patience(pauses), Layout(schema=schema)), dynamo)
