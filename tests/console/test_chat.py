"""Talking with an agent. A conversation that is routed is played on the deployed stack (test_deployed.py)."""

from __future__ import annotations

from typing import Any

from support.worlds.console_desk import Desk
from support.worlds.http_agents import ALICE


def test_a_lost_answer_begins_no_second_conversation(signed_in: Any, desk: Desk) -> None:
    lost: list[str] = []

    def lose(route: Any) -> None:
        key = route.request.headers["idempotency-key"]
        if lost:
            route.continue_()
        else:
            route.fetch()  # it was begun, and the answer is lost
            route.abort()
        lost.append(key)

    signed_in.route("**/conversations", lose)
    signed_in.goto(f"{desk.served.url}#/chat")
    signed_in.get_by_label("With").select_option("architect")
    signed_in.get_by_role("textbox", name="Message").fill("What is left to do?")
    signed_in.get_by_role("button", name="Begin").click()
    signed_in.get_by_role("log").get_by_text("What is left to do?").wait_for()
    tasks = desk.served.gateway.get(ALICE, "/tasks", query="agent=architect").json["items"]
    assert len([each for each in tasks if each["title"] == "What is left to do?"]) == 1
    assert (len(lost), len({*lost})) == (2, 1)
