"""An administrator sees a person's approvals, and ends them all."""

from __future__ import annotations

from typing import Any

from support.worlds.console_desk import Desk
from support.worlds.http_agents import ALICE
from support.worlds.world import human

ANN = human(name="ann")


def test_administrator_ends_everything_that_rests_on_a_person(signed_in: Any, desk: Desk) -> None:
    gateway = desk.served.gateway
    for name, right in (("alice", "administrator"), ("ann", "approver")):
        gateway.post(ALICE, "/tokens", {"kind": "human", "subject": name, "right": right})
    for approval in ("manual", "auto"):
        assert gateway.put(ANN, "/agents/qa", {"name": "qa", "approval": approval}).status in {200, 201}
    signed_in.goto(f"{desk.served.url}#/tokens")
    signed_in.locator("li", has_text="ann").get_by_role("link", name="approvals of this person").first.click()
    card = signed_in.locator("li.card", has_text="standing approval of an agent")
    card.get_by_text("counts").wait_for()
    signed_in.get_by_role("button", name="End all approvals").click()
    dialog = signed_in.get_by_role("dialog")
    dialog.get_by_text("1 standing approval of an agent").wait_for()
    dialog.get_by_role("button", name="End all approvals").click()
    card.get_by_text("has ended").wait_for()
    signed_in.goto(f"{desk.served.url}#/changes?subject=approvals")
    signed_in.get_by_text("approvals: human:ann").wait_for()
