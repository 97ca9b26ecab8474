"""Talking with agents: each message is said once, and a conversation is found again."""

from __future__ import annotations

import re
from typing import Any

from support.chromium import fetched
from support.worlds.console_desk import Desk, at_once
from support.worlds.console_talk import THOUGHT, TalkingAgents
from support.worlds.http_agents import ALICE
from support.worlds.world import human

BOB = human(name="bob")


def test_a_conversation_that_was_begun_anywhere_is_in_the_list(signed_in: Any, desk: Desk) -> None:
    signed_in.goto(f"{desk.served.url}#/chat")
    signed_in.get_by_role("link", name="Is the new sign-in safe?").click()
    signed_in.get_by_role("log").get_by_text("Is the new sign-in safe?").wait_for()
    assert signed_in.url.endswith(f"#/chat/{desk.talk}")


def test_a_handoff_without_a_message_is_no_conversation(signed_in: Any, desk: Desk) -> None:
    asks = {"source": {"agent": ALICE.key}, "target": {"agent": "qa", "reason": "Directly asked"}}
    assert desk.served.gateway.post(ALICE, "/handoffs", asks).status == 201
    signed_in.goto(f"{desk.served.url}#/chat")
    signed_in.get_by_role("link", name="Is the new sign-in safe?").wait_for()
    assert signed_in.get_by_text("Directly asked").count() == 0


def test_a_message_whose_answer_was_lost_begins_one_conversation(signed_in: Any, desk: Desk) -> None:
    lost: list[str] = []

    def lose(route: Any) -> None:
        lost.append(route.request.headers["idempotency-key"])
        fetched(route)
        route.abort()

    signed_in.goto(f"{desk.served.url}#/chat")
    signed_in.route("**/conversations", lose)
    signed_in.get_by_label("With").select_option("qa")
    signed_in.get_by_role("textbox", name="Message").fill("Is it green?")
    signed_in.get_by_role("button", name="Begin").click()
    signed_in.get_by_text("Whether it was done isn't known").wait_for()
    signed_in.unroute("**/conversations")
    signed_in.get_by_role("button", name="Begin").click()
    signed_in.get_by_role("heading", name="With").wait_for()
    assert len(set(lost)) == 1
    tasks = desk.served.gateway.get(ALICE, "/tasks").json["items"]
    assert [task["title"] for task in tasks].count("Is it green?") == 1


def test_ones_own_come_first_and_everybodys_are_a_link_away(signed_in: Any, desk: Desk, expect: Any) -> None:
    asks = {"agent": "qa", "message": "Did the night run pass?"}
    assert desk.served.gateway.post(BOB, "/conversations", asks).status == 201
    signed_in.goto(f"{desk.served.url}#/chat")
    own = signed_in.get_by_role("region", name="Your conversations")
    expect(own.get_by_role("row").filter(has_text="Is the new sign-in safe?")).to_contain_text("answering")
    assert signed_in.get_by_text("Did the night run pass?").count() == 0
    signed_in.get_by_role("link", name="everybody's").click()
    everybodys = signed_in.get_by_role("region", name="Everybody's conversations")
    expect(everybodys.get_by_role("row").filter(has_text="Did the night run pass?")).to_contain_text("bob")
    assert signed_in.url.endswith("#/chat?whose=all")
    signed_in.reload()
    expect(everybodys.get_by_role("row")).to_have_count(3)


def test_the_list_is_walked_by_keys_and_says_what_waits(signed_in: Any, desk: Desk, expect: Any) -> None:
    asks = {"agent": "qa", "message": "Did the night run pass?"}
    later = desk.served.gateway.post(ALICE, "/conversations", asks).json
    assert desk.served.gateway.post(ALICE, f"/tasks/{later['task']['id']}/cancel").status == 200
    signed_in.goto(f"{desk.served.url}#/chat")
    rows = signed_in.get_by_role("region", name="Your conversations").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("waits")
    signed_in.keyboard.press("n")
    expect(signed_in.get_by_role("textbox", name="Message")).to_be_focused()
    signed_in.keyboard.press("Escape")
    signed_in.get_by_role("heading", name="Chat").click()
    signed_in.keyboard.press("j")
    signed_in.keyboard.press("j")
    signed_in.keyboard.press("Enter")
    expect(signed_in.get_by_role("log")).to_contain_text("Is the new sign-in safe?")


