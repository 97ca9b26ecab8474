"""What people do to pages in Notion, and what comes of it here (domain/tracker/page_changes.py has the rule)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from baton.domain.errors import (
    BadSignature,
    HandshakeClosed,
    HumanNeeded,
    NoTracker,
    StaleClaim,
    Unknown,
    WebhookInstalled,
)
from baton.domain.task_state import State
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tasks.task import Flag
from baton.domain.tracker.page_changes import MAX_REPORTS
from baton.domain.tracker.page_sync import Sync
from baton.ports.writes import Save
from baton.services.access.change_settings import change_settings
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.end_task import cancel_task
from baton.services.tracker import reconcile_tracker
from baton.services.tracker.open_webhook import open_webhook, remove_webhook, webhook_of
from baton.services.tracker.receive_webhook import Received, receive_webhook
from notion_webhook.delivery import NotionEvent
from support.worlds.notion_world import Hook, NotionWorld
from support.worlds.team import Team
from support.worlds.world import WORKSPACE, agent, human, service
from tools.stand_ins.fake_notion import SELECT, STATUS, Fault


@pytest.fixture(params=[STATUS, SELECT])
def world(request: pytest.FixtureRequest) -> NotionWorld:
    return NotionWorld(status_type=request.param).settle()


@pytest.fixture
def hook(world: NotionWorld) -> Hook:
    return world.hook()


def say(world: NotionWorld, task_id: str, **changes: Any) -> None:
    """A person edits the page, and what they did is seen to."""
    world.clock.advance(60)
    world.notion.edit(world.page(task_id).id, by=world.notion.person, **changes)
    world.sync()


def ended_by(world: NotionWorld, task_id: str) -> tuple[str, str, str]:
    last = world.store.trail.events(WORKSPACE, task_id, 0, 100)[-1]
    return last.type, last.principal_kind, last.principal_id


@pytest.mark.parametrize("word", ["Done", "done", "CLOSED", " Complete "])
def test_a_person_who_closes_a_page_ends_its_task_in_their_own_name(world: NotionWorld, hook: Hook, word: str) -> None:
    task_id = world.needing()
    say(world, task_id, status=word)
    assert world.task(task_id).state is State.DONE
    assert ended_by(world, task_id) == ("resolved", "human", f"notion:{world.notion.person}")
    assert world.page(task_id).status == word  # their word stays
    assert world.page(task_id).comment_texts == []
    assert world.mark(agent("scout")).task_id  # the direction is free again


def test_a_cancelling_status_cancels(world: NotionWorld, hook: Hook) -> None:
    task_id = world.needing()
    say(world, task_id, status="canceled")
    assert world.task(task_id).state is State.CANCELLED
    assert ended_by(world, task_id)[0] == "cancelled"


def test_a_branch_that_falls_with_the_task_above_it_is_shown_as_cancelled_and_told(
    world: NotionWorld, hook: Hook
) -> None:
    """The person's word was said of the other page only."""
    team = Team("w", "a", world=world)
    held = team.begin("w")
    team.delegate(held, "a", "a")
    world.sync()
    wait = world.task(held.task.id).wait
    assert wait
    first, second = (branch.task_id for branch in wait.branches)
    world.clock.advance(60)
    world.notion.edit(world.page(first).id, by=world.notion.person, status="Blocked")
    say(world, held.task.id, status="Cancelled")
    world.minutes(2)
    for branch in (first, second):
        assert (world.task(branch).state, world.page(branch).status) == (State.CANCELLED, "Cancelled")
        assert len(world.page(branch).comment_texts) == 1
    assert world.page(held.task.id).comment_texts == []


@pytest.mark.parametrize("status", ["In progress", "Blocked", ""])
def test_any_other_status_changes_no_task_and_stays_until_the_task_moves_on(
    world: NotionWorld, hook: Hook, status: str
) -> None:
    task_id = world.needing()
    say(world, task_id, status=status)
    assert world.task(task_id).state is State.NEEDS
    now = world.page(task_id).status
    world.minutes(15)
    assert world.page(task_id).status == now
    cancel_task(world.deps, human(), task_id, None)
    world.sync()
    assert world.page(task_id).status == "Cancelled"


