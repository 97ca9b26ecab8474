from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from typing import Any

import boto3
import pytest
from moto import mock_aws

from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from support.clock import FakeClock
from support.dynamo import create_table
from support.faults import Choked
from support.lawful import LawfulClient
from support.quick_moto import quicken
from support.world import World

TABLE = "baton-test"

quicken()


@pytest.fixture(autouse=True)
def scrubbed_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the credentials, regions or endpoints of whoever runs it."""
    for name in list(os.environ):
        if name.startswith(("AWS_", "BATON_", "POWERTOOLS_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


@pytest.fixture
def world() -> World:
    """On the memory store."""
    return World().settle()


@cache
def _moto_client() -> Any:
    """Making one takes longer than most tests that use it do; what it is told is moto's, and forgotten with it."""
    return boto3.client("dynamodb")


@pytest.fixture
def dynamo_client() -> Iterator[Any]:
    """moto's, with an empty table. For one thread only: moto isn't atomic under several."""
    with mock_aws():
        create_table(_moto_client(), TABLE)
        yield _moto_client()


@pytest.fixture
def choked(dynamo_client: Any) -> Iterator[Choked]:
    """Refuses what DynamoDB would refuse and moto wouldn't, even where somebody catches that error."""
    lawful = LawfulClient(dynamo_client)
    yield Choked(lawful)
    assert lawful.broken == []


@pytest.fixture
def dynamo_world(choked: Choked) -> World:
    """On the DynamoDB store over moto, through ``choked``."""
    clock = FakeClock()
    return World(store=DynamoStore(Table(choked, TABLE, clock.sleep)), clock=clock).settle()
