"""The command sends and prints each number as it was written."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from functions.cli.conftest import Terminal
from support.worlds.world import agent, human

ALICE, ARCHITECT, CODER = human(), agent("architect"), agent("auto-code")
WRITTEN = "[12345678901234567.10, 1E2, 0.10, -0.0, 99999999999999999999999999999999999999]"
STATE = f'{{"amounts": {WRITTEN}}}'
GIVE = "handoff create --from architect --to auto-code --reason Pay --json"


def typed(terminal: Terminal, line: str, *more: str) -> str:
    code, out, err = terminal.runs(*shlex.split(line), *more)
    assert code == 0, err
    return out


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("door", ["value", "file", "data"])
def test_a_state_is_sent_and_shown_with_each_digit(terminal: Terminal, tmp_path: Path, door: str) -> None:
    (tmp_path / "state.json").write_text(STATE)
    given = {
        "value": ["--state", STATE],
        "file": ["--state", f"@{tmp_path}/state.json"],
        "data": ["--data", f'{{"context": {{"state": {STATE}}}}}'],
    }
    terminal.sit(ARCHITECT)
    made: Any = json.loads(typed(terminal, GIVE, *given[door]))
    sent = f'"state":{STATE.replace(": ", ":").replace(", ", ",")}'
    assert sent in terminal.api.gateway.get(ARCHITECT, f"/handoffs/{made['task']['handoff_id']}").text
    task, handoff = made["task"]["id"], made["handoff"]["handoff_id"]
    assert WRITTEN in flat(typed(terminal, f"tasks show {task} --json")).replace("[ ", "[").replace(" ]", "]")
    screen = typed(terminal, f"tasks show {task} --text")
    for number in ("12345678901234567.10", "1E2", "0.10", "-0.0", "9" * 38):
        assert number in screen
    query = ["--query", "context.state.amounts[0]"]
    assert typed(terminal, f"handoff show {handoff}", *query) == "12345678901234567.10\n"
    summed = ["--query", "sum(context.state.amounts[1:3])"]
    assert typed(terminal, f"handoff show {handoff}", *summed) == "100.1\n"


def test_a_person_is_shown_the_digits_of_the_digest(terminal: Terminal) -> None:
    claim: Any = terminal.agents.begun()
    at = f"/tasks/{claim['task']['id']}"
    terminal.sit(CODER)

    def asked(amount: str) -> Any:
        body = {"claim_id": claim["claim_id"], "kind": "action", "text": "Pay", "tool": "pay", "arguments": {}}
        text = json.dumps(body).replace('"arguments": {}', f'"arguments": {{"amount": {amount}}}')
        return json.loads(typed(terminal, f"api POST {at}/ask", "--data", text))

    first = asked("12345678901234567.10")
    terminal.sit(ALICE)
    assert '"amount": 12345678901234567.10' in typed(terminal, f"approvals show {first['id']} --text")
    typed(terminal, f"approvals answer {first['id']} --approve --digest {first['digest']}")
    terminal.sit(CODER)
    second = asked("12345678901234567.20")
    terminal.sit(ALICE)
    shown = typed(terminal, f"approvals show {second['id']} --text")
    assert "amount: 12345678901234567.20 ↔ 12345678901234567.10" in flat(shown) or (
        "12345678901234567.10 ↔ 12345678901234567.20" in flat(shown)
    )
    assert "the very same arguments" not in shown


@pytest.mark.parametrize("number", ["1e400", "1" * 39, "1" * 5_000])
def test_a_number_out_of_range_is_refused_by_baton_and_not_rounded(terminal: Terminal, number: str) -> None:
    terminal.sit(ARCHITECT)
    code, _, err = terminal.runs(*shlex.split(GIVE), "--state", f'{{"n": {number}}}')
    assert code == 1
    assert "malformed_json" in err
