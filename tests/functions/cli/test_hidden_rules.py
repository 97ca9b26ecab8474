"""The output of an agent's command where Baton hides the requirements of approval rules."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from functions.cli.conftest import Terminal
from infra.citations import ROOT
from support.worlds.world import agent, human

CODER, ALICE = agent("auto-code"), human()
PAY = {"kind": "action", "text": "It is due", "tool": "pay", "arguments": {"amount": 1}}


@pytest.fixture
def asked(terminal: Terminal) -> tuple[str, str]:
    """The ids of a task and of its question. A rule sets the question's approvers."""
    gateway, claim = terminal.api.gateway, terminal.agents.begun()
    settings = {"groups": {"leads": ["ada"]}, "approval_rules": [{"tool": "pay", "group": "leads", "needed": 1}]}
    assert gateway.put(ALICE, "/workspace/settings", settings).status == 200
    task_id = str(claim["task"]["id"])
    question = gateway.post(CODER, f"/tasks/{task_id}/ask", {"claim_id": claim["claim_id"], **PAY}).json
    return task_id, str(question["id"])


def test_a_question_by_a_rule_names_no_approvers_to_an_agent(terminal: Terminal, asked: tuple[str, str]) -> None:
    task_id, question_id = asked
    line = ("approvals", "show", question_id, "--task", task_id, "--text")
    _, shown, _ = terminal.runs(*line)
    assert "the group leads" in shown
    assert "0 of 1" in shown
    terminal.sit(CODER)
    code, shown, _ = terminal.runs(*line)
    assert code == 0
    assert "the people of a rule of the settings" in shown
    assert "leads" not in shown
    assert "None" not in shown


def test_an_agent_is_told_that_it_cant_verify_a_trail_with_hidden_entries(
    terminal: Terminal, asked: tuple[str, str], tmp_path: Path
) -> None:
    terminal.sit(CODER)
    code, _, err = terminal.runs("events", "verify", asked[0])
    assert code == 1
    assert "can't be verified with this profile" in err
    assert "use the profile of a person" in err
    trail = tmp_path / "trail.json"
    trail.write_text(json.dumps(terminal.json("export", asked[0])))
    program = [sys.executable, str(ROOT / "tools" / "admin" / "verify_trail.py"), str(trail)]
    told = subprocess.run(program, capture_output=True, check=False, timeout=60, text=True)
    assert told.returncode == 2
    assert "read the trail with a person's token" in told.stderr


def test_the_first_of_two_answers_is_told_that_it_counts(terminal: Terminal) -> None:
    claim = terminal.agents.begun()
    task_id = str(claim["task"]["id"])
    asked = {"claim_id": claim["claim_id"], **PAY, "needed": 2}
    question = terminal.api.gateway.post(CODER, f"/tasks/{task_id}/ask", asked).json
    answer = ("approvals", "answer", question["id"], "--task", task_id, "--approve", "--digest", question["digest"])
    told = terminal.screen(*answer)
    assert "The answer of human:alice counts" in told
    assert "1 of 2, 1 more is needed" in told
    terminal.sit(human(name="bob"))
    assert "is approved by human:alice, human:bob" in terminal.screen(*answer)
