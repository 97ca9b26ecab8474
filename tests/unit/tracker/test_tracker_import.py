"""The switch-over: what exists only in Notion counts in its direction (docs/spec/marker.md §4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any

import pytest

from baton.domain.errors import HumanNeeded, NoTracker, TrackerAway
from baton.domain.idempotency import IdempotencyKey
from baton.domain.task_state import State
from baton.domain.tasks.calls import Seen
from baton.services.access.change_settings import change_settings
from baton.services.agents.register_agent import register_agent
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.end_task import cancel_task
from baton.services.tracker.import_tracker import Imported, import_tracker
from support.faults.choke_point import Crash
from support.faults.hooked_store import HookedStore
from support.worlds.notion_world import NotionWorld
from support.worlds.world import WORKSPACE, agent, human, service
from tools.stand_ins.fake_notion import SELECT, STATUS, Fault

TITLE = "Handoff: Scout → Client Repo Auditor — 2026-11-16"


@pytest.fixture(params=[STATUS, SELECT])
def world(request: pytest.FixtureRequest) -> NotionWorld:
    return NotionWorld(status_type=request.param).settle()


def add(world: NotionWorld, title: str = TITLE, status: str | None = None, days: float = 2) -> str:
    """A page that somebody else's worker made ``days`` ago."""
    at = world.clock.now() - timedelta(days=days)
    by = world.notion.add_user(kind="bot", name="The old worker")
    return world.notion.add_page(world.tasks.data_source_id, title=title, status=status, by=by, created_at=at)


def run(
    world: NotionWorld, may_go_on: Callable[[], bool] = lambda: True, idempotency_key: IdempotencyKey | None = None
) -> Imported:
    return import_tracker(world.deps, human(), may_go_on, idempotency_key)


def tasks(world: NotionWorld) -> list[Any]:
    return list(world.store.lists.tasks_of_agent(WORKSPACE, "auditor", 100, None).items)


def test_an_open_handoff_becomes_a_task_that_prevents_duplicates(world: NotionWorld) -> None:
    page_id = add(world)
    assert asdict(run(world)) == {"opened": 1, "closed": 0, "known": 0, "skipped": [], "complete": True}
    (task,) = tasks(world)
    assert (task.state, task.title, str(task.due_date)) == (State.NEEDS, TITLE, "2026-11-16")
    assert world.trail(task.id) == ["handoff_imported"]
    answer = world.mark(agent("scout"))
    assert (answer.duplicate_of, answer.existing_task_url) == (task.id, world.notion.pages[page_id].url)
    assert len(world.notion.pages) == 1


def test_what_a_service_made_of_the_agent_before_the_import_is_no_change_since(world: NotionWorld) -> None:
    register_agent(world.deps, service(), "auditor", {"system_prompt": "Another"})
    add(world)
    run(world)
    (task,) = tasks(world)
    assert approve_task(world.deps, human(), task.id, Seen(digest=task.digest)).task.state is State.DELEGATED


@pytest.mark.parametrize(
    ("status", "state"), [("done", State.DONE), ("Closed", State.DONE), ("CANCELED", State.CANCELLED)]
)
def test_a_closed_handoff_counts_but_does_not_block(world: NotionWorld, status: str, state: State) -> None:
    page_id = add(world, status=status)
    assert run(world).closed == 1
    (task,) = tasks(world)
    assert task.state is state
    world.minutes(15)
    assert world.notion.pages[page_id].status == status
    assert world.notion.pages[page_id].comment_texts == []
    second = world.mark(agent("scout"))
    assert second.task_id
    cancel_task(world.deps, human(), second.task_id, None)
    assert world.mark(agent("scout")).review_id  # one imported and one made: the cap


def test_it_counts_from_when_it_was_made_in_notion(world: NotionWorld) -> None:
    add(world, days=6.9)
    assert run(world).opened == 1
    assert world.mark(agent("scout")).duplicate_of
    world.clock.advance(0.2 * 86_400)
    assert world.mark(agent("scout")).task_id


def test_only_the_exact_title_of_the_window_is_taken_and_the_rest_is_named(world: NotionWorld) -> None:
    for title in (
        "Handoff: Scout → Nobody — 2026-11-16",
        "Handoff: Scout → Scout — 2026-11-16",
        "Handoff: Scout -> Client Repo Auditor — 2026-11-16",
        "Handoff: Scout → Client Repo Auditor — soon",
        "Handoff: Scout → Client Repo Auditor — 2026-02-30",
        TITLE + " (copy)",
    ):
        add(world, title)
    add(world, "Re: " + TITLE)
    add(world, "Buy milk")
    add(world, days=7.1)
    imported = run(world)
    assert (imported.opened, imported.closed, imported.known) == (0, 0, 0)
    assert len(imported.skipped) == 6
    assert tasks(world) == []


