"""One page's trouble is its own: the others go on, and it is neither made twice nor taken for well."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from baton.adapters.dynamodb import keys
from baton.domain.errors import PageHeld, TrackerAway
from baton.domain.idempotency import IdempotencyKey
from baton.domain.settings.tracker_settings import TrackerSettings
from baton.domain.task_state import State
from baton.domain.tasks.calls import WorkerCall
from baton.domain.tracker.page_sync import PageLink, Sync
from baton.ports.tracker import Tracker
from baton.ports.writes import Insert, SaveResponse, Write
from baton.services.access.change_settings import change_settings
from baton.services.agents.register_agent import register_agent
from baton.services.claims.release_task import ReleasedWork, release_task
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.sweep import sweep
from baton.services.tracker.retry_tracker import retry_tracker
from baton.services.tracker.set_tracker_token import set_tracker_token
from baton.services.tracker.sync_tracker import sync_tracker
from baton.steps.tracker.change_tracker_circuit import open_tracker_circuit
from baton.steps.tracker.send_page import send_page
from support.clock import FakeClock
from support.fakes.ports import NoTrackers
from support.fakes.store import InMemoryStore
from support.faults.soak import IS_WHOLE, scaled
from support.worlds.notion_world import TOKEN, NotionWorld
from support.worlds.world import WORKSPACE, agent, human
from tools.stand_ins.fake_notion import Fault

NO_TASK_ID = {"properties": {"task_id": "None such"}}
DENIED, FAILING = Fault(status=403, code="restricted_resource"), Fault(status=500)


@pytest.fixture
def world() -> NotionWorld:
    return NotionWorld().settle()


def answers(world: NotionWorld, method: str, path: str, fault: Fault) -> None:
    world.notion.fault = lambda called, where: fault if (called, where[: len(path)]) == (method, path) else None


def tasks_of(world: NotionWorld, many: int) -> list[str]:
    """Each in a direction of its own."""
    for number in range(many):
        register_agent(world.deps, human(), f"a{number}", {})
    return [
        world.needing(agent(f"a{number}"), source_agent=f"a{number}", target_agent="scout") for number in range(many)
    ]


# Pages that are always answered with a trouble


SICK = {
    "403": (1, DENIED),
    "500": (1, FAILING),
    "403s": (3, DENIED),
    "500s": (3, FAILING),
    "409s": (3, Fault(status=409)),
    "silences": (3, Fault.timeout_before()),
}


# ``make test``: each sickness by one method, and the next one by the other.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("many", "fault", "method"),
    [
        pytest.param(many, fault, method, id=f"{name}-{method}")
        for number, (name, (many, fault)) in enumerate(SICK.items())
        for turn, method in enumerate(("GET", "PATCH"))
        if IS_WHOLE or (number + number // 2) % 2 == turn
    ],
)
def test_sick_pages_keep_the_circuit_open_for_no_others(
    world: NotionWorld, many: int, fault: Fault, method: str
) -> None:
    changed, closed, *sick = tasks_of(world, many + 2)
    pages = [world.page(task_id).id for task_id in sick]
    world.notion.fault = lambda called, path: (
        fault if called == method and any(page in path for page in pages) else None
    )
    for task_id in sick:
        cancel_task(world.deps, human(), task_id, None)
    world.minutes(30)
    cancel_task(world.deps, human(), changed, None)
    world.minutes(5)
    assert world.page(changed).status == "Cancelled"
    shut = 0
    for _ in range(scaled(120, 2)):
        world.minutes()
        shut += world.store.tracker.circuit(WORKSPACE).is_open(world.clock.now())
    assert shut <= 2
    reconciled_at = world.store.tracker.circuit(WORKSPACE).reconciled_at
    assert reconciled_at is not None
    assert world.clock.now() - reconciled_at <= timedelta(minutes=15)
    assert {world.row(task_id).status for task_id in sick} <= {Sync.DENIED, Sync.PENDING}
    world.notion.edit(world.page(closed).id, by=world.notion.person, status="Done")
    world.minutes(30)
    assert world.task(closed).state is State.DONE


def test_a_page_that_is_well_again_is_caught_up_with(world: NotionWorld) -> None:
    task_id, _ = tasks_of(world, 2)
    answers(world, "PATCH", f"/v1/pages/{world.page(task_id).id}", FAILING)
    cancel_task(world.deps, human(), task_id, None)
    world.minutes(120)
    world.notion.fault = None
    world.minutes(17)
    assert (world.row(task_id).status, world.page(task_id).status) == (Sync.OK, "Cancelled")


def test_no_tracker_at_all_is_no_pages_own_trouble(world: NotionWorld) -> None:
    tasks = tasks_of(world, 3)
    world.notion.fault = lambda _method, _path: FAILING
    for task_id in tasks:
        cancel_task(world.deps, human(), task_id, None)
    world.minutes(60)
    before = len(world.notion.requests)
    world.minutes(60)
    circuit = world.store.tracker.circuit(WORKSPACE)
    assert circuit.failures > 5
    assert len(world.notion.requests) - before < 100  # a few every five minutes, however many wait


# A row that is lost while it is sent


def test_a_sender_that_has_lost_its_row_makes_no_page(world: NotionWorld) -> None:
    """Another's clock is ahead, so that the hold is over for it."""
    answers(world, "POST", "/v1/pages", Fault.timeout_after())
    task_id = world.needing()
    world.clock.advance(120)
    ahead = replace(world.deps, clock=FakeClock(world.clock.now() + timedelta(minutes=4)))
    overtaken: list[str] = []

    def fault(_method: str, path: str) -> None:
        if path.endswith("/query") and not overtaken:
            overtaken.append(path)
            send_page(ahead, world.tracker_settings, WORKSPACE, task_id)

    world.notion.fault = fault
    send_page(world.deps, world.tracker_settings, WORKSPACE, task_id)
    assert overtaken
    assert list(world.notion.pages) == [world.page(task_id).id]
    row = world.row(task_id)
    assert row.page is not None
    assert (row.status, row.page.id) == (Sync.OK, world.page(task_id).id)


