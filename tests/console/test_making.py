"""What a person makes from the page: handoffs, agents, routes. The API's checks are shown at the fields."""

from __future__ import annotations

import re
from typing import Any

from support.chromium import fetched
from support.worlds.console_desk import Desk
from support.worlds.http_agents import ALICE


def test_a_handoff_is_made_once_and_its_fields_say_what_is_wrong(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/new-handoff")
    signed_in.get_by_label("To (optional)").select_option("ciso")
    signed_in.get_by_label("What is asked, and why").fill("Read the threat model")
    signed_in.get_by_label("Values that go with it").fill('{"order": }')
    signed_in.get_by_label("Labels, one a line").fill(f"team=security\n{'x' * 64}=1")
    signed_in.get_by_role("button", name="Hand over").click()
    values = signed_in.get_by_label("Values that go with it")
    expect(values).to_be_focused()
    expect(values).to_have_attribute("aria-invalid", "true")
    values.fill('{"order": 4127}')
    signed_in.get_by_role("button", name="Hand over").click()
    labels = signed_in.get_by_label("Labels, one a line")
    expect(labels).to_have_attribute("aria-invalid", "true")
    expect(labels).to_be_focused()
    labels.fill("team=security")
    signed_in.get_by_label("Kind of result").select_option("code")
    signed_in.get_by_label("Criteria, one a line").fill("names each way in")
    signed_in.get_by_label("Handoffs at most").fill("5")
    signed_in.get_by_role("button", name="Hand over").click()
    result = signed_in.get_by_role("textbox", name="Result (optional)")
    expect(result).to_be_focused()
    result.fill("What could go wrong")
    lost: list[str] = []

    def lose(route: Any) -> None:
        """It is made, and nobody hears of it."""
        if not lost:
            fetched(route)
        lost.append(route.request.headers["idempotency-key"])
        route.abort()

    signed_in.route("**/handoffs", lose)
    signed_in.get_by_role("button", name="Hand over").click()
    expect(signed_in.get_by_role("alert").get_by_text("isn't known")).to_be_visible()
    signed_in.unroute("**/handoffs")
    signed_in.get_by_role("button", name="Hand over").click()
    signed_in.wait_for_url(re.compile("#/tasks/task_"))
    assert len(set(lost)) == 1
    made = desk.served.gateway.get(ALICE, "/tasks", query="agent=ciso").json["items"]
    (task,) = [each for each in made if each["title"] == "Read the threat model"]
    assert (task["labels"], task["created_by"], task["state"]) == (["team=security"], "human:alice", "delegated")
    handoff = desk.served.gateway.get(ALICE, f"/handoffs/{task['handoff_id']}").json
    (deliverable,) = handoff["expectations"]["deliverables"]
    assert (deliverable["acceptance_criteria"], handoff["budget"]["max_handoffs"]) == (["names each way in"], 5)
    signed_in.goto(f"{desk.served.url}#/handoffs/{task['handoff_id']}")
    signed_in.wait_for_url(f"**/#/tasks/{task['id']}")


def test_an_agent_is_registered_and_its_limits_are_changed(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/new-agent")
    signed_in.get_by_label("Slug").fill("Not A Slug")
    signed_in.get_by_role("button", name="Register").click()
    expect(signed_in.get_by_label("Slug")).to_have_attribute("aria-invalid", "true")
    signed_in.get_by_label("Slug").fill("payer")
    signed_in.get_by_label("Types of work that it accepts").fill("refund\ninvoice")
    signed_in.get_by_role("button", name="Register").click()
    signed_in.get_by_role("link", name="Change it").click()
    signed_in.get_by_label("Claims at once").fill("3")
    signed_in.get_by_label("What is handed to it").select_option("auto")
    signed_in.get_by_role("button", name="Save").click()
    expect(signed_in.get_by_text("auto: what is handed to it is approved")).to_be_visible()
    agent = desk.served.gateway.get(ALICE, "/agents/payer").json
    assert (agent["max_concurrent"], agent["approval"], agent["accepts"]) == (3, "auto", ["refund", "invoice"])
    assert agent["version"] == 2
    signed_in.get_by_role("link", name="Change it").click()
    signed_in.get_by_label("What it delegates together").select_option("quorum")
    signed_in.get_by_role("button", name="Save").click()
    number = signed_in.get_by_label("That number")
    expect(number).to_have_attribute("aria-invalid", "true")
    number.fill("2")
    signed_in.get_by_role("button", name="Save").click()
    signed_in.get_by_role("link", name="Change it").wait_for()
    agent = desk.served.gateway.get(ALICE, "/agents/payer").json
    assert (agent["join"], agent["quorum"]) == ("quorum", 2)


def test_a_change_isnt_saved_over_somebody_elses(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/agents/qa/change")
    signed_in.get_by_label("Description").fill("Tries what was built")
    assert desk.served.gateway.put(ALICE, "/agents/qa", {"max_concurrent": 2}).status == 200
    signed_in.get_by_role("button", name="Save").click()
    expect(signed_in.get_by_role("alert")).to_contain_text("compare, then save again")
    expect(signed_in.get_by_label("Description")).to_have_value("Tries what was built")


def test_a_route_is_made_changed_and_removed_by_keyboard(signed_in: Any, desk: Desk, expect: Any) -> None:
    signed_in.goto(f"{desk.served.url}#/routes")
    signed_in.get_by_role("button", name="New route").and_(signed_in.locator(":enabled")).wait_for()
    signed_in.keyboard.press("c")
    signed_in.get_by_label("Type of work").fill("Re funds")
    signed_in.get_by_label("Goes to").select_option("ciso")
    signed_in.keyboard.press("Enter")
    expect(signed_in.get_by_label("Type of work")).to_be_focused()
    expect(signed_in.locator(".field .wrong")).to_have_count(1)
    signed_in.get_by_label("Type of work").fill("refunds")
    signed_in.keyboard.press("Enter")
    signed_in.get_by_role("button", name="Change the route refunds").click()
    signed_in.get_by_label("Approval").select_option("next")
    signed_in.get_by_role("button", name="Save").click()
    expect(signed_in.locator(".card").get_by_text("next", exact=True)).to_be_visible()
    signed_in.get_by_role("button", name="Remove the route refunds").click()
    signed_in.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(signed_in.get_by_text("No route yet")).to_be_visible()
    assert desk.served.gateway.get(ALICE, "/routes").json["items"] == []
