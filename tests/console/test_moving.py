"""From page to page: where one is, and where the keys go."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.worlds.console_desk import Desk
from support.worlds.http_agents import ALICE

FOCUSED = "document.activeElement.id || document.activeElement.textContent.trim()"


def test_a_page_begins_at_its_top(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.set_viewport_size({"width": 1360, "height": 300})
    signed_in.goto(f"{desk.served.url}#/settings")
    signed_in.get_by_label("Forbidden patterns").scroll_into_view_if_needed()
    assert signed_in.evaluate("scrollY") > 500
    signed_in.keyboard.press("g")
    signed_in.keyboard.press("s")
    expect(signed_in.get_by_text("Nothing is stuck")).to_be_visible()
    assert signed_in.evaluate("scrollY") == 0


def test_a_page_that_a_link_opened_has_the_focus(signed_in: Any, desk: Desk) -> None:
    signed_in.goto(f"{desk.served.url}#/tasks/{desk.failed['id']}")
    signed_in.get_by_role("link", name="The task that it was rolled back to").click()
    signed_in.get_by_role("heading", name="The design has to change", level=1).wait_for()
    assert signed_in.evaluate(FOCUSED) == "content"


def test_back_in_a_list_one_is_where_one_was(signed_in: Any, desk: Desk, expect: Any) -> None:
    listed = desk.served.gateway.get(ALICE, "/tasks").json["items"][0]
    many = [{**listed, "id": f"task_{number:026}", "title": f"Task {number}"} for number in range(300)]
    signed_in.route(re.compile(r"/tasks\?"), lambda route: route.fulfill(json={"items": many, "next_cursor": None}))
    signed_in.goto(f"{desk.served.url}#/tasks")
    signed_in.get_by_text("300 shown").wait_for()
    for _ in range(41):
        signed_in.keyboard.press("j")
    signed_in.keyboard.press("Enter")
    signed_in.get_by_role("heading", name="There is no such task").wait_for()
    signed_in.go_back()
    expect(signed_in.get_by_role("link", name="Task 40")).to_be_focused()
    expect(signed_in.get_by_role("link", name="Task 40")).to_be_in_viewport()
    signed_in.keyboard.press("j")
    expect(signed_in.get_by_role("link", name="Task 41")).to_be_focused()


@pytest.mark.parametrize(("opener", "leaver"), [("?", "Close"), ("c", "Keep as it is")])
def test_a_dialog_gives_the_focus_back(signed_in: Any, desk: Desk, expect: Any, opener: str, leaver: str) -> None:
    signed_in.goto(f"{desk.served.url}#/tasks/{desk.held['id']}")
    verify = signed_in.get_by_role("button", name="Verify")
    verify.focus()
    for leave in (leaver, "Escape"):
        signed_in.keyboard.press(opener)
        dialog = signed_in.get_by_role("dialog")
        if leave == "Escape":
            dialog.press("Escape")
        else:
            dialog.get_by_role("button", name=leave).press("Enter")
        expect(dialog).to_have_count(0)
        expect(verify).to_be_focused()
