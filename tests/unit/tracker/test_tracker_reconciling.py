"""What is learnt late: edits that nobody reported, pages that nobody kept, and settings that change at that moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from baton.adapters.notion import NotionTrackers
from baton.domain.task_state import State
from baton.domain.tracker.page_sync import Sync
from baton.services.access.change_settings import change_settings
from baton.services.tracker.import_tracker import import_tracker
from baton.services.tracker.sync_tracker import sync_tracker
from support.clock import FakeClock
from support.worlds.notion_world import NotionWorld
from support.worlds.world import WORKSPACE, agent, human
from tools.stand_ins.fake_notion import Fault

NO_TASK_ID = {"properties": {"task_id": "None such"}}


@pytest.fixture
def world() -> NotionWorld:
    return NotionWorld().settle()


@pytest.fixture(params=[{}, NO_TASK_ID], ids=["with its id", "without"])
def either(request: pytest.FixtureRequest) -> NotionWorld:
    return NotionWorld(tracker=request.param).settle()


def reconciled_at(world: NotionWorld) -> datetime:
    at = world.store.tracker.circuit(WORKSPACE).reconciled_at
    assert at is not None
    return at


def slowed(world: NotionWorld, seconds: float) -> None:
    """Each answer takes that long."""
    inner = world.notion.transport()

    def handler(request: httpx.Request) -> httpx.Response:
        world.clock.advance(seconds)
        return inner.handle_request(request)

    world.deps = world.baton_with(
        NotionTrackers(
            world.deps.secrets,
            "https://notion.example",
            transport=httpx.MockTransport(handler),
            clock=world.clock,
            monotonic=lambda: world.clock.now().timestamp(),
        )
    )


def no_creation(world: NotionWorld, fault: Fault) -> None:
    world.notion.fault = lambda method, path: fault if (method, path) == ("POST", "/v1/pages") else None


def tasks_in(world: NotionWorld, workspace: str = WORKSPACE) -> list[str]:
    return [task.id for task in world.store.lists.tasks_of_agent(workspace, "auditor", 100, None).items]


# Reconciling


def test_reconciling_goes_on_where_its_time_ran_out(world: NotionWorld) -> None:
    """A person's program edits more pages than one run can read; a closing among the last of them is learnt."""
    task_id = world.needing()
    world.minutes(12)
    for _ in range(600):
        world.notion.add_page(world.tasks.data_source_id, title="Bulk")
        world.clock.advance(6)
    world.clock.advance(60)
    world.notion.edit(world.page(task_id).id, by=world.notion.person, status="Done")
    slowed(world, 7)
    for _ in range(60):
        before = reconciled_at(world)
        world.minutes()
        assert reconciled_at(world) >= before
    assert world.task(task_id).state is State.DONE
    assert world.store.tracker.circuit(WORKSPACE).failures == 0
    assert world.clock.now() - reconciled_at(world) < timedelta(minutes=30)


@pytest.mark.parametrize("whose", ["ours for once", "Notion's"])
def test_an_edit_right_after_a_reconciliation_is_learnt_though_our_clock_is_nine_minutes_ahead(
    world: NotionWorld, whose: str
) -> None:
    task_id = world.needing()
    world.minutes(12)
    world.clock.advance(600)
    skew = timedelta(minutes=9)
    ours = world.clock.now() + (skew if whose == "ours for once" else timedelta())
    sync_tracker(replace(world.deps, clock=FakeClock(ours)), WORKSPACE, None, lambda: 120.0)
    assert reconciled_at(world) == ours
    if whose == "Notion's":
        world.notion.now = lambda: world.clock.now() - skew
    world.clock.advance(30)
    world.notion.edit(world.page(task_id).id, by=world.notion.person, status="Done")
    world.minutes(30)
    assert world.task(task_id).state is State.DONE


def test_a_reconciliation_that_succeeds_ends_the_trouble(world: NotionWorld) -> None:
    world.needing()
    world.minutes(12)
    world.notion.fault = lambda _method, _path: Fault(status=503)
    world.minutes(12)
    circuit = world.store.tracker.circuit(WORKSPACE)
    assert (circuit.failures > 0, circuit.status) == (True, Sync.PENDING)
    world.notion.fault = None
    world.minutes(30)
    circuit = world.store.tracker.circuit(WORKSPACE)
    assert (circuit.failures, circuit.status, circuit.message) == (0, Sync.OK, "")


# Looking for a page


def test_a_page_is_found_though_our_clock_is_ahead() -> None:
    world = NotionWorld(tracker=NO_TASK_ID).settle()
    world.notion.now = lambda: world.clock.now() - timedelta(minutes=5)
    no_creation(world, Fault.timeout_after())
    task_id = world.needing()
    world.notion.fault = None
    world.minutes(5)
    row = world.row(task_id)
    assert row.page is not None
    assert (row.status, [row.page.id]) == (Sync.OK, list(world.notion.pages))