def test_a_bots_closing_flags_the_task_and_frees_its_direction_but_ends_nothing(world: NotionWorld, hook: Hook) -> None:
    task_id, bot = world.needing(), world.notion.add_user(kind="bot", name="Automation")
    world.clock.advance(60)
    world.notion.edit(world.page(task_id).id, by=bot, status="Done")
    world.sync()
    assert hook.received[-1] is Received.NOT_A_PERSON
    world.minutes(12)  # learnt by reconciling
    task = world.task(task_id)
    assert (task.state, task.flags) == (State.NEEDS, frozenset({Flag.CLOSED_BY_BOT}))
    say(world, task_id, title="Renamed by a person afterwards")
    assert world.task(task_id).state is State.NEEDS
    assert world.page(task_id).status == "Done"
    assert world.trail(task_id) == ["handoff_initiated", "alert_raised"]
    assert world.mark(agent("scout")).task_id  # it counts as closed, whoever closed it


def test_what_befalls_a_task_without_changing_its_state_writes_nothing_over_what_people_set(
    world: NotionWorld, hook: Hook
) -> None:
    task_id = world.ready()
    world.sync()
    say(world, task_id, status="Blocked")
    world.minutes(75)
    assert Flag.UNCLAIMED in world.task(task_id).flags
    assert world.page(task_id).status == "Blocked"
    assert world.row(task_id).shown == world.task(task_id).meta.seq


def test_a_worker_whose_task_was_closed_in_notion_is_refused(world: NotionWorld, hook: Hook) -> None:
    claimed = world.claimed()
    task_id = claimed.details.task.id
    world.sync()
    say(world, task_id, status="Done")
    with pytest.raises(StaleClaim):
        complete_task(
            world.deps, WorkerCall(agent("auditor"), task_id, claimed.claim_id, "h"), CompletedWork(output=None)
        )
    assert world.task(task_id).state is State.DONE


def test_a_closing_that_was_never_reported_is_learnt_before_anything_is_written_over_it(world: NotionWorld) -> None:
    world.ready()
    (task_id,) = [task.id for task in world.store.lists.tasks_of_agent(WORKSPACE, "auditor", 10, None).items]
    world.clock.advance(60)
    world.notion.edit(world.page(task_id).id, by=world.notion.person, status="Done")
    world.claim()
    world.sync()
    assert world.task(task_id).state is State.DONE
    assert world.page(task_id).status == "Done"


def test_whoever_ends_a_task_first_wins_and_the_other_side_follows(world: NotionWorld, hook: Hook) -> None:
    claimed = world.claimed()
    task_id = claimed.details.task.id
    world.sync()
    world.notion.fault = lambda _method, _path: Fault(status=503)
    complete_task(
        world.deps,
        WorkerCall(agent("auditor"), task_id, claimed.claim_id, "h"),
        CompletedWork(output={"summary": "first"}),
    )
    world.clock.advance(60)
    world.notion.edit(world.page(task_id).id, by=world.notion.person, status="Cancelled")
    world.notion.fault = None
    world.minutes(20)
    assert world.task(task_id).state is State.DONE
    assert world.page(task_id).status == "Done"
    assert len(world.page(task_id).comment_texts) == 1


def test_a_reopened_page_reopens_nothing_and_is_answered_once(world: NotionWorld, hook: Hook) -> None:
    task_id = world.needing()
    say(world, task_id, status="Done")
    for status in ("In progress", "Done", "In progress"):
        say(world, task_id, status=status)
    assert world.task(task_id).state is State.DONE
    assert world.page(task_id).status == "In progress"
    (comment,) = world.page(task_id).comment_texts
    assert "stays ended" in comment
    notes = world.store.tasks.notes(WORKSPACE, task_id, 10)
    assert [note.content for note in notes] == [{"reopened_in_tracker": "In progress"}] * 2
    assert notes[0].by == f"human:notion:{world.notion.person}"


def test_a_trashed_page_stops_the_mirror_but_not_the_task_until_it_is_restored(world: NotionWorld, hook: Hook) -> None:
    claimed = world.claimed()
    task_id = claimed.details.task.id
    world.sync()
    page = world.page(task_id)
    world.notion.trash(page.id, by=world.notion.person)
    world.sync()
    assert world.row(task_id).status is Sync.DEAD
    assert "trash" in world.row(task_id).message
    assert world.task(task_id).state is State.CLAIMED
    world.notion.restore(page.id, by=world.notion.person)
    world.sync()
    assert world.row(task_id).status is Sync.OK
    complete_task(world.deps, WorkerCall(agent("auditor"), task_id, claimed.claim_id, "h"), CompletedWork(output=None))
    world.sync()
    assert page.status == "Done"
    assert len(world.notion.pages) == 1