def test_a_message_that_is_read_before_its_task_waits_for_it(signed_in: Any, desk: Desk, expect: Any) -> None:
    """Otherwise it would stand outside of its branch, and the branch twice."""
    with at_once(desk.served):
        agents = TalkingAgents(desk.served).hired()
        talk = agents.begin("Lead 123 wants a contract")
        agents.work("sales", "sdr")
        overview = f"**/conversations/{talk}"
        signed_in.goto(f"{desk.served.url}#/chat/{talk}")
        expect(signed_in.get_by_role("log").get_by_role("region", name="Branch of legal")).to_be_visible()
        of_before = desk.served.gateway.get(ALICE, f"/conversations/{talk}").text
        signed_in.route(overview, lambda route: route.fulfill(body=of_before, content_type="application/json"))
        said = "Counsel: the contract is sound."
        with signed_in.expect_response(lambda answer: answer.status == 200 and said in answer.text()):
            agents.work("legal", "counsel")
        signed_in.wait_for_timeout(300)
        assert signed_in.get_by_text("Counsel: the contract is sound.").count() == 0
        signed_in.unroute(overview)
        expect(signed_in.get_by_text("Counsel: the contract is sound.")).to_be_visible()
    expect(signed_in.get_by_role("region", name="Branch of legal")).to_have_count(1)


def test_who_has_begun_none_is_told_how(page: Any, desk: Desk, expect: Any) -> None:
    page.goto(f"{desk.served.url}#/chat")
    page.get_by_label("Your token").fill(desk.served.token(BOB))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="You have begun none")).to_be_visible()
    expect(page.get_by_text("press n")).to_be_visible()


def test_a_conversation_shows_its_routing_its_branches_beside_each_other_and_their_join(
    signed_in: Any, desk: Desk, expect: Any
) -> None:
    with at_once(desk.served):
        agents = TalkingAgents(desk.served).hired()
        talk = agents.begin("Lead 123 wants a contract")
        signed_in.goto(f"{desk.served.url}#/chat/{talk}")
        log = signed_in.get_by_role("log")
        expect(signed_in.get_by_role("heading", name="With Sales")).to_be_visible()
        agents.work("sales")
        expect(log.locator(".routed").first).to_contain_text("Routed to Sdr")
        expect(log.locator(".routed").first).to_contain_text('"lead_id": "123"')
        expect(signed_in.get_by_role("heading", name="With Sdr")).to_be_visible()
        agents.work("sdr")
        legal, pricing = (log.get_by_role("region", name=f"Branch of {slug}") for slug in ("legal", "pricing"))
        expect(pricing).to_contain_text("ready")
        agents.work("pricing", "legal", "counsel")
        expect(pricing).to_contain_text("Pricing: 5 % less than the list.")
        expect(legal).to_contain_text("That is for counsel.")
        expect(legal).to_contain_text("Routed to Counsel")
        expect(legal).to_contain_text("Counsel: the contract is sound.")
        agents.work()
    answer = log.get_by_text("Legal and pricing agree")
    expect(answer).to_be_visible()
    expect(signed_in.get_by_title("It waits for a message")).to_be_visible()
    left, right, below = (each.bounding_box() for each in (legal, pricing, answer))
    assert abs(left["y"] - right["y"]) < 1, "beside each other"
    assert left["x"] != right["x"]
    assert below["y"] > max(each["y"] + each["height"] for each in (left, right)) - 1, "the join after both"
    expect(signed_in.get_by_text("tokens left")).to_contain_text("49,")
    folded = log.locator("summary").filter(has_text="thinking")
    assert not log.get_by_text(THOUGHT).is_visible()
    folded.focus()
    signed_in.keyboard.press("Enter")
    expect(log.get_by_text(THOUGHT)).to_be_visible()
    call = log.locator("details").filter(has_text="tool call").first
    call.locator("summary").focus()
    signed_in.keyboard.press("Enter")
    expect(call.get_by_text("handoff_to_sdr").first).to_be_visible()
    signed_in.set_viewport_size({"width": 390, "height": 860})
    upper, lower = legal.bounding_box(), pricing.bounding_box()
    assert upper["x"] == lower["x"], "below each other where there is no room"
    assert signed_in.evaluate("document.documentElement.scrollWidth") <= 390
    (task,) = desk.served.gateway.get(ALICE, "/tasks", query="agent=sdr").json["items"]
    signed_in.goto(f"{desk.served.url}#/tasks/{task['id']}")
    time = signed_in.locator(".timeline")
    expect(time.get_by_role("img", name="Model calls: 2, 40 tokens").locator("circle")).to_have_count(2)
    time.get_by_text("As numbers").click()
    expect(time.get_by_role("row").last).to_have_text(re.compile("2, sdr.*1010end turn"))
