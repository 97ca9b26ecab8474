"""Every test that takes ``store`` runs over both of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pytest

from baton.adapters.memory import MemoryStore
from baton.domain.change import Change
from baton.ports import Store
from support.emulator import Emulator, Rig, emulator

Plant = Callable[[Iterable[Change]], object]


@pytest.fixture(scope="module")
def running() -> Iterator[Emulator]:
    with emulator() as started:
        yield started


@pytest.fixture
def rig(running: Emulator) -> Rig:
    """A settled world on the DynamoDB store, with its choke point."""
    return running.world()


@pytest.fixture(params=["memory", "dynamo"])
def backing(request: pytest.FixtureRequest) -> tuple[Store, Plant]:
    if request.param == "dynamo":
        rig = request.getfixturevalue("running").rig()
        return rig.store, rig.plant
    store = MemoryStore()
    return store, lambda changes: [store.commit(change.task.workspace, change) for change in changes]


@pytest.fixture
def store(backing: tuple[Store, Plant]) -> Store:
    return backing[0]


@pytest.fixture
def plant(backing: tuple[Store, Plant]) -> Plant:
    """Puts many tasks there at once: moto copies the whole table for every transaction."""
    return backing[1]
