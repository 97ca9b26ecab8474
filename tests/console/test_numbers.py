"""How it goes, how agents are, and who decided what, on their pages; and what is exported from them."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from support.chromium import fetched
from support.worlds.console_desk import Desk, approved, at_once, claimed
from support.worlds.http_agents import ALICE
from support.worlds.world import human

FORMULA = '=HYPERLINK("https://evil.example")'


def saved(page: Any, button: str) -> tuple[str, str]:
    """Presses the button. Returns the name of the file that it gives, and its text."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    with Path(download.value.path()).open(encoding="utf-8-sig", newline="") as file:
        return download.value.suggested_filename, file.read()


def test_what_ended_is_drawn_and_told_as_numbers(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/stats?since=day")
    expect(signed_in.get_by_role("img", name="Ended: 0 done, 1 failed, 2 rejected or cancelled")).to_be_visible()
    signed_in.get_by_text("As numbers").first.click()
    row = signed_in.get_by_role("region", name="Ended", exact=True).locator("tbody tr")
    expect(row).to_have_count(1)
    expect(row.locator("td")).to_have_text(["0", "1", "2"])
    expect(signed_in.get_by_role("img", name="Begun: 3, and ended within two days")).to_be_visible()
    of_agent = signed_in.get_by_role("row", name="auto-code")
    expect(of_agent).to_contain_text("100 %")
    signed_in.get_by_role("link", name="by direction").click()
    expect(signed_in.get_by_role("row", name="architect to auto-code")).to_be_visible()
    assert "by=direction" in signed_in.url


SAYS = """() => {
  const { toLocaleString: says } = Number.prototype;
  window.said = 0;
  Number.prototype.toLocaleString = function (...how) { window.said += 1; return says.apply(this, how); };
}"""


@pytest.mark.parametrize("place", ["#/stats?since=month", "#/start"])
def test_counts_are_not_drawn_anew_each_second(signed_in: Any, desk: Desk, expect: Any, place: str) -> None:
    signed_in.clock.install()
    signed_in.goto(f"{desk.served.url}{place}")
    expect(signed_in.get_by_role("img", name="Ended: 0 done, 1 failed, 2 rejected or cancelled")).to_be_visible()
    signed_in.clock.run_for(1000)
    signed_in.evaluate(SAYS)
    signed_in.clock.run_for(5000)
    assert signed_in.evaluate("window.said") == 0
    signed_in.get_by_role("link", name="How it goes").first.click()
    signed_in.get_by_role("link", name="today (UTC)").click()
    expect(signed_in.get_by_role("img", name="Ended: 0 done, 1 failed, 2 rejected or cancelled")).to_be_visible()
    assert signed_in.evaluate("window.said") > 0


def test_what_tokens_cost_is_shown_where_the_settings_say_it(signed_in: Any, desk: Desk, expect: Any) -> None:
    def dear(route: Any) -> None:
        answer = fetched(route, if_none_match='"0"')
        route.fulfill(response=answer, body=answer.text().replace('"tokens":0', '"tokens":3000000'))

    assert desk.served.gateway.put(ALICE, "/workspace/settings", {"cents_per_million_tokens": 250}).status == 200
    signed_in.route("**/stats?*", dear)
    signed_in.goto(f"{desk.served.url}#/stats")
    expect(signed_in.get_by_role("columnheader", name="Cost, about")).to_be_visible()
    expect(signed_in.get_by_role("row", name="auto-code").get_by_role("cell").last).to_have_text("7.50")


def test_a_phone_shows_whole_axes_and_scrolls_tables_in_their_boxes(signed_in: Any, desk: Desk) -> None:
    signed_in.set_viewport_size({"width": 390, "height": 800})
    signed_in.goto(f"{desk.served.url}#/stats")
    signed_in.get_by_text("As numbers").first.wait_for()
    assert signed_in.evaluate("document.documentElement.scrollWidth <= innerWidth")
    sizes = signed_in.locator(".axis span").evaluate_all(
        "all => all.map(each => parseFloat(getComputedStyle(each).fontSize))"
    )
    assert min(sizes) >= 11


def test_an_agents_page_tells_how_it_is(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/agents/auto-code")
    health = signed_in.get_by_role("region", name="How it is")
    expect(health).to_contain_text("1 (100 %)")
    expect(health).to_contain_text("The order of two messages of one group can't be kept")
    expect(health.locator(".trouble .said.block")).to_be_visible()  # a traceback keeps its lines
    signed_in.goto(f"{desk.served.url}#/agents")
    expect(signed_in.get_by_role("row", name="qa")).to_contain_text("active")
    expect(signed_in.get_by_role("columnheader", name="Waiting, oldest")).to_be_visible()


def test_decisions_are_found_by_person_and_verb_in_the_address(signed_in: Any, desk: Desk, expect: Any) -> None:
    served = desk.served
    assert (
        served.gateway.post(human(name="bob"), f"/tasks/{desk.whole['id']}/dismiss", {"reason": FORMULA}).status == 200
    )
    served.publish()
    review = f"/manual-reviews/{desk.review['id']}"
    assert served.gateway.post(ALICE, f"{review}/close", {"reason": "needless"}).status == 200
    signed_in.goto(f"{served.url}#/decisions")
    expect(signed_in.get_by_role("row")).to_have_count(8)
    closed = signed_in.get_by_role("row").filter(has_text="closed a review").get_by_role("link").first
    expect(closed).to_have_attribute("href", f"#/reviews/{desk.review['id']}")
    signed_in.get_by_label("Person").select_option("bob")
    expect(signed_in.get_by_role("row")).to_have_count(2)
    expect(signed_in.get_by_role("row", name="bob")).to_contain_text("dismissed")
    assert "by=bob" in signed_in.url
    signed_in.keyboard.press("e")
    signed_in.get_by_label("the 7 days to it").check()
    signed_in.get_by_label("verified, each with the result").check()
    name, text = saved(signed_in, "Export")
    (row,) = csv.DictReader(io.StringIO(text))
    assert re.fullmatch(r"decisions-[-0-9]{10}-to-[-0-9]{10}-bob-verified\.csv", name)
    assert (row["by"], row["verb"], row["reason"], row["trail"]) == ("bob", "dismiss", f"'{FORMULA}", "verified")
    signed_in.keyboard.press("J")
    expect(signed_in.get_by_text("Nobody decided that on this day")).to_be_visible()
    signed_in.keyboard.press("K")
    expect(signed_in.get_by_role("row", name="bob")).to_be_visible()
    signed_in.get_by_label("Decided").select_option("approve")
    expect(signed_in.get_by_text("Nobody decided that on this day")).to_be_visible()


def test_a_trail_is_exported_with_the_result_of_its_verification(signed_in: Any, desk: Desk) -> None:
    task_id = desk.failed["id"]
    signed_in.goto(f"{desk.served.url}#/tasks/{task_id}")
    name, text = saved(signed_in, "JSON")
    told = json.loads(text)
    assert name == f"trail-{task_id}-verified.json"
    assert (told["verification"]["intact"], told["verification"]["events"]) == (True, len(told["events"]))
    _, text = saved(signed_in, "CSV")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["hash"] for row in rows] == [event["hash"] for event in told["events"]]


def test_what_is_done_is_counted(signed_in: Any, desk: Desk, expect: Any) -> None:
    served = desk.served
    with at_once(served):
        task = approved(served, "architect", "qa", "Try it again")
        claim = claimed(served, "qa", task["id"])
    served.agents.say(claim, "complete", output={"ok": True})
    served.publish()
    assert served.gateway.get(ALICE, "/stats").json["total"]["done"] == 1
    signed_in.goto(f"{served.url}#/stats")
    expect(signed_in.get_by_role("img", name="Ended: 1 done, 1 failed, 2 rejected or cancelled")).to_be_visible()
