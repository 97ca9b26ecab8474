"""Deciding on what waits, by keyboard and many at once."""

from __future__ import annotations

import re
from typing import Any

from support.worlds.console_desk import Desk
from support.worlds.http_agents import ALICE
from support.worlds.world import human


def test_one_reads_what_would_be_approved_and_approves_it_by_keyboard(signed_in: Any, desk: Desk) -> None:
    signed_in.keyboard.press("j")
    whole = signed_in.get_by_role("region", name="What would be approved")
    for text in (
        "Implement sessions",
        "Includes unit tests",
        "No new dependency",
        "a revoked token must not live on",
        "400,000",
    ):
        whole.get_by_text(text).wait_for()
    signed_in.keyboard.press("a")
    signed_in.get_by_role("status").get_by_text("Approved").wait_for()
    assert _task(desk, desk.whole["id"])["state"] == "delegated"
    trail = desk.served.gateway.get(ALICE, f"/tasks/{desk.whole['id']}/events").json["events"]
    assert trail[-1]["principal"] == {"kind": "human", "id": "alice"}


def test_an_approval_is_taken_back_while_its_window_is_open(signed_in: Any, desk: Desk) -> None:
    signed_in.keyboard.press("j")
    signed_in.keyboard.press("a")
    signed_in.get_by_role("button", name=re.compile("^Undo")).wait_for()
    signed_in.keyboard.press("u")
    signed_in.get_by_text("Taken back").wait_for()
    assert _task(desk, desk.whole["id"])["state"] == "needs"


def test_a_list_of_half_a_minute_ago_will_do_until_one_has_decided(signed_in: Any, desk: Desk) -> None:
    """What one did oneself is seen at once, however late the table's stream is."""
    with signed_in.expect_request(_takes_an_old_queue):
        signed_in.keyboard.press("j")
    with signed_in.expect_request(lambda request: _asks_the_queue(request) and not _takes_an_old_queue(request)):
        signed_in.keyboard.press("a")
    signed_in.get_by_text("5 waiting").wait_for()
    assert _task(desk, desk.whole["id"])["state"] == "delegated"
    with signed_in.expect_request(_takes_an_old_queue):
        """The next look again takes an old one."""


def test_a_dismissal_takes_a_reason_and_can_be_undone_before_it_is_sent(signed_in: Any, desk: Desk) -> None:
    for is_undone in (True, False):
        signed_in.goto(f"{desk.served.url}#/approvals?task={desk.whole['id']}")
        signed_in.get_by_role("region", name="What would be approved").get_by_role("button", name="Dismiss").click()
        signed_in.get_by_label("Reason").fill("The design has changed")
        signed_in.get_by_role("dialog").get_by_role("button", name="Dismiss").click()
        undo = signed_in.get_by_role("button", name=re.compile("^Undo"))
        undo.wait_for()
        if is_undone:
            undo.click()
        else:
            undo.wait_for(state="detached")
            signed_in.get_by_text("6 waiting").wait_for(state="detached")
    task = _task(desk, desk.whole["id"])
    trail = desk.served.gateway.get(ALICE, f"/tasks/{desk.whole['id']}/events").json["events"]
    assert task["state"] == "cancelled"
    assert len([each for each in trail if "The design has changed" in str(each["data"])]) == 1


def test_who_leaves_the_page_has_decided(signed_in: Any, desk: Desk) -> None:
    signed_in.keyboard.press("j")
    signed_in.keyboard.press("n")
    signed_in.get_by_role("button", name=re.compile("^Undo")).wait_for()
    signed_in.goto("about:blank")
    _until_state(desk, desk.whole["id"], "next")


def test_a_whole_group_is_approved_at_once(signed_in: Any, desk: Desk) -> None:
    signed_in.get_by_label("Mark all of this group: passes work on").first.check()
    signed_in.get_by_text("4 marked").wait_for()
    signed_in.keyboard.press("a")
    signed_in.get_by_text("Approved 4 tasks").wait_for()
    assert len(_needs(desk)) == 2


def test_of_two_people_the_second_is_told_who_was_first(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.keyboard.press("j")
    signed_in.get_by_text("Implement sessions").wait_for()
    desk.served.gateway.post(human(name="bob"), f"/tasks/{desk.whole['id']}/dismiss", {"reason": "Not now"})
    signed_in.keyboard.press("a")
    expect(signed_in.get_by_text(re.compile(r"stays as it is \(bob: "))).to_be_visible()
    assert _task(desk, desk.whole["id"])["state"] == "cancelled"


def test_a_link_to_what_was_decided_leads_to_what_became_of_it(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/approvals?task={desk.held['id']}")
    signed_in.get_by_text("doesn't wait any more").wait_for()
    signed_in.get_by_role("link", name="See what became of it").click()
    expect(signed_in.get_by_text("holds it as laptop-3")).to_be_visible()
    assert signed_in.url.endswith(f"#/tasks/{desk.held['id']}")


def test_what_another_hands_over_appears_by_itself(signed_in: Any, desk: Desk, expect: Any) -> None:
    desk.served.agents.hand_off("ciso", "qa", target={"agent": "qa", "reason": "Try the new sign-in page"})
    expect(signed_in.get_by_text("Try the new sign-in page")).to_be_visible()
    expect(signed_in.get_by_text("7 waiting")).to_be_visible()


def test_what_has_not_changed_is_not_sent_again(signed_in: Any, desk: Desk) -> None:
    for path in ("/approvals", f"/tasks/{desk.held['id']}"):
        signed_in.goto(f"{desk.served.url}#{path}")
        _unchanged(signed_in, 4)  # all of the page has been read once
        desk.served.answered.clear()
        _unchanged(signed_in, 6)
        reads = [status for asked, status in desk.served.answered if asked.startswith("GET") and "/wait" not in asked]
        assert set(reads) == {304}, desk.served.answered


def test_no_network_is_said_and_mends_itself(signed_in: Any, desk: Desk, expect: Any) -> None:
    desk.served.is_away = True
    notice = signed_in.get_by_text("The API doesn't answer")
    expect(notice).to_be_visible()
    desk.served.is_away = False
    expect(notice).to_have_count(0)


def _unchanged(page: Any, count: int) -> None:
    for _ in range(count):
        with page.expect_response(lambda answer: answer.status == 304):
            pass


def _task(desk: Desk, task_id: str) -> dict[str, Any]:
    task: dict[str, Any] = desk.served.gateway.get(ALICE, f"/tasks/{task_id}").json
    return task


def _needs(desk: Desk) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = desk.served.gateway.get(ALICE, "/tasks", query="state=needs").json["items"]
    return items


def _until_state(desk: Desk, task_id: str, state: str) -> None:
    query = f"state={state}&timeout=10"
    found = desk.served.gateway.get(ALICE, f"/tasks/{task_id}/await", query=query).json
    assert found["state"] == state


def _asks_the_queue(request: Any) -> bool:
    return "/tasks?state=needs" in request.url


def _takes_an_old_queue(request: Any) -> bool:
    return _asks_the_queue(request) and request.headers.get("cache-control") == "max-age=30"