def test_a_page_deleted_for_good_is_given_up_and_never_made_again(world: NotionWorld) -> None:
    task_id = world.needing()
    world.notion.delete(world.page(task_id).id)
    cancel_task(world.deps, human(), task_id, None)
    world.minutes(10)
    assert world.row(task_id).status is Sync.DEAD
    assert world.notion.pages == {}


def test_without_a_webhook_a_closing_is_learnt_by_reconciling(world: NotionWorld) -> None:
    task_id = world.needing()
    world.minutes(12)
    world.notion.edit(world.page(task_id).id, by=world.notion.person, status="Done")
    world.minutes(12)
    assert world.task(task_id).state is State.DONE


def test_reconciling_looks_at_an_edit_once_and_never_at_our_own(world: NotionWorld) -> None:
    task_id = world.claimed().details.task.id
    world.sync()
    world.minutes(12)
    assert world.row(task_id).looks == 0
    world.notion.edit(world.page(task_id).id, by=world.notion.person, title="Renamed")
    world.minutes(30)
    assert (world.row(task_id).looks, world.row(task_id).looked) == (1, 1)


# The webhook itself


def test_the_handshake_is_opened_by_a_human_for_ten_minutes(world: NotionWorld) -> None:
    for by in (agent("scout"), service()):
        with pytest.raises(HumanNeeded):
            open_webhook(world.deps, by)
    _, address = open_webhook(world.deps, human())
    world.clock.advance(599)
    assert shake(world, address, "secret_first") is Received.INSTALLED
    _, late = reopened(world)
    world.clock.advance(600)
    with pytest.raises(HandshakeClosed):
        shake(world, late, "secret_late")


def shake(world: NotionWorld, address: str, token: Any) -> Received:
    content = {"verification_token": token}
    return receive_webhook(world.deps, address, NotionEvent(json.dumps(content).encode(), content, None))


def reopened(world: NotionWorld) -> tuple[Any, str]:
    remove_webhook(world.deps, human())
    return open_webhook(world.deps, human())


def test_an_installed_token_is_never_overwritten(world: NotionWorld) -> None:
    _, address = open_webhook(world.deps, human())
    shake(world, address, "secret_first")
    assert shake(world, address, "secret_first") is Received.INSTALLED
    with pytest.raises(HandshakeClosed):
        shake(world, address, "secret_of_somebody_else")
    with pytest.raises(WebhookInstalled):
        open_webhook(world.deps, human())
    assert webhook_of(world.deps, human()).token == "secret_first"


def test_only_the_latest_address_is_known_and_none_once_it_was_taken_down(world: NotionWorld) -> None:
    _, first = open_webhook(world.deps, human())
    _, second = open_webhook(world.deps, human())
    with pytest.raises(Unknown):
        shake(world, first, "secret_first")
    shake(world, second, "secret_second")
    remove_webhook(world.deps, human())
    for address in (second, "", "acme", "acme.", "other." + second.partition(".")[2], "acme." + "0" * 64, "ä.ö"):
        with pytest.raises(Unknown):
            shake(world, address, "secret_second")
    with pytest.raises(Unknown):
        webhook_of(world.deps, human())


def test_no_webhook_without_a_tracker(world: NotionWorld) -> None:
    change_settings(world.deps, human(), {"tracker": None})
    with pytest.raises(NoTracker):
        open_webhook(world.deps, human())


def deliver(world: NotionWorld, hook: Hook, event: dict[str, Any], **changes: str) -> Received:
    body, headers = world.notion.signed(event)
    signature = changes.get("signature", headers["X-Notion-Signature"])
    return receive_webhook(world.deps, hook.address, NotionEvent(body, event, signature))


