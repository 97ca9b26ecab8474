"""Tasks: a list of many, and one of them live."""

from __future__ import annotations

import re
from typing import Any

from support.worlds.console_desk import Desk, approved, at_once, claimed
from support.worlds.http_agents import ALICE
from support.worlds.world import agent, human


def test_one_watches_a_task_go_from_claim_to_completion(signed_in: Any, desk: Desk) -> None:
    served = desk.served
    with at_once(served):
        task = approved(served, "architect", "ciso", "Read the threat model")
    signed_in.goto(f"{served.url}#/tasks/{task['id']}")
    signed_in.get_by_text("nobody has claimed it yet").wait_for()
    claim = claimed(served, "ciso", task["id"], "desk-7")
    signed_in.get_by_text("holds it as desk-7").wait_for()
    before = signed_in.locator(".holder time").last.get_attribute("datetime")
    beat = {"claim_id": claim["claim_id"], "lease_seconds": 1800}
    assert served.gateway.post(agent("ciso"), f"/tasks/{task['id']}/heartbeat", beat).status == 200
    signed_in.wait_for_selector(f".holder time:last-of-type:not([datetime='{before}'])")
    assert served.agents.say(claim, "complete", output={"risks": 0}).status == 200
    signed_in.get_by_role("heading", name="What came of it").wait_for()
    signed_in.get_by_text('"risks": 0').wait_for()
    signed_in.get_by_role("button", name="Verify").click()
    signed_in.get_by_text("each chained to the one before").wait_for()


def test_a_task_that_becomes_ready_while_it_is_looked_at_says_so(signed_in: Any, desk: Desk, expect: Any) -> None:
    desk.served.gateway.put(ALICE, "/workspace/settings", {"dispatch_delay_seconds": 8})
    task = approved(desk.served, "architect", "ciso", "Read the threat model")
    signed_in.goto(f"{desk.served.url}#/tasks/{task['id']}")
    expect(signed_in.get_by_text("Ready in")).to_be_visible()
    expect(signed_in.get_by_text("nobody has claimed it yet")).to_be_visible()


def test_cancelling_a_task_says_what_falls_with_it(signed_in: Any, desk: Desk) -> None:
    served = desk.served
    with at_once(served):
        whole = approved(served, "architect", "auto-code", "Ship 2.4")
        claim = claimed(served, "auto-code", whole["id"])
    branches = [{"target": {"agent": "qa", "reason": name}} for name in ("Try it", "Measure it")]
    assert served.agents.say(claim, "delegate", branches=branches).status == 200
    signed_in.goto(f"{served.url}#/tasks/{whole['id']}")
    signed_in.get_by_text("3 handoffs").wait_for()
    signed_in.keyboard.press("c")
    dialog = signed_in.get_by_role("dialog")
    dialog.get_by_text("2 tasks fall with it").wait_for()
    dialog.get_by_text("Measure it").wait_for()
    dialog.get_by_label("Reason").fill("2.4 was withdrawn")
    dialog.get_by_role("button", name="Cancel all 3").click()
    signed_in.locator(".task header .state.cancelled").wait_for()
    assert served.gateway.get(ALICE, f"/tasks/{whole['id']}").json["state"] == "cancelled"


