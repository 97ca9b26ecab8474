from __future__ import annotations

import pytest

from baton.ports.store import Store
from support.fakes.store import InMemoryStore
from support.worlds.rig import Rig


@pytest.fixture
def rig() -> Rig:
    """A settled world, with its choke point."""
    return Rig().settle()


@pytest.fixture
def store() -> Store:
    """On a new table. The same tests run over other engines: ``same_store.py`` in ``tests/support`` lists them."""
    return InMemoryStore()