@pytest.fixture
def closing(world: NotionWorld, hook: Hook) -> tuple[str, dict[str, Any]]:
    """A task, and the undelivered event of a person's closing its page."""
    task_id = world.needing()
    world.sync()
    world.notion.auto_deliver = False
    world.clock.advance(60)
    world.notion.edit(world.page(task_id).id, by=world.notion.person, status="Done")
    return task_id, world.notion.events[-1]


def test_a_forged_delivery_changes_nothing(world: NotionWorld, hook: Hook, closing: tuple[str, dict[str, Any]]) -> None:
    task_id, event = closing
    body, headers = world.notion.signed(event)
    signature = headers["X-Notion-Signature"]
    for forged in ("", "sha256=", "sha256=" + "0" * 64, signature[:-1], signature.removeprefix("sha256="), "ä\ud800"):
        with pytest.raises(BadSignature):
            deliver(world, hook, event, signature=forged)
    with pytest.raises(BadSignature):
        receive_webhook(world.deps, hook.address, NotionEvent(body + b" ", event, signature))
    world.sync()
    assert world.row(task_id).looks == 0


def test_before_the_handshake_nothing_is_believed(world: NotionWorld, closing: tuple[str, dict[str, Any]]) -> None:
    _, event = closing
    _, address = reopened(world)
    body, headers = world.notion.signed(event)
    with pytest.raises(BadSignature):
        receive_webhook(world.deps, address, NotionEvent(body, event, headers["X-Notion-Signature"]))


def test_a_replayed_delivery_is_seen_to_once(
    world: NotionWorld, hook: Hook, closing: tuple[str, dict[str, Any]]
) -> None:
    task_id, event = closing
    assert [deliver(world, hook, event) for _ in range(3)] == [Received.REPORTED, Received.REPEATED, Received.REPEATED]
    assert world.row(task_id).looks == 1
    world.sync()
    assert world.task(task_id).state is State.DONE


def test_a_late_delivery_counts_within_two_days_and_a_very_old_one_does_not(
    world: NotionWorld, hook: Hook, closing: tuple[str, dict[str, Any]]
) -> None:
    task_id, event = closing
    world.clock.advance(49 * 3_600)
    assert deliver(world, hook, event) is Received.TOO_OLD
    assert deliver(world, hook, {**event, "timestamp": "2027-01-01T00:00:00.000Z"}) is Received.TOO_OLD
    assert world.row(task_id).looks == 0


def test_deliveries_out_of_order_end_in_what_the_page_says_now(world: NotionWorld, hook: Hook) -> None:
    task_id = world.needing()
    world.notion.auto_deliver = False
    page = world.page(task_id).id
    for status in ("Done", "In progress", "Blocked"):
        world.clock.advance(60)
        world.notion.edit(page, by=world.notion.person, status=status)
    for event in reversed(world.notion.events[-3:]):
        deliver(world, hook, event)
        world.sync()
    assert world.task(task_id).state is State.NEEDS  # it is closed no more
    assert world.page(task_id).status == "Blocked"


def test_a_burst_of_deliveries_costs_one_look(world: NotionWorld, hook: Hook) -> None:
    task_id = world.needing()
    world.minutes(1)
    world.notion.auto_deliver = False
    for number in range(50):
        world.notion.edit(world.page(task_id).id, by=world.notion.person, title=f"Renamed {number}")
    for event in world.notion.events[-50:]:
        assert deliver(world, hook, event) is Received.REPORTED
    before = len(world.notion.requests)
    world.sync()
    looks = [call for call in world.notion.requests[before:] if call.path.startswith("/v1/pages/")]
    assert len(looks) == 1
    assert (world.row(task_id).looks, world.row(task_id).looked) == (50, 50)


def test_our_own_writes_come_back_as_nothing(world: NotionWorld, hook: Hook) -> None:
    task_id = world.claimed().details.task.id
    world.sync()
    assert set(hook.received) == {Received.INSTALLED, Received.NOT_A_PERSON}
    assert world.row(task_id).looks == 0


def test_pages_that_are_no_tasks_of_the_workspace_are_ignored(world: NotionWorld, hook: Hook) -> None:
    world.settle("other")
    world.mark(agent("scout", "other"))
    (theirs,) = world.notion.pages
    ours = world.notion.add_page(world.tasks.data_source_id, title="Buy milk", by=world.notion.person)
    for page in (theirs, ours):
        world.notion.edit(page, by=world.notion.person, status="Done")
        assert hook.received[-1] is Received.UNKNOWN_PAGE
    world.sync()
    (task,) = world.store.lists.tasks_of_agent("other", "auditor", 10, None).items
    assert task.state is State.NEEDS


