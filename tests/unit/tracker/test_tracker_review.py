"""What the outbox promises between two calls: rows that change hands, pages that are somebody else's, circuits that
close again, and people whose word stays."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from baton.domain.errors import Busy, NotPermitted, TrackerAway, Unknown
from baton.domain.idempotency import IdempotencyKey
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.change import Change
from baton.domain.tracker.page_sync import Sync
from baton.domain.tracker.webhook import Webhook
from baton.ports.writes import Save, Write
from baton.services.access.change_settings import change_settings
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.escalations.release_review import release_review
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.sweep import sweep
from baton.services.tracker.import_tracker import import_tracker
from baton.services.tracker.open_webhook import open_webhook, webhook_of
from baton.services.tracker.receive_webhook import Received, receive_webhook
from baton.services.tracker.set_tracker_token import set_tracker_token
from baton.services.tracker.sync_tracker import sync_tracker
from baton.steps.tracker.change_tracker_circuit import open_tracker_circuit
from baton.steps.tracker.send_page import send_page
from notion_webhook.delivery import NotionEvent
from support.worlds.notion_world import TOKEN, NotionWorld
from support.worlds.world import WORKSPACE, agent, human
from tools.stand_ins.fake_notion import Fault

NO_TASK_ID = {"properties": {"task_id": "None such"}}


@pytest.fixture
def world() -> NotionWorld:
    return NotionWorld().settle()


def person_edits(world: NotionWorld, task_id: str, **changes: Any) -> None:
    world.clock.advance(60)
    world.notion.edit(world.page(task_id).id, by=world.notion.person, **changes)


def at_call(world: NotionWorld, method: str, path: str, act: Callable[[], object]) -> list[str]:
    """``act`` happens once, while the first such call is on its way."""
    done: list[str] = []

    def fault(called: str, where: str) -> None:
        if called == method and where.startswith(path) and not done:
            done.append(where)
            act()

    world.notion.fault = fault
    return done


def no_creation(world: NotionWorld) -> None:
    """Pages can't be made for now, and whether they were isn't clear."""
    lost = Fault.timeout_before()
    world.notion.fault = lambda method, path: lost if (method, path) == ("POST", "/v1/pages") else None


def circuit_failures(world: NotionWorld) -> int:
    return world.store.tracker.circuit(WORKSPACE).failures


def closed_handoff(world: NotionWorld) -> str:
    title = "Handoff: Scout → Client Repo Auditor — 2026-11-16"
    at = world.clock.now() - timedelta(days=2)
    return world.notion.add_page(world.tasks.data_source_id, title=title, status="Closed", created_at=at)


# A row that changes while it is held, or changes hands


def test_a_task_that_changes_while_its_page_is_made_keeps_that_very_page(world: NotionWorld) -> None:
    tasks: list[str] = []

    def approve() -> None:
        (task,) = world.store.lists.tasks_of_agent(WORKSPACE, "auditor", 10, None).items
        tasks.append(task.id)
        approve_task(world.deps, human(), task.id, None)

    assert at_call(world, "POST", "/v1/pages", approve) == []
    answer = world.mark(agent("scout"))
    assert tasks == [answer.task_id]
    row = world.row(tasks[0])
    assert row.page is not None
    assert row.page.id == answer.tracker_page_id
    assert world.store.tracker.page_holders(WORKSPACE, [row.page.id]) == {row.page.id: tasks[0]}
    before = len(world.notion.requests)
    world.sync()
    assert world.row(tasks[0]).status is Sync.OK
    asked = [call.path for call in world.notion.requests[before:]]
    assert [path for path in asked if "/pages" in path] == []  # it shows the task as it is, and nobody looks for it


def taken_over(world: NotionWorld, task_id: str) -> None:
    """By another sender."""
    row, later = world.row(task_id), world.clock.now() + timedelta(minutes=2)
    world.store.commit(WORKSPACE, Save(replace(row.held("send_other", later, 20.0), version=row.version + 1)))


def test_a_sender_that_is_throttled_after_its_row_was_taken_over_leaves_it(world: NotionWorld) -> None:
    task_id = world.claimed().details.task.id
    at_call(world, "PATCH", "/v1/pages/", lambda: taken_over(world, task_id))
    hook, throttled = world.notion.fault, Fault(status=429, retry_after=30)
    assert hook is not None

    def fault(method: str, path: str) -> Fault | None:
        hook(method, path)
        return throttled if (method, path[:10]) == ("PATCH", "/v1/pages/") else None

    world.notion.fault = fault
    world.sync()
    assert world.row(task_id).sender == "send_other"
    assert world.store.tracker.circuit(WORKSPACE).is_open(world.clock.now())


def test_a_sender_whose_row_was_taken_over_lets_nobody_elses_go(world: NotionWorld) -> None:
    task_id = world.claimed().details.task.id
    called = at_call(world, "PATCH", "/v1/pages/", lambda: taken_over(world, task_id))
    world.sync()
    assert called
    row = world.row(task_id)
    assert (row.sender, row.shown < row.wanted) == ("send_other", True)
    assert [entry["action"] for entry in world.logged].count("mirror_lost") == 1


# A page that is another task's


def test_a_page_that_another_sender_takes_first_is_left_to_it_and_a_second_one_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both look for a page of the same title at the same moment, and both find one that names no task."""
    world = NotionWorld(tracker=NO_TASK_ID).settle()
    no_creation(world)
    first = world.needing()
    cancel_task(world.deps, human(), first, None)
    world.clock.advance(400)
    second = world.needing()
    world.clock.advance(400)
    world.notion.fault = None
    title = "Handoff: Scout → Client Repo Auditor — 2026-11-19"
    nobodys = world.notion.add_page(world.tasks.data_source_id, title=title)
    settings, holders = world.tracker_settings, world.store.tracker.page_holders
    called: list[Sequence[str]] = []

    def overtaken(workspace: str, page_ids: Sequence[str]) -> dict[str, str]:
        found = holders(workspace, page_ids)
        if not called:
            called.append(page_ids)
            send_page(world.deps, settings, WORKSPACE, second)
        return found

    monkeypatch.setattr(world.store.tracker, "page_holders", overtaken)
    send_page(world.deps, settings, WORKSPACE, first)
    world.minutes(5)
    assert called == [[nobodys]]
    pages = {task_id: world.row(task_id).page for task_id in (first, second)}
    ids = {task_id: page.id for task_id, page in pages.items() if page}
    assert ids[second] == nobodys
    assert len(set(ids.values())) == len(world.notion.pages) == 2
    assert world.store.tracker.page_holders(WORKSPACE, list(ids.values())) == {page: task for task, page in ids.items()}


