"""On the narrowest terminal each id stays in one piece: it is copied into the next command."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import pytest

from functions.cli.conftest import Terminal
from support.worlds.world import agent, human

ALICE, ARCHITECT, CODER = human(), agent("architect"), agent("auto-code")
GIVE = "handoff create --from architect --to auto-code --reason"
ID = re.compile(r"\b(?:task|ho|wf|clm|qst|ent|tok|alert|cp)_[0-9a-z]{20,}\b")


@pytest.mark.parametrize("columns", ["1", "10", "20", "40", "61"])
def test_no_screen_breaks_or_cuts_an_id(terminal: Terminal, columns: str) -> None:
    def shown(line: str) -> Any:
        document: Any = json.loads(terminal.runs(*shlex.split(line), "--json")[1])
        code, out, err = terminal.runs(*shlex.split(line), "--text")
        assert code == 0, err
        known = set(ID.findall(json.dumps(document)))
        assert known
        for begun in re.findall(r"\b(?:task|ho|wf|clm|qst|ent|tok|alert|cp)_[0-9a-z]*…?", out):
            assert begun in known, line
        return document

    terminal.monkeypatch.setenv("COLUMNS", columns)
    terminal.sit(ARCHITECT)
    made = shown("handoff create --from architect --to auto-code --reason Build --key k")
    terminal.json("memory", "post", "--type", "finding", "--summary", "Use JWT", "--scope", "auth")
    shown("memory list")
    task, handoff = made["task"]["id"], made["handoff"]["handoff_id"]
    for line in ("handoff list", f"handoff show {handoff}", "tasks list", f"tasks show {task}", "agents pending"):
        terminal.sit(CODER if line.startswith("agents") else ARCHITECT)
        shown(line if "agents" not in line else f"{line} auto-code")
    terminal.sit(CODER)
    claim = terminal.json("tasks", "claim", "--agent", "auto-code")
    asked = terminal.json("ask", task, "May I?", "--claim", claim["claim_id"], "--no-wait")
    terminal.sit(ALICE)
    shown(f"approvals show {asked['id']}")
    shown("approvals list")
    shown(f"tasks show {task}")


def test_a_table_in_a_narrow_terminal_keeps_its_ids_and_cuts_the_rest(terminal: Terminal) -> None:
    terminal.sit(ARCHITECT)
    made = terminal.json(*shlex.split(GIVE), "Build the login " * 9)
    terminal.monkeypatch.setenv("COLUMNS", "20")
    out = terminal.screen("handoff", "list")
    assert made["handoff"]["handoff_id"] in out
    assert "Build t…" in out
