"""The queue: its order, its filters and views, and what is done to many at once."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import pytest

from support.chromium import fetched
from support.console_looks import nothing_found
from support.worlds.console_desk import Desk, approved, at_once, claimed
from support.worlds.http_agents import ALICE
from support.worlds.world import human

BOB = human(name="bob")
KEYS = """async (keys) => {
  for (const key of keys) {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await new Promise((done) => { requestAnimationFrame(() => { setTimeout(done); }); });
  }
}"""

DRAWN = """() => { window.drawn = []; new MutationObserver(() => {
  const count = document.querySelectorAll('.item').length;
  if (count && count !== window.drawn.at(-1)) window.drawn.push(count);
}).observe(document, { childList: true, subtree: true }); }"""


def test_the_queue_has_one_number_on_every_page(signed_in: Any, desk: Desk, expect: Any) -> None:
    """More waits than the API lists in one page."""
    assert desk.served.gateway.put(ALICE, "/agents/architect", {"root_handoffs_per_hour": 300}).status == 200
    for number in range(105):
        _asked(desk, f"Number {number}", {})
    assert desk.served.agents.say(desk.claim, "ask", kind="text", text="Which one?").status == 201
    badge = signed_in.locator("nav a", has_text="Approvals").locator(".count")
    signed_in.goto(f"{desk.served.url}#/start")
    expect(signed_in.get_by_role("link", name="111 to approve")).to_be_visible()
    expect(signed_in.get_by_role("link", name="1 question")).to_be_visible()
    expect(badge).to_have_text("112")
    expect(signed_in).to_have_title(re.compile(r"^\(112\) "))
    signed_in.goto(f"{desk.served.url}#/approvals")
    expect(signed_in.get_by_role("status").get_by_text("112 waiting", exact=True)).to_be_visible()
    expect(badge).to_have_text("112")
    signed_in.keyboard.press("j")
    signed_in.keyboard.press("j")
    expect(signed_in.get_by_role("button", name="Approve a")).to_be_enabled()
    signed_in.keyboard.press("a")
    expect(signed_in.get_by_role("status").get_by_text("111 waiting", exact=True)).to_be_visible()
    expect(badge).to_have_text("111", timeout=1_000)


def test_a_row_shows_amount_and_target_before_the_handoff_is_opened(signed_in: Any, desk: Desk, expect: Any) -> None:
    variables = {"note": "As agreed.", "amount": 4900, "account": "DE02 1203 0000 0000 2020 51"}
    _asked(desk, "Refund the order", {}, context={"project": {"name": "shop"}, "state": {}, "variables": variables})
    row = signed_in.locator(".item", has_text="Refund the order")
    expect(row).to_contain_text("amount 4900")
    expect(row).to_contain_text("account DE02 1203 0000 0000 2020 51")
    expect(row).not_to_contain_text("As agreed.")


def test_the_most_urgent_comes_first_whatever_its_direction(signed_in: Any, desk: Desk, expect: Any) -> None:
    for priority, deadline, reason in (
        ("P1", None, "Never due"),
        ("P1", "2030-02-02T00:00:00Z", "Due later"),
        ("P1", "2030-01-01T00:00:00Z", "Due first"),
        ("P0", None, "More urgent"),
    ):
        _asked(desk, reason, {"priority": priority}, **({"expectations": {"deadline": deadline}} if deadline else {}))
    expect(signed_in.get_by_text("10 waiting")).to_be_visible()
    titles = _titles(signed_in)
    assert titles[1:5] == ["More urgent", "Due first", "Due later", "Never due"], titles
    signed_in.get_by_label("Order").select_option("title")
    assert _titles(signed_in) == sorted(titles, key=str.lower)
    assert "sort=title" in signed_in.url


def test_filters_are_in_the_address_and_say_how_many_of_all_they_leave(signed_in: Any, desk: Desk, expect: Any) -> None:
    _asked(desk, "Pay the printer", {"labels": {"team": "payments"}})
    expect(signed_in.get_by_text("7 waiting")).to_be_visible()
    signed_in.get_by_text("Filters", exact=True).click()
    signed_in.get_by_role("combobox", name="Label", exact=True).select_option("team=payments")
    expect(signed_in.get_by_text("1 of 7 waiting")).to_be_visible()
    assert "label=team%3Dpayments" in signed_in.url
    signed_in.reload()
    expect(signed_in.get_by_text("1 of 7 waiting")).to_be_visible()
    signed_in.get_by_role("combobox", name="Label", exact=True).select_option("")
    signed_in.get_by_role("combobox", name="Asked by").select_option("agent:qa")
    expect(signed_in.locator(".item .title")).to_have_text(["The build is red: test_sessions fails at random"])
    signed_in.get_by_role("combobox", name="Age", exact=True).select_option("3600")
    expect(signed_in.get_by_text("Nothing fits the filter")).to_be_visible()
    signed_in.get_by_role("button", name="Show all").click()
    expect(signed_in.get_by_text("7 waiting", exact=True)).to_be_visible()


def test_a_view_is_shared_and_says_who_saved_it(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/approvals?priority=P0&task={desk.whole['id']}")
    signed_in.get_by_role("button", name="Save this view").click()
    signed_in.get_by_label("Name").fill("Burning <b>now</b>")
    signed_in.get_by_label("everybody in the workspace").check()
    signed_in.get_by_role("button", name="Save", exact=True).click()
    expect(signed_in.get_by_text("Everybody's view, saved by human:alice")).to_be_visible()
    (view,) = desk.served.gateway.get(BOB, "/views").json["items"]
    assert (view["scope"], view["query"]) == ("workspace", {"priority": "P0"})
    theirs = {"scope": "workspace", "title": view["title"], "page": "/approvals", "query": {"priority": "P1"}}
    assert desk.served.gateway.put(BOB, f"/views/{view['name']}", theirs).status == 200
    signed_in.get_by_role("button", name="Delete the view").click()
    signed_in.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(signed_in.get_by_role("dialog").get_by_role("alert")).to_contain_text("version 2")


def test_views_of_this_browser_are_moved_by_a_button(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.evaluate(
        """localStorage.setItem("baton.views", '[{"name": "Bad ones", "query": {"state": "failed"}}]')"""
    )
    signed_in.goto(f"{desk.served.url}#/tasks")
    expect(signed_in.get_by_role("link", name="Bad ones")).to_have_count(0)
    signed_in.get_by_role("button", name="Keep the 1 of this browser for me").click()
    signed_in.get_by_role("button", name="Keep them").click()
    signed_in.get_by_role("link", name="Bad ones").click()
    expect(signed_in.get_by_text("Your view, saved by human:alice")).to_be_visible()
    assert signed_in.evaluate("localStorage.getItem('baton.views')") is None


def test_a_range_is_marked_by_keys_and_by_the_mouse(signed_in: Any, desk: Desk, expect: Any) -> None:
    for key in "jmjM":
        signed_in.keyboard.press(key)
    expect(signed_in.get_by_text("3 marked").first).to_be_visible()
    signed_in.keyboard.press("Escape")
    boxes = signed_in.locator(".item input[type=checkbox]")
    boxes.nth(1).click()
    boxes.nth(4).click(modifiers=["Shift"])
    expect(signed_in.get_by_text("4 marked").first).to_be_visible()


def test_of_several_decisions_each_refusal_is_told_by_itself_and_stays(signed_in: Any, desk: Desk, expect: Any) -> None:
    waiting = _needs(desk)
    for key in "jmmm":
        signed_in.keyboard.press(key)
    expect(signed_in.get_by_role("button", name=re.compile("^Approve all"))).to_be_enabled()
    signed_in.route("**/tasks?state=needs*", lambda _: None)  # the page doesn't hear of it
    for task in waiting[1:3]:
        assert desk.served.gateway.post(BOB, f"/tasks/{task['id']}/dismiss", {"reason": "no"}).status == 200
    signed_in.keyboard.press("a")
    dialog = signed_in.get_by_role("dialog")
    expect(dialog.get_by_text("1 approved, 2 not")).to_be_visible()
    expect(dialog.get_by_text("not done")).to_have_count(2)
    signed_in.unroute("**/tasks?state=needs*")


def test_many_tasks_are_cancelled_each_once_and_what_failed_is_tried_again(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    served = desk.served
    signed_in.goto(f"{served.url}#/tasks?state=needs")
    signed_in.get_by_text("6 shown").wait_for()
    signed_in.keyboard.press("j")
    for key in "mmm":
        signed_in.keyboard.press(key)
    marked = signed_in.get_by_role("group", name="Marked")
    nothing_found(signed_in)
    marked.get_by_role("button", name="Cancel 3").click()
    signed_in.get_by_label("Reason").fill("Not today")
    lost: list[str] = []

    def lose_one(route: Any) -> None:
        """It is done, and its answer never comes; then nothing answers for a while."""
        if not lost:
            fetched(route)
        lost.append(route.request.headers["idempotency-key"])
        route.abort()

    first = _needs(desk)[0]
    signed_in.route(f"**/tasks/{first['id']}/cancel", lose_one)
    signed_in.get_by_role("dialog").get_by_role("button", name="Cancel 3").click()
    dialog = signed_in.get_by_role("dialog", name="Cancel: what came of each")
    expect(dialog.get_by_text("2 cancelled, 1 not")).to_be_visible()
    expect(dialog.get_by_text("isn't known")).to_be_visible()
    nothing_found(signed_in)
    signed_in.unroute(f"**/tasks/{first['id']}/cancel")
    dialog.get_by_role("button", name="Try the 1 again").click()
    expect(dialog.get_by_text("3 cancelled")).to_be_visible()
    assert len(set(lost)) == 1
    trail = served.gateway.get(ALICE, f"/tasks/{first['id']}/events").json["events"]
    assert [each["type"] for each in trail].count("cancelled") == 1
    dialog.get_by_role("button", name="Close").click()


def test_what_a_verb_isnt_for_is_left_and_said(signed_in: Any, desk: Desk, expect: Any) -> None:
    served = desk.served
    with at_once(served):
        task = approved(served, "architect", "ciso", "Read the threat model")
    claimed(served, "ciso", task["id"])
    signed_in.goto(f"{served.url}#/tasks?agent=ciso")
    signed_in.get_by_label("Mark all").check()
    signed_in.get_by_role("group", name="Marked").get_by_role("button", name="Take back 1").click()
    signed_in.get_by_label("Reason").fill("Its worker hangs")
    signed_in.get_by_role("dialog").get_by_role("button", name="Take back 1").click()
    expect(signed_in.get_by_text("1 taken back, 1 left as they are")).to_be_visible()
    assert served.gateway.get(ALICE, f"/tasks/{task['id']}").json["state"] == "delegated"


def test_tasks_are_approved_where_their_content_is_on_the_screen(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/tasks?state=needs&agent=architect")
    signed_in.get_by_label("Mark The design has to change").check()
    signed_in.get_by_role("button", name="Read and approve 1").click()
    expect(signed_in.get_by_role("heading", name="1 marked")).to_be_visible()
    expect(signed_in.get_by_role("region", name="What would be approved")).to_contain_text("The design has to change")


def test_columns_order_the_table(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/tasks?state=needs")
    signed_in.get_by_role("button", name="Priority").click()
    expect(signed_in.get_by_role("columnheader", name="Priority")).to_have_attribute("aria-sort", "ascending")
    expect(signed_in.locator("tbody tr").first).to_contain_text("P0")
    signed_in.get_by_role("button", name="Priority").click()
    expect(signed_in.locator("tbody tr").last).to_contain_text("P0")


def _asked(desk: Desk, reason: str, metadata: dict[str, Any], **more: Any) -> dict[str, Any]:
    target = {"agent": "auto-code", "reason": reason}
    made: dict[str, Any] = desk.served.agents.hand_off(
        "architect", "auto-code", target=target, metadata=metadata, **more
    )
    return made


def _titles(page: Any) -> list[str]:
    page.wait_for_timeout(100)
    return [text.strip() for text in page.locator(".item .title").all_inner_texts()]


def _needs(desk: Desk) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = desk.served.gateway.get(ALICE, "/tasks", query="state=needs").json["items"]
    return found


@pytest.mark.parametrize(("path", "row"), [("/approvals?sort=age", ".item"), ("/tasks", "tbody tr[data-at]")])
def test_a_key_is_answered_at_once_among_a_thousand(
    signed_in: Any, desk: Desk, expect: Any, path: str, row: str
) -> None:
    """What the page itself does for one key, in processor time: scripts, styles, layout."""
    _lists_a_thousand(signed_in, desk)
    signed_in.goto(f"{desk.served.url}#{path}")
    signed_in.reload()
    signed_in.get_by_text("Task 9", exact=True).first.wait_for(timeout=60_000)
    tools = signed_in.context.new_cdp_session(signed_in)
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})
    rounds = []
    for _ in range(3):
        before = _worked(tools)
        signed_in.evaluate(KEYS, ["j", "m"] * 5)
        rounds.append(round(1000 * (_worked(tools) - before) / 10, 1))
    assert max(rounds) < 50, rounds
    signed_in.unroute_all(behavior="ignoreErrors")


def test_a_long_queue_is_drawn_in_steps_with_the_chosen_one_at_once(signed_in: Any, desk: Desk, expect: Any) -> None:
    _lists_a_thousand(signed_in, desk)
    signed_in.add_init_script(f"({DRAWN})()")
    for query, first in (("", 30), (f"?task=task_{70:026}", 71)):
        signed_in.goto(f"{desk.served.url}#/approvals{query}")
        signed_in.reload()
        expect(signed_in.locator(".item")).to_have_count(1000)
        drawn = signed_in.evaluate("window.drawn")
        assert drawn[0] == first, drawn
        assert max(after - before for before, after in pairwise(drawn)) <= 30, drawn
    expect(signed_in.locator(".item.at")).to_contain_text("Task 70")
    signed_in.unroute_all(behavior="ignoreErrors")


def _lists_a_thousand(page: Any, desk: Desk) -> None:
    waiting = _needs(desk)[0]
    many = [
        {**waiting, "id": f"task_{number:026}", "title": f"Task {number}", "labels": [f"team={number % 9}"]}
        for number in range(1000)
    ]
    answer = json.dumps({"items": many, "next_cursor": None})
    listed = re.compile(r"/tasks\?(state=needs&)?limit")
    page.route(listed, lambda route: route.fulfill(body=answer, content_type="application/json"))


def _worked(tools: Any) -> float:
    found = {each["name"]: each["value"] for each in tools.send("Performance.getMetrics")["metrics"]}
    return float(sum(found[name] for name in ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")))
