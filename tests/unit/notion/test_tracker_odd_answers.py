"""Answers that Notion should never give, names that nobody should have, and rights that are missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import httpx
import pytest

from baton.adapters.notion import NotionTrackers
from baton.domain.task_state import State
from baton.domain.tasks.task import Flag
from baton.domain.tracker.page_sync import Sync
from baton.services.tracker.import_tracker import import_tracker
from support.fakes.notion_adapter import CREATE, NotionAdapter, trouble_of
from support.worlds.notion_world import NotionWorld
from support.worlds.world import WORKSPACE, agent, human
from tools.stand_ins.fake_notion import Fault

HOSTILE = ["x" * 500_000, "Eve\n\x1b[2J\u202e\u2066root\x9b", "half \ud83d of \udc00 it", "\ud800", "\x1b\u202e"]


@pytest.fixture
def world() -> NotionWorld:
    return NotionWorld().settle()


def instead(world: NotionWorld, change: Callable[[httpx.Request, Any], Any]) -> None:
    """What Notion answers is changed on its way."""
    inner = world.notion.transport()

    def handler(request: httpx.Request) -> httpx.Response:
        answer = inner.handle_request(request)
        changed = change(request, json.loads(answer.content))
        return httpx.Response(answer.status_code, content=json.dumps(changed))

    transport = httpx.MockTransport(handler)
    trackers = NotionTrackers(world.deps.secrets, "https://notion.example", transport=transport, clock=world.clock)
    world.deps = world.baton_with(trackers)


def closes(world: NotionWorld, task_id: str, by: str | None = None) -> None:
    world.clock.advance(60)
    world.notion.edit(world.page(task_id).id, by=by or world.notion.person, status="Done")
    world.sync()


def reason_of(world: NotionWorld, task_id: str) -> str:
    return str(world.store.trail.events(WORKSPACE, task_id, 0, 100)[-1].data["reason"])


def is_clean(text: str) -> bool:
    return text.isprintable() and text.encode("utf-8", "replace").decode() == text


# Pages


@pytest.mark.parametrize(
    "odd",
    [
        {"properties": {"Name": None}},
        {"properties": {"Status": None}},
        {"properties": {"Status": {"type": "status", "status": "Done"}}},
        {"properties": ["Done"]},
        {"last_edited_time": None},
        {"last_edited_time": "yesterday"},
        {"created_time": None},
        {"last_edited_by": "somebody"},
        {"id": None},
    ],
    ids=str,
)
def test_one_odd_page_hides_no_other_from_reconciling(world: NotionWorld, odd: dict[str, Any]) -> None:
    task_id = world.needing()
    world.minutes(12)
    page_id = world.notion.add_page(world.tasks.data_source_id, title="odd")

    def change(request: httpx.Request, answer: Any) -> Any:
        if request.url.path.endswith("/query"):
            answer["results"] = [{**page, **odd} if page["id"] == page_id else page for page in answer["results"]]
        return answer

    instead(world, change)
    closes(world, task_id)
    world.minutes(12)
    assert world.task(task_id).state is State.DONE


@pytest.mark.parametrize(
    "answer",
    [
        {"object": "page", "id": None},
        {"object": "page", "id": 7, "url": 3, "properties": []},
        {"object": "page", "id": "not-an-id", "url": "https://x"},
        {"object": "page", "id": "x" * 500_000, "url": "y"},
    ],
    ids=lambda answer: str(answer)[:40],
)
def test_a_page_whose_id_is_none_is_looked_for_and_found(world: NotionWorld, answer: dict[str, Any]) -> None:
    is_odd = True

    def change(request: httpx.Request, real: Any) -> Any:
        return answer if is_odd and (request.method, request.url.path) == ("POST", "/v1/pages") else real

    instead(world, change)
    task_id = world.needing()
    assert world.row(task_id).page is None
    is_odd = False
    world.minutes(5)
    row = world.row(task_id)
    assert row.page is not None
    assert (row.status, [row.page.id]) == (Sync.OK, list(world.notion.pages))


# When to come again


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("inf", 86_400),
        ("1e999", 86_400),
        ("-inf", 0),
        ("-5", 0),
        ("nan", None),
        ("Wed, 18 Nov 2026 12:01:42 GMT", 60),
        ("Wed, 18 Nov 99999 12:01:42 GMT", None),
        ("", None),
    ],
)
def test_no_time_to_come_again_at_is_too_odd(given: str, meant: float | None) -> None:
    adapter = NotionAdapter()
    body = {"object": "error", "code": "rate_limited", "message": "no"}
    adapter.wire.instead = lambda _: httpx.Response(429, headers={"Retry-After": given}, json=body)
    adapter.clock.stands_still = True
    assert trouble_of(adapter, CREATE).retry_after == meant


@pytest.mark.parametrize("given", ["inf", "-inf", "nan", "-5", "1e999"])
def test_an_odd_time_to_come_again_at_is_a_trouble_that_passes(world: NotionWorld, given: str) -> None:
    trackers, body = world.deps.trackers, {"object": "error", "code": "rate_limited", "message": "no"}
    transport = httpx.MockTransport(lambda _: httpx.Response(429, headers={"Retry-After": given}, json=body))
    world.deps = world.baton_with(
        NotionTrackers(world.deps.secrets, "https://notion.example", transport=transport, clock=world.clock)
    )
    answer = world.mark(agent("scout"))
    assert answer.task_id
    assert "inside of Baton" not in str(answer.degraded_capabilities)
    world.minutes(12)
    world.deps = world.baton_with(trackers)
    world.minutes(61)
    assert world.row(answer.task_id).status is Sync.OK


# Names and words


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:20])
def test_a_closing_is_learnt_whatever_its_person_is_called(world: NotionWorld, name: str) -> None:
    world.hook()
    task_id = world.needing()
    closes(world, task_id, by=world.notion.add_user("person", name))
    assert world.task(task_id).state is State.DONE
    reason = reason_of(world, task_id)
    assert reason.startswith("set to 'Done' in Notion")
    assert is_clean(reason)
    assert len(reason) < 200


def test_what_an_import_tells_is_clean_json(world: NotionWorld) -> None:
    titles = [
        "Handoff: Scout → Client Repo Auditor — 2026-11-16",
        "Handoff: Scout → No\x1b[2Jbody\u202e — 2026-11-16",
        "Handoff: half \ud83d of it\n\x9b\u2028",
    ]
    for _ in titles:
        world.notion.add_page(world.tasks.data_source_id, title="Handoff: ", status="Blocked")

    def change(request: httpx.Request, answer: Any) -> Any:
        for page, title in zip(answer.get("results", []), titles, strict=False):
            page["properties"]["Name"]["title"][0]["plain_text"] = title
            page["properties"]["Status"]["status"]["name"] = "Blo\u202e\x1bcked \ud83d"
        return answer

    instead(world, change)
    answer = asdict(import_tracker(world.deps, human(), lambda: True))
    assert (answer["opened"], len(answer["skipped"])) == (1, 2)
    assert all(is_clean(text) for skipped in answer["skipped"] for text in skipped.values())
    assert json.loads(json.dumps(answer, ensure_ascii=False).encode()) == answer
    (task,) = world.store.lists.tasks_of_agent(WORKSPACE, "auditor", 10, None).items
    assert is_clean(str(world.row(task.id).page_status))


# Rights that are missing


def no_users(_method: str, path: str) -> Fault | None:
    is_asked = path.startswith("/v1/users/") and not path.endswith("/me")
    return Fault(status=403, code="restricted_resource") if is_asked else None


def test_a_closing_by_who_knows_whom_frees_the_direction_and_ends_nothing(world: NotionWorld) -> None:
    world.hook()
    task_id = world.needing()
    world.notion.fault = no_users
    closes(world, task_id)
    assert (world.task(task_id).state, world.row(task_id).status) == (State.NEEDS, Sync.DENIED)
    assert Flag.CLOSED_BY_BOT not in world.task(task_id).flags
    world.minutes(40)
    assert world.task(task_id).state is State.NEEDS
    assert world.page(task_id).status == "Done"
    assert world.mark(agent("scout")).task_id
    assert world.mark(agent("scout")).duplicate_of  # of the new one, which is nobody's closing
    world.notion.fault = None
    world.minutes(17)
    assert world.task(task_id).state is State.DONE


def test_a_closing_beside_a_status_that_cannot_be_set_is_not_lost() -> None:
    """Between our look at the page, and our looking why it can't be set."""
    properties = {"Status": {"type": "status", "options": ["Not started", "Done"]}}
    world = NotionWorld(properties=properties).settle()
    task_id = world.ready()
    world.sync()
    (page,) = world.notion.pages.values()
    world.claim()
    looks: list[str] = []

    def fault(method: str, path: str) -> None:
        if (method, path) == ("GET", f"/v1/pages/{page.id}"):
            looks.append(path)
            if len(looks) == 2:
                world.clock.advance(60)
                world.notion.edit(page.id, by=world.notion.person, status="Done")

    world.notion.fault = fault
    world.sync()
    world.minutes(30)
    assert world.task(task_id).state is State.DONE
    assert page.status == "Done"


