"""Many workers wait for the same agent's work: they spread over it, and lose few races to each other."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from threading import Condition, Thread, current_thread
from typing import Any

import pytest

from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.errors import Conflict
from baton.domain.priority import Priority
from baton.services.claims.candidates import Look
from baton.services.claims.claim_task import claim_if_any, claim_next_waiting
from baton.steps.claims.poll_until import Poll, polls
from baton.steps.claims.take_task import Claimer
from support.clock import NOON, FakeClock
from support.fakes.store import InMemoryStore
from support.faults.hooked_store import HookedStore
from support.faults.wrapped_store import WrappedStore
from support.values.changes import queued
from support.values.tasks import an_agent
from support.worlds.world import WORKSPACE, World, agent

WORKERS = 16


class InStep(WrappedStore):
    """A store whose callers take turns, one call each: what a busy moment looks like, and always the same."""

    def __init__(self, store: InMemoryStore, workers: int) -> None:
        super().__init__(store)
        self._turn, self._alive, self._changed = 0, set(range(workers)), Condition()
        self.numbers: dict[Thread, int] = {}
        self.refused = 0

    def around(self, name: str, call: Any) -> Any:
        def in_turn(*args: Any, **kwargs: Any) -> Any:
            number = self.numbers.get(current_thread())
            if number is None:
                return call(*args, **kwargs)
            with self._changed:
                self._changed.wait_for(lambda: self._turn == number)
                try:
                    return call(*args, **kwargs)
                except Conflict:
                    self.refused += 1
                    raise
                finally:
                    self._pass_on()

        return in_turn

    def leave(self, number: int) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._turn == number)
            self._alive.discard(number)
            self._pass_on()

    def _pass_on(self) -> None:
        later = [each for each in sorted(self._alive) if each > self._turn]
        self._turn = (later or sorted(self._alive) or [0])[0]
        self._changed.notify_all()


def refused_when(act: Callable[[World, Claimer], Any], tasks: int, seed: int) -> tuple[int, int]:
    """How many claims were refused in one round of all workers, and how many tasks were claimed."""
    random.seed(seed)
    memory = InMemoryStore()
    memory.agents.save_agent(an_agent(), memory.agents.roster(WORKSPACE))
    for number in range(tasks):
        queued(memory, f"task_{number:02d}")
    store: Any = InStep(memory, WORKERS)
    claimed = []

    def work(number: int) -> None:
        world = World(store=store, clock=FakeClock())
        claimer = Claimer(by=agent("auditor"), agent="auditor", worker=f"w-{number}")
        found = act(world, claimer)
        claimed.extend([found.details.task.id] if found else [])
        store.leave(number)

    threads = [Thread(target=work, args=(number,)) for number in range(WORKERS)]
    store.numbers = {thread: number for number, thread in enumerate(threads)}
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(set(claimed)) == len(claimed)
    return store.refused, len(claimed)


def waiting(world: World, claimer: Claimer) -> Any:
    return claim_if_any(world.deps, claimer, look=Look(is_contended=True))


def arriving(world: World, claimer: Claimer) -> Any:
    return claim_if_any(world.deps, claimer)


@pytest.mark.parametrize("seed", range(5))
def test_waiting_workers_lose_few_races_to_each_other(seed: int) -> None:
    """In step and in order, 16 of them lose 120 for 16 tasks: the first wins, 15 lose, then 14 …"""
    lost, won = refused_when(waiting, WORKERS, seed)
    assert won == WORKERS
    assert lost <= WORKERS


@pytest.mark.parametrize("seed", range(3))
def test_those_who_arrive_together_spread_after_the_first_race(seed: int) -> None:
    lost, won = refused_when(arriving, WORKERS, seed)
    assert won == WORKERS
    assert lost <= 2 * WORKERS + WORKERS


def test_one_task_is_claimed_once_and_the_others_go_away_with_nothing() -> None:
    lost, won = refused_when(waiting, 1, 0)
    assert (lost, won) == (WORKERS - 1, 1)


def test_a_worker_alone_takes_the_first_of_the_best() -> None:
    for seed in range(5):
        random.seed(seed)
        store = InMemoryStore()
        store.agents.save_agent(an_agent(), store.agents.roster(WORKSPACE))
        queued(store, "task_low", priority=Priority.P2)
        for number in range(5):
            queued(store, f"task_{number}")
        world = World(store=store)
        world.clock.time = NOON
        claimed = claim_next_waiting(
            world.deps,
            Claimer(by=Principal(WORKSPACE, PrincipalKind.AGENT, "auditor"), agent="auditor", worker="w"),
            20,
        )
        assert claimed is not None
        assert claimed.details.task.id == "task_0"


def test_whoever_waits_takes_the_best_priority_first() -> None:
    for seed in range(10):
        random.seed(seed)
        store = InMemoryStore()
        store.agents.save_agent(an_agent(), store.agents.roster(WORKSPACE))
        for number in range(25):
            queued(store, f"task_{number:02d}", priority=Priority.P2)
        for number in range(3):
            queued(store, f"task_best_{number}", priority=Priority.P0)
        found = waiting(World(store=store), Claimer(by=agent("auditor"), agent="auditor", worker="w"))
        assert found.details.task.id.startswith("task_best_")


def test_a_conflict_leads_to_the_next_candidate_and_back_before_a_lower_priority() -> None:
    store: Any = HookedStore(InMemoryStore())
    store.agents.save_agent(an_agent(), store.agents.roster(WORKSPACE))
    queued(store, "task_1")
    queued(store, "task_low", priority=Priority.P2)
    failing = [Conflict("task")]

    def bookkeeping() -> None:
        if failing:
            raise failing.pop()

    store.before["commit"] = bookkeeping
    found = arriving(World(store=store), Claimer(by=agent("auditor"), agent="auditor", worker="w"))
    assert found.details.task.id == "task_1"


def test_jittered_pauses_differ_and_take_no_longer_than_others() -> None:
    random.seed(7)
    clock = FakeClock()
    assert len(list(polls(clock, Poll(list, bool, 20, 0.25, 0.2)))) <= 82
    assert sum(clock.slept) == pytest.approx(20)
    assert len(set(clock.slept)) > 20
    assert all(0.2 <= pause <= 0.3 for pause in clock.slept[:-1])


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("seconds", [0.1, 0.25, 0.5, 0.75, 5])
def test_a_jittered_wait_ends_with_its_time_and_a_last_look(seed: int, seconds: float) -> None:
    random.seed(seed)
    clock = FakeClock()
    assert list(polls(clock, Poll(list, bool, seconds, 0.25, 0.2)))
    assert clock.now() == NOON + timedelta(seconds=seconds)
