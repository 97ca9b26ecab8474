"""What a worker costs while it waits, by the injected clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.domain.access.polls import Room
from baton.domain.agents.liveness import MARKED_EVERY
from baton.domain.idempotency import IdempotencyKey
from baton.domain.task_state import State
from baton.services.claims.claim_task import claim_next_waiting
from baton.steps.claims.take_task import Claimed, Claimer
from support.clock import NOON, FakeClock
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.store import TABLE
from support.values.changes import a_claim, claimed, queued
from support.worlds.world import WORKSPACE, World, agent
from tools.bench.meter import Meter, Usage

AUDITOR = agent("auditor")
WAITING = Claimer(by=AUDITOR, agent="auditor", worker="worker-1")
KEY = IdempotencyKey(AUDITOR, "/claims", "key", "hash")
# By the wait's seconds: the read units of a wait in vain, at most. One of five seconds may take a look less.
UNITS = {20: 48.5, 5: 14.5, 1: 5.5}
UNITS_WITH_KEY = {20: 57.5, 5: 17.5, 1: 7.5}
NO_ROOM, ROOM = Room(), Room("wait", 50)


class Waiting:
    """A world whose calls are counted, in a process that knows the agents and heard of the auditor just now."""

    def __init__(self, room: Room = NO_ROOM) -> None:
        self.meter, self.clock, self.room = Meter(FakeDynamo()), MomentousClock(), room
        self.store = DynamoStore(Table(self.meter, TABLE, Patience(self.clock)))
        self.world = World(store=self.store, clock=self.clock).settle()
        self.store.contacts.mark_contact(WORKSPACE, "auditor", self.clock.now(), MARKED_EVERY)
        self.store.agents.roster(WORKSPACE)

    def wait(self, seconds: float, key: IdempotencyKey | None = None) -> tuple[Claimed | None, Usage]:
        with self.world.request():
            self.meter.taken()
            deps = replace(self.world.deps, room=self.room)
            found = claim_next_waiting(deps, WAITING, seconds, key)
        return found, self.meter.taken()

    @property
    def waited(self) -> float:
        return (self.clock.now() - NOON).total_seconds()


class MomentousClock(FakeClock):
    """``at``: what happens once so many seconds are over."""

    def __init__(self) -> None:
        super().__init__()
        self.at: dict[float, Callable[[], object]] = {}

    def sleep(self, seconds: float) -> None:
        until = self.time + timedelta(seconds=seconds)
        for after in sorted(self.at):
            if self.time < NOON + timedelta(seconds=after) <= until:
                self.time = NOON + timedelta(seconds=after)
                self.at.pop(after)()
        super().sleep((until - self.time).total_seconds())


@pytest.mark.parametrize("seconds", UNITS)
def test_a_wait_in_vain_costs_what_is_documented(seconds: int) -> None:
    found, usage = Waiting().wait(seconds)
    assert found is None
    assert UNITS[seconds] - 0.5 <= usage.read_units <= UNITS[seconds]
    assert usage.all_write_units == 2, "the permit, taken and given back"


@pytest.mark.parametrize("seconds", UNITS)
def test_where_the_function_has_a_reserve_a_wait_costs_two_writes_and_a_read_more(seconds: int) -> None:
    usage = Waiting(ROOM).wait(seconds)[1]
    assert UNITS[seconds] + 0.5 <= usage.read_units <= UNITS[seconds] + 1
    assert usage.all_write_units == 4


@pytest.mark.parametrize("seconds", UNITS_WITH_KEY)
def test_with_a_key_it_costs_what_is_documented(seconds: int) -> None:
    found, usage = Waiting().wait(seconds, KEY)
    assert found is None
    assert UNITS_WITH_KEY[seconds] - 0.5 <= usage.read_units <= UNITS_WITH_KEY[seconds]


@pytest.mark.parametrize("tasks", [1, 20])
def test_work_that_cannot_be_taken_costs_a_wait_nothing_more(tasks: int) -> None:
    """Live claims of the agent's, and approvals that take effect after the wait."""
    waiting = Waiting()
    for number in range(tasks):
        claimed(waiting.store, f"task_c{number:02d}", a_claim(fence=number))
    queued(waiting.store, "task_later", NOON + timedelta(seconds=60))
    assert waiting.wait(20)[1].read_units <= UNITS[20]


@pytest.mark.parametrize("after", [0.1, 1.0, 3.337, 19.5])
def test_an_approval_is_noticed_within_three_tenths_of_a_second(after: float) -> None:
    waiting = Waiting()
    waiting.clock.at[after] = lambda: queued(waiting.store, "task_1", waiting.clock.now())
    found, _ = waiting.wait(20)
    assert found is not None
    assert after <= waiting.waited <= after + 0.3


@pytest.mark.parametrize("after", [0.5, 7.1])
def test_open_work_is_noticed_within_four_seconds(after: float) -> None:
    waiting = Waiting()
    waiting.clock.at[after] = lambda: queued(waiting.store, "task_1", waiting.clock.now(), target_agent=None)
    found, _ = waiting.wait(20)
    assert found is not None
    assert after <= waiting.waited <= after + 4


@pytest.mark.parametrize("undo_seconds", [0.9, 3, 10.123])
def test_the_end_of_an_undo_window_is_met_to_the_millisecond(undo_seconds: float) -> None:
    waiting = Waiting()
    due_at = NOON + timedelta(seconds=0.5 + undo_seconds)
    waiting.clock.at[0.5] = lambda: queued(waiting.store, "task_1", due_at)
    found, _ = waiting.wait(20)
    assert found is not None
    assert waiting.clock.now() == due_at


def test_the_end_of_a_lease_is_met_to_the_millisecond() -> None:
    waiting = Waiting()
    claimed(waiting.store, "task_1", a_claim(lease_seconds=15))
    found, _ = waiting.wait(20)
    assert found is not None
    assert waiting.waited == 15
    assert (found.details.task.state, found.details.task.fence) == (State.CLAIMED, 2)
