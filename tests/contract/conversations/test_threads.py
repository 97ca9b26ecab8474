"""What a conversation is gone on with, and what a workflow begins with, in any store."""

from __future__ import annotations

import pytest

from baton.domain.conversations.conversation_thread import NextTask
from baton.domain.errors import Conflict
from baton.domain.handoffs.workflow import HandoffCount
from baton.ports.handoffs import HandoffQuery
from baton.ports.store import Store
from baton.ports.writes import Add, Replace, Require, VersionUnchanged
from support.values.changes import new, stored, then
from support.worlds.world import WORKSPACE


def test_a_conversation_is_followed_from_what_was_seen_and_from_nothing_else(store: Store) -> None:
    one = stored(store, "task_1")
    store.commit(WORKSPACE, new("task_2"), Replace(NextTask("task_1", "task_2"), None))
    for id_, seen in (("task_5", None), ("task_6", NextTask("task_1", "task_9"))):
        with pytest.raises(Conflict):
            store.commit(WORKSPACE, new(id_), Replace(NextTask("task_1", id_), seen))
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, new("task_3"), Replace(NextTask("task_2", "task_3"), NextTask("task_2", "task_9")))
    assert store.tasks.talk(WORKSPACE, ["task_1", "task_2", "task_3"])[1] == {"task_1": "task_2"}
    store.commit(WORKSPACE, new("task_4"), Replace(NextTask("task_1", "task_4"), NextTask("task_1", "task_2")))
    tasks, followed = store.tasks.talk(WORKSPACE, ["task_1", "task_2", "task_3", "task_4"])
    assert (sorted(tasks), followed) == (["task_1", "task_2", "task_4"], {"task_1": "task_4"})
    assert tasks["task_1"] == one


def test_a_long_conversation_is_read_whole(store: Store) -> None:
    ids = [f"task_{number:03d}" for number in range(120)]
    for number, each in enumerate(ids):
        store.commit(WORKSPACE, new(each), *([Replace(NextTask(ids[number - 1], each), None)] if number else []))
    tasks, followed = store.tasks.talk(WORKSPACE, ids)
    assert (sorted(tasks), len(followed), followed[ids[57]]) == (ids, 119, ids[58])
    assert store.tasks.talk("other", ids) == ({}, {})


def test_what_was_decided_on_a_task_holds_only_while_that_is_unchanged(store: Store) -> None:
    task = stored(store, "task_1")
    store.commit(WORKSPACE, new("task_2"), Require(VersionUnchanged("task_1", task.meta.version)))
    changed = then(task, title="another")
    store.commit(WORKSPACE, changed)
    for id_, task_id, version in (("task_4", "task_1", task.meta.version), ("task_5", "task_9", 1)):
        with pytest.raises(Conflict):
            store.commit(WORKSPACE, new(id_), Require(VersionUnchanged(task_id, version)))
    store.commit(WORKSPACE, new("task_3"), Require(VersionUnchanged("task_1", changed.task.meta.version)))


def test_a_workflow_begins_once(store: Store) -> None:
    first = Add(HandoffCount("wf_1", 0, is_first=True), 1, 5)
    store.commit(WORKSPACE, new("task_1"), first)
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, new("task_2"), first)
    store.commit(WORKSPACE, new("task_3"), Add(HandoffCount("wf_1", 1), 1, 5))
    assert store.handoffs.handoff_inputs(WORKSPACE, HandoffQuery(workflow_id="wf_1")).handoffs == 2
    with pytest.raises(Conflict):
        store.commit(WORKSPACE, new("task_4"), Add(HandoffCount("wf_2", 0, is_first=True), 1, 0))
    assert store.handoffs.handoff_inputs(WORKSPACE, HandoffQuery(workflow_id="wf_2")).handoffs is None
