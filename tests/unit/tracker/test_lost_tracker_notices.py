"""A change of a task writes nothing of its page. What its notice doesn't bring about, the next round does: a notice
that is lost, one that meets a sender or an outage, one whose sender died."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from baton.domain.errors import TrackerAway
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tracker.page_sync import FRESH_SECONDS, LAST_LOOK_SECONDS, PageSync, Sync
from baton.domain.tracker.tracker_circuit import RECONCILE_SECONDS
from baton.ports.details import TaskDetails
from baton.ports.writes import Save
from baton.services.access.change_settings import change_settings
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.end_task import cancel_task
from baton.services.tracker.retry_tracker import retry_tracker
from baton.services.tracker.sync_tracker import sync_tracker
from baton.steps.claims.take_task import Claimed
from baton.steps.tracker.change_tracker_circuit import open_tracker_circuit
from baton.steps.tracker.send_page import send_page
from support.fakes.store import InMemoryStore
from support.faults.choke_point import Crash
from support.worlds.notion_world import NotionWorld
from support.worlds.world import WORKSPACE, agent, human
from tools.stand_ins.fake_notion import Fault

WITHIN = RECONCILE_SECONDS // 60 + 1  # minutes
GONE = Fault(status=404, code="object_not_found")


@pytest.fixture
def world() -> NotionWorld:
    return NotionWorld().settle()


def shown(world: NotionWorld, minutes: int = 1) -> NotionWorld:
    """Nothing is left to send, and nobody has to look for changes of others for some time."""
    world.sync()
    world.minutes(minutes)
    return world


def lost(world: NotionWorld) -> None:
    world.tracker_queue.notices.clear()


def completed(world: NotionWorld, claim: Claimed) -> None:
    call = WorkerCall(agent("auditor"), claim.details.task.id, claim.claim_id, "h")
    complete_task(world.deps, call, CompletedWork(output={"summary": "did it"}))


def while_sending(world: NotionWorld, act: Callable[[], Any], method: str = "PATCH") -> None:
    """Once, as Notion is asked to write."""
    left = [act]

    def fault(called: str, _path: str) -> Fault | None:
        if called == method and left:
            left.pop()()
        return None

    world.notion.fault = fault


# A notice that never arrives


def test_each_change_whose_notice_is_lost_shows_within_ten_minutes(world: NotionWorld) -> None:
    task_id = world.ready()
    claim = world.claim(lease_seconds=3_600)
    lost(world)
    world.minutes(WITHIN)
    assert world.page(task_id).status == "In progress"
    completed(world, claim)
    lost(world)
    world.minutes(WITHIN)
    page, row = world.page(task_id), world.row(task_id)
    assert (page.status, len(page.comment_texts)) == ("Done", 1)
    assert (row.shown, row.due_at, row.look_at, row.is_settled) == (world.task(task_id).meta.seq, None, None, True)


def test_a_page_whose_maker_died_is_made_within_ten_minutes(world: NotionWorld) -> None:
    def dies() -> None:
        raise Crash("mark")

    shown(world)
    while_sending(world, dies, "POST")
    with pytest.raises(Crash):
        world.mark(agent("scout"))
    lost(world)
    world.minutes(WITHIN + 4)
    (task,) = world.store.lists.tasks_of_agent(WORKSPACE, "auditor", 10, None).items
    assert world.page(task.id).status == "Not started"
    assert world.row(task.id).status is Sync.OK


def test_a_humans_retry_finds_what_no_notice_told_of(world: NotionWorld) -> None:
    task_id = shown(world).claimed().details.task.id
    lost(world)
    retry_tracker(world.deps, human(), None)
    world.sync()
    assert world.page(task_id).status == "In progress"


def test_a_task_that_cant_be_read_holds_up_no_other(world: NotionWorld) -> None:
    first = shown(world).needing()
    second = world.needing(agent("auditor"), source_agent="auditor", target_agent="scout")
    assert isinstance(world.store, InMemoryStore)
    (head,) = [item for (pk, sk), item in world.store.dynamo.contents().items() if pk.endswith(first) and sk == "HEAD"]
    world.store.dynamo.put({name: value for name, value in head.items() if name != "state"})
    cancel_task(world.deps, human(), second, None)
    lost(world)
    world.minutes(WITHIN)
    assert world.page(second).status == "Cancelled"


def test_a_task_that_rests_is_looked_at_less_often_and_its_lost_notice_is_made_up_for(world: NotionWorld) -> None:
    task_id = shown(world).needing()
    looks = {world.row(task_id).look_at}
    for _ in range(24 * 12):
        world.clock.advance(240)  # nothing comes more often than the sweeper looks here
        world.minutes(1)
        looks.add(world.row(task_id).look_at)
    assert len(looks) < 15
    approve_task(world.deps, human(), task_id, None)
    world.clock.advance(3)
    world.claim(lease_seconds=43_200)
    lost(world)
    world.minutes(LAST_LOOK_SECONDS // 60 + WITHIN)
    assert world.page(task_id).status == "In progress"


def test_a_fresh_task_is_looked_at_without_a_write(world: NotionWorld) -> None:
    task_id = shown(world).needing()
    before = world.row(task_id)
    world.minutes(FRESH_SECONDS // 60 - 1)
    assert world.row(task_id) == before
    world.minutes(2 * WITHIN)
    assert world.row(task_id) == replace(before, look_at=world.row(task_id).look_at, version=before.version + 1)


def test_a_page_that_was_given_up_is_tried_again_for_a_change_whose_notice_is_lost(world: NotionWorld) -> None:
    claim = world.claimed(lease_seconds=3_600)
    task_id = claim.details.task.id
    world.notion.fault = lambda method, _path: GONE if method == "PATCH" else None
    shown(world)
    assert world.row(task_id).status is Sync.DEAD
    world.notion.fault = None
    world.minutes(WITHIN)
    assert world.row(task_id).status is Sync.DEAD
    completed(world, claim)
    lost(world)
    world.minutes(WITHIN)
    assert (world.row(task_id).status, world.page(task_id).status) == (Sync.OK, "Done")


def test_what_changes_while_no_tracker_is_set_shows_once_there_is_one_again(world: NotionWorld) -> None:
    claim = world.claimed(lease_seconds=3_600)
    shown(world)
    settings = world.tracker_settings
    change_settings(world.deps, human(), {"tracker": None})
    completed(world, claim)
    world.minutes(2)
    change_settings(world.deps, human(), {"tracker": settings.public()})
    world.minutes(WITHIN)
    assert world.page(claim.details.task.id).status == "Done"


# A notice that can't be handled now


def test_a_change_during_a_sending_is_sent_by_the_next_sender_at_once(world: NotionWorld) -> None:
    claim = world.claimed()
    task_id = claim.details.task.id

    def changed() -> None:
        completed(world, claim)
        lost(world)
        assert (
            send_page(world.deps, world.tracker_settings, WORKSPACE, task_id) is None
        )  # its notice comes, and is used up

    while_sending(world, changed)
    assert send_page(world.deps, world.tracker_settings, WORKSPACE, task_id)
    assert world.page(task_id).status == "In progress"
    assert list(world.store.tracker.page_syncs_due(WORKSPACE, world.clock.now())) == [task_id]
    world.sync()
    assert (world.page(task_id).status, world.row(task_id).is_settled) == ("Done", True)


def test_a_change_during_a_sending_whose_sender_dies_is_sent_after_its_lease(world: NotionWorld) -> None:
    claim = shown(world).claimed()
    task_id = claim.details.task.id

    def changed() -> None:
        completed(world, claim)
        assert send_page(world.deps, world.tracker_settings, WORKSPACE, task_id) is None
        raise Crash("sender")

    while_sending(world, changed)
    with pytest.raises(Crash):
        send_page(world.deps, world.tracker_settings, WORKSPACE, task_id)
    lost(world)
    assert world.store.tracker.count_waiting_page_syncs(WORKSPACE, 10) == 1
    world.minutes(2)
    world.tracker_queue.notify(WORKSPACE)
    world.sync()
    assert (world.page(task_id).status, len(world.page(task_id).comment_texts)) == ("Done", 1)


def test_a_notice_that_comes_again_after_its_sender_died_is_kept_until_the_lease_is_over(world: NotionWorld) -> None:
    task_id = shown(world).claimed().details.task.id

    def dies() -> None:
        raise Crash("sender")

    while_sending(world, dies)
    with pytest.raises(Crash):
        sync_tracker(world.deps, WORKSPACE, task_id, lambda: 120.0)
    lost(world)
    for _ in range(3):
        sync_tracker(world.deps, WORKSPACE, task_id, lambda: 120.0)
    row = world.row(task_id)
    assert (row.due_at, row.version) == (row.held_until, 4)
    lost(world)
    world.minutes(2)
    world.tracker_queue.notify(WORKSPACE)
    world.sync()
    assert world.page(task_id).status == "In progress"


def test_a_change_during_an_outage_is_counted_as_waiting_and_sent_when_that_is_over(world: NotionWorld) -> None:
    task_id = shown(world).claimed().details.task.id
    open_tracker_circuit(world.deps, WORKSPACE, TrackerAway("Away.", retry_after=120))
    assert world.store.tracker.count_waiting_page_syncs(WORKSPACE, 10) == 0
    world.sync()
    assert world.store.tracker.count_waiting_page_syncs(WORKSPACE, 10) == 1
    world.minutes(3)
    assert world.page(task_id).status == "In progress"
    assert world.store.tracker.count_waiting_page_syncs(WORKSPACE, 10) == 0


def test_a_notice_that_nobody_has_time_for_is_sent_again(world: NotionWorld) -> None:
    task_id = shown(world).claimed().details.task.id
    lost(world)
    assert not sync_tracker(world.deps, WORKSPACE, task_id, lambda: 5.0).complete
    assert world.tracker_queue.notices == [(WORKSPACE, task_id, 0)]


# What was read is older than what is there


def test_who_loses_the_row_to_a_sender_that_knew_less_leaves_word(
    world: NotionWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have read the free row; the other one holds it for what the task was before its claim."""
    task_id = shown(world).claimed().details.task.id
    read, others = world.store.tasks.read, list[PageSync]()

    def beaten(workspace: str, task: str, *, with_body: bool = False) -> TaskDetails:
        found = read(workspace, task, with_body=with_body)
        if not others:
            row = world.row(task_id)
            others.append(replace(row.held("send_other", world.clock.now(), 20.0), version=row.version + 1))
            world.store.commit(WORKSPACE, Save(others[0]))
        return found

    monkeypatch.setattr(world.store.tasks, "read", beaten)
    assert send_page(world.deps, world.tracker_settings, WORKSPACE, task_id) is None
    row, seq = world.row(task_id), world.task(task_id).meta.seq
    assert (row.sender, row.held_until, row.wanted) == ("send_other", others[0].held_until, seq)
    assert row.due_at is not None
    assert others[0].wanted < seq


def test_a_task_that_was_read_before_a_later_sender_finished_is_read_again(
    world: NotionWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A query is no snapshot: HEAD may be older than the row."""
    task_id = shown(world).needing()
    before = world.store.tasks.read(WORKSPACE, task_id, with_body=True).task
    cancel_task(world.deps, human(), task_id, None)
    world.sync()
    read, torn = world.store.tasks.read, [before]

    def reading(workspace: str, task: str, *, with_body: bool = False) -> TaskDetails:
        found = read(workspace, task, with_body=with_body)
        return replace(found, task=torn.pop()) if torn else found

    monkeypatch.setattr(world.store.tasks, "read", reading)
    settled = world.row(task_id)
    assert send_page(world.deps, world.tracker_settings, WORKSPACE, task_id) is None
    assert torn == []
    assert world.row(task_id) == settled
    assert world.page(task_id).status == "Cancelled"