@pytest.mark.parametrize(
    "odd", [{"properties": {"Name": None}}, {"last_edited_by": "somebody"}, {"id": None}, None, "x"]
)
def test_one_odd_page_hides_no_other_from_an_import(world: NotionWorld, odd: Any) -> None:
    titles = ("Handoff: Scout → Client Repo Auditor — 2026-11-16", "Handoff: Client Repo Auditor → Scout — 2026-11-16")
    ids = [world.notion.add_page(world.tasks.data_source_id, title=title) for title in titles]

    def made_odd(page: dict[str, Any]) -> Any:
        return {**page, **odd} if isinstance(odd, dict) else odd

    def change(request: httpx.Request, answer: Any) -> Any:
        if request.url.path.endswith("/query"):
            answer["results"] = [made_odd(page) if page["id"] == ids[0] else page for page in answer["results"]]
        return answer

    instead(world, change)
    assert import_tracker(world.deps, human(), lambda: True).opened >= 1


@pytest.mark.parametrize("odd", [None, "x", {}, {"object": "user", "id": "x", "type": None}])
def test_while_a_user_is_told_oddly_nothing_is_decided(world: NotionWorld, odd: Any) -> None:
    world.hook()
    task_id = world.needing()
    is_odd = True

    def change(request: httpx.Request, answer: Any) -> Any:
        is_user = request.url.path.startswith("/v1/users/") and not request.url.path.endswith("/me")
        return odd if is_odd and is_user else answer

    instead(world, change)
    closes(world, task_id)
    world.minutes(20)
    assert (world.task(task_id).state, world.task(task_id).flags) == (State.NEEDS, frozenset())
    is_odd = False
    world.minutes(40)
    assert world.task(task_id).state is State.DONE
