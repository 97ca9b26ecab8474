"""The list of conversations, and many of them read at once: what is found, and what it costs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from baton.adapters.dynamodb.conversations import conversation_reads
from baton.adapters.dynamodb.conversations.conversation_reads import ENTRIES_AT_ONCE, MAX_TASKS
from baton.adapters.dynamodb.patience import Patience
from baton.adapters.dynamodb.store import DynamoStore
from baton.adapters.dynamodb.table import Table
from baton.domain.access.principal import Principal
from baton.domain.handoffs.handoff_message import message_from
from baton.domain.task_state import State
from baton.domain.tasks.task import Task
from baton.ports.writes import Write
from baton.services.conversations.converse import Opening, SaidMessage, say, start_conversation
from baton.services.conversations.list_conversations import ConversationFilter, ListedConversation, list_conversations
from baton.services.handoffs.create_handoff import CreateHandoff, create_handoff
from baton.services.handoffs.retry_handoff import retry_handoff
from baton.services.tasks.end_task import cancel_task
from support.fakes.fake_dynamo import FakeDynamo
from support.fakes.store import TABLE, InMemoryStore
from support.faults.soak import scaled
from support.faults.threads import StillClock
from support.values.changes import new
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE, World, human
from tools.bench.meter import Meter

MANY, READ = "batch_get_item", "query"
ALL = ConversationFilter()


def begun(world: World, message: str = "Is it ready?", by: Principal | None = None) -> Task:
    task = start_conversation(world.deps, by or human(), Opening(agent="runner", message=message, context={})).task
    world.clock.advance(1)
    return task


def cancelled(world: World, task: Task) -> None:
    cancel_task(world.deps, human(), task.id, None)
    world.clock.advance(1)


def listed(world: World, criteria: ConversationFilter = ALL) -> list[ListedConversation]:
    page = list_conversations(world.deps, human(), criteria, 10, None)
    assert page.cursor is None
    return list(page.items)


# What it costs


def test_the_list_costs_the_first_message_one_unit_and_later_ones_none() -> None:
    meter = Meter(FakeDynamo())
    world = World(store=DynamoStore(Table(meter, TABLE, Patience(StillClock())))).settle()
    asks = message_from({"source": {"agent": "human:alice"}, "target": {"agent": "runner", "reason": "Is it ready?"}})
    meter.taken()
    create_handoff(world.deps, human(), CreateHandoff(message=asks))
    handoff = meter.taken()
    root = begun(world)
    first = meter.taken()
    cancelled(world, root)
    meter.taken()
    say(world.deps, human(), root.workflow_id, SaidMessage("And now?"))
    later = meter.taken()
    assert (first.index_units, later.index_units) == (handoff.index_units + 1, handoff.index_units)
    assert (first.writes, later.writes) == (handoff.writes, handoff.writes)
    assert [each.root_id for each in world.store.conversations.begun(WORKSPACE, 10, None).items] == [root.id]


def test_a_page_takes_one_read_for_each_conversation_and_one_for_all_tasks(rig: Rig) -> None:
    over, going_on = begun(rig.world), begun(rig.world)
    cancelled(rig.world, over)

    def look() -> None:
        assert [each.root.id for each in listed(rig.world)] == [going_on.id, over.id]

    assert rig.requested(look) == [READ, READ, READ, MANY]
    cancelled(rig.world, going_on)
    rig.requested(look)
    assert rig.requested(look) == [READ, READ, READ], "what is over is known to the process"


def test_a_list_of_somebodys_own_reads_nobody_elses(rig: Rig) -> None:
    own = begun(rig.world)
    for _ in range(3):
        begun(rig.world, by=human(name="bob"))

    def look() -> None:
        (found,) = listed(rig.world, ConversationFilter(begun_by="human:alice"))
        assert found.root.id == own.id

    assert rig.requested(look) == [READ, READ, MANY]


# What is found


def test_what_is_added_to_a_conversation_that_was_over_shows(rig: Rig) -> None:
    root = begun(rig.world)
    cancelled(rig.world, root)
    assert [each.is_open for each in listed(rig.world)] == [False]
    other = rig.other()
    said = say(other.deps, human(), root.workflow_id, SaidMessage("And now?")).task
    (found,) = listed(rig.world)
    assert (found.is_open, found.holder.id, found.updated_at) == (True, said.id, said.meta.updated_at)
    cancelled(other, said)
    assert [each.is_open for each in listed(rig.world)] == [False]
    retried = retry_handoff(other.deps, human(), said.id).task
    (found,) = listed(rig.world)
    assert (found.is_open, found.holder.id) == (True, retried.id)


def test_own_conversations_behind_many_of_others_are_reached_page_by_page() -> None:
    store = InMemoryStore()
    for number in range(ENTRIES_AT_ONCE + 1):
        store.commit(WORKSPACE, *_first(f"task_b{number:04d}", "human:bob"))
    for number in range(3):
        store.commit(WORKSPACE, *_first(f"task_a{number}", "human:alice"))
    first = store.conversations.begun(WORKSPACE, 2, None, "human:alice")
    assert (first.items, first.cursor is None) == ((), False)
    second = store.conversations.begun(WORKSPACE, 2, first.cursor, "human:alice")
    third = store.conversations.begun(WORKSPACE, 2, second.cursor, "human:alice")
    assert [each.root_id for each in (*second.items, *third.items)] == ["task_a2", "task_a1", "task_a0"]
    assert third.cursor is None


def _first(id_: str, by: str) -> tuple[Write, ...]:
    return (replace(new(id_, workflow_id=f"wf_{id_}"), begun_by=by),)


def test_a_page_of_large_conversations_ends_where_enough_was_read(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    most = scaled(MAX_TASKS)
    monkeypatch.setattr(conversation_reads, "MAX_TASKS", most)
    small, large, larger = begun(rig.world), begun(rig.world), begun(rig.world)
    for root in (large, larger):
        _grow(rig, root, most // 2 + 5)
    assert [each.root.id for each in listed(rig.world)] == [larger.id, large.id, small.id]
    first = rig.store.conversations.talks(WORKSPACE, [larger.workflow_id, large.workflow_id, small.workflow_id])
    assert list(first) == [larger.workflow_id]
    _grow(rig, larger, most)
    assert list(rig.store.conversations.talks(WORKSPACE, [larger.workflow_id, small.workflow_id])) == [
        larger.workflow_id
    ]


def _grow(rig: Rig, root: Task, by: int) -> None:
    """Adds so many tasks that have ended."""
    told: dict[str, Any] = {"workflow_id": root.workflow_id, "parent_id": root.id, "state": State.CANCELLED}
    store = rig.other_store
    for number in range(by):
        store.commit(WORKSPACE, new(f"{root.id}x{by}x{number}", **told))
