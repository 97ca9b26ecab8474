"""Where one begins: what waits, what is stuck, what the last day brought."""

from __future__ import annotations

from typing import Any

from support.worlds.console_desk import Desk
from support.worlds.http_agents import ALICE


def test_what_waits_is_counted_and_leads_to_its_page(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/")
    for name in ("6 to approve", "1 manual review", "1 open alert"):
        expect(signed_in.get_by_role("link", name=name)).to_be_visible()
    expect(signed_in.get_by_text("1 critical")).to_be_visible()
    signed_in.get_by_role("link", name="1 manual review").click()
    expect(signed_in.get_by_text("the cap of its direction")).to_be_visible()


def test_the_last_day_is_drawn_and_told_in_words(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/start")
    expect(signed_in.get_by_role("img", name="Ended: 0 done, 1 failed, 2 rejected or cancelled")).to_be_visible()


def test_an_alert_about_a_task_is_a_task_that_is_stuck(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/start")
    expect(signed_in.get_by_text("Nothing is stuck")).to_be_visible()
    told = {"kind": "no-answer", "severity": "warning", "message": "The vendor is silent", "task_id": desk.held["id"]}
    assert desk.served.gateway.post(ALICE, "/alerts", told).status == 201
    signed_in.get_by_role("link", name="no-answer").click(timeout=15_000)
    expect(signed_in.get_by_text("holds it as laptop-3")).to_be_visible()


def test_what_a_page_shows_is_asked_for_before_what_is_around_it(signed_in: Any, desk: Desk) -> None:
    asked: list[str] = []
    task = f"/tasks/{desk.held['id']}"
    signed_in.goto(f"{desk.served.url}#{task}")
    signed_in.on(
        "request", lambda request: asked.append(request.url.removeprefix(desk.served.url.split("/console")[0]))
    )
    signed_in.reload()
    signed_in.get_by_role("link", name="Approvals").get_by_text("6").wait_for()
    of_api = [path for path in asked if not path.startswith("/console/")]
    of_frame = [path for path in of_api if path == "/bell" or path.startswith(("/alerts", "/tasks?"))]
    assert of_api[:2] == [task, f"/workflows/{desk.held['workflow_id']}/chain"]
    assert f"{task}/notes?limit=25" in of_api
    assert of_api.index(f"{task}/notes?limit=25") < min(map(of_api.index, of_frame))
