"""Escalations, with the workspace's tasks in Notion (docs/spec/marker.md §3, §4, §6)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from baton.domain.tasks.calls import WorkerCall
from baton.domain.tracker.page_sync import Sync
from baton.services.access.change_settings import change_settings
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.claims.fail_task import FailedWork, fail_task
from baton.services.escalations.release_review import release_review
from baton.services.tasks.approve_task import approve_task
from baton.services.tasks.end_task import cancel_task
from baton.services.tracker.retry_tracker import retry_tracker
from support.worlds.notion_world import NotionWorld
from support.worlds.world import WORKSPACE, agent, human
from tools.stand_ins.fake_notion import SELECT, STATUS, Fault

RELATION = "0123456789abcdef0123456789abcdef"


@pytest.fixture(params=[STATUS, SELECT])
def world(request: pytest.FixtureRequest) -> NotionWorld:
    return NotionWorld(status_type=request.param).settle()


def asked(world: NotionWorld, since: int) -> list[str]:
    return [f"{call.method} {call.path.split('/')[2]}" for call in world.notion.requests[since:]]


def test_a_marker_makes_a_page_with_everything_a_task_has(world: NotionWorld) -> None:
    clients = [world.notion.add_page(None, title="Acme"), world.notion.add_page(None, title="Globex")]
    answer = world.mark(agent("scout"), client_relation_ids=clients, task_priority="medium")
    assert answer.task_id
    page = world.page(answer.task_id)
    assert answer.degraded_capabilities == []
    assert (answer.tracker_page_id, answer.task_url) == (page.id, page.url)
    assert page.title == "Handoff: Scout → Client Repo Auditor — 2026-11-19"
    assert (page.status, page.priority, page.due) == ("Not started", "🟡 Medium", "2026-11-19")
    assert {name: sorted(ids) for name, ids in page.relations.items() if ids} == {"Client": sorted(clients)}
    said = "Stale spike in CI failures; needs a repo audit"
    url = "https://notes.example/digest/1"
    assert page.body.startswith(f"Escalation from Scout. Reason: {said}. Source digest: {url}")
    assert f"https://baton.example/tasks/{answer.task_id}" in str(page.blocks)


def test_a_duplicate_is_prevented_with_the_address_of_the_first_page(world: NotionWorld) -> None:
    first = world.mark(agent("scout"))
    again = world.mark(agent("scout"))
    assert (again.duplicate_of, again.existing_task_url) == (first.task_id, first.task_url)
    assert len(world.notion.pages) == 1


def test_at_the_cap_nothing_is_made_until_a_human_lets_it_through(world: NotionWorld) -> None:
    for _ in range(2):
        answer = world.mark(agent("scout"))
        assert answer.task_id
        cancel_task(world.deps, human(), answer.task_id, None)
    capped = world.mark(agent("scout"))
    assert capped.review_id
    assert len(world.notion.pages) == 2
    _, details = release_review(world.deps, human(), capped.review_id)
    world.sync()
    assert world.page(details.task.id).status == "Not started"


def test_text_only_never_reaches_notion(world: NotionWorld) -> None:
    before = len(world.notion.requests)
    assert world.mark(agent("scout"), create_task=False).task_id is None
    assert asked(world, before) == []


def test_a_page_follows_its_task_and_tells_how_it_ended(world: NotionWorld) -> None:
    answer = world.mark(agent("scout"))
    assert answer.task_id
    approve_task(world.deps, human(), answer.task_id, None)
    world.clock.advance(3)
    before = len(world.notion.requests)
    world.sync()
    assert asked(world, before).count("PATCH pages") == 0  # approved is no other status than needed
    claimed = world.claim()
    world.sync()
    assert world.page(answer.task_id).status == "In progress"
    output = {"summary": "All 14 repositories are green again"}
    complete_task(
        world.deps, WorkerCall(agent("auditor"), answer.task_id, claimed.claim_id, "h"), CompletedWork(output=output)
    )
    world.sync()
    page = world.page(answer.task_id)
    assert page.status == "Done"
    assert page.comment_texts == ["Done by agent auditor in Baton.\n> All 14 repositories are green again"]
    world.minutes(30)
    assert len(page.comment_texts) == 1


def test_a_failure_is_told_on_the_page(world: NotionWorld) -> None:
    claimed = world.claimed()
    task_id = claimed.details.task.id
    failure = {"type": "blocker", "description": "No access to the repository"}
    fail_task(world.deps, WorkerCall(agent("auditor"), task_id, claimed.claim_id, "h"), FailedWork(failure=failure))
    world.sync()
    assert world.page(task_id).status == "Failed"
    (comment,) = world.page(task_id).comment_texts
    assert comment == "Failed by agent auditor in Baton.\n> blocker: No access to the repository"


def test_a_connection_that_may_not_comment_keeps_nothing_else_back(world: NotionWorld) -> None:
    no = Fault(status=403, code="restricted_resource")
    world.notion.fault = lambda _method, path: no if path.startswith("/v1/comments") else None
    task_id = world.needing()
    cancel_task(world.deps, human(), task_id, None)
    world.sync()
    assert world.page(task_id).status == "Cancelled"
    assert (world.row(task_id).status, world.store.tracker.circuit(WORKSPACE).failures) == (Sync.OK, 0)
    assert "comment" in world.row(task_id).message


def test_an_option_that_a_status_lacks_leaves_it_as_it_is_and_says_so() -> None:
    properties = {"Status": {"type": "status", "options": ["To do", "Doing", "Complete"]}}
    statuses = dict.fromkeys(("needs", "delegated", "next"), "To do")
    statuses |= {"claimed": "Doing", "waiting": "Doing", "done": "complete"}
    world = NotionWorld(properties=properties, tracker={"statuses": statuses}).settle()
    task_id = world.needing()
    page = next(iter(world.notion.pages.values()))
    cancel_task(world.deps, human(), task_id, "not needed")
    world.sync()
    assert page.status == "To do"
    assert page.comment_texts == ["Cancelled by human alice in Baton.\n> not needed"]
    row = world.row(task_id)
    assert row.status is Sync.OK
    assert "Cancelled" in row.message
    done = world.claimed()
    complete_task(
        world.deps, WorkerCall(agent("auditor"), done.details.task.id, done.claim_id, "h"), CompletedWork(output=None)
    )
    world.sync()
    assert [page.status for page in world.notion.pages.values()] == ["To do", "Complete"]


@pytest.mark.parametrize(
    ("properties", "missing"),
    [
        ({"Task": {"type": "title"}}, {"status", "priority", "due"}),
        ({"Name": {"type": "title"}, "status": {"type": "select"}, "PRIORITY": {"type": "select"}}, {"due"}),
        ({"Name": {"type": "title"}, "Status": {"type": "rich_text"}, "Due": {"type": "rich_text"}}, {"status", "due"}),
    ],
)
def test_missing_and_mistyped_properties_degrade_and_do_not_fail(properties: dict[str, Any], missing: set[str]) -> None:
    world = NotionWorld(properties=properties).settle()
    answer = world.mark(agent("scout"))
    assert answer.task_id
    (page,) = world.notion.pages.values()
    assert (answer.tracker_page_id, page.title[:8]) == (page.id, "Handoff:")
    (trouble,) = answer.degraded_capabilities
    assert (trouble["capability"], trouble["status"]) == ("tracker", "error")
    assert all(name in trouble["message"].lower() for name in missing)


def test_relations_that_are_not_shared_are_left_out_and_named(world: NotionWorld) -> None:
    shared, hidden = world.notion.add_page(None, title="Acme"), world.notion.add_page(None, title="Globex")
    world.notion.unshare(hidden)
    answer = world.mark(agent("scout"), client_relation_ids=[shared, hidden], project_relation_ids=[RELATION])
    assert answer.task_id
    page = world.page(answer.task_id)
    assert page.relations["Client"] == [shared]
    assert not page.relations.get("Project")
    (trouble,) = answer.degraded_capabilities
    assert trouble["status"] == "denied"
    assert "Client" in trouble["message"]
    assert "Project" in trouble["message"]


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (Fault(status=429, retry_after=30), "pending"),
        (Fault(status=529), "pending"),
        (Fault(status=500), "pending"),
        (Fault.timeout_before(), "pending"),
        (Fault.timeout_after(), "pending"),
        (Fault.refused(), "pending"),
        (Fault(status=401, code="unauthorized"), "denied"),
        (Fault(status=403, code="restricted_resource"), "denied"),
        (Fault(status=404, code="object_not_found"), "denied"),
    ],
)
def test_trouble_costs_the_answer_only_its_page_and_the_page_comes_later(fault: Fault, status: str) -> None:
    world = NotionWorld().settle()
    world.notion.fault = lambda _method, _path: fault
    answer = world.mark(agent("scout"))
    assert answer.task_id
    assert world.task(answer.task_id).state == "needs"
    assert (answer.task_url, answer.tracker_page_id) == (None, None)
    (trouble,) = answer.degraded_capabilities
    assert (trouble["capability"], trouble["status"]) == ("tracker", status)
    before = len(world.notion.requests)
    assert world.mark(agent("auditor"), source_agent="auditor", target_agent="scout").degraded_capabilities
    assert asked(world, before) == []  # the circuit is open: the next marker doesn't wait in vain
    world.notion.fault = None
    world.minutes(20)
    assert len(world.notion.pages) == 2
    assert world.page(answer.task_id).status == "Not started"


def test_a_page_that_notion_refuses_is_given_up_visibly_until_somebody_retries(world: NotionWorld) -> None:
    def refuse(method: str, path: str) -> Fault | None:
        is_creation = method == "POST" and path == "/v1/pages"
        return Fault(status=400, code="validation_error") if is_creation else None

    world.notion.fault = refuse
    answer = world.mark(agent("scout"))
    assert answer.task_id
    assert answer.degraded_capabilities[0]["status"] == "error"
    world.minutes(5)
    (dead,) = world.store.tracker.dead_page_syncs(WORKSPACE, 10, None).items
    assert (dead.task_id, dead.status) == (answer.task_id, Sync.DEAD)
    assert dead.message
    world.notion.fault = None
    world.minutes(5)
    assert world.notion.pages == {}
    assert retry_tracker(world.deps, human(), None).revived == 1
    world.sync()
    assert world.page(answer.task_id).status == "Not started"
    assert world.store.tracker.dead_page_syncs(WORKSPACE, 10, None).items == ()


def test_a_page_is_never_taken_from_another_task_of_the_same_title_and_minute() -> None:
    world = NotionWorld(tracker={"properties": {"task_id": "None such"}}).settle()
    world.notion.index_lag = timedelta(seconds=10)
    first = world.needing()
    cancel_task(world.deps, human(), first, None)
    world.notion.fault = lambda method, path: (
        Fault.timeout_before() if (method, path) == ("POST", "/v1/pages") else None
    )
    second = world.needing()
    world.notion.fault = None
    world.minutes(5)
    assert len(world.notion.pages) == 2
    pages = {
        word: page for page in world.notion.pages.values() for word in page.body.split() if word.startswith("task_")
    }
    assert (pages[first].status, pages[second].status) == ("Cancelled", "Not started")


def test_two_workspaces_keep_their_tasks_apart(world: NotionWorld) -> None:
    world.settle("other")
    world.needing()
    world.mark(
        agent("scout", "other"),
    )
    assert len(world.notion.pages) == 2
    pages = [page.id for task_id in _tasks(world) if (page := world.row(task_id).page)]
    assert len(pages) == len(_tasks(world))
    assert world.store.tracker.page_holders("other", pages) == {}


def _tasks(world: NotionWorld) -> list[str]:
    return [task.id for task in world.store.lists.tasks_of_agent(WORKSPACE, "auditor", 10, None).items]


def test_a_workspace_without_a_tracker_asks_nobody_and_has_no_rows() -> None:
    world = NotionWorld().settle()
    world.settle("plain")
    change_settings(world.deps, human("plain"), {"tracker": None})
    before = len(world.notion.requests)
    answer = world.mark(agent("scout", "plain"))
    assert answer.task_id
    assert answer.degraded_capabilities == []
    world.sync()
    assert world.store.tracker.page_sync("plain", answer.task_id) is None
    assert [call for call in world.notion.requests[before:] if call.path == "/v1/pages"] == []


def test_a_retry_hurries_what_waits_but_not_what_may_yet_happen(world: NotionWorld) -> None:
    world.notion.fault = lambda _method, _path: Fault(status=429, retry_after=3_000)
    throttled = world.needing()
    world.notion.fault = lambda method, _path: Fault.timeout_after() if method == "POST" else None
    retry_tracker(world.deps, human(), None)
    unclear = world.needing(by=agent("auditor"), source_agent="auditor", target_agent="scout")
    world.notion.fault = None
    retried = retry_tracker(world.deps, human(), None)
    world.sync()
    assert (retried.revived, retried.hurried) == (0, 0)  # the first was hurried before, the second may not be
    assert world.row(throttled).status is Sync.OK
    assert world.row(unclear).status is Sync.PENDING
    world.minutes(3)
    assert world.row(unclear).status is Sync.OK
    assert len(world.notion.pages) == 2
