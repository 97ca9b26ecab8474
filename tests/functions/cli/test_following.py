"""What goes on while somebody looks: a chain, a task, a conversation; and what is written into files."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from baton.domain.runs.transcript import EntryKind, MessageType, TaskEntry, TranscriptEntry, TranscriptMessage
from baton.ports.writes import Insert
from functions.cli.conftest import Terminal
from infra.citations import ROOT
from support.worlds.world import WORKSPACE, agent, human

ALICE, CODER = human(), agent("auto-code")


def ends_meanwhile(terminal: Terminal, claim: dict[str, Any]) -> list[float]:
    """The task ends while the command pauses between two looks. The pauses that were made."""
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        terminal.world.clock.advance(60)
        terminal.agents.say(claim, "complete", output="done")

    terminal.monkeypatch.setattr(time, "sleep", pause)
    return pauses


def test_a_chain_is_drawn_again_until_it_has_ended(terminal: Terminal) -> None:
    claim = terminal.agents.begun()
    pauses = ends_meanwhile(terminal, claim)
    drawn = terminal.screen("handoff", "history", claim["task"]["workflow_id"], "--watch")
    assert (drawn.count("● In Progress"), drawn.count("✓ Completed"), len(pauses)) == (1, 1, 1)
    assert "Duration: 0 s so far" in drawn
    assert "Duration: 1 min\n" in drawn


def test_as_json_only_the_end_is_printed(terminal: Terminal) -> None:
    claim = terminal.agents.begun()
    ends_meanwhile(terminal, claim)
    assert terminal.json("tasks", "watch", claim["task"]["id"])["state"] == "done"


def test_await_ends_with_0_once_it_is_done(terminal: Terminal) -> None:
    claim = terminal.agents.begun()
    assert terminal.json("await", claim["task"]["id"], "--state", "claimed")["state"] == "claimed"
    terminal.agents.say(claim, "complete", output="done")
    assert terminal.json("await", claim["task"]["id"])["output"] == "done"


def test_await_ends_with_5_where_it_took_too_long(terminal: Terminal) -> None:
    claim = terminal.agents.begun()
    code, out, err = terminal.runs("await", claim["task"]["id"], "--timeout", "0")
    assert (code, out) == (5, "")
    assert "is still claimed" in err


def test_waiting_for_work_ends_with_5_where_none_came(terminal: Terminal) -> None:
    terminal.sit(CODER)
    assert terminal.json("tasks", "claim", "--agent", "auto-code") is None
    terminal.world.clock.stands_still = False
    assert terminal.runs("tasks", "claim", "--agent", "auto-code", "--wait", "0.01")[0] == 5


def test_a_tail_follows_until_the_task_has_ended(terminal: Terminal) -> None:
    claim = terminal.agents.begun()
    terminal.world.clock.meanwhile = lambda: terminal.agents.say(claim, "complete", output="done")
    code, out, _ = terminal.runs("events", "tail", claim["task"]["id"], "--follow")
    types = [json.loads(line)["type"] for line in out.splitlines()]
    assert (code, types[0], types[-1]) == (0, "handoff_initiated", "handoff_completed")


def test_an_exported_trail_is_verified_by_a_program_that_knows_nothing_of_baton(
    terminal: Terminal, tmp_path: Path
) -> None:
    claim = terminal.agents.begun()
    terminal.agents.say(claim, "complete", output="done")
    folder = tmp_path / "exported"
    assert terminal.json("export", claim["task"]["workflow_id"], "--into", str(folder))["handoffs"] == 1
    handoff_id, task_id = claim["task"]["handoff_id"], claim["task"]["id"]
    assert json.loads((folder / "handoffs" / f"{handoff_id}.json").read_text())["task_id"] == task_id
    trail = folder / "trails" / f"{task_id}.json"
    assert json.loads(trail.read_text()) == terminal.json("export", task_id)
    program = [sys.executable, str(ROOT / "tools" / "admin" / "verify_trail.py"), str(trail)]
    assert subprocess.run(program, capture_output=True, check=False, timeout=60).returncode == 0


@pytest.mark.parametrize("field", ["handoff_id", "task_id"])
@pytest.mark.parametrize("said", ["{home}/.claude/settings", "../../settings", "ho_1/../../x", "HO_1", "", "ho_1\n"])
def test_an_export_writes_only_into_its_folder_whatever_the_answer_says(
    terminal: Terminal, tmp_path: Path, field: str, said: str
) -> None:
    claim = terminal.agents.begun()
    served, evil = terminal.api.gateway.handle, said.format(home=tmp_path / "home")

    def altered(route: Any, event: dict[str, Any]) -> dict[str, Any]:
        answer = served(route, event)
        body = json.loads(answer["body"])
        for node in body.get("nodes", []):
            node[field] = evil
        return {**answer, "body": json.dumps(body)}

    terminal.monkeypatch.setattr(terminal.api.gateway, "handle", altered)
    code, _, err = terminal.runs("export", claim["task"]["workflow_id"], "--into", str(tmp_path / "in" / "it"))
    assert code == 1
    assert "is no id" in err
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == [tmp_path / "in" / "it" / "chain.json"]


def test_a_trail_that_was_altered_on_its_way_is_broken(terminal: Terminal) -> None:
    claim = terminal.agents.begun()
    task_id = claim["task"]["id"]
    served = terminal.api.gateway.handle

    def altered(route: Any, event: dict[str, Any]) -> dict[str, Any]:
        answer = served(route, event)
        return {**answer, "body": answer["body"].replace("agent:auto-code", "agent:qa").replace('"auto-code"', '"qa"')}

    terminal.monkeypatch.setattr(terminal.api.gateway, "handle", altered)
    code, out, _ = terminal.runs("events", "verify", task_id, "--text")
    assert code == 1
    assert "its hash isn't that of its content" in out


def test_a_talk_tells_who_it_is_routed_to(terminal: Terminal) -> None:
    clock = terminal.world.clock

    def answered() -> None:
        """The agent works while the command waits."""
        clock.advance(5)
        claim = terminal.agents.take("auto-code")
        messages = (
            TranscriptMessage(MessageType.HANDOFF, "Routed to QA", {"target_agent": "qa"}),
            TranscriptMessage(MessageType.ASSISTANT, "All \x1b[31mgood"),
        )
        entry = TranscriptEntry(first=2, kind=EntryKind.NOTE, agent="auto-code", at=clock.now(), more_messages=messages)
        terminal.api.gateway.deps.store.commit(WORKSPACE, Insert(TaskEntry(claim["task"]["id"], entry)))
        terminal.agents.say(claim, "complete", output="done")

    clock.meanwhile = answered
    said = terminal.screen("chat", "auto-code", "--message", "How is it?")
    assert said == "→ Routed to QA\nauto-code: All \\x1b[31mgood\nauto-code: done\n"


def asked_for(terminal: Terminal) -> str:
    """A task that a human has asked for just now: its undo window is open."""
    said = ("handoff", "create", "--from", "architect", "--to", "auto-code", "--reason", "Build it")
    task_id: str = terminal.json(*said)["task"]["id"]
    return task_id


def test_a_named_task_is_claimed_as_soon_as_its_undo_window_is_over(terminal: Terminal) -> None:
    terminal.agents.begun()  # registers both
    terminal.sit(ALICE)
    terminal.json("settings", "set", "dispatch_delay_seconds=3")
    task_id = asked_for(terminal)
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        terminal.world.clock.advance(2)

    terminal.monkeypatch.setattr(time, "sleep", pause)
    terminal.sit(CODER)
    claim = terminal.json("tasks", "claim", task_id, "--agent", "auto-code", "--wait", "20")
    assert (claim["task"]["id"], len(pauses)) == (task_id, 2)


def test_work_may_be_waited_for_longer_than_one_poll(terminal: Terminal) -> None:
    """A poll for claims takes at most 20 s."""
    terminal.agents.hand_off("architect", "auto-code")
    terminal.sit(CODER)
    assert terminal.json("tasks", "claim", "--agent", "auto-code", "--wait", "30")["task"]["title"]


def test_nobody_waits_for_a_task_that_has_ended_nor_longer_than_said(terminal: Terminal) -> None:
    claim = terminal.agents.begun()
    terminal.agents.say(claim, "complete", output="done")
    terminal.monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it waits"))
    terminal.sit(CODER)
    for task, wait in ((claim["task"]["id"], "20"), (claim["task"]["id"], "0")):
        code, _, err = terminal.runs("tasks", "claim", task, "--agent", "auto-code", "--wait", wait)
        assert (code, "not_claimable" in err or "task_ended" in err) == (1, True)
