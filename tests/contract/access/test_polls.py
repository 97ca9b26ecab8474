"""A principal's long polls are counted wherever they wait: never more at once than it may have."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from baton.domain.access.principal import Principal
from baton.domain.errors import TooManyPolls
from baton.domain.times import seconds
from baton.ports.access import PollPermit
from baton.ports.store import Store
from support.clock import NOON
from support.fakes.store import InMemoryStore
from support.values.tasks import MS
from support.worlds.rig import Rig
from support.worlds.world import agent, human, service

AUDITOR = agent("auditor")
END = NOON + seconds(25)
MOST = 5


def begun(store: Store, number: int = 1, by: Principal = AUDITOR, at: Any = NOON, until: Any = END) -> PollPermit:
    return store.uses.begin_poll(by, MOST, f"poll_{number}", at, until)


def full(store: Store, by: Principal = AUDITOR) -> list[PollPermit]:
    return [begun(store, number, by) for number in range(MOST)]


def test_five_wait_at_once_and_a_sixth_is_told_when_to_come_back(store: Store) -> None:
    assert len({permit.slot for permit in full(store)}) == MOST
    with pytest.raises(TooManyPolls) as raised:
        begun(store, 6, at=NOON + MS)
    assert raised.value.fields == {"limit": 5, "retry_after": 25}


def test_the_first_that_ends_is_the_one_to_wait_for(store: Store) -> None:
    for number in range(MOST):
        begun(store, number, until=NOON + seconds(20 - number))
    with pytest.raises(TooManyPolls) as raised:
        begun(store, 6, at=NOON + seconds(12.5))
    assert raised.value.fields["retry_after"] == 4


def test_one_that_has_ended_makes_room(store: Store) -> None:
    permits = full(store)
    store.uses.end_poll(permits[2])
    assert begun(store, 6).slot == permits[2].slot
    with pytest.raises(TooManyPolls):
        begun(store, 7)


def test_one_whose_process_died_makes_room_when_its_time_is_over(store: Store) -> None:
    full(store)
    with pytest.raises(TooManyPolls):
        begun(store, 6, at=END - MS, until=END + seconds(25))
    later = [begun(store, number, at=END, until=END + seconds(25)) for number in range(6, 11)]
    assert len({permit.slot for permit in later}) == MOST
    with pytest.raises(TooManyPolls):
        begun(store, 11, at=END, until=END + seconds(25))


def test_one_that_ends_late_takes_nothing_from_who_has_its_place(store: Store) -> None:
    permits = full(store)
    later = [begun(store, number, at=END, until=END + seconds(25)) for number in range(6, 11)]
    for permit in permits:
        store.uses.end_poll(permit)
        store.uses.end_poll(permit)
    with pytest.raises(TooManyPolls):
        begun(store, 11, at=END)
    store.uses.end_poll(later[0])
    assert begun(store, 12, at=END).slot == later[0].slot


def test_each_principal_has_its_own(store: Store) -> None:
    full(store)
    for by in (agent("auditor-2"), agent("auditor", "other"), human(name="auditor"), service()):
        full(store, by)
        with pytest.raises(TooManyPolls):
            begun(store, 6, by)


@pytest.mark.parametrize("fault", ["timeout_before", "timeout_after", "error_before", "throttle"])
def test_an_unclear_attempt_takes_one_place(rig: Rig, fault: str) -> None:
    rig.choked.plan = lambda number, operation: fault if number == 1 and operation == "update_item" else None
    rig.choked.calls.clear()
    begun(rig.store)
    assert rig.choked.calls == ["update_item", "update_item"]
    for number in range(2, MOST + 1):
        begun(rig.other_store, number)
    with pytest.raises(TooManyPolls):
        begun(rig.other_store, 6)


def test_a_poll_is_one_write_at_its_beginning_and_one_at_its_end(rig: Rig) -> None:
    assert rig.count(lambda: rig.store.uses.end_poll(begun(rig.store))) == ["update_item", "update_item"]


def test_a_refused_one_costs_one_write_that_fails(rig: Rig) -> None:
    full(rig.other_store)

    def refused() -> None:
        with pytest.raises(TooManyPolls):
            begun(rig.store, 6)

    assert rig.count(refused) == ["update_item"]


def test_of_eight_that_begin_together_five_wait() -> None:
    for _ in range(20):
        store, barrier = InMemoryStore(), Barrier(8)

        def attempt(number: int, store: InMemoryStore = store, barrier: Barrier = barrier) -> bool:
            barrier.wait()
            try:
                begun(store, number)
            except TooManyPolls:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(attempt, range(8))) == MOST