# Pages that are found, or answered with


def test_a_found_page_that_goes_before_it_is_read_is_none_of_the_task(world: NotionWorld) -> None:
    change_settings(world.deps, human(), {"tracker": {"database": world.tasks.id, **NO_TASK_ID}})
    before = world.needing()
    cancel_task(world.deps, human(), before, None)
    world.sync()
    (alike,) = world.notion.pages
    answers(world, "POST", "/v1/pages", Fault.timeout_before())
    task_id = world.needing()
    answers(world, "GET", f"/v1/blocks/{alike}", Fault(status=404, code="object_not_found"))
    world.minutes(5)
    row = world.row(task_id)
    assert row.page is not None
    assert (row.status, row.page.id == alike) == (Sync.OK, False)


def test_a_page_that_turns_out_to_be_anothers_stops_no_others(
    world: NotionWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_tracker_circuit(world.deps, WORKSPACE, TrackerAway("later", retry_after=1))
    tasks = [world.needing(), world.needing(agent("auditor"), source_agent="auditor", target_agent="scout")]
    world.clock.advance(5)
    commit, taken = world.store.commit, list[str]()

    def beaten(workspace: str, *writes: Write) -> None:
        values = [write.value for write in writes if isinstance(write, Insert)]
        for page in [value for value in values if isinstance(value, PageLink)][: not taken]:
            taken.append(page.page_id)
            others = SaveResponse(IdempotencyKey(human(), "/x", "key", "hash"), {})  # a page is never taken alone
            commit(workspace, Insert(PageLink(page.page_id, "task_" + "0" * 26), PageHeld), others)
        commit(workspace, *writes)

    monkeypatch.setattr(world.store, "commit", beaten)
    synced = sync_tracker(world.deps, WORKSPACE, None, lambda: 120.0)
    assert (synced.sent, synced.failed) == (2, 1)
    first, second = sorted(tasks, key=lambda task_id: world.row(task_id).status is Sync.OK)
    assert (world.row(first).status, world.row(first).page) == (Sync.ERROR, None)
    assert world.row(second).status is Sync.OK
    world.minutes(5)
    row = world.row(first)
    assert row.page is not None
    assert (row.status, row.page.id in taken) == (Sync.OK, False)


def test_a_page_that_a_newer_version_has_written_stops_no_others(world: NotionWorld) -> None:
    open_tracker_circuit(world.deps, WORKSPACE, TrackerAway("later", retry_after=1))
    first, second = tasks_of(world, 2)
    assert isinstance(world.store, InMemoryStore)
    mirror = keys.task_item(WORKSPACE, first, keys.MIRROR)
    newer = {**world.store.dynamo.contents()[mirror], "s": {"N": "99"}}
    world.store.dynamo.put(newer)
    world.clock.advance(5)
    for task_id, told in ((first, (0, 1)), (None, (1, 0))):
        synced = sync_tracker(world.deps, WORKSPACE, task_id, lambda: 120.0)
        assert (synced.sent, synced.failed) == told
    assert world.row(second).status is Sync.OK
    assert world.store.dynamo.contents()[mirror] == newer
    assert "page_unreadable" in {line["action"] for line in world.logged}


# A row that was given up


@pytest.fixture
def dead(world: NotionWorld) -> str:
    """Its page is gone for good, and showed a claim; it was given up when the task was put back."""
    claimed = world.claimed()
    task_id = claimed.details.task.id
    world.sync()
    world.notion.delete(world.page(task_id).id)
    release_task(
        world.deps, WorkerCall(agent("auditor"), task_id, claimed.claim_id, "h"), ReleasedWork(reason="not mine")
    )
    world.sync()
    assert world.row(task_id).status is Sync.DEAD
    return task_id


def test_a_dead_row_is_not_well_because_its_task_is_as_its_page_last_showed_it(world: NotionWorld, dead: str) -> None:
    world.clock.advance(120)
    world.claim()
    world.sync()
    assert world.row(dead).status is Sync.DEAD
    assert world.notion.pages == {}


def test_retrying_a_page_that_is_gone_does_not_make_it_well(world: NotionWorld, dead: str) -> None:
    world.clock.advance(120)
    world.claim()
    world.sync()
    for task_id in (dead, None):
        retry_tracker(world.deps, human(), task_id)
        world.sync()
        assert world.row(dead).status is Sync.DEAD
    assert world.notion.pages == {}


# The circuit, and who wakes it


@pytest.mark.parametrize(("asked", "waited"), [(120, 120), (40, 60), (59, 60), (None, 60)])
def test_an_open_circuit_stays_open_for_the_longest_that_was_asked_for(
    world: NotionWorld, asked: float | None, waited: int
) -> None:
    open_tracker_circuit(world.deps, WORKSPACE, TrackerAway("slower", retry_after=60))
    open_tracker_circuit(world.deps, WORKSPACE, TrackerAway("slower still", retry_after=asked))
    circuit = world.store.tracker.circuit(WORKSPACE)
    until = world.clock.now() + timedelta(seconds=waited)
    assert (circuit.open_until, circuit.wake_at, circuit.failures) == (until, until, 1)


def test_a_new_token_hurries_what_was_denied(world: NotionWorld) -> None:
    world.notion.fault = lambda _method, _path: Fault(status=401, code="unauthorized")
    task_id = world.needing()
    world.minutes(40)
    world.notion.fault = None
    assert world.row(task_id).due_at
    set_tracker_token(world.deps, human(), TOKEN)
    world.sync()
    assert world.row(task_id).status is Sync.OK
    assert world.page(task_id).status == "Not started"


def test_tasks_are_swept_whatever_becomes_of_ringing_for_trackers(
    world: NotionWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_id = world.claimed(lease_seconds=15).details.task.id
    world.clock.advance(60)

    def tracker_circuits_due(now: datetime) -> Any:
        raise KeyError("a circuit that can't be read")

    monkeypatch.setattr(world.store.tracker, "tracker_circuits_due", tracker_circuits_due)
    this = sweep(world.deps)
    assert (this.looked_at, this.failed) == (1, 1)
    assert world.task(task_id).state is not State.CLAIMED


def test_a_marker_whose_page_meets_a_bug_still_answers_with_its_task(world: NotionWorld) -> None:
    class Broken(NoTrackers):
        def of(self, workspace: str, settings: TrackerSettings, budget_seconds: float) -> Tracker:
            raise KeyError("a bug")

    whole = world.deps
    world.deps = world.baton_with(Broken())
    answer = world.mark(agent("scout"))
    assert answer.task_id
    assert [trouble["status"] for trouble in answer.degraded_capabilities] == ["pending"]
    world.deps = whole
    world.minutes(12)
    assert world.page(answer.task_id).status == "Not started"
