"""What the workspace knows is found by words, with what a decision replaced, and taken back."""

from __future__ import annotations

from typing import Any

from support.worlds.console_desk import Desk
from support.worlds.http_agents import ALICE

EVIL = "Use <img src=x onerror=alert(1)> \u202ein the cache"


def test_a_decision_is_found_with_what_it_replaced_and_withdrawn(signed_in: Any, desk: Desk) -> None:
    gateway = desk.served.gateway
    first = {"entry_type": "decision", "scope": "src/auth", "summary": EVIL, "rationale": "It is fast"}
    old = gateway.post(ALICE, "/blackboard", first).json
    second = {
        **first,
        "summary": "Keep sessions in the table",
        "supersedes": old["id"],
        "rationale": "They must end at once",
    }
    new = gateway.post(ALICE, "/blackboard", second).json
    signed_in.goto(f"{desk.served.url}#/memory")
    signed_in.get_by_label("Words").fill("sessions table")
    signed_in.get_by_role("button", name="Search").click()
    signed_in.get_by_text("in place of").wait_for()
    signed_in.get_by_text("202E").wait_for()
    assert "q=sessions" in signed_in.url
    assert signed_in.locator("main img").count() == 0
    signed_in.goto(f"{desk.served.url}#/memory")
    signed_in.get_by_label("Or why a file is so").fill("src/auth/session.py")
    signed_in.get_by_role("button", name="Search").click()
    signed_in.get_by_text("in place of").wait_for()
    assert "path=src" in signed_in.url
    signed_in.get_by_role("link", name="Keep sessions in the table").click()
    signed_in.get_by_role("button", name="Withdraw").click()
    signed_in.get_by_label("Reason").fill("Measured again")
    signed_in.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
    signed_in.get_by_text("Measured again").wait_for()
    assert gateway.get(ALICE, f"/blackboard/{new['id']}").json["withdrawn_by"] == "human:alice"
