"""Whatever a use case does to a task, the stream brings it to the bell: none makes work ready, ends it, or changes what
a list shows without an event. What it shows only later (a deferral) is the sweeper's."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from baton.adapters.dynamodb import items
from baton.adapters.dynamodb.table import from_wire
from baton.domain.bell.ring import is_pulled
from baton.domain.tasks.task import Task
from baton.services.tracker.import_tracker import import_tracker
from support.fakes.store import InMemoryStore
from support.published import Stream, bell_records
from support.worlds.notion_world import NotionWorld
from support.worlds.use_cases import USE_CASES
from support.worlds.world import World, human


def shown(task: Task) -> tuple[Any, ...]:
    """What listeners would find otherwise than before."""
    return is_pulled(task), task.ready_at, task.state, task.flags, task.claim and task.claim.claim_id, task.priority


def tasks_of(world: World) -> dict[str, Task]:
    assert isinstance(world.store, InMemoryStore)
    heads = (from_wire(item) for (_, sk), item in world.store.dynamo.contents().items() if sk == "HEAD")
    return {task.id: task for task in map(items.task_from, heads)}


@pytest.mark.parametrize("name", USE_CASES)
def test_every_change_that_a_listener_would_see_is_brought_to_the_bell(name: str) -> None:
    world, case = World().settle(), USE_CASES[name]
    prepared = case.prepare(world)
    before = tasks_of(world)
    assert isinstance(world.store, InMemoryStore)
    stream = Stream(world.store.dynamo)
    case.act(world, prepared)
    after = tasks_of(world)
    changed = {each for each, task in after.items() if each not in before or shown(task) != shown(before[each])}
    told, _, _ = world.store.bell.changes(bell_records(stream.waiting))
    assert changed <= {task.id for task in told} | {task_id for _, task_id, *_ in world.looks.asked}


def test_what_is_imported_from_a_tracker_is_brought_to_the_bell() -> None:
    world = NotionWorld().settle()
    at = world.clock.now() - timedelta(days=2)
    title = "Handoff: Scout → Client Repo Auditor — 2026-11-16"
    world.notion.add_page(world.tasks.data_source_id, title=title, by=world.notion.add_user(), created_at=at)
    assert isinstance(world.store, InMemoryStore)
    stream = Stream(world.store.dynamo)
    assert import_tracker(world.deps, human(), lambda: True).opened == 1
    told, _, _ = world.store.bell.changes(bell_records(stream.waiting))
    assert {task.id for task in told} == set(tasks_of(world))
