"""What ends with a session: a decision belongs to who made it, and so does what was typed."""

from __future__ import annotations

import re
from typing import Any

from support.worlds.console_desk import Desk
from support.worlds.http_agents import ALICE
from support.worlds.world import human

BOB = human(name="bob")


def test_who_signs_out_has_decided_and_the_next_person_has_not(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.keyboard.press("j")
    _is_shown(signed_in)
    signed_in.keyboard.press("n")
    signed_in.get_by_role("button", name=re.compile("^Undo")).wait_for()
    signed_in.get_by_role("button", name="Sign out").click()
    _sign_in(signed_in, desk, BOB)
    assert _state(desk) == "next"
    assert _last(desk)["principal"]["id"] == "alice"


def test_a_dismissal_is_sent_before_the_session_goes(signed_in: Any, desk: Desk) -> None:
    signed_in.keyboard.press("j")
    _dismiss(signed_in, "The design has changed")
    signed_in.get_by_role("button", name=re.compile("^Undo")).wait_for()
    signed_in.get_by_role("button", name="Sign out").click()
    signed_in.get_by_label("Your token").wait_for()
    assert _state(desk) == "cancelled"


def test_a_decision_that_did_not_get_through_is_said_to_be_lost(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.keyboard.press("j")
    _is_shown(signed_in)
    signed_in.keyboard.press("n")
    signed_in.get_by_role("button", name=re.compile("^Undo")).wait_for()
    _revoke(signed_in, desk)
    told = signed_in.get_by_role("alert")
    expect(told).to_contain_text("Not sent, and as it was: “Approved for a worker that asks: A person's token")
    _sign_in(signed_in, desk, BOB)
    expect(told).to_have_count(0)
    assert _state(desk) == "needs"


def test_who_signs_out_while_nothing_answers_is_told_what_was_lost(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.keyboard.press("j")
    _is_shown(signed_in)
    signed_in.keyboard.press("n")
    signed_in.get_by_role("button", name=re.compile("^Undo")).wait_for()
    desk.served.is_away = True
    signed_in.get_by_role("button", name="Sign out").click()
    expect(signed_in.get_by_role("alert")).to_contain_text("Whether it was done isn't known")
    assert _state(desk) == "needs"
    desk.served.is_away = False


def test_the_next_person_finds_no_message_and_no_way_back_of_the_one_before(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    desk.served.gateway.put(ALICE, "/workspace/settings", {"dispatch_delay_seconds": 60})
    signed_in.keyboard.press("j")
    _is_shown(signed_in)
    signed_in.keyboard.press("a")
    signed_in.get_by_role("button", name=re.compile("^Undo")).wait_for()
    signed_in.get_by_role("button", name="Sign out").click()
    _sign_in(signed_in, desk, BOB)
    signed_in.goto(f"{desk.served.url}#/approvals")
    signed_in.get_by_text("5 waiting").wait_for()
    expect(signed_in.get_by_text("Approved: ")).to_have_count(0)
    signed_in.keyboard.press("u")
    signed_in.wait_for_timeout(300)
    assert _state(desk) == "delegated"


def test_a_dialog_and_what_was_typed_in_it_wait_for_the_same_person(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/approvals?task={desk.whole['id']}")
    _type_a_reason(signed_in, "It is too early")
    _revoke(signed_in, desk)
    expect(signed_in.get_by_role("dialog")).to_have_count(0)
    _sign_in(signed_in, desk, ALICE)
    expect(signed_in.get_by_label("Reason")).to_have_value("It is too early")
    signed_in.get_by_role("dialog").get_by_role("button", name="Dismiss").click()
    signed_in.get_by_role("button", name=re.compile("^Undo")).wait_for()
    signed_in.goto("about:blank")
    reply = desk.served.gateway.get(ALICE, f"/tasks/{desk.whole['id']}/await", query="state=cancelled&timeout=10")
    assert reply.json["state"] == "cancelled"


def test_a_dialog_and_what_was_typed_in_it_are_not_the_next_persons(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/approvals?task={desk.whole['id']}&q=exchanged")
    _type_a_reason(signed_in, "It is too early")
    _revoke(signed_in, desk)
    signed_in.get_by_label("Your token").wait_for()
    _sign_in(signed_in, desk, BOB)
    expect(signed_in.get_by_role("heading", name="Start")).to_be_visible()
    expect(signed_in.get_by_role("dialog")).to_have_count(0)
    assert "exchanged" not in signed_in.url
    signed_in.goto(f"{desk.served.url}#/approvals?task={desk.whole['id']}")
    signed_in.get_by_role("region", name="What would be approved").get_by_role("button", name="Dismiss").click()
    expect(signed_in.get_by_label("Reason")).to_have_value("")


def test_what_was_typed_on_a_page_waits_for_the_same_person(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/settings")
    signed_in.get_by_label("Cap").fill("7")
    _revoke(signed_in, desk)
    _sign_in(signed_in, desk, ALICE)
    expect(signed_in.get_by_label("Cap")).to_have_value("7")
    expect(signed_in.get_by_role("button", name="Save 1 changed")).to_be_visible()
    signed_in.goto(f"{desk.served.url}#/chat")
    signed_in.get_by_role("textbox", name="Message").fill("How far are you?")
    _revoke(signed_in, desk)
    _sign_in(signed_in, desk, ALICE)
    expect(signed_in.get_by_role("textbox", name="Message")).to_have_value("How far are you?")
    _revoke(signed_in, desk)
    _sign_in(signed_in, desk, BOB)
    signed_in.goto(f"{desk.served.url}#/chat")
    expect(signed_in.get_by_role("textbox", name="Message")).to_have_value("")


def _is_shown(page: Any) -> None:
    page.get_by_role("region", name="What would be approved").get_by_text("No new dependency").wait_for()
    page.get_by_role("button", name=re.compile("^Approve")).and_(page.locator(":enabled")).wait_for()


def _type_a_reason(page: Any, reason: str) -> None:
    page.get_by_role("region", name="What would be approved").get_by_role("button", name="Dismiss").click()
    page.get_by_label("Reason").fill(reason)


def _dismiss(page: Any, reason: str) -> None:
    _type_a_reason(page, reason)
    page.get_by_role("dialog").get_by_role("button", name="Dismiss").click()


def _revoke(page: Any, desk: Desk) -> None:
    session_id = page.evaluate("JSON.parse(sessionStorage.getItem('baton.session')).id")
    assert desk.served.gateway.delete(ALICE, f"/tokens/{session_id}").status == 200
    page.get_by_text("Your session is over").wait_for()


def _sign_in(page: Any, desk: Desk, who: Any) -> None:
    page.get_by_label("Your token").fill(desk.served.token(who))
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Sign out").wait_for()


def _state(desk: Desk) -> str:
    state: str = desk.served.gateway.get(ALICE, f"/tasks/{desk.whole['id']}").json["state"]
    return state


def _last(desk: Desk) -> dict[str, Any]:
    event: dict[str, Any] = desk.served.gateway.get(ALICE, f"/tasks/{desk.whole['id']}/events").json["events"][-1]
    return event