def test_while_nobody_can_tell_who_closed_a_page_it_is_left_alone_and_says_why(world: NotionWorld, hook: Hook) -> None:
    task_id = world.needing()

    def no_users(_method: str, path: str) -> Fault | None:
        return (
            Fault(status=403, code="restricted_resource")
            if path.startswith("/v1/users/") and "me" not in path
            else None
        )

    world.notion.fault = no_users
    say(world, task_id, status="Done")
    assert world.task(task_id).state is State.NEEDS
    approve_task(world.deps, human(), task_id, None)
    world.clock.advance(3)
    world.claim()
    world.sync()
    assert (world.row(task_id).status, world.page(task_id).status) == (Sync.DENIED, "Done")
    assert "users" in world.row(task_id).message
    assert world.store.tracker.circuit(WORKSPACE).failures == 0  # nothing else is kept back
    world.notion.fault = None
    world.minutes(20)
    assert world.task(task_id).state is State.DONE


def test_a_person_who_sets_a_status_after_a_sender_died_keeps_it(world: NotionWorld, hook: Hook) -> None:
    task_id = world.ready()
    world.sync()
    row, now = world.row(task_id), world.clock.now()
    dead = replace(row.held("send_of_the_dead", now, 20), version=row.version + 1)
    world.store.commit(WORKSPACE, Save(dead))
    say(world, task_id, status="Blocked")
    world.minutes(15)
    assert world.row(task_id).status is Sync.OK
    assert world.page(task_id).status == "Blocked"


def test_a_change_that_came_while_its_page_was_being_made_is_shown_at_once(world: NotionWorld) -> None:
    world.minutes(1)
    cancelled: list[str] = []

    def meanwhile(method: str, path: str) -> Fault | None:
        if (method, path) == ("POST", "/v1/pages") and not cancelled:
            (task,) = world.store.lists.tasks_of_agent(WORKSPACE, "auditor", 1, None).items
            cancelled.append(task.id)
            cancel_task(world.deps, human(), task.id, None)
            world.sync()  # its notice finds the row held
        return None

    world.notion.fault = meanwhile
    task_id = world.needing()
    assert cancelled == [task_id]
    world.sync()
    assert world.page(task_id).status == "Cancelled"


# The right of a person who edits the page


@pytest.mark.parametrize(
    ("right", "status", "state"),
    [
        ("reader", "Done", State.NEEDS),
        ("reader", "Cancelled", State.NEEDS),
        ("member", "Done", State.NEEDS),
        ("member", "Cancelled", State.CANCELLED),
        ("approver", "Done", State.DONE),
        (None, "Done", State.DONE),
    ],
)
def test_person_of_the_tracker_ends_what_their_right_allows(
    world: NotionWorld, hook: Hook, right: str | None, status: str, state: State
) -> None:
    task_id = world.needing()
    world.sync()
    rights = {} if right is None else {world.notion.person.upper(): right}
    change_settings(world.deps, human(), {"tracker": {"rights": rights}})
    say(world, task_id, status=status)
    world.minutes(12)
    assert world.task(task_id).state is state
    notes = [note.content for note in world.store.tasks.notes(WORKSPACE, task_id, 10)]
    assert [each for each in notes if "refused_in_tracker" in each] == (
        [{"refused_in_tracker": status, "right": "approver" if status == "Done" else "member"}]
        if state is State.NEEDS
        else []
    )


# Who set the status: a page tells only who edited it last


READER, LEAD = "reader", "approver"


def people(world: NotionWorld) -> tuple[str, str]:
    """A person of the tracker who may end nothing, and one who may."""
    reader, lead = world.notion.add_user(name="Rea"), world.notion.add_user(name="Lea")
    change_settings(world.deps, human(), {"tracker": {"rights": {reader: READER, lead: LEAD}}})
    return reader, lead


def closings(world: NotionWorld, task_id: str) -> tuple[State, bool]:
    """The task's state, and whether an alert says that its page was closed by a bot or an unknown person."""
    task = world.task(task_id)
    return task.state, Flag.CLOSED_BY_BOT in task.flags


