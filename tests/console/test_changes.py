"""Changes of the workspace: an administrator sees each change and its author, and decides on another administrator's
change."""

from __future__ import annotations

from typing import Any

import pytest

from support.worlds.console_desk import Desk
from support.worlds.http_agents import ALICE
from support.worlds.world import human

ANN = human(name="ann")
RULE = {"target": "qa", "group": "leads", "needed": 2, "not_author": True}


@pytest.fixture
def asked(desk: Desk) -> dict[str, Any]:
    """Alice and Ann administer the workspace, and Ann asks to remove a rule."""
    gateway = desk.served.gateway
    settings = {"groups": {"leads": ["ann", "bob"]}, "approval_rules": [RULE]}
    assert gateway.put(ALICE, "/workspace/settings", settings).status == 200
    for name in ("alice", "ann"):
        gateway.post(ALICE, "/tokens", {"kind": "human", "subject": name, "right": "administrator"})
    reply = gateway.put(ANN, "/workspace/settings", {"approval_rules": []})
    assert reply.status == 202
    pending: dict[str, Any] = reply.json
    return pending


def rules(desk: Desk) -> int:
    return len(desk.served.gateway.get(ALICE, "/workspace/settings").json["approval_rules"])


def test_second_administrator_reads_and_approves_a_change(signed_in: Any, desk: Desk, asked: dict[str, Any]) -> None:
    signed_in.goto(f"{desk.served.url}#/changes")
    card = signed_in.locator(f"#{asked['id']}")
    card.get_by_text("settings: approval_rules").wait_for()
    card.get_by_text("leads").wait_for()
    signed_in.locator("nav a", has_text="Changes").locator(".count").get_by_text("1").wait_for()
    card.get_by_role("button", name="Approve").click()
    signed_in.get_by_role("dialog").get_by_role("button", name="Approve the change").click()
    card.get_by_text("applied by human:alice").wait_for()
    assert rules(desk) == 0


def test_refusal_has_a_reason_and_changes_nothing(signed_in: Any, desk: Desk, asked: dict[str, Any]) -> None:
    signed_in.goto(f"{desk.served.url}#/changes")
    card = signed_in.locator(f"#{asked['id']}")
    card.get_by_role("button", name="Refuse").click()
    signed_in.get_by_label("Reason").fill("The rule stays.")
    signed_in.get_by_role("dialog").get_by_role("button", name="Refuse the change").click()
    card.get_by_text("Reason: The rule stays.").wait_for()
    assert rules(desk) == 1


def test_approval_that_is_not_used_yet_is_ended(signed_in: Any, desk: Desk, asked: dict[str, Any]) -> None:
    wanted = {"kind": "human", "subject": "cy", "right": "administrator"}
    change = desk.served.gateway.post(ANN, "/tokens", wanted).json
    path = f"/workspace/changes/{change['id']}/approve"
    assert desk.served.gateway.post(ALICE, path, {"digest": change["digest"]}).json["state"] == "approved"
    signed_in.goto(f"{desk.served.url}#/changes")
    card = signed_in.locator(f"#{change['id']}")
    card.get_by_role("button", name="End the approval").click()
    signed_in.get_by_role("dialog").get_by_role("button", name="Refuse the change").click()
    card.get_by_text("refused by human:alice").wait_for()


def test_settings_show_groups_and_rules(signed_in: Any, desk: Desk, asked: dict[str, Any]) -> None:
    signed_in.goto(f"{desk.served.url}#/settings")
    signed_in.get_by_text("Handoffs to qa: 2 of the group leads, without their author.").wait_for()
    signed_in.get_by_text("No valid token gives bob the right to approve.").wait_for()
    signed_in.get_by_text("Nobody can meet this rule: it needs 2, and 1 person may approve.").wait_for()


def test_own_change_is_withdrawn_and_not_approved(signed_in: Any, desk: Desk, asked: dict[str, Any]) -> None:
    reply = desk.served.gateway.put(ALICE, "/workspace/settings", {"groups": {}, "approval_rules": []})
    signed_in.goto(f"{desk.served.url}#/changes")
    card = signed_in.locator(f"#{reply.json['id']}")
    card.get_by_role("button", name="Withdraw").click()
    signed_in.get_by_role("dialog").get_by_role("button", name="Withdraw the change").click()
    card.get_by_text("withdrawn by human:alice").wait_for()