def test_aliases_and_canonical_names_are_one_direction(world: NotionWorld) -> None:
    add(world, "Handoff: Scout → Auditor — 2026-11-16")
    assert run(world).opened == 1
    assert world.mark(agent("scout")).duplicate_of


def test_every_page_of_the_results_is_read(world: NotionWorld) -> None:
    for _ in range(120):
        add(world, "Handoff: Scout → Nobody — 2026-11-16")
    add(world, days=1)
    assert run(world).opened == 1


def test_importing_twice_imports_once_and_so_does_a_page_of_ours(world: NotionWorld) -> None:
    world.needing(by=agent("auditor"), source_agent="auditor", target_agent="scout")
    add(world)
    assert run(world).opened == 1
    again = run(world)
    assert (again.opened, again.closed, again.known) == (0, 0, 2)
    assert len(tasks(world)) == 1


def test_an_import_that_was_stopped_goes_on_where_it_was(world: NotionWorld) -> None:
    pairs = [("Scout", "Client Repo Auditor"), ("Client Repo Auditor", "Scout"), ("Runner", "Scout")]
    for source, target in pairs:
        add(world, f"Handoff: {source} → {target} — 2026-11-16")
    turns = iter([True, False])
    first = run(world, lambda: next(turns))
    assert (first.opened, first.complete) == (1, False)
    rest = run(world)
    assert (rest.opened, rest.known, rest.complete) == (2, 1, True)


def test_the_same_key_answers_as_the_first_time(world: NotionWorld) -> None:
    add(world)
    idempotency_key = IdempotencyKey(human(), "POST /tracker/import", "k1", "h1")
    first = run(world, idempotency_key=idempotency_key)
    assert run(world, idempotency_key=idempotency_key) == first


def test_only_a_human_imports_and_only_with_a_tracker(world: NotionWorld) -> None:
    for by in (agent("scout"), service()):
        with pytest.raises(HumanNeeded):
            import_tracker(world.deps, by, lambda: True)
    change_settings(world.deps, human(), {"tracker": None})
    with pytest.raises(NoTracker):
        run(world)


def test_a_tracker_in_trouble_is_told_and_nothing_is_half_done(world: NotionWorld) -> None:
    add(world)
    world.notion.fault = lambda _method, _path: Fault(status=503)
    with pytest.raises(TrackerAway):
        run(world)
    assert tasks(world) == []


def test_an_imported_task_goes_on_like_any_other(world: NotionWorld) -> None:
    page_id = add(world, status="In progress")
    run(world)
    (task,) = tasks(world)
    world.minutes(12)
    assert world.notion.pages[page_id].status == "In progress"
    world.clock.advance(60)
    world.notion.edit(page_id, by=world.notion.person, status="Done")
    world.minutes(12)
    assert world.task(task.id).state is State.DONE


def test_a_claim_is_shown_though_the_page_said_so_by_chance_before_a_bot_changed_it(world: NotionWorld) -> None:
    page_id = add(world, status="In progress")
    run(world)
    (task,) = tasks(world)
    world.notion.edit(page_id, by=world.notion.add_user(kind="bot", name="The old worker"), status="Not started")
    approve_task(world.deps, human(), task.id, None)
    world.clock.advance(60)
    world.claim()
    world.sync()
    assert world.notion.pages[page_id].status == "In progress"


def test_a_page_that_is_opened_again_after_its_import_died_shows_how_its_task_ends(world: NotionWorld) -> None:
    page_id = add(world, status="Done")
    store = HookedStore(world.store)

    def dies() -> None:
        raise Crash

    store.after["commit"] = dies
    with pytest.raises(Crash):
        import_tracker(replace(world.deps, store=store), human(), lambda: True)
    (task,) = tasks(world)
    assert task.state is State.NEEDS
    world.clock.advance(60)
    world.notion.edit(page_id, by=world.notion.person, status="Not started")
    world.minutes(12)
    assert world.task(task.id).state is State.NEEDS
    cancel_task(world.deps, human(), task.id, "not needed")
    world.minutes(1)
    assert world.notion.pages[page_id].status == world.row(task.id).page_status != "Not started"
    assert len(world.notion.pages[page_id].comment_texts) == 1
