from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from typing import Any

import boto3
import pytest

from baton.bootstrap import forget_all
from support.fakes.fake_dynamo import FakeDynamo
from support.gateway import Gateway
from support.worlds.http_agents import HttpAgents
from support.worlds.world import World

_numbers = count(1)


@pytest.fixture(autouse=True)
def function_environment(monkeypatch: pytest.MonkeyPatch, scrubbed_environment: None) -> Iterator[None]:
    """What template.yaml gives every function."""
    monkeypatch.setenv("BATON_TABLE", "baton-test")
    monkeypatch.setenv("BATON_PUBLIC_URL", "https://baton.example")
    # A name of its own each time: a logger keeps the stream that it was made with.
    service = f"test-{next(_numbers)}"
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", service)
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Baton")
    forget_all()
    yield
    forget_all()
    logging.root.manager.loggerDict.pop(service, None)  # pytest goes through all loggers before each test


@pytest.fixture
def dynamo(monkeypatch: pytest.MonkeyPatch) -> FakeDynamo:
    """What boto3 gives out for DynamoDB. moto plays the other services: its transactions copy the whole table, and the
    store's contract is held over it anyway."""
    table = FakeDynamo()

    def client(_: boto3.session.Session, service: str, config: Any = None) -> Any:
        return table if service == "dynamodb" else kept_client(service, config)

    session = kept_session()
    monkeypatch.setattr(boto3.session.Session, "client", client)
    for module in (boto3, boto3.session):
        monkeypatch.setattr(module, "Session", lambda: session)
    return table


@cache
def kept_session() -> boto3.session.Session:
    """One for all tests: botocore registers hundreds of handlers for each."""
    return boto3.session.Session()


make_client: Callable[..., Any] = boto3.session.Session.client


@cache
def kept_client(service: str, config: Any) -> Any:
    """One for all tests, whose service moto makes anew for each."""
    return make_client(kept_session(), service, config=config)


@pytest.fixture
def gateway(world: World) -> Gateway:
    return Gateway(world.deps)


@pytest.fixture
def http_agents(world: World, gateway: Gateway) -> HttpAgents:
    return HttpAgents(gateway).hire_in(world)