def test_a_task_is_taken_back_by_keyboard_from_a_worker_that_is_told_of(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    served, path = desk.served, f"/tasks/{desk.held['id']}"
    signed_in.goto(f"{served.url}#{path}")
    signed_in.get_by_text("holds it as laptop-3").wait_for()
    signed_in.keyboard.press("?")
    expect(signed_in.get_by_role("dialog")).to_contain_text("take back")
    signed_in.keyboard.press("Escape")
    signed_in.keyboard.press("l")
    dialog = signed_in.get_by_role("dialog")
    expect(dialog).to_contain_text("taken back from qa (laptop-3)")
    expect(dialog).to_contain_text("The same agent may claim it again")
    expect(dialog.get_by_label("Reason")).to_be_focused()
    signed_in.keyboard.type("No progress for an hour")
    for _ in range(2):
        signed_in.keyboard.press("Tab")
    signed_in.keyboard.press("Enter")
    expect(signed_in.get_by_text("nobody has claimed it yet")).to_be_visible()
    task = served.gateway.get(ALICE, path).json
    assert (task["state"], task["claim"], task["attempt"]) == ("delegated", None, 0)
    last = served.gateway.get(ALICE, f"{path}/events").json["events"][-1]
    assert (last["type"], last["principal"]["id"], last["data"]["reason"]) == (
        "released",
        "alice",
        "No progress for an hour",
    )


def test_of_two_people_who_take_it_back_the_second_is_told_who_was_first(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    served, path = desk.served, f"/tasks/{desk.held['id']}"
    signed_in.goto(f"{served.url}#{path}")
    signed_in.get_by_text("holds it as laptop-3").wait_for()
    signed_in.keyboard.press("l")
    dialog = signed_in.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("No progress")
    first = served.gateway.post(human(name="bob"), f"{path}/release-claim", {"fence": 1, "reason": "It hangs"})
    assert first.status == 200
    dialog.get_by_role("button", name="Take back").click()
    expect(dialog.get_by_role("alert")).to_contain_text("human:bob ended claim 1")
    claimed(served, "qa", desk.held["id"], "desk-7")
    dialog.get_by_role("button", name="Take back").click()
    expect(dialog.get_by_role("alert")).to_contain_text("qa holds the task under claim 2")
    assert served.gateway.get(ALICE, path).json["claim"]["worker"] == "desk-7"


def test_of_a_large_chain_the_task_one_looks_at_is_in_sight(signed_in: Any, desk: Desk, expect: Any) -> None:
    served = desk.served
    with at_once(served):
        whole = approved(served, "architect", "auto-code", "Ship 2.4")
        claim = claimed(served, "auto-code", whole["id"])
    branches = [{"target": {"agent": "qa", "reason": f"Try part {number}"}} for number in range(10)]
    made = served.agents.say(claim, "delegate", branches=branches)
    assert made.status == 200, made.text
    signed_in.set_viewport_size({"width": 390, "height": 860})
    last = served.gateway.get(ALICE, f"/workflows/{whole['workflow_id']}/chain").json["nodes"][0]["children"][-1]
    signed_in.goto(f"{served.url}#/tasks/{last['task_id']}")
    expect(signed_in.locator(".box.here")).to_be_in_viewport(ratio=1)


def test_a_failure_says_what_is_needed_and_is_tried_again(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/tasks/{desk.failed['id']}")
    for text in ("No group id on a standard queue", "May messages be reordered?"):
        expect(signed_in.get_by_text(text)).to_be_visible()
    signed_in.keyboard.press("r")
    signed_in.get_by_role("dialog").get_by_role("button", name="Retry").click()
    signed_in.wait_for_url(re.compile(rf"#/tasks/(?!{desk.failed['id']})task_"))
    expect(signed_in.get_by_text("Retry of")).to_be_visible()


def test_of_many_notes_the_newest_are_shown_and_more_on_demand(signed_in: Any, desk: Desk, expect: Any) -> None:
    with at_once(desk.served):
        task = approved(desk.served, "architect", "ciso", "Read the threat model")
        claim = claimed(desk.served, "ciso", task["id"])
    for number in range(30):
        assert desk.served.agents.say(claim, "notes", text=f"Note {number:02}.").status == 201
    signed_in.goto(f"{desk.served.url}#/tasks/{task['id']}")
    notes = signed_in.get_by_role("region", name="Notes")
    expect(notes.get_by_text("These are the newest 25.")).to_be_visible()
    notes.get_by_role("button", name="Show up to 100").click()
    expect(notes.get_by_role("listitem")).to_have_count(30)
    expect(notes.get_by_text("These are the newest")).to_have_count(0)


def test_filters_are_in_the_address_and_views_are_kept(signed_in: Any, desk: Desk) -> None:
    signed_in.goto(f"{desk.served.url}#/tasks?state=claimed")
    signed_in.get_by_text("1 shown").wait_for()
    signed_in.get_by_label("Words").fill("nothing like it")
    signed_in.get_by_text("No task fits").wait_for()
    assert "q=nothing" in signed_in.url
    signed_in.get_by_label("Words").fill("candidate")
    signed_in.get_by_role("button", name="Save this view").click()
    signed_in.get_by_label("Name").fill("Candidates")
    signed_in.get_by_role("button", name="Save", exact=True).click()
    signed_in.get_by_text("Your view, saved by human:alice").wait_for()
    signed_in.reload()
    assert "q=candidate" in signed_in.get_by_role("link", name="Candidates").get_attribute("href")


def test_of_a_thousand_tasks_only_those_in_sight_are_in_the_page(signed_in: Any, desk: Desk) -> None:
    listed = desk.served.gateway.get(ALICE, "/tasks").json["items"][0]
    many = [{**listed, "id": f"task_{number:026}", "title": f"Task {number}"} for number in range(1000)]
    signed_in.route(
        re.compile(r"/tasks\?limit"), lambda route: route.fulfill(json={"items": many, "next_cursor": None})
    )
    signed_in.goto(f"{desk.served.url}#/tasks")
    signed_in.get_by_text("1,000 shown").wait_for()
    assert signed_in.locator("tbody tr[data-at]").count() < 60
    signed_in.locator(".table").evaluate("table => { table.scrollTop = table.scrollHeight; }")
    signed_in.get_by_text("Task 999").wait_for()
    signed_in.get_by_label("Words").fill("Task 770")
    signed_in.get_by_text("1 of 1,000 shown").wait_for()


def test_a_task_becomes_ready_before_the_reader_s_eyes(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/tasks/{desk.whole['id']}")
    signed_in.get_by_role("button", name="Approve").click()
    expect(signed_in.get_by_text("nobody has claimed it yet")).to_be_visible()