# What people do to a page of an ended task


def test_an_ended_page_that_never_showed_a_closing_status_was_not_reopened(world: NotionWorld) -> None:
    world.hook()
    claimed = world.claimed()
    task_id = claimed.details.task.id
    failure = {"type": "error", "description": "no access"}
    fail_task(world.deps, WorkerCall(agent("auditor"), task_id, claimed.claim_id, "h"), FailedWork(failure=failure))
    world.sync()
    assert world.page(task_id).status == "Failed"
    person_edits(world, task_id, status="Blocked")
    world.sync()
    assert world.page(task_id).status == "Blocked"
    assert len(world.page(task_id).comment_texts) == 1  # how it ended
    assert world.store.tasks.notes(WORKSPACE, task_id, 10) == ()


def test_what_was_closed_before_it_was_imported_is_never_written_to(world: NotionWorld) -> None:
    world.hook()
    page_id = closed_handoff(world)
    assert import_tracker(world.deps, human(), lambda: True).closed == 1
    world.sync()
    world.clock.advance(60)
    world.notion.edit(page_id, by=world.notion.person, title="Renamed")
    before = len(world.notion.requests)
    world.sync()
    assert [call.method for call in world.notion.requests[before:]] == ["GET"]
    assert world.notion.pages[page_id].comment_texts == []


def test_a_task_that_ended_is_told_of_where_its_status_says_nothing_new() -> None:
    world = NotionWorld(tracker={"statuses": {"failed": "In progress"}}).settle()
    claimed = world.claimed()
    task_id = claimed.details.task.id
    world.sync()
    failure = {"type": "error", "description": "no access"}
    fail_task(world.deps, WorkerCall(agent("auditor"), task_id, claimed.claim_id, "h"), FailedWork(failure=failure))
    world.sync()
    assert world.page(task_id).status == "In progress"
    assert world.page(task_id).comment_texts == ["Failed by agent auditor in Baton.\n> error: no access"]


