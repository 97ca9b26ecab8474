"""A busy workspace: numbers, searches and trails beyond what one page holds, and columns that are wide enough."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.chromium import fetched
from support.worlds.console_desk import Desk, approved, at_once, claimed
from support.worlds.http_agents import ALICE, message

BUSY = 1_050

TITLES = """() => [...document.querySelectorAll('.table tbody tr:not(.gap) td.fill')]
  .map((cell) => cell.clientWidth)"""
CUT = """(name) => [...document.querySelectorAll(`.table tbody td.${name}`)]
  .filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)"""
PAUSES = """() => { window.pauses = []; new PerformanceObserver((found) => {
  for (const each of found.getEntries()) window.pauses.push(each.duration);
}).observe({ entryTypes: ['longtask'] }); }"""


@pytest.fixture
def busy(desk: Desk) -> Desk:
    """The first of the day's tasks has failed, and isn't among the newest 1,000."""
    with at_once(desk.served):
        first = approved(desk.served, "architect", "auto-code", "Ship order 88010")
        claim = claimed(desk.served, "auto-code", first["id"], "laptop-9")
        failure = {"type": "error", "description": "The order is gone"}
        assert desk.served.agents.say(claim, "fail", failure=failure).status == 200
    for number in range(BUSY):
        asks = {"agent": "auto-code", "reason": f"Pack parcel {number}"}
        assert (
            desk.served.gateway.post(ALICE, "/handoffs", message("architect", "auto-code", target=asks)).status == 201
        )
    return desk


def test_beyond_a_thousand_tasks_a_search_finds_the_first(signed_in: Any, busy: Desk, expect: Any) -> None:
    served = busy.served
    total = 0
    cursor: str | None = ""
    while cursor is not None:
        page = served.gateway.get(ALICE, "/tasks", query=f"limit=100{cursor and f'&cursor={cursor}'}").json
        total, cursor = total + len(page["items"]), page["next_cursor"]
    assert total > BUSY
    signed_in.goto(f"{served.url}#/tasks")
    signed_in.get_by_label("Words").fill("order 88010")  # and what its failure was handed back as
    expect(signed_in.get_by_role("link", name="Ship order 88010", exact=True)).to_be_visible()
    expect(signed_in.get_by_text(re.compile(r"^2 of [\d,]+ shown$"))).to_be_visible()
    signed_in.get_by_label("Words").fill("order 99999")
    expect(signed_in.get_by_text("No task fits")).to_be_visible()
    signed_in.goto(f"{served.url}#/directions")
    expect(signed_in.get_by_text(re.compile("at least 500 handoffs"))).to_be_visible()
    expect(signed_in.get_by_text("What was before isn't in any number here.")).to_be_visible()


def test_a_search_that_was_not_of_all_says_so(signed_in: Any, desk: Desk, expect: Any) -> None:
    """A day of more than anybody reads to the end."""

    def endless(route: Any) -> None:
        answer = fetched(route, re.sub("&cursor=.", "", route.request.url), if_none_match='"0"')
        cursor = "b" if "cursor=a" in route.request.url else "a"
        items = [{**each, "id": f"task_{cursor}{at:025}"} for at, each in enumerate(answer.json()["items"])]
        route.fulfill(response=answer, json={"items": (items * 100)[:100], "next_cursor": cursor})

    signed_in.route(re.compile(r"/tasks\?limit=100&cursor=|/tasks\?limit=100$"), endless)
    signed_in.goto(f"{desk.served.url}#/tasks")
    signed_in.get_by_label("Words").fill("order 88010")
    expect(signed_in.get_by_text(re.compile("Older ones weren't looked at"))).to_be_visible(timeout=60_000)
    expect(signed_in.get_by_text("No task fits", exact=True)).to_have_count(0)
    signed_in.unroute_all(behavior="ignoreErrors")


@pytest.mark.parametrize("width", [390, 901, 1024, 1150, 1440])
def test_titles_can_be_read_and_ages_are_not_cut(signed_in: Any, desk: Desk, width: int) -> None:
    signed_in.set_viewport_size({"width": width, "height": 800})
    signed_in.clock.install()
    for path in ("tasks", "agents", "chat?whose=all", "reviews"):
        signed_in.goto(f"{desk.served.url}#/{path}")
        signed_in.locator(".table tbody tr:not(.gap)").first.wait_for()
        signed_in.clock.fast_forward("03:03")
        signed_in.wait_for_timeout(50)
        assert signed_in.evaluate(CUT, "time") == [], path
        assert signed_in.evaluate(CUT, "state-cell") == [], path
        assert min(signed_in.evaluate(TITLES)) >= 120, path


def test_who_points_at_what_is_cut_reads_it_whole(signed_in: Any, desk: Desk, expect: Any) -> None:
    long = "Find out why " + "the build of the release candidate is red again and " * 4
    approved(desk.served, "architect", "qa", long)
    signed_in.set_viewport_size({"width": 1024, "height": 800})
    signed_in.goto(f"{desk.served.url}#/tasks")
    cell = signed_in.locator("td.fill", has_text="Find out why")
    cell.hover()
    expect(cell).to_have_attribute("title", re.compile("again and"))
    signed_in.locator("td.time time").first.hover()
    expect(signed_in.get_by_role("status").get_by_text(re.compile(r"\d{4}-\d\d-\d\dT"))).to_be_visible()


def test_escape_and_enter_lead_out_of_a_filter(signed_in: Any, desk: Desk, expect: Any) -> None:
    field = signed_in.get_by_label("Filter by words")
    signed_in.keyboard.press("/")
    signed_in.keyboard.type("limit")
    signed_in.keyboard.press("Enter")
    expect(field).not_to_be_focused()
    expect(field).to_have_value("limit")
    signed_in.keyboard.press("j")
    expect(signed_in.get_by_role("heading", name="Add a limit to the sign-in form")).to_be_visible()
    signed_in.keyboard.press("/")
    signed_in.keyboard.press("Escape")
    expect(field).to_have_value("")
    expect(field).not_to_be_focused()
    assert "q=" not in signed_in.url
    signed_in.keyboard.press("j")
    assert "q=j" not in signed_in.url
    expect(signed_in.get_by_role("status").get_by_text("6 waiting", exact=True)).to_be_visible()
    expect(field).to_have_value("")
    signed_in.goto(f"{desk.served.url}#/tasks")
    signed_in.get_by_role("link", name="Log the request id").wait_for()
    signed_in.keyboard.press("/")
    signed_in.keyboard.type("release candidate")
    signed_in.keyboard.press("Enter")
    signed_in.keyboard.press("Enter")
    expect(signed_in.get_by_text("holds it as laptop-3")).to_be_visible()
    signed_in.goto(f"{desk.served.url}#/tasks")
    signed_in.get_by_label("State").focus()
    signed_in.keyboard.press("Escape")
    expect(signed_in.get_by_label("State")).not_to_be_focused()


def test_a_long_trail_does_not_hold_the_page_up(signed_in: Any, desk: Desk) -> None:
    with at_once(desk.served):
        task = approved(desk.served, "architect", "qa", "Watch the soak test")
        claim = claimed(desk.served, "qa", task["id"], "laptop-7")
    for number in range(750):
        said = desk.served.agents.say(claim, "checkpoints", step_name=f"hour {number}", state={"hour": number})
        assert said.status == 201
    signed_in.goto(f"{desk.served.url}#/tasks/{task['id']}")
    signed_in.locator(".trail li").nth(740).wait_for(timeout=60_000)
    signed_in.wait_for_timeout(1_500)
    signed_in.evaluate(PAUSES)
    signed_in.wait_for_timeout(4_000)
    assert max(signed_in.evaluate("window.pauses"), default=0) < 100


def test_the_gravest_alerts_come_first(signed_in: Any, desk: Desk, expect: Any) -> None:
    for severity in ("critical", "warning", "info"):
        told = {"kind": "noise", "severity": severity, "message": f"A {severity} word", "task_id": desk.held["id"]}
        assert desk.served.gateway.post(ALICE, "/alerts", told).status == 201
    signed_in.goto(f"{desk.served.url}#/alerts")
    expect(signed_in.locator(".cards .severity")).to_contain_text(["critical", "critical", "warning", "info"])
    signed_in.goto(f"{desk.served.url}#/start")
    expect(signed_in.locator(".log .severity")).to_contain_text(["critical", "warning", "info"])


def test_a_state_has_one_word(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/tasks/{desk.whole['id']}")
    expect(signed_in.locator(".state.needs").first).to_contain_text("to approve")
    signed_in.goto(f"{desk.served.url}#/tasks/{desk.failed['id']}")
    expect(signed_in.locator(".box.needs .how")).to_contain_text("to approve")
    signed_in.goto(f"{desk.served.url}#/tasks?state=needs")
    expect(signed_in.get_by_label("State").locator("option:checked")).to_have_text("to approve")


def test_nobody_is_told_both_that_it_was_not_done_and_that_it_may_have_been(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    signed_in.keyboard.press("j")
    signed_in.get_by_role("button", name=re.compile("^Approve")).and_(signed_in.locator(":enabled")).wait_for()
    desk.served.is_away = True
    signed_in.keyboard.press("a")
    expect(signed_in.get_by_text("Whether it was done isn't known")).to_be_visible()
    expect(signed_in.get_by_text("Nothing was approved")).to_have_count(0)
    desk.served.is_away = False


@pytest.mark.parametrize("width", [390, 1024])
def test_the_frame_names_person_and_workspace(signed_in: Any, expect: Any, width: int) -> None:
    signed_in.set_viewport_size({"width": width, "height": 800})
    who = signed_in.get_by_title("Signed in")
    expect(who).to_have_text("alice in acme")
    assert who.evaluate("(it) => it.scrollWidth <= it.clientWidth && it.clientHeight < 40")


def test_a_list_goes_on_after_an_answer_that_broke_off(signed_in: Any, desk: Desk, expect: Any) -> None:
    desk.served.breaks_off = True
    signed_in.keyboard.press("g")
    signed_in.keyboard.press("t")
    expect(signed_in.get_by_text("The answer broke off")).to_be_visible()
    desk.served.breaks_off = False
    expect(signed_in.get_by_role("link", name="Try the release candidate of 2.4")).to_be_visible()
