"""The store's contract over moto, which neither we nor the local engine's authors wrote. In one thread: moto isn't
atomic."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import boto3
import pytest
from moto import mock_aws

from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.ports import Store
from support.dynamo import create_table
from support.same_store import contract

globals().update(contract())
_numbers = count()


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with mock_aws():
        yield boto3.client(
            "dynamodb", region_name="us-east-1", aws_access_key_id="testing", aws_secret_access_key="testing"
        )


@pytest.fixture
def store(client: Any) -> Iterator[Store]:
    name = f"contract-{next(_numbers)}"
    create_table(client, name)
    yield DynamoStore(Table(client, name, lambda _seconds: None))
    client.delete_table(TableName=name)
