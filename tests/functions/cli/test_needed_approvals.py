"""The command's output about approvals of rules: the approvers, their number, and the next step."""

from __future__ import annotations

import pytest

from functions.cli.conftest import Terminal
from support.worlds.world import agent, human, service

ALICE, BOB = human(), human(name="bob")
RULE = {"target": "reviewer", "people": ["alice", "bob"], "needed": 2}
CREATE = ("handoff", "create", "--reason", "Sign it")


@pytest.fixture(autouse=True)
def reviewer(terminal: Terminal) -> None:
    terminal.json("agents", "save", "reviewer", "--name", "Reviewer", "--approval", "manual")
    assert terminal.api.gateway.put(ALICE, "/workspace/settings", {"approval_rules": [RULE]}).status == 200


def one(text: str) -> str:
    return " ".join(text.split())


def test_the_first_of_two_approvals_is_reported_as_counted(terminal: Terminal) -> None:
    terminal.sit(service())
    drawn = terminal.screen(*CREATE, "--from", "scout", "--to", "reviewer")
    terminal.sit(ALICE)
    assert "0 of 2" in drawn
    assert "human:alice, human:bob" in drawn
    task = terminal.json("tasks", "list", "--state", "needs")["items"][0]["id"]
    drawn = one(terminal.screen("tasks", "approve", task))
    assert "Your approval counts" in drawn
    assert "1 of 2 approvals by human:alice, human:bob; approved by human:alice" in drawn
    assert "1 of 2 approvals" in one(terminal.screen("tasks", "show", task))
    terminal.sit(BOB)
    drawn = one(terminal.screen("approvals", "approve", task, "--yes"))
    assert drawn == f"✓ {task} is delegated"


def test_the_list_of_approvals_reports_the_first_of_two_as_counted(terminal: Terminal) -> None:
    terminal.sit(service())
    task = terminal.json(*CREATE, "--from", "scout", "--to", "reviewer")["task"]["id"]
    terminal.sit(ALICE)
    drawn = one(terminal.screen("approvals", "approve", task, "--yes"))
    assert "Your approval counts" in drawn
    assert "1 of 2" in drawn


def test_a_held_task_waits_for_its_approval_and_not_for_a_claim(terminal: Terminal) -> None:
    terminal.sit(human(name="carl"))
    drawn = one(terminal.screen(*CREATE))
    terminal.sit(ALICE)
    task = terminal.json("tasks", "list", "--state", "delegated")["items"][0]["id"]
    assert "Held from reviewer" in drawn
    assert f"baton tasks approve {task}" in drawn
    shown = one(terminal.screen("tasks", "show", task))
    assert "Held from reviewer 0 of 2 approvals by human:alice, human:bob; approved by nobody yet" in shown
    assert "baton tasks claim" not in shown.split("next:")[1]
    assert f"baton tasks approve {task}" in shown.split("next:")[1]
    drawn = one(terminal.screen("tasks", "approve", task))
    assert "Held from reviewer: 1 of 2 approvals" in drawn
    terminal.world.clock.advance(5)
    terminal.sit(agent("reviewer"))
    code, _, err = terminal.runs("tasks", "claim", task, "--agent", "reviewer")
    assert code == 1
    assert "approval_needed" in err
    assert f"next: a person approves it: baton tasks approve {task}" in err


def test_a_rule_that_nobody_can_meet_is_printed_as_a_warning(terminal: Terminal) -> None:
    drawn = one(terminal.screen("settings", "set", 'approval_rules=[{"people": ["nobody"]}]'))
    assert "warning: approval_rules.0: nobody can meet this rule: it needs 1, and 0 people may approve." in drawn
    assert "nobody can meet this rule" in one(terminal.screen("settings", "show"))