def test_the_end_of_a_task_is_not_told_in_the_trash(world: NotionWorld) -> None:
    task_id = world.needing()
    world.notion.trash(world.page(task_id).id)
    cancel_task(world.deps, human(), task_id, None)
    before = len(world.notion.requests)
    world.sync()
    assert {call.method for call in world.notion.requests[before:] if "/query" not in call.path} == {"GET"}
    assert (world.row(task_id).status, world.row(task_id).is_settled) == (Sync.OK, True)


def test_a_status_that_is_there_already_is_not_written_again(world: NotionWorld) -> None:
    task_id = world.needing()
    cancel_task(world.deps, human(), task_id, None)
    person_edits(world, task_id, status="Cancelled")
    before = len(world.notion.requests)
    world.sync()
    assert [call for call in world.notion.requests[before:] if call.method == "PATCH"] == []
    assert len(world.page(task_id).comment_texts) == 1


def test_two_edits_within_one_minute_are_both_come_upon_by_reconciling(world: NotionWorld) -> None:
    """Notion tells times by the minute."""
    task_id = world.needing()
    world.clock.advance(720)
    page_id = world.page(task_id).id
    for status, seconds in (("Blocked", 20), ("Done", 700)):
        world.notion.edit(page_id, by=world.notion.person, status=status)
        world.clock.advance(seconds)
        sync_tracker(world.deps, WORKSPACE, None, lambda: 120.0)
        world.sync()
    assert world.task(task_id).is_ended


def test_reconciling_is_not_begun_without_the_time_for_it(world: NotionWorld) -> None:
    world.needing()
    world.clock.advance(700)
    assert sync_tracker(world.deps, WORKSPACE, None, lambda: 35.0).reconciled == 0
    assert sync_tracker(world.deps, WORKSPACE, None, lambda: 120.0).reconciled == 1


# Two workspaces in one process


def test_what_one_workspace_has_learnt_of_notion_is_not_known_to_another(world: NotionWorld) -> None:
    ours = world.deps.trackers.of(WORKSPACE, world.tracker_settings, 5.0)
    assert ours.who(world.notion.person).is_person
    assert world.needing()
    world.settle("other")
    theirs = world.deps.trackers.of("other", world.tracker_settings, 5.0)
    world.notion.fault = lambda _method, path: Fault(status=403) if path.startswith("/v1/users/") else None
    with pytest.raises(NotPermitted):
        theirs.who(world.notion.person)
    world.notion.fault = lambda method, path: (
        Fault(status=404, code="object_not_found") if method == "GET" and not path.startswith("/v1/users") else None
    )
    made = len(world.notion.pages)
    (trouble,) = world.mark(agent("scout", "other")).degraded_capabilities
    assert (trouble["status"], len(world.notion.pages)) == ("denied", made)


# The circuit, and when the sweeper notifies


def test_with_the_circuit_open_a_notice_asks_nobody(world: NotionWorld) -> None:
    open_tracker_circuit(world.deps, WORKSPACE, TrackerAway("Away.", retry_after=300))
    task_id = world.needing()
    before = len(world.notion.requests)
    for notice in (task_id, None):
        assert sync_tracker(world.deps, WORKSPACE, notice, lambda: 120.0).circuit_open is True
    assert world.notion.requests[before:] == []
    assert world.row(task_id).attempts == 0
    world.minutes(7)
    assert world.row(task_id).status is Sync.OK


def test_once_the_tracker_answers_its_next_trouble_is_a_new_one(world: NotionWorld) -> None:
    world.notion.fault = lambda _method, _path: Fault(status=503)
    task_id = world.needing()
    world.minutes(10)
    assert circuit_failures(world) > 2
    world.notion.fault = None
    world.minutes(10)
    assert world.row(task_id).status is Sync.OK
    circuit = world.store.tracker.circuit(WORKSPACE)
    assert (circuit.failures, circuit.status, circuit.message, circuit.open_until) == (0, Sync.OK, "", None)


def test_what_one_run_has_no_time_for_is_announced_and_sent_by_the_next(world: NotionWorld) -> None:
    open_tracker_circuit(world.deps, WORKSPACE, TrackerAway("Away.", retry_after=30))
    tasks = [world.needing(), world.needing(by=agent("auditor"), source_agent="auditor", target_agent="scout")]
    world.clock.advance(60)
    world.tracker_queue.notices.clear()
    turns = iter([120.0, 5.0])
    synced = sync_tracker(world.deps, WORKSPACE, None, lambda: next(turns))
    assert (synced.sent, synced.complete) == (1, False)
    (left,) = [task_id for task_id in tasks if world.row(task_id).status is not Sync.OK]
    assert (WORKSPACE, left, 0) in world.tracker_queue.notices
    world.sync()
    assert [world.row(task_id).status for task_id in tasks] == [Sync.OK, Sync.OK]


