"""The store's contract over the local engine: what the fake of DynamoDB is held to, as we didn't write it."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from botocore.config import Config

from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.query_parser import parse_queries_as_json
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.adapters.system import SystemClock
from baton.ports.store import Store
from support.fakes.dynamo import Wire, create_table
from support.faults.soak import IS_WHOLE
from support.same_store import contract
from tools.stack import deployment
from tools.stack.engine import Access

pytestmark = pytest.mark.stack
TABLE = "baton-contract"
_numbers = count()
# A thousand tasks.
TOO_LONG = ("test_due_goes_on_past_every_page",)
# One case of each parameter, of every fifth test; under ``make soak`` two, of every test.
globals().update(contract(most_cases=2 if IS_WHOLE else 1, without=TOO_LONG, every=5))


@pytest.fixture(scope="module")
def client(engine_alone: Access) -> Any:
    client = deployment.client("dynamodb", engine_alone, Config(parameter_validation=False))
    parse_queries_as_json(client.meta.events)
    return client


@pytest.fixture
def wire(client: Any) -> Wire:
    """To a new table."""
    name = f"{TABLE}-{next(_numbers)}"
    create_table(client, name)
    return Wire(client, name)


@pytest.fixture
def store(wire: Wire) -> Store:
    return DynamoStore(Table(wire.client, wire.table, Patience(SystemClock())))
