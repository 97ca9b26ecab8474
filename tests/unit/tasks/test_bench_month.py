"""The month in which `make bench` measures the console is one that Baton could have had."""

from __future__ import annotations

from baton.services.handoffs.workflow_chain import workflow_chain
from baton.services.tasks.verify_trail import verify_trail
from support.clock import NOON
from support.fakes.store import TABLE, InMemoryStore
from support.worlds.world import WORKSPACE, World, human
from tools.bench.month import Month


def test_its_tasks_are_listed_their_trails_hold_and_nothing_is_still_to_be_told() -> None:
    store = InMemoryStore()
    deps = World(store).deps
    month = Month(deps, human(), store.dynamo, TABLE, in_all=120, today=80, days=3, chained=12, alerts=5).fill()
    listed = store.lists.tasks_of_day(WORKSPACE, NOON.date(), 100, None).items
    assert len(listed) == 80 + 12
    assert {str(task.state) for task in listed} >= {"done", "needs", "delegated"}
    assert [found.problem for task in listed if (found := verify_trail(deps, human(), task.id)).problem] == []
    workflow_id = store.tasks.load(WORKSPACE, month.chain_task)[0].workflow_id
    (root,) = workflow_chain(deps, human(), workflow_id)
    assert len(root.children) == 10
    counted = store.stats.of_days(WORKSPACE, [NOON.date()], 100)[NOON.date()]
    ended = sum(sum(hour) for each in counted for hour in each.hours.values())
    assert ended >= sum(task.is_ended for task in listed)  # and what began yesterday
    assert list(store.outbox.pending_tasks(NOON)) == []