def test_the_sweeper_rings_in_a_minute_while_something_is_left_else_for_the_next_reconciliation(
    world: NotionWorld,
) -> None:
    def rests_for() -> timedelta:
        sync_tracker(world.deps, WORKSPACE, None, lambda: 120.0)
        wake_at = world.store.tracker.circuit(WORKSPACE).wake_at
        assert wake_at is not None
        return wake_at - world.clock.now()

    world.needing()
    world.clock.advance(1)
    assert rests_for() == timedelta(minutes=10)
    world.clock.advance(700)
    row = world.row(world.needing(by=agent("auditor"), source_agent="auditor", target_agent="scout"))
    soon = replace(row, due_at=world.clock.now() + timedelta(seconds=30), version=row.version + 1)
    world.store.commit(WORKSPACE, Save(soon))
    assert rests_for() == timedelta(minutes=1)


def test_nobody_is_woken_for_a_workspace_without_a_tracker(world: NotionWorld) -> None:
    world.minutes(1)
    change_settings(world.deps, human(), {"tracker": None})
    world.minutes(12)
    assert world.store.tracker.circuit(WORKSPACE).wake_at is None
    assert sweep(world.deps).reasons["tracker_due"] == 0
    world.clock.advance(3_600)
    assert list(world.store.tracker.tracker_circuits_due(world.clock.now())) == []


def test_who_rests_does_not_wake_a_circuit_that_another_sender_has_opened_meanwhile(world: NotionWorld) -> None:
    """Its notice would be answered in vain, minute after minute, for as long as the tracker asked to be left alone."""
    world.needing()
    world.clock.advance(700)
    until: list[Any] = []

    def trouble() -> None:
        until.append(open_tracker_circuit(world.deps, WORKSPACE, TrackerAway("Away.", retry_after=1_800)).open_until)

    called = at_call(world, "POST", "/v1/data_sources/", trouble)
    sync_tracker(world.deps, WORKSPACE, None, lambda: 120.0)
    assert called
    circuit = world.store.tracker.circuit(WORKSPACE)
    assert (circuit.open_until, circuit.wake_at) == (until[0], until[0])


def test_one_trouble_that_several_meet_at_once_counts_once_and_is_announced(world: NotionWorld) -> None:
    world.tracker_queue.notices.clear()
    for _ in range(5):
        open_tracker_circuit(world.deps, WORKSPACE, TrackerAway("Away."))
    assert circuit_failures(world) == 1
    assert set(world.tracker_queue.notices) == {(WORKSPACE, None, 5)}


def test_trouble_while_reconciling_opens_the_circuit_like_any_other(world: NotionWorld) -> None:
    world.needing()
    world.clock.advance(700)
    world.notion.fault = lambda _method, path: Fault(status=503) if path.endswith("/query") else None
    assert sync_tracker(world.deps, WORKSPACE, None, lambda: 120.0).circuit_open is True
    circuit = world.store.tracker.circuit(WORKSPACE)
    assert circuit.is_open(world.clock.now())
    assert circuit.status is Sync.PENDING


# Notices


