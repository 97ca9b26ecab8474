"""The tracker's page beside a Notion in this process: health, check, retry, import, webhook."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from baton.adapters.system import SystemClock
from support.console_looks import nothing_found, pictures
from support.values.tricks import TRICKS, only_text
from support.worlds.console_server import ConsoleServer, serving
from support.worlds.http_agents import ALICE
from support.worlds.notion_world import NotionWorld
from support.worlds.world import agent, marker_body
from tools.stand_ins.fake_notion import Fault

OLD = "Handoff: Scout → Client Repo Auditor — 2026-11-16"


@pytest.fixture
def tracked() -> NotionWorld:
    """By the real clock, as the browser that looks at it."""
    return NotionWorld(clock=SystemClock()).settle()  # type: ignore[arg-type]


@pytest.fixture
def served(browser: Any, tracked: NotionWorld) -> Iterator[ConsoleServer]:
    with serving(world=tracked) as server:
        yield server


@pytest.fixture
def on_page(page: Any, served: ConsoleServer) -> Any:
    page.goto(f"{served.url}#/tracker")
    page.get_by_label("Your token").fill(served.token(ALICE))
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Health").wait_for()
    return page


def old_page(tracked: NotionWorld, title: str) -> None:
    at, by = tracked.clock.now() - timedelta(days=1), tracked.notion.add_user(kind="bot", name="The old worker")
    tracked.notion.add_page(tracked.tasks.data_source_id, title=title, by=by, created_at=at)


def given_up(tracked: NotionWorld, served: ConsoleServer) -> str:
    """A task whose page Notion doesn't take."""
    refused = Fault(status=400, code="validation_error")
    tracked.notion.fault = lambda method, path: refused if (method, path) == ("POST", "/v1/pages") else None
    task_id: str = served.gateway.post(agent("scout"), "/handoff-markers", marker_body()).json["task_id"]
    tracked.sync()
    tracked.notion.fault = None
    return task_id


def test_what_notion_refused_is_told_and_sent_again(
    on_page: Any, served: ConsoleServer, tracked: NotionWorld, expect: Any
) -> None:
    task_id = given_up(tracked, served)
    expect(on_page.get_by_role("link", name="its task")).to_have_attribute("href", f"#/tasks/{task_id}")
    on_page.keyboard.press("r")
    expect(on_page.get_by_text("1 pages are sent again")).to_be_visible()
    tracked.sync()
    expect(on_page.get_by_text("A page that Notion refuses for good stands here")).to_be_visible()
    assert tracked.page(task_id).task_id == task_id


def test_a_check_names_what_is_wrong_and_what_to_do(on_page: Any, tracked: NotionWorld, expect: Any) -> None:
    on_page.keyboard.press("c")
    expect(on_page.get_by_text('"Status" has no option "Rejected"')).to_be_visible()
    tracked.tasks.properties.pop("Status")
    on_page.keyboard.press("c")
    expect(on_page.get_by_text('The database has no property "Status"')).to_be_visible()
    tracked.notion.connections.clear()
    on_page.keyboard.press("c")
    expect(on_page.get_by_role("heading", name="Pages can't get there")).to_be_visible()


def test_handoffs_of_the_tracker_become_tasks_once(
    on_page: Any, served: ConsoleServer, tracked: NotionWorld, expect: Any
) -> None:
    old_page(tracked, OLD)
    old_page(tracked, "Handoff: Scout to nobody")
    for opened, known in (("1", "0"), ("0", "1")):
        on_page.keyboard.press("i")
        on_page.get_by_role("dialog").get_by_role("button", name="Import").click()
        told = on_page.get_by_role("status").filter(has_text="Imported")
        expect(told.locator("dd")).to_have_text([opened, "0", known, "1"])
        expect(told.get_by_text("Handoff: Scout to nobody")).to_be_visible()
    assert [task["title"] for task in served.gateway.get(ALICE, "/tasks", query="state=needs").json["items"]] == [OLD]


def test_a_webhook_is_opened_installed_and_taken_down(
    on_page: Any, served: ConsoleServer, tracked: NotionWorld, expect: Any
) -> None:
    hook = on_page.get_by_role("region", name="Webhook")
    hook.get_by_role("button", name="Open an address").click()
    on_page.get_by_role("dialog").get_by_role("button", name="Open it").click()
    expect(hook.get_by_text("Copy the address now")).to_be_visible()
    address = hook.locator(".id").inner_text().strip()
    assert address.startswith("https://baton.example/notion/webhook/")

    def deliver(body: dict[str, Any]) -> None:
        path = address.removeprefix("https://baton.example")
        assert served.gateway.send(None, "POST", path, json.dumps(body).encode()).status == 200

    token = "secret_verification"
    deliver({"verification_token": token})
    expect(hook.get_by_text(token)).to_be_visible()
    expect(hook.get_by_text("Copy the address now")).to_have_count(0)
    expect(hook.get_by_role("button", name="Open an address")).to_have_count(0)
    hook.get_by_role("button", name="Take it down").click()
    on_page.get_by_role("dialog").get_by_role("button", name="Take it down").click()
    expect(hook.get_by_text("every ten minutes")).to_be_visible()
    assert served.gateway.get(ALICE, "/tracker/webhook").status == 404


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_where_a_tracker_is_connected(
    on_page: Any, served: ConsoleServer, tracked: NotionWorld, scheme: str
) -> None:
    on_page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    given_up(tracked, served)
    old_page(tracked, OLD)
    on_page.keyboard.press("i")
    on_page.get_by_role("dialog").get_by_role("button", name="Import").click()
    on_page.get_by_text("Known before").wait_for()
    on_page.keyboard.press("c")
    on_page.get_by_text('"Status" has no option "Rejected"').wait_for()
    on_page.get_by_role("button", name="Open an address").click()
    on_page.get_by_role("dialog").get_by_role("button", name="Open it").click()
    on_page.get_by_text("Copy the address now").wait_for()
    on_page.get_by_role("link", name="its task").wait_for()
    nothing_found(on_page)
    if scheme == "light":
        pictures(on_page, "tracker")


@pytest.mark.parametrize("width", [1360, 390])
def test_what_notion_says_is_text_in_its_box(
    on_page: Any, served: ConsoleServer, tracked: NotionWorld, expect: Any, width: int
) -> None:
    for trick in TRICKS:
        old_page(tracked, f"Handoff: {trick}")
    names = {"status": TRICKS[0], "priority": TRICKS[5], "due": "W" * 100}
    database = {"database": tracked.tasks.id, "properties": names}
    assert served.gateway.put(ALICE, "/workspace/settings", {"tracker": database}).status == 200
    on_page.set_viewport_size({"width": width, "height": 860})
    on_page.keyboard.press("c")
    expect(on_page.get_by_text("so pages don't show priorities")).to_be_visible()
    on_page.keyboard.press("i")
    on_page.get_by_role("dialog").get_by_role("button", name="Import").click()
    expect(on_page.get_by_text("gnp.exe")).to_be_visible()
    on_page.get_by_text("Its settings").click()
    only_text(on_page)