@pytest.mark.parametrize("who", ["reader", "bot"])
@pytest.mark.parametrize("then", [{"title": "Tidied"}, {"priority": "🟢 Low"}, {"text": "Tidied"}])
def test_an_edit_of_a_closed_page_doesnt_take_the_closing_over(
    world: NotionWorld, hook: Hook, who: str, then: dict[str, str]
) -> None:
    task_id = world.needing()
    reader, lead = people(world)
    world.clock.advance(60)
    closer = reader if who == "reader" else world.notion.add_user(kind="bot", name="Automation")
    page_id = world.page(task_id).id
    world.notion.edit(page_id, by=closer, status="Done")
    edit_otherwise(world, page_id, lead, then)
    world.sync()
    world.minutes(1)
    assert closings(world, task_id) == (State.NEEDS, False)  # a report may be under way
    assert "still report who set the status" in world.row(task_id).message
    world.minutes(15)
    assert closings(world, task_id) == (State.NEEDS, True)
    for status in ("In progress", "Done"):  # as the alert asks
        world.clock.advance(60)
        world.notion.edit(page_id, by=lead, status=status)
        world.sync()
    world.minutes(5)
    assert ended_by(world, task_id) == ("resolved", "human", f"notion:{lead}")


def edit_otherwise(world: NotionWorld, page_id: str, by: str, then: dict[str, str]) -> None:
    if "text" in then:
        world.notion.write(page_id, then["text"], by=by)
    else:
        world.notion.edit(page_id, by=by, **then)


def test_an_earlier_status_of_the_last_editor_is_no_closing_of_theirs(world: NotionWorld, hook: Hook) -> None:
    """Baton has seen the earlier one, and the report of the later one is lost."""
    task_id = world.needing()
    reader, lead = people(world)
    page_id = world.page(task_id).id
    world.clock.advance(60)
    world.notion.edit(page_id, by=lead, status="In progress")
    world.sync()
    world.notion.auto_deliver = False
    world.notion.edit(page_id, by=reader, status="Done")
    world.notion.auto_deliver = True
    world.notion.edit(page_id, by=lead, title="Tidied")
    world.sync()
    world.minutes(15)
    assert closings(world, task_id) == (State.NEEDS, True)


def test_a_report_under_way_is_awaited_where_some_people_may_not_end_tasks(world: NotionWorld, hook: Hook) -> None:
    """The look comes by the approver's earlier edit, before the reader's is reported."""
    task_id = world.needing()
    reader, lead = people(world)
    page_id = world.page(task_id).id
    say(world, task_id, title="Seen")
    world.notion.auto_deliver = False
    world.clock.advance(60)
    for by, change in ((lead, {"status": "In progress"}), (reader, {"status": "Done"}), (lead, {"title": "Tidied"})):
        world.notion.edit(page_id, by=by, **change)
    for event in world.notion.events[-3:]:
        assert deliver(world, hook, event) is Received.REPORTED
        world.sync()
        assert closings(world, task_id) == (State.NEEDS, False)
    world.minutes(15)
    assert closings(world, task_id) == (State.NEEDS, True)


def test_a_bots_closing_between_two_edits_of_a_person_isnt_theirs(world: NotionWorld, hook: Hook) -> None:
    task_id, bot = world.needing(), world.notion.add_user(kind="bot", name="Automation")
    page_id = world.page(task_id).id
    say(world, task_id, title="Seen")
    for by, change in ((None, {"status": "In progress"}), (bot, {"status": "Done"}), (None, {"title": "Tidied"})):
        world.notion.edit(page_id, by=by, **change)
    world.sync()
    world.minutes(15)
    assert closings(world, task_id) == (State.NEEDS, True)


def test_batons_own_changes_come_back_and_are_not_kept(world: NotionWorld, hook: Hook) -> None:
    task_id = world.needing()
    say(world, task_id, title="Seen")
    dismissed = len(hook.received)
    cancel_task(world.deps, human(), task_id, None)
    world.sync()
    assert Received.NOT_A_PERSON in hook.received[dismissed:]
    assert world.page(task_id).status == "Cancelled"
    assert world.row(task_id).reports == frozenset()