def test_a_notices_own_row_is_sent_though_the_index_does_not_show_it_yet(
    world: NotionWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_tracker_circuit(world.deps, WORKSPACE, TrackerAway("Away.", retry_after=1))
    task_id = world.needing()
    world.clock.advance(2)
    monkeypatch.setattr(world.store.tracker, "page_syncs_due", lambda *_: iter(()))
    assert sync_tracker(world.deps, WORKSPACE, task_id, lambda: 120.0).sent == 1
    assert world.page(task_id).status == "Not started"


def test_an_edit_that_reconciling_comes_upon_is_announced(world: NotionWorld) -> None:
    task_id = world.needing()
    world.clock.advance(700)
    world.notion.edit(world.page(task_id).id, by=world.notion.person, title="Renamed")
    world.tracker_queue.notices.clear()
    assert sync_tracker(world.deps, WORKSPACE, None, lambda: 120.0).looked == 1
    assert world.tracker_queue.notices == [(WORKSPACE, task_id, 0)]


def test_a_task_that_nobody_tries_at_once_is_announced(world: NotionWorld) -> None:
    for _ in range(2):
        cancel_task(world.deps, human(), world.needing(), None)
    review_id = world.mark(agent("scout")).review_id
    assert review_id
    world.tracker_queue.notices.clear()
    _, details = release_review(world.deps, human(), review_id)
    assert world.tracker_queue.notices == [(WORKSPACE, details.task.id, 0)]


# The webhook's address


def test_a_signed_delivery_is_a_delivery_whatever_it_carries(world: NotionWorld) -> None:
    hook = world.hook()
    task_id = world.needing()
    world.notion.auto_deliver = False
    person_edits(world, task_id, status="Done")
    odd = {**world.notion.events[-1], "verification_token": "secret_of_somebody_else"}
    body, headers = world.notion.signed(odd)
    delivery = NotionEvent(body, json.loads(body), headers["X-Notion-Signature"])
    before = webhook_of(world.deps, human()).token
    assert receive_webhook(world.deps, hook.address, delivery) is Received.REPORTED
    assert webhook_of(world.deps, human()).token == before


def test_a_handshake_at_an_address_that_is_replaced_at_that_moment_installs_nothing(
    world: NotionWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, address = open_webhook(world.deps, human())
    read, again = world.store.tracker.webhook, iter([True])

    def replaced(workspace: str) -> Webhook | None:
        found = read(workspace)
        if next(again, False):
            open_webhook(world.deps, human())
        return found

    monkeypatch.setattr(world.store.tracker, "webhook", replaced)
    content = {"verification_token": "secret_late"}
    with pytest.raises(Unknown):
        receive_webhook(world.deps, address, NotionEvent(b"", content, None))
    assert webhook_of(world.deps, human()).token is None


# The switch-over


def test_an_import_that_died_before_it_ended_what_was_closed_is_made_up_for_by_the_next(
    world: NotionWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    page_id, commit = closed_handoff(world), world.store.commit

    def dies(workspace: str, *writes: Write) -> None:
        if any(isinstance(write, Change) and write.before is not None for write in writes):
            raise Busy
        commit(workspace, *writes)

    monkeypatch.setattr(world.store, "commit", dies)
    assert import_tracker(world.deps, human(), lambda: True).complete is False
    monkeypatch.setattr(world.store, "commit", commit)
    (task_id,) = world.store.tracker.page_holders(WORKSPACE, [page_id]).values()
    assert not world.task(task_id).is_ended
    again = import_tracker(world.deps, human(), lambda: True)
    assert (again.known, again.opened, again.closed, again.complete) == (1, 0, 0, True)
    assert world.task(task_id).is_ended


def test_an_import_that_ran_out_of_time_goes_on_under_the_same_key(world: NotionWorld) -> None:
    page_id, idempotency_key = closed_handoff(world), IdempotencyKey(human(), "POST /tracker/import", "k1", "h1")
    assert import_tracker(world.deps, human(), lambda: False, idempotency_key).complete is False
    assert import_tracker(world.deps, human(), lambda: True, idempotency_key).closed == 1
    assert list(world.store.tracker.page_holders(WORKSPACE, [page_id])) == [page_id]


def test_importing_ends_nothing_in_its_own_name_that_a_person_has_closed(world: NotionWorld) -> None:
    task_id = world.needing()
    person_edits(world, task_id, status="Done")
    assert import_tracker(world.deps, human(), lambda: True).known == 1
    assert not world.task(task_id).is_ended
    world.minutes(12)
    assert world.store.trail.events(WORKSPACE, task_id, 0, 100)[-1].principal_id == f"notion:{world.notion.person}"


# What a human mends


def test_a_new_token_is_tried_at_once(world: NotionWorld) -> None:
    world.notion.fault = lambda _method, _path: Fault(status=401, code="unauthorized")
    task_id = world.needing()
    world.minutes(40)
    assert world.store.tracker.circuit(WORKSPACE).status is Sync.DENIED
    world.notion.fault = None
    world.tracker_queue.notices.clear()
    set_tracker_token(world.deps, human(), TOKEN)
    assert not world.store.tracker.circuit(WORKSPACE).is_open(world.clock.now())
    assert world.tracker_queue.notices == [(WORKSPACE, None, 0)]
    world.minutes(16)  # its own pause
    assert world.row(task_id).status is Sync.OK