# Importing beside pages of Baton's own


def test_a_page_that_was_made_and_not_kept_yet_is_imported_by_nobody(either: NotionWorld) -> None:
    no_creation(either, Fault.timeout_after())
    task_id = either.needing()
    either.notion.fault = None
    assert (either.row(task_id).page, len(either.notion.pages)) == (None, 1)
    imported = import_tracker(either.deps, human(), lambda: True)
    assert (imported.opened, imported.closed, imported.known) == (0, 0, 1)
    either.minutes(5)
    assert tasks_in(either) == [task_id]
    row = either.row(task_id)
    assert row.page is not None
    assert (row.status, [row.page.id]) == (Sync.OK, list(either.notion.pages))


def test_another_workspaces_pages_in_the_same_database_are_imported_by_nobody(either: NotionWorld) -> None:
    theirs = either.settle("other").mark(agent("scout", "other")).task_id
    imported = import_tracker(either.deps, human(), lambda: True)
    assert (imported.opened, imported.closed, imported.known) == (0, 0, 1)
    assert (tasks_in(either), tasks_in(either, "other")) == ([], [theirs])
    assert either.mark(agent("scout")).task_id  # and it stands in no one's way


# Settings that change while a run has read the old ones


@pytest.fixture
def switched_off(world: NotionWorld) -> NotionWorld:
    """Put to sleep, as far as one more run, which found no tracker, hasn't done so yet."""
    change_settings(world.deps, human(), {"tracker": None})
    assert world.store.tracker.circuit(WORKSPACE).wake_at is not None
    return world


def switch_on(world: NotionWorld) -> None:
    change_settings(world.deps, human(), {"tracker": {"database": world.tasks.id}})


def once_before(world: NotionWorld, method: str, act: Callable[[], object], calls: int = 1) -> list[str]:
    """``act`` happens right before the store's ``method`` is called for the ``calls``th time from now on."""
    *parts, name = method.split(".")
    part: Any = getattr(world.store, parts[0]) if parts else world.store
    real, done = getattr(part, name), list[str]()

    def interleaved(*args: Any) -> Any:
        done.append(method)
        if len(done) == calls:
            act()
        return real(*args)

    setattr(part, name, interleaved)
    return done


def assert_it_wakes(world: NotionWorld) -> None:
    circuit = world.store.tracker.circuit(WORKSPACE)
    assert circuit.wake_at is not None
    task_id = world.needing()
    world.tracker_queue.notices.clear()
    world.clock.advance(60)
    world.notion.edit(world.page(task_id).id, by=world.notion.person, status="Done")
    world.minutes(12)
    assert world.task(task_id).state is State.DONE


@pytest.mark.parametrize(
    ("method", "calls"), [("tracker.circuit", 1), ("tracker.circuit", 2), ("settings.of", 2), ("commit", 1)]
)
def test_a_tracker_switched_on_while_a_run_puts_it_to_sleep_wakes(
    switched_off: NotionWorld, method: str, calls: int
) -> None:
    """The run has read that there is none, and comes to its next step."""
    world = switched_off
    done = once_before(world, method, lambda: switch_on(world), calls)
    sync_tracker(world.deps, WORKSPACE, None, lambda: 120.0)
    assert len(done) >= calls
    assert_it_wakes(world)


@pytest.mark.parametrize(
    ("method", "calls"), [("settings.of", 1), ("tracker.circuit", 1), ("settings.save_settings", 1)]
)
def test_a_run_that_puts_a_tracker_to_sleep_while_it_is_switched_on_is_too_late(
    switched_off: NotionWorld, method: str, calls: int
) -> None:
    world = switched_off
    done = once_before(world, method, lambda: sync_tracker(world.deps, WORKSPACE, None, lambda: 120.0), calls)
    switch_on(world)
    assert len(done) >= calls
    assert_it_wakes(world)


def test_a_closing_in_an_outage_before_the_first_reconciliation_is_learnt(world: NotionWorld) -> None:
    task_id = world.needing()
    world.notion.fault = lambda _method, _path: Fault(status=503)
    world.minutes(5)
    world.notion.edit(world.page(task_id).id, by=world.notion.person, status="Done")
    world.minutes(40)
    world.notion.fault = None
    world.minutes(20)
    assert world.task(task_id).state is State.DONE


def test_a_bulk_edit_that_is_denser_than_the_overlap_is_got_past(world: NotionWorld) -> None:
    task_id = world.needing()
    world.minutes(12)
    for _ in range(600):
        world.notion.add_page(world.tasks.data_source_id, title="Bulk")
        world.clock.advance(1)
    world.clock.advance(120)
    world.notion.edit(world.page(task_id).id, by=world.notion.person, status="Done")
    slowed(world, 7)
    world.minutes(60)
    assert world.task(task_id).state is State.DONE