def test_a_closing_with_a_webhook_isnt_the_last_editors_before_its_report(world: NotionWorld, hook: Hook) -> None:
    """Also where everybody may end tasks: the name is right."""
    task_id = world.needing()
    page_id = world.page(task_id).id
    say(world, task_id, title="Seen")
    world.notion.auto_deliver = False
    closer = world.notion.add_user(name="Clo")
    world.clock.advance(60)
    world.notion.edit(page_id, by=closer, status="Done")
    world.notion.edit(page_id, by=world.notion.person, title="Tidied")
    seen = world.deps.trackers.of(WORKSPACE, world.tracker_settings, 10.0).look(page_id)
    assert reconcile_tracker.report(world.deps, WORKSPACE, seen, task_id)
    world.sync()
    assert closings(world, task_id) == (State.NEEDS, False)
    for event in world.notion.events[-2:]:
        deliver(world, hook, event)
    world.sync()
    world.minutes(15)
    assert closings(world, task_id) == (State.NEEDS, True)


def test_a_closing_that_two_people_may_have_set_ends_nothing(world: NotionWorld, hook: Hook) -> None:
    task_id = world.needing()
    reader, lead = people(world)
    page_id = world.page(task_id).id
    world.clock.advance(60)
    for by, status in ((reader, "Done"), (lead, "In progress"), (reader, "Done")):
        world.notion.edit(page_id, by=by, status=status)
    world.notion.edit(page_id, by=lead, title="Tidied")
    world.sync()
    world.minutes(15)
    assert closings(world, task_id) == (State.NEEDS, True)


def test_a_closing_that_is_found_before_its_report_waits_for_it(world: NotionWorld, hook: Hook) -> None:
    task_id = world.needing()
    _, lead = people(world)
    page_id = world.page(task_id).id
    say(world, task_id, title="Tidied")  # verifies the webhook
    world.notion.auto_deliver = False
    world.clock.advance(60)
    world.notion.edit(page_id, by=lead, status="Done")
    seen = world.deps.trackers.of(WORKSPACE, world.tracker_settings, 10.0).look(page_id)
    assert reconcile_tracker.report(world.deps, WORKSPACE, seen, task_id)
    world.sync()
    assert closings(world, task_id) == (State.NEEDS, False)
    assert deliver(world, hook, world.notion.events[-1]) is Received.REPORTED
    world.minutes(5)
    assert ended_by(world, task_id) == ("resolved", "human", f"notion:{lead}")


def test_a_closing_whose_report_is_lost_ends_nothing_where_rights_differ(world: NotionWorld, hook: Hook) -> None:
    task_id = world.needing()
    _, lead = people(world)
    say(world, task_id, title="Seen")
    world.notion.auto_deliver = False
    world.clock.advance(60)
    world.notion.edit(world.page(task_id).id, by=lead, status="Done")
    world.minutes(25)  # found by reconciling
    assert closings(world, task_id) == (State.NEEDS, True)


def test_without_a_webhook_the_last_editor_counts(world: NotionWorld) -> None:
    """Nothing else is known there: docs/security.md states it."""
    task_id = world.needing()
    _, lead = people(world)
    say_as(world, task_id, lead)
    world.minutes(12)
    assert ended_by(world, task_id) == ("resolved", "human", f"notion:{lead}")


def say_as(world: NotionWorld, task_id: str, by: str) -> None:
    world.clock.advance(60)
    world.notion.edit(world.page(task_id).id, by=by, status="Done")
    world.sync()


def test_more_reports_than_are_kept_name_nobody_and_are_all_taken(world: NotionWorld, hook: Hook) -> None:
    task_id = world.needing()
    reader, lead = people(world)
    page_id = world.page(task_id).id
    world.clock.advance(60)
    world.notion.edit(page_id, by=lead, status="In progress")
    for number in range(MAX_REPORTS):
        world.notion.edit(page_id, by=lead, title=f"Title {number}")
    world.notion.edit(page_id, by=reader, status="Done")
    world.notion.edit(page_id, by=lead, title="Tidied")
    assert {*hook.received[-MAX_REPORTS:]} == {Received.REPORTED}
    assert len(world.row(task_id).reports) == MAX_REPORTS
    world.sync()
    world.minutes(15)
    assert closings(world, task_id) == (State.NEEDS, True)
    assert world.row(task_id).reports == frozenset()
