"""The lists of an agent's tasks and of a day's are entries of an index that lags: only time depends on it
(docs/what-is-stored.md §8)."""

from __future__ import annotations

import pytest

from baton.services.handoffs.list_handoffs import Filter, list_handoffs
from baton.services.tasks.list_tasks import TaskFilter, tasks_of_agent, tasks_of_day
from baton.steps.claims.take_task import Claimer, take_task
from support.clock import FakeClock
from support.fakes.fake_dynamo import FakeDynamo, LateIndexes
from support.fakes.store import InMemoryStore
from support.worlds.world import World, agent, human


def listed(world: World) -> list[list[str]]:
    by, day = human(), world.clock.now().date()
    pages = (
        tasks_of_agent(world.deps, by, TaskFilter(agent="auditor"), 10, None),
        tasks_of_day(world.deps, by, TaskFilter(day=day), 10, None),
        list_handoffs(world.deps, by, Filter(target="auditor"), 10, None),
        list_handoffs(world.deps, by, Filter(), 10, None),
    )
    return [[task.id for task in page.items] for page in pages]


@pytest.mark.parametrize("lag_ms", [1, 40, 1_900])
def test_a_task_that_no_list_shows_yet_is_a_task_all_the_same(lag_ms: int) -> None:
    clock = FakeClock()
    world = World(store=InMemoryStore(FakeDynamo(LateIndexes(clock.now, lag_ms)), clock), clock=clock).settle()
    clock.advance(10)
    task_id = world.mark(human()).task_id
    assert task_id
    assert listed(world) == [[], [], [], []]
    task = world.task(task_id)
    (member,) = list_handoffs(world.deps, human(), Filter(workflow_id=task.workflow_id), 10, None).items
    assert member == task
    duplicate = world.mark(human()).duplicate_of
    assert duplicate == task_id
    clock.advance(milliseconds=lag_ms)
    assert listed(world) == [[task_id]] * 4
    clock.advance(3)
    take_task(world.deps, Claimer(by=agent("auditor"), agent="auditor", worker="w"), task_id, None)
    assert listed(world) == [[task_id]] * 4
