"""Talking with agents: each message is said once, and a conversation is found again."""

from __future__ import annotations

from typing import Any

from support.worlds.console_desk import Desk
from support.worlds.http_agents import ALICE


def test_a_conversation_that_was_begun_anywhere_is_in_the_list(signed_in: Any, desk: Desk) -> None:
    signed_in.goto(f"{desk.served.url}#/chat")
    signed_in.get_by_role("link", name="Is the new sign-in safe?").click()
    signed_in.get_by_role("log").get_by_text("Is the new sign-in safe?").wait_for()
    assert signed_in.url.endswith(f"#/chat/{desk.talk}")


def test_a_handoff_without_a_message_is_no_conversation(signed_in: Any, desk: Desk) -> None:
    asks = {"source": {"agent": ALICE.key}, "target": {"agent": "qa", "reason": "Directly asked"}}
    assert desk.served.gateway.post(ALICE, "/handoffs", asks).status == 201
    signed_in.goto(f"{desk.served.url}#/chat")
    signed_in.get_by_text("1 of the last week").wait_for()
    assert signed_in.get_by_text("Directly asked").count() == 0


def test_a_message_whose_answer_was_lost_begins_one_conversation(signed_in: Any, desk: Desk) -> None:
    lost: list[str] = []

    def lose(route: Any) -> None:
        lost.append(route.request.headers["idempotency-key"])
        route.fetch()
        route.abort()

    signed_in.goto(f"{desk.served.url}#/chat")
    signed_in.route("**/conversations", lose)
    signed_in.get_by_label("With").select_option("qa")
    signed_in.get_by_role("textbox", name="Message").fill("Is it green?")
    signed_in.get_by_role("button", name="Begin").click()
    signed_in.get_by_text("It wasn't begun.").wait_for()
    signed_in.unroute("**/conversations")
    signed_in.get_by_role("button", name="Begin").click()
    signed_in.get_by_role("heading", name="With").wait_for()
    assert len(set(lost)) == 1
    tasks = desk.served.gateway.get(ALICE, "/tasks").json["items"]
    assert [task["title"] for task in tasks].count("Is it green?") == 1
