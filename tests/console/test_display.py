"""How a person sees times and rows on a device, and what they should look at twice before they decide on many."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from support.worlds.console_desk import Desk, approved, at_once
from support.worlds.console_server import ConsoleServer
from support.worlds.http_agents import ALICE

NEW_YORK, TOKYO = "America/New_York", "Asia/Tokyo"


@pytest.fixture
def in_vienna(browser: Any, served: ConsoleServer, desk: Desk) -> Iterator[Any]:
    """The tab of a person whose device is in Vienna, in a workspace of Tokyo."""
    assert served.gateway.put(ALICE, "/workspace/settings", {"time_zone": TOKYO}).status == 200
    context = browser.new_context(timezone_id="Europe/Vienna", viewport={"width": 1280, "height": 800})
    tab = context.new_page()
    tab.goto(f"{served.url}#/tasks")
    tab.get_by_label("Your token").fill(served.token(ALICE))
    tab.keyboard.press("Enter")
    tab.get_by_text("11 shown").wait_for()
    yield tab
    context.close()


def test_the_exact_time_is_said_in_each_zone_to_who_points_or_presses_a_key(in_vienna: Any, expect: Any) -> None:
    box = in_vienna.locator(".when")
    in_vienna.locator("td.age time").first.hover()
    for text in ("Age:", "Yours Europe/Vienna", f"Workspace's {TOKYO}", "GMT+9", re.compile(r"\d{4}-\d\d-\d\dT.*Z")):
        expect(box).to_contain_text(text)
    in_vienna.mouse.move(5, 5)
    expect(box).to_be_hidden()
    in_vienna.keyboard.press("j")
    in_vienna.keyboard.press("z")
    expect(box).to_contain_text(TOKYO)
    in_vienna.keyboard.press("Escape")
    expect(box).to_be_hidden()
    assert in_vienna.evaluate("document.activeElement.closest('tr') !== null")  # the focus is where it was


def test_a_zone_is_chosen_kept_and_read_in(in_vienna: Any, desk: Desk, expect: Any) -> None:
    in_vienna.goto(f"{desk.served.url}#/display")
    in_vienna.get_by_label("another one").check()
    in_vienna.get_by_label("Its name").fill("Europe/Vien")
    expect(in_vienna.get_by_text("This browser knows no zone of that name")).to_be_visible()
    in_vienna.get_by_label("Its name").fill(NEW_YORK)
    in_vienna.get_by_label("compact").check()
    in_vienna.goto(f"{desk.served.url}#/approvals?task={desk.whole['id']}")
    in_vienna.reload()
    in_vienna.locator(".acts button:enabled").first.wait_for()
    in_vienna.keyboard.press("d")
    until = in_vienna.get_by_label(f"Until in {NEW_YORK}")
    assert until.input_value().endswith("T09:00")
    until.fill("2027-07-01T09:00")
    with in_vienna.expect_request("**/defer") as sent:
        in_vienna.get_by_role("dialog").get_by_role("button", name="Defer").click()
    assert json.loads(sent.value.post_data)["until"] == "2027-07-01T13:00:00.000Z"
    in_vienna.goto(f"{desk.served.url}#/tasks")
    row = in_vienna.locator("tbody tr").nth(2)
    expect(row).to_be_visible()
    assert round(row.bounding_box()["height"]) == 31


def test_a_name_that_is_read_from_the_right_keeps_its_beginning_and_its_neighbours(signed_in: Any, desk: Desk) -> None:
    title = "שלום " + "לבדוק את המערכת " * 8
    with at_once(desk.served):
        approved(desk.served, "architect", "qa", title)
    signed_in.set_viewport_size({"width": 1024, "height": 800})
    signed_in.goto(f"{desk.served.url}#/tasks")
    name = signed_in.locator("td.fill .said", has_text="שלום")
    name.wait_for()
    first, cell, state = signed_in.evaluate(
        """() => {
          const names = [...document.querySelectorAll("td.fill .said")];
          const said = names.find((each) => each.textContent.includes("שלום"));
          const range = document.createRange();
          range.setStart(said.firstChild, 0);
          range.setEnd(said.firstChild, 4);
          const box = (each) => each.getBoundingClientRect().toJSON();
          return [box(range), box(said.closest("td")), box(said.closest("tr").querySelector(".state-cell"))];
        }"""
    )
    assert cell["left"] <= first["left"] < first["right"] <= cell["right"] <= state["left"]


def test_what_to_look_at_twice_is_summed_up_and_reached_by_a_key(
    signed_in: Any, served: ConsoleServer, expect: Any
) -> None:
    hand = served.agents.hand_off
    hand("architect", "auto-code", target={"agent": "auto-code", "reason": "Pay\u200b the invoice"})
    summed = signed_in.get_by_role("region", name="What to look at twice")
    expect(summed).to_contain_text("0 of 7 handoffs compared")
    summed.get_by_role("button", name="Compare").click()
    expect(summed).to_contain_text(re.compile(r"7 of 7 handoffs compared\.\s+Look twice at \d:"))
    expect(summed.get_by_role("button", name="1 with hidden characters")).to_be_visible()
    expect(signed_in.locator(".item", has_text="invoice").get_by_text("look twice")).to_be_visible()
    summed.get_by_role("button", name="1 with hidden characters").press("Enter")
    expect(signed_in.get_by_label("What would be approved")).to_contain_text("Hidden characters")
    for key in ("m", "k", "m"):
        signed_in.keyboard.press(key)
    expect(summed).to_contain_text("2 marked")
