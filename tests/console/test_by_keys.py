"""What an operator does without a mouse: each page's parts, what was chosen, and forms are reached and left by keys."""

from __future__ import annotations

from typing import Any

from support.worlds.console_desk import Desk
from support.worlds.http_agents import ALICE


def test_what_was_chosen_is_read_to_its_end_and_left_for_the_list(signed_in: Any, desk: Desk, expect: Any) -> None:
    panel = signed_in.get_by_role("region", name="What would be approved")
    signed_in.keyboard.press("j")
    expect(panel.get_by_text("Cost of the chain")).to_be_attached()
    signed_in.keyboard.press("PageDown")
    signed_in.wait_for_function("() => document.querySelector('.one').scrollTop > 0")
    assert signed_in.evaluate("scrollY") == 0
    signed_in.keyboard.press("Enter")
    expect(panel).to_be_focused()
    signed_in.keyboard.press("Tab")
    assert signed_in.evaluate("document.querySelector('.one').contains(document.activeElement)")
    signed_in.keyboard.press("Escape")
    expect(signed_in.locator(".item.at .open")).to_be_focused()
    signed_in.keyboard.press("Escape")
    expect(signed_in.get_by_text("Choose one to read it whole")).to_be_visible()


def test_a_filter_that_leaves_nothing_is_left_by_escape(signed_in: Any, expect: Any) -> None:
    signed_in.keyboard.press("/")
    signed_in.keyboard.type("unheard")
    expect(signed_in.get_by_text("Nothing fits the filter")).to_be_visible()
    signed_in.keyboard.press("Escape")
    signed_in.keyboard.press("Escape")
    expect(signed_in.get_by_text("6 waiting", exact=True)).to_be_visible()


def test_a_reason_is_sent_from_its_field(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.keyboard.press("j")
    expect(signed_in.get_by_role("button", name="Dismiss")).to_be_enabled()
    signed_in.keyboard.press("x")
    signed_in.keyboard.press("Control+Enter")
    expect(signed_in.get_by_label("Reason")).to_be_focused()
    signed_in.keyboard.type("Not now")
    signed_in.keyboard.press("Control+Enter")
    expect(signed_in.get_by_text("Dismissed: ")).to_be_visible()


def test_views_are_opened_by_their_numbers_and_parts_of_a_page_one_after_the_other(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    signed_in.goto(f"{desk.served.url}#/alerts")
    signed_in.get_by_text("1 shown").wait_for()
    signed_in.keyboard.press("3")
    expect(signed_in).to_have_url(f"{desk.served.url}#/alerts?state=snoozed")
    signed_in.goto(f"{desk.served.url}#/tasks/{desk.failed['id']}")
    for name in ("What came of it", "Chain"):  # the chain comes with an answer of its own
        expect(signed_in.get_by_role("heading", name=name, level=2)).to_be_visible()
    for name in ("Chain", "Timeline", "What was asked", "What came of it"):
        signed_in.keyboard.press("]")
        expect(signed_in.get_by_role("heading", name=name, level=2)).to_be_focused()
    expect(signed_in.get_by_role("heading", name="What came of it")).to_be_in_viewport()


def test_a_colleague_is_told_why_a_task_failed(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.context.grant_permissions(["clipboard-read", "clipboard-write"])
    signed_in.goto(f"{desk.served.url}#/tasks/{desk.failed['id']}")
    reason = "The order of two messages of one group can't be kept"
    expect(signed_in.locator("header").get_by_text(reason)).to_be_in_viewport()
    signed_in.keyboard.press("y")
    expect(signed_in.get_by_text("Copied: its link")).to_be_visible()
    lines = signed_in.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[0] == "Move the queue to a standard one"
    assert lines[1].startswith("failed, architect → auto-code, P2")
    assert lines[2:] == [f"blocker: {reason}", f"{desk.served.url.removesuffix('console/')}tasks/{desk.failed['id']}"]


def test_a_handoff_with_criteria_is_made_without_a_mouse(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.keyboard.press("g")
    signed_in.keyboard.press("h")
    signed_in.get_by_label("To (optional)").select_option("qa")
    signed_in.get_by_label("What is asked, and why").press_sequentially("Try it in two browsers")
    for name in ("Title (optional)", "Values that go with it (optional)", "Constraints, one a line (optional)"):
        signed_in.keyboard.press("Tab")
        field = signed_in.get_by_label(name)
        expect(field).to_be_focused()
        below = "document.activeElement.getBoundingClientRect().bottom <= document.querySelector('.save').offsetTop"
        assert signed_in.evaluate(below.replace("offsetTop", "getBoundingClientRect().top"))
    signed_in.keyboard.press("Tab")
    signed_in.keyboard.type("What each of them shows")
    for _ in range(2):
        signed_in.keyboard.press("Tab")
    signed_in.keyboard.type("Both are signed in\nNeither says an error")
    signed_in.keyboard.press("Control+Enter")
    expect(signed_in.get_by_label("Kind of result")).to_be_focused()
    signed_in.keyboard.type("test")
    signed_in.keyboard.press("Control+Enter")
    expect(signed_in.locator("h1.title")).to_have_text("Try it in two browsers")
    expect(signed_in.get_by_text("Neither says an error")).to_be_visible()
    (made,) = [
        each
        for each in desk.served.gateway.get(ALICE, "/tasks", query="agent=qa").json["items"]
        if each["title"] == "Try it in two browsers"
    ]
    handoff = desk.served.gateway.get(ALICE, f"/handoffs/{made['handoff_id']}").json
    (result,) = handoff["expectations"]["deliverables"]
    assert (result["type"], len(result["acceptance_criteria"])) == ("test_results", 2)


OPENED = """async () => {
  dispatchEvent(new KeyboardEvent("keydown", { key: "?" }));
  for (let turn = 0; turn < 50; turn += 1) await null;
  return document.querySelector("dialog.keys")?.open === true;
}"""


def test_the_list_of_keys_is_there_before_anything_else_is_painted(signed_in: Any) -> None:
    assert signed_in.evaluate(OPENED)
