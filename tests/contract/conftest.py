from __future__ import annotations

import pytest

from baton.ports.store import Store
from support.fakes.dynamo import Wire
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.store import TABLE, InMemoryStore
from support.worlds.rig import Rig


@pytest.fixture
def rig() -> Rig:
    """A settled world, with its choke point."""
    return Rig().settle()


@pytest.fixture
def wire() -> Wire:
    """To a new table."""
    return Wire(FakeDynamo(), TABLE)


@pytest.fixture
def store() -> Store:
    """On a new table. The same tests run over other engines: ``same_store.py`` in ``tests/support`` lists them."""
    return InMemoryStore()
