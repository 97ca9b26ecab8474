from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from support.fakes.fake_dynamo.client import UNLAWFUL
from support.worlds.world import World


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
    return World().settle()


@pytest.fixture(autouse=True)
def lawful_requests() -> Iterator[None]:
    """Nothing is asked of the table that DynamoDB would refuse, even where somebody catches that error."""
    UNLAWFUL.clear()
    yield
    assert UNLAWFUL == []
