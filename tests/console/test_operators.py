"""What whoever runs the agents does: release, switch off, resolve, revoke."""

from __future__ import annotations

import re
from typing import Any

from baton.domain.access.rights import Right
from support.worlds.console_desk import Desk
from support.worlds.http_agents import ALICE
from support.worlds.world import agent, human, person


def test_a_review_is_read_and_released(signed_in: Any, desk: Desk) -> None:
    signed_in.goto(f"{desk.served.url}#/reviews")
    signed_in.get_by_role("link", name="ciso").click()
    _until_whole(signed_in)
    signed_in.keyboard.press("r")
    signed_in.get_by_role("dialog").get_by_role("button", name="Release").click()
    signed_in.wait_for_url(re.compile("#/tasks/task_"))
    released = desk.served.gateway.get(ALICE, f"/manual-reviews/{desk.review['id']}").json
    assert (released["state"], released["released_by"]) == ("released", "human:alice")


def test_two_people_release_once_and_the_second_is_told(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/reviews/{desk.review['id']}")
    _until_whole(signed_in)
    signed_in.keyboard.press("r")
    dialog = signed_in.get_by_role("dialog")
    dialog.wait_for()
    assert desk.served.gateway.post(ALICE, f"/manual-reviews/{desk.review['id']}/release", {}).status == 200
    dialog.get_by_role("button", name="Release").click()
    expect(dialog.get_by_role("alert")).to_contain_text("was released before")
    assert signed_in.url.endswith(f"#/reviews/{desk.review['id']}")


def test_a_release_shows_the_agent_once_a_member_has_changed_it(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/reviews/{desk.review['id']}")
    _until_whole(signed_in)
    target = f"/agents/{desk.review['target_agent']}"
    assert desk.served.gateway.put(person(Right.MEMBER, "mia"), target, {"name": "Another"}).status == 200
    signed_in.keyboard.press("r")
    signed_in.get_by_role("dialog").get_by_role("button", name="Release").click()
    dialog = signed_in.get_by_role("dialog", name="has changed")
    expect(dialog).to_contain_text("human:mia has changed it")
    expect(dialog).to_contain_text("Another")
    dialog.get_by_role("button", name="Release for it as it is now").click()
    signed_in.wait_for_url(re.compile("#/tasks/task_"))


def test_a_review_whose_request_changes_while_it_is_read_is_not_released(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    path = f"/manual-reviews/{desk.review['id']}"
    read = desk.served.gateway.get(ALICE, path).json
    signed_in.goto(f"{desk.served.url}#/reviews/{desk.review['id']}")
    _until_whole(signed_in)
    later = read | {"version": read["version"] + 1, "request": read["request"] | {"escalation_reason": "Pay mallory"}}
    signed_in.route(f"**{path}", lambda route: route.fulfill(json=later))
    expect(signed_in.get_by_role("alert")).to_contain_text("It was changed while you read it")
    expect(signed_in.get_by_role("button", name="Release")).to_be_disabled()
    expect(signed_in.get_by_text("Pay mallory")).to_have_count(0)
    signed_in.get_by_role("button", name="Read it as it is now").click()
    expect(signed_in.get_by_role("region", name="What was changed")).to_contain_text("Pay mallory")
    expect(signed_in.get_by_role("button", name="Release")).to_be_enabled()


def test_a_review_is_closed_by_keyboard_with_a_reason(signed_in: Any, desk: Desk, expect: Any) -> None:
    path = f"/manual-reviews/{desk.review['id']}"
    signed_in.goto(f"{desk.served.url}#/reviews/{desk.review['id']}")
    _until_whole(signed_in)
    signed_in.keyboard.press("?")
    expect(signed_in.get_by_role("dialog")).to_contain_text("close")
    signed_in.keyboard.press("Escape")
    signed_in.keyboard.press("x")
    dialog = signed_in.get_by_role("dialog")
    expect(dialog.get_by_label("Reason")).to_be_focused()
    signed_in.keyboard.type("The key was a sample")
    for _ in range(2):
        signed_in.keyboard.press("Tab")
    signed_in.keyboard.press("Enter")
    expect(signed_in.locator(".task header .state")).to_have_text("closed")
    expect(signed_in.get_by_text("The key was a sample")).to_be_visible()
    expect(signed_in.get_by_role("button", name="Release")).to_have_count(0)
    closed = desk.served.gateway.get(ALICE, path).json
    assert (closed["state"], closed["closed_by"], closed["task_id"]) == ("closed", "human:alice", None)
    signed_in.goto(f"{desk.served.url}#/reviews?state=closed")
    expect(signed_in.get_by_role("link", name="ciso")).to_be_visible()


def test_who_closes_what_somebody_has_released_is_told(signed_in: Any, desk: Desk, expect: Any) -> None:
    path = f"/manual-reviews/{desk.review['id']}"
    signed_in.goto(f"{desk.served.url}#/reviews/{desk.review['id']}")
    _until_whole(signed_in)
    signed_in.keyboard.press("x")
    dialog = signed_in.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("A sample")
    assert desk.served.gateway.post(human(name="bob"), f"{path}/release", {}).status == 200
    dialog.get_by_role("button", name="Close it").click()
    expect(dialog.get_by_role("alert")).to_contain_text("was released before, by human:bob")


def _until_whole(page: Any) -> None:
    """Waits until the review and its warnings are on the screen."""
    page.get_by_text("The scanner finds a leaked key").first.wait_for()
    page.locator(".acts button:enabled").first.wait_for()


def test_an_agent_is_switched_off_with_a_reason_and_on_again(signed_in: Any, desk: Desk) -> None:
    gateway = desk.served.gateway
    signed_in.goto(f"{desk.served.url}#/agents/auto-code")
    for name, status in (("Switch off", 403), ("Switch on", 204)):
        signed_in.get_by_role("button", name=name).click()
        if name == "Switch off":
            signed_in.get_by_label("Reason").fill("It answers in circles")
        signed_in.get_by_role("dialog").get_by_role("button", name=name).click()
        signed_in.get_by_role("dialog").wait_for(state="detached")
        assert gateway.post(agent("auto-code"), "/agents/auto-code/claims").status == status
    told = gateway.get(ALICE, "/alerts").json["items"][0]
    assert (told["message"], told["raised_by"]) == ("auto-code was switched off: It answers in circles", "human:alice")


def test_a_result_that_came_too_late_is_taken_by_a_click(signed_in: Any, desk: Desk, expect: Any) -> None:
    gateway, task_id = desk.served.gateway, desk.held["id"]
    body = {"fence": 1, "reason": "It hangs"}
    assert gateway.post(ALICE, f"/tasks/{task_id}/release-claim", body).status == 200
    assert desk.served.agents.say(desk.claim, "complete", output={"passed": 53}).status == 409
    signed_in.goto(f"{desk.served.url}#/tasks/{task_id}")
    late = signed_in.get_by_role("region", name="Came too late")
    expect(late.get_by_text('"passed": 53')).to_be_visible()
    for is_undone in (True, False):
        late.get_by_role("button", name="Take this result").click()
        undo = signed_in.get_by_role("button", name=re.compile("^Undo"))
        expect(undo).to_be_visible()
        if is_undone:
            undo.click()
    expect(signed_in.locator("header .state").first).to_contain_text("done")
    task = gateway.get(ALICE, f"/tasks/{task_id}").json
    assert (task["state"], task["output"]) == ("done", {"passed": 53})
    last = gateway.get(ALICE, f"/tasks/{task_id}/events").json["events"][-1]
    assert last["principal"]["id"] == "alice"
    assert "came too late under claim 1" in str(last["data"])
    expect(late.get_by_role("button", name="Take this result")).to_have_count(0)


def test_a_task_that_waits_again_shows_what_came_too_late(signed_in: Any, desk: Desk, expect: Any) -> None:
    path = f"/tasks/{desk.whole['id']}"
    for verb in ("approve", "undo"):
        assert desk.served.gateway.post(ALICE, f"{path}/{verb}").status == 200
    result = {"fence": 1, "agent": "auto-code", "at": "2026-11-23T12:00:00.000Z", "verb": "complete"}
    found = {"items": [{**result, "content": {"completion": {"notes": ["Sessions are done"]}}}], "next_cursor": None}
    signed_in.route("**/late-results?*", lambda route: route.fulfill(json=found))
    signed_in.goto(f"{desk.served.url}#/approvals?task={desk.whole['id']}")
    late = signed_in.get_by_role("region", name="Came too late")
    expect(late.get_by_text("Sessions are done")).to_be_visible()
    late.get_by_role("button", name="Take this result").click()
    expect(signed_in.get_by_text("5 waiting")).to_be_visible()
    with signed_in.expect_response("**/resolve") as answer:
        pass
    assert answer.value.status == 200
    assert desk.served.gateway.get(ALICE, path).json["output"] == {"notes": ["Sessions are done"]}


def test_an_alert_is_resolved_with_a_note(signed_in: Any, desk: Desk) -> None:
    signed_in.goto(f"{desk.served.url}#/alerts")
    signed_in.get_by_role("button", name="Mark all").click()
    signed_in.get_by_role("button", name="Resolve").click()
    signed_in.get_by_label("Note").fill("The key was replaced")
    signed_in.get_by_role("dialog").get_by_role("button", name="Resolve").click()
    signed_in.get_by_text("Nothing is wrong").wait_for()
    assert desk.served.gateway.get(ALICE, "/alerts").json["items"][0]["note"] == "The key was replaced"


def test_a_token_is_shown_once_and_works_until_it_is_revoked(signed_in: Any, desk: Desk) -> None:
    signed_in.goto(f"{desk.served.url}#/tokens")
    signed_in.get_by_role("button", name="New token").click()
    signed_in.get_by_label("Name").fill("qa")
    signed_in.get_by_role("dialog").get_by_role("button", name="Make it").click()
    token = signed_in.locator(".good .id").inner_text()
    assert token.startswith("baton_")
    signed_in.get_by_role("button", name="I have it").click()
    signed_in.reload()
    signed_in.get_by_text("this one").wait_for()
    assert token not in signed_in.content()


def test_who_ends_their_own_session_is_signed_out(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/tokens")
    signed_in.locator(".card", has_text="this one").get_by_role("button", name="End").click()
    signed_in.get_by_role("dialog").get_by_role("button", name="End it").click()
    expect(signed_in.get_by_label("Your token")).to_be_visible()
    assert signed_in.evaluate("sessionStorage.length") == 0


def test_a_setting_is_changed_and_the_others_stay(signed_in: Any, desk: Desk) -> None:
    before = _settings(desk)
    signed_in.goto(f"{desk.served.url}#/settings")
    signed_in.get_by_label("Attempts").fill("5")
    signed_in.get_by_label("Apparent secrets").select_option("mask")
    signed_in.get_by_label("Holidays").fill("2027-01-06\n2027-12-25\n")
    signed_in.get_by_role("button", name="Save 3 changed").click()
    signed_in.get_by_text("Saved: it holds").wait_for()
    after = _settings(desk)
    assert (after.pop("max_attempts"), before.pop("max_attempts")) == (5, 3)
    assert (after.pop("holidays"), before.pop("holidays")) == (["2027-01-06", "2027-12-25"], [])
    assert after.pop("guardrails") == before.pop("guardrails") | {"secrets": "mask"}
    assert after.pop("version") == before.pop("version") + 1
    assert after == before


def test_of_two_people_the_second_is_told_and_keeps_what_they_wrote(signed_in: Any, desk: Desk) -> None:
    signed_in.goto(f"{desk.served.url}#/settings")
    signed_in.get_by_label("Attempts").fill("5")
    assert desk.served.gateway.put(ALICE, "/workspace/settings", {"escalation_cap": 4}).status == 200
    signed_in.get_by_role("button", name="Save 1 changed").click()
    signed_in.get_by_role("alert").get_by_text("Somebody changed it first").wait_for()
    assert _settings(desk)["max_attempts"] == 3
    signed_in.get_by_role("button", name="Base them on version").click()
    signed_in.get_by_role("button", name="Save 1 changed").click()
    signed_in.get_by_text("Saved: it holds").wait_for()
    assert (_settings(desk)["max_attempts"], _settings(desk)["escalation_cap"]) == (5, 4)


def test_a_change_that_nothing_answered_is_kept_and_not_said_to_be_repeated(signed_in: Any, desk: Desk) -> None:
    signed_in.goto(f"{desk.served.url}#/settings")
    signed_in.get_by_label("Attempts").fill("5")
    desk.served.is_away = True
    signed_in.get_by_role("button", name="Save 1 changed").click()
    signed_in.get_by_role("alert").get_by_text("look how it is before you try again").wait_for()
    desk.served.is_away = False
    signed_in.get_by_role("button", name="Save 1 changed").click()
    signed_in.get_by_text("Saved: it holds").wait_for()
    assert _settings(desk)["max_attempts"] == 5


def test_a_direction_shows_what_became_of_its_handoffs(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/directions")
    signed_in.get_by_role("button", name="ciso to qa: 2 handoffs, 0 failed or rejected, 0 open, 1 stopped").click()
    expect(signed_in.get_by_role("link", name="The scanner finds a leaked key")).to_have_count(2)
    signed_in.get_by_role("button", name="architect to auto-code: 5 handoffs, 1 failed").click()
    signed_in.get_by_role("link", name="Move the queue").click()
    expect(signed_in.get_by_text("handoff failed")).to_be_visible()
    assert signed_in.url.endswith(f"#/tasks/{desk.failed['id']}")


def test_a_tracker_is_named_and_switched_off(signed_in: Any, desk: Desk) -> None:
    signed_in.goto(f"{desk.served.url}#/tracker")
    signed_in.get_by_text("No tracker is connected").wait_for()
    for database, told in (("0123456789abcdef0123456789abcdef", "0 pages"), ("", "No tracker is connected")):
        signed_in.get_by_role("button", name="Database").click()
        signed_in.get_by_role("textbox", name="Database").fill(database)
        signed_in.get_by_role("dialog").get_by_role("button", name="Save").click()
        signed_in.get_by_text(told).wait_for()
        tracker = _settings(desk)["tracker"]
        assert (tracker["database"] if tracker else "") == database


def _settings(desk: Desk) -> dict[str, Any]:
    settings: dict[str, Any] = desk.served.gateway.get(ALICE, "/workspace/settings").json
    return settings
