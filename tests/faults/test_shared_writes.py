"""What a store does beside a transaction, or without a witness, may be done twice: a lost reply changes nothing."""

from __future__ import annotations

import random

import pytest

from baton.domain.errors import Busy, Conflict
from baton.domain.handoffs.workflow import JobKind
from baton.domain.tasks.tail import MAX_TAIL_BYTES
from baton.ports.writes import FinishJob, Put
from support.faults.choke_point import no_fault
from support.values.changes import new, stored, then
from support.values.task_items import a_job, told
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE

FAULTS = ["timeout_before", "timeout_after", "error_after", "no_connection", "throttle"]


@pytest.fixture
def rig() -> Rig:
    random.seed(7)
    rig = Rig()
    stored(rig.store)
    rig.store.commit(WORKSPACE, Put(a_job()))
    for number in (1, 2, 3):
        told(rig.store, number)
    return rig


def broken(rig: Rig, fault: str, operation: str, times: int) -> None:
    """The next so many calls of that operation."""
    calls = rig.choked.calls
    first = calls.count(operation)

    def plan(_number: int, called: str) -> str | None:
        return fault if called == operation and calls.count(operation) <= first + times else None

    rig.choked.plan = plan


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("times", [1, 2])
def test_an_acknowledgement_goes_through_in_the_end(rig: Rig, fault: str, times: int) -> None:
    broken(rig, fault, "update_item", times)
    rig.store.inboxes.acknowledge(WORKSPACE, "scout", ["inb_001", "inb_003"])
    assert [each.id for each in rig.other_store.inboxes.inbox(WORKSPACE, "scout", 9, None).items] == ["inb_002"]


@pytest.mark.parametrize("fault", ["timeout_before", "no_connection", "throttle"])
def test_an_acknowledgement_that_never_does_is_busy_and_may_be_sent_again(rig: Rig, fault: str) -> None:
    broken(rig, fault, "update_item", 99)
    with pytest.raises(Busy):
        rig.store.inboxes.acknowledge(WORKSPACE, "scout", ["inb_001"])
    rig.choked.plan = no_fault
    rig.store.inboxes.acknowledge(WORKSPACE, "scout", ["inb_001"])
    assert [each.id for each in rig.store.inboxes.inbox(WORKSPACE, "scout", 9, None).items] == ["inb_002", "inb_003"]


@pytest.mark.parametrize("fault", FAULTS)
def test_an_errand_is_done_though_a_reply_is_lost(rig: Rig, fault: str) -> None:
    broken(rig, fault, "update_item", 1)
    rig.store.commit(WORKSPACE, new("task_2"), FinishJob(a_job()))
    assert rig.store.queues.job(WORKSPACE, JobKind.JOIN, "task_1") is None
    assert rig.store.tasks.load(WORKSPACE, "task_2")[0].meta.version == 1


def test_a_write_is_no_less_done_where_its_errand_could_not_be_taken_away(rig: Rig) -> None:
    broken(rig, "no_connection", "update_item", 99)
    rig.store.commit(WORKSPACE, new("task_2"), FinishJob(a_job()))
    assert rig.store.tasks.load(WORKSPACE, "task_2")[0].meta.version == 1
    assert rig.store.queues.job(WORKSPACE, JobKind.JOIN, "task_1") == a_job()


def test_an_errand_is_not_taken_away_for_a_write_that_was_refused(rig: Rig) -> None:
    broken(rig, "no_connection", "transact_write_items", 99)
    with pytest.raises(Busy):
        rig.store.commit(WORKSPACE, new("task_2"), FinishJob(a_job()))
    assert rig.store.queues.job(WORKSPACE, JobKind.JOIN, "task_1") == a_job()


def test_a_put_whose_reply_was_lost_is_known_by_its_event_though_that_has_moved_into_a_chunk(rig: Rig) -> None:
    """Others have changed the task so often meanwhile that HEAD has the event no more."""
    task = stored(rig.store, "task_2")
    change = then(task, title="ours")

    def go_on() -> None:
        present, _ = rig.other_store.tasks.load(WORKSPACE, task.id)
        for number in range(12):
            after = then(present, title=str(number) * (MAX_TAIL_BYTES // 6))
            rig.other_store.commit(WORKSPACE, after)
            present = after.task

    def plan(number: int, operation: str) -> str | None:
        if operation == "put_item":
            return "timeout_after"
        if operation == "get_item" and not rig.choked.calls[:-1].count("get_item"):
            go_on()
        return None

    rig.choked.calls.clear()
    rig.choked.plan = plan
    rig.store.commit(WORKSPACE, change)
    assert rig.choked.calls == ["put_item", "get_item", "query"]
    assert [each.hash for each in rig.other_store.trail.events(WORKSPACE, task.id, 1, 1)] == [change.events[0].hash]
    assert len(rig.other_store.trail.events(WORKSPACE, task.id, 0, 100)) == 14


def test_a_put_that_another_one_overtook_is_a_conflict(rig: Rig) -> None:
    """Its number is in the trail, but as another's."""
    task = stored(rig.store, "task_2")
    broken(rig, "timeout_before", "put_item", 1)
    other = then(task, title="theirs")
    rig.other_store.commit(WORKSPACE, other)
    with pytest.raises(Conflict):
        rig.store.commit(WORKSPACE, then(task, title="ours"))
    assert rig.other_store.tasks.load(WORKSPACE, task.id)[0].title == "theirs"
