"""Waiting for a task to get somewhere, and for what is told of it (docs/spec/lifecycle.md §6)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from baton.domain.errors import Unknown
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.await_task import EventRange, await_task, wait_for_events
from baton.services.tasks.end_task import cancel_task
from baton.steps.claims.poll_until import Poll, polls
from support.clock import NOON, FakeClock
from support.worlds.world import World, human


class Scheduled(FakeClock):
    """Does something when its time has come, while somebody sleeps."""

    def __init__(self) -> None:
        super().__init__()
        self.at: dict[float, Callable[[], object]] = {}

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        for after in sorted(self.at):
            if self.time >= NOON + timedelta(seconds=after):
                self.at.pop(after)()


@pytest.fixture
def timed() -> tuple[World, Scheduled]:
    clock = Scheduled()
    return World(clock=clock).settle(), clock


def test_what_already_holds_is_answered_at_once(world: World) -> None:
    task_id = world.needing()
    awaited = await_task(world.deps, human(), task_id, "needs", 25)
    assert (awaited.details.task.state, awaited.timed_out) == ("needs", False)
    assert world.clock.slept == []


def test_a_state_is_seen_soon_after_it_is_reached(timed: tuple[World, Scheduled]) -> None:
    world, clock = timed
    task_id = world.needing()
    clock.at[7.2] = lambda: approve_task(world.deps, human(), task_id, None)
    awaited = await_task(world.deps, human(), task_id, "delegated", 25)
    assert (awaited.details.task.state, awaited.timed_out) == ("delegated", False)
    assert clock.now() == NOON + timedelta(seconds=7.5)


def test_the_end_is_seen_whatever_end_it_is(timed: tuple[World, Scheduled]) -> None:
    world, clock = timed
    task_id = world.needing()
    clock.at[3] = lambda: cancel_task(world.deps, human(), task_id, None)
    awaited = await_task(world.deps, human(), task_id, "ended", 25)
    assert (awaited.details.task.state, awaited.timed_out) == ("cancelled", False)


@pytest.mark.parametrize("timeout", [0.2, 3.0, 24.9, 25.0])
def test_waiting_takes_its_time_and_not_more(world: World, timeout: float) -> None:
    task_id = world.needing()
    awaited = await_task(world.deps, human(), task_id, "ended", timeout)
    assert (awaited.details.task.state, awaited.timed_out) == ("needs", True)
    assert world.clock.now() == NOON + timedelta(seconds=timeout)


def test_no_time_means_one_look(world: World) -> None:
    task_id = world.needing()
    assert await_task(world.deps, human(), task_id, "ended", 0).timed_out
    assert world.clock.slept == []


def test_a_change_in_the_last_moment_is_seen(timed: tuple[World, Scheduled]) -> None:
    world, clock = timed
    task_id = world.needing()
    clock.at[2.2] = lambda: cancel_task(world.deps, human(), task_id, None)
    assert not await_task(world.deps, human(), task_id, "ended", 2.2).timed_out


def test_waiting_for_a_state_that_an_ended_task_can_never_reach_ends(timed: tuple[World, Scheduled]) -> None:
    world, clock = timed
    task_id = world.needing()
    clock.at[1] = lambda: cancel_task(world.deps, human(), task_id, None)
    awaited = await_task(world.deps, human(), task_id, "done", 25)
    assert (awaited.details.task.state, awaited.timed_out) == ("cancelled", True)
    assert clock.now() == NOON + timedelta(seconds=1)


@pytest.mark.parametrize(
    "wait",
    [
        lambda w, i: await_task(w.deps, human("other"), i, "ended", 25),
        lambda w, i: wait_for_events(w.deps, human("other"), i, EventRange(0), 25),
    ],
)
def test_another_workspaces_task_is_unknown_at_once(world: World, wait: Callable[[World, str], object]) -> None:
    task_id = world.needing()
    with pytest.raises(Unknown):
        wait(world, task_id)
    with pytest.raises(Unknown):
        wait(world, "task_nope")
    assert world.clock.slept == []


def test_events_that_are_there_are_answered_at_once_from_the_cursor(world: World) -> None:
    task_id = world.ready()
    world.clock.slept.clear()
    assert [event.seq for event in wait_for_events(world.deps, human(), task_id, EventRange(0), 25)] == [1, 2]
    assert [event.seq for event in wait_for_events(world.deps, human(), task_id, EventRange(1), 25)] == [2]
    assert [event.seq for event in wait_for_events(world.deps, human(), task_id, EventRange(0, 1), 25)] == [1]
    assert world.clock.slept == []


def test_new_events_are_seen_soon_after_they_are_told(timed: tuple[World, Scheduled]) -> None:
    world, clock = timed
    task_id = world.needing()
    clock.at[4] = lambda: approve_task(world.deps, human(), task_id, None)
    assert [event.type for event in wait_for_events(world.deps, human(), task_id, EventRange(1), 25)] == ["approved"]
    assert clock.now() == NOON + timedelta(seconds=4)


def test_without_new_events_the_answer_is_empty_when_time_is_up(world: World) -> None:
    task_id = world.needing()
    assert wait_for_events(world.deps, human(), task_id, EventRange(1), 5) == ()
    assert world.clock.now() == NOON + timedelta(seconds=5)


def test_a_clock_that_is_set_back_does_not_make_anybody_wait_for_ever() -> None:
    class Backwards(FakeClock):
        def sleep(self, seconds: float) -> None:
            self.slept.append(seconds)
            self.advance(-3_600)

    clock = Backwards()
    assert len(list(polls(clock, Poll(list, bool, 20)))) <= 41
    assert sum(clock.slept) <= 21
