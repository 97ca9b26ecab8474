"""A world whose calls to the table are counted and can be broken, and other processes beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from baton.adapters.dynamodb import items
from baton.adapters.dynamodb.patience import SECONDS, Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import DEFAULT_SHARDS, Table, to_wire
from baton.domain.tasks.change import Change
from support.clock import NOON, FakeClock
from support.fakes.fake_dynamo import FakeDynamo, NoFaults
from support.fakes.store import TABLE, InMemoryStore, StoreOfTests
from support.faults.choke_point import Choked, no_fault
from support.worlds.world import AGENTS, WORKSPACE, World, settled


class Rig:
    """A world on a table of its own. ``choked``: the choke point. ``raw``: the table behind it, for a second process
    without faults. The table knows no request by its token, as after ten minutes, so that only the commit proof tells
    whether a commit was applied. ``pauses``: the clock of the pauses between tries, apart from the world's."""

    def __init__(self) -> None:
        self.raw, self.table = FakeDynamo(NoFaults(knows_tokens=False)), TABLE
        self.choked = Choked(self.raw)
        self.clock, self.pauses = FakeClock(), FakeClock()
        self.other_store = InMemoryStore(self.raw)
        self.patience = Patience(self.pauses)
        store = StoreOfTests(Table(self.choked, self.table, self.patience), self.raw)
        self.world = World(store=store, clock=self.clock)

    @property
    def store(self) -> DynamoStore:
        store = self.world.store
        assert isinstance(store, DynamoStore)
        return store

    def settle(self) -> Rig:
        """Copies the table of a world that has all agents but one, and registers this: the process then knows what it
        knows after having registered all."""
        if self.raw.items or self.clock.now() != NOON:
            self.world.settle()
        else:
            *others, last = AGENTS
            self.raw.take_over(settled(WORKSPACE, tuple(others)))
            self.world.register(WORKSPACE, [last])
        return self

    def other(self) -> World:
        """Returns another process on the same table, whose calls are neither counted nor broken."""
        return World(store=self.other_store, clock=self.clock)

    def count(self, act: Callable[[], Any]) -> list[str]:
        """Returns the calls to DynamoDB that ``act`` makes."""
        before = len(self.choked.calls)
        act()
        return self.choked.calls[before:]

    def requested(self, act: Callable[[], Any]) -> list[str]:
        """Returns the calls that ``act`` makes within a request of a process that knows agents and settings. The
        reading of their version comes first, and isn't among them."""
        with self.world.request():
            self.store.agents.roster(WORKSPACE)
            return self.count(act)

    def plant(self, changes: Iterable[Change]) -> None:
        """Writes the HEADs of the changes, and nothing else of them."""
        for change in changes:
            self.raw.put(DEFAULT_SHARDS.placed(to_wire(items.head_item(change.task))))

    def keep(self) -> Callable[[], None]:
        """Returns a function that brings table, time, notices and client back to this moment, for a process that knows
        nothing, which is cheaper than playing the story again."""
        restore_table, now, notices = self.raw.snapshot(), self.clock.time, list(self.world.dispatch_queue.notices)
        client = self.choked.client

        def restore() -> None:
            restore_table()
            self.clock.time = now
            self.world.dispatch_queue.notices[:] = notices
            for store in (self.store, self.other_store):
                store.forget_all()
            self.choked.calls.clear()
            self.choked.client, self.choked.plan = client, no_fault
            self.patience.begin(SECONDS, math.inf)

        return restore

    def items(self) -> list[dict[str, Any]]:
        return list(self.raw.contents().values())
