"""The queue of single keys: what each does, and one session in a real pseudo-terminal."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import baton_cli
from baton.services.tasks.sweep import sweep
from baton_cli import times
from baton_cli.approval_decisions import ShownApproval
from baton_cli.approvals import HELP, SHORT_HELP, Queue
from baton_cli.command_context import CommandContext
from baton_cli.nouns.approvals import waiting
from baton_cli.screen import Screen
from baton_cli.screens import approval
from baton_cli.screens.message import Cut
from functions.cli.conftest import Terminal
from support.pseudo_terminal import pseudo_terminal
from support.worlds.http_agents import message
from support.worlds.world import agent, human, service

ALICE, ARCHITECT = human(), agent("architect")


@dataclass
class ScriptedDesk:
    """Presses ``keys`` one after the other, and types ``lines``; then it leaves."""

    keys: list[str]
    lines: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    drawn: list[str] = field(default_factory=list)

    def key(self) -> str:
        return self.keys.pop(0) if self.keys else "q"

    def line(self, question: str) -> str:
        return self.lines.pop(0) if self.lines else ""

    def show(self, look: ShownApproval, *, is_whole: bool) -> int:
        screen, cut = Screen(times.now(), width=100), Cut(is_whole=is_whole)
        approval.looked_at(screen, look, cut)
        self.shown.append(f"{look.item['title']}: {look.place}")
        self.drawn.append(screen.text())
        return cut.hidden

    def say(self, text: str) -> None:
        self.said.append(text)


@pytest.fixture
def needs(terminal: Terminal) -> dict[str, str]:
    """Title → task; three of them are alike."""
    terminal.json("agents", "save", "reviewer", "--name", "Reviewer", "--approval", "manual")
    made = {}
    for number, title in enumerate(("Sign 1", "Sign 2", "Same", "Same", "Same")):
        terminal.world.clock.advance(1)
        source = "architect" if number < 3 else "scout"
        said = message(source, "reviewer", target={"agent": "reviewer", "reason": title})
        reply = terminal.api.gateway.post(agent(source), "/handoffs", said)
        assert reply.status == 201, reply.text
        made[f"{title} {number}"] = reply.json["task"]["id"]
    return made


def queue(terminal: Terminal, keys: str, *lines: str) -> tuple[Queue, ScriptedDesk]:
    app = CommandContext(clock=terminal.world.clock.now)
    desk = ScriptedDesk(list(keys), list(lines))
    made = Queue(app, desk, waiting(app, None, None)["items"])
    try:
        made.run()
    finally:
        app.close()
    return made, desk


def states(terminal: Terminal, needs: dict[str, str]) -> list[str]:
    return [terminal.json("tasks", "show", task)["state"] for task in needs.values()]


def test_each_key_decides_and_the_next_one_is_shown(terminal: Terminal, needs: dict[str, str]) -> None:
    made, desk = queue(terminal, "anxds", "Not needed", "2h", "One", "Two")
    assert states(terminal, needs) == ["delegated", "next", "cancelled", "needs", "cancelled"]
    assert terminal.json("tasks", "show", needs["Same 3"])["deferred_until"] is not None
    assert (made.decided, made.items) == (5, [])
    assert desk.shown[0] == "Sign 1: 5 left"
    assert desk.said[-1] == "5 decided, 0 left."


def test_all_with_the_very_same_content_are_approved_after_a_question_that_says_in_what_they_differ(
    terminal: Terminal, needs: dict[str, str]
) -> None:
    _, desk = queue(terminal, "   A", "y")
    assert desk.shown[3] == "Same: 5 left, 1 more with this very content"
    assert "2 have this very content; they differ in: id, time (1 s apart), workflow" in desk.said
    assert states(terminal, needs) == ["needs", "needs", "needs", "delegated", "delegated"]


@pytest.mark.parametrize("answer", ["", "n", "nonsense"])
def test_without_a_yes_none_of_them_is_approved(terminal: Terminal, needs: dict[str, str], answer: str) -> None:
    made, _ = queue(terminal, "   A", answer)
    assert (made.decided, states(terminal, needs)) == (0, ["needs"] * 5)


def test_ready_work_that_a_rule_holds_back_waits_in_the_queue_for_the_rules_people(terminal: Terminal) -> None:
    terminal.json("agents", "save", "reviewer", "--name", "Reviewer", "--approval", "manual")
    rules = [{"target": "reviewer", "people": ["alice"], "not_author": True}]
    assert terminal.api.gateway.put(ALICE, "/workspace/settings", {"approval_rules": rules}).status == 200
    bob = human(name="bob")
    said = {"source": {"agent": "bob"}, "target": {"reason": "Deploy it"}}
    task = terminal.api.gateway.post(bob, "/handoffs", said).json["task"]["id"]
    terminal.world.clock.advance(5)
    listed = terminal.json("approvals", "list")["items"]
    assert [(each["id"], each["state"], each["held"][0]["agent"]) for each in listed] == [
        (task, "delegated", "reviewer")
    ]
    assert terminal.json("approvals", "list", "--to", "architect")["items"] == []
    screen = Screen(times.now(), width=200)
    approval.listed(screen, listed)
    assert "any agent, held from reviewer" in screen.text()
    _, desk = queue(terminal, "a")
    assert "reviewer can't claim it before it has the approval of human:alice" in " ".join(desk.drawn[0].split())
    trail = terminal.api.gateway.get(ALICE, f"/tasks/{task}/events").json["events"]
    assert (trail[-1]["type"], trail[-1]["data"]["agents"]) == ("approval_given", ["reviewer"])


def asked(terminal: Terminal, **changes: Any) -> str:
    """A task of scout's that waits for approval, for the reviewer."""
    terminal.json("agents", "save", "reviewer", "--name", "Reviewer", "--approval", "manual")
    terminal.world.clock.advance(1)
    said = message("scout", "reviewer", target={"agent": "reviewer", "reason": "Pay the monthly fee"}, **changes)
    reply = terminal.api.gateway.post(agent("scout"), "/handoffs", said)
    assert reply.status == 201, reply.text
    return str(reply.json["task"]["id"])


def state(terminal: Terminal, task: str) -> str:
    return str(terminal.json("tasks", "show", task)["state"])


def test_a_million_that_looks_like_a_one_is_named_and_not_approved_along(terminal: Terminal) -> None:
    small = asked(terminal, context={"variables": {"amount": 1, "to": "x"}})
    large = asked(terminal, context={"variables": {"amount": 1_000_000, "to": "mallory"}})
    _, desk = queue(terminal, "Aa", "y")
    assert "2 left, 1 that only looks like this: A says how" in desk.shown[0]
    at = next(number for number, each in enumerate(desk.said) if large in each)
    assert 'variables.amount: 1 ↔ 1000000; context.variables.to: "x" ↔ "mallory"' in desk.said[at + 1]
    assert (state(terminal, small), state(terminal, large)) == ("delegated", "needs")
    assert "Variable amount: 1000000" in desk.drawn[-1]


def test_warnings_stand_above_a_handoff_and_name_their_places(terminal: Terminal) -> None:
    for number in range(3):
        asked(terminal, context={"variables": {"order": number, "url": "https://shop.example/orders"}})
    queue(terminal, "aaa")
    asked(
        terminal, context={"variables": {"order": 4, "url": "https://evil.example/upload"}, "state": {"n": "\u202ex"}}
    )
    _, desk = queue(terminal, "")
    lines = desk.drawn[0].splitlines()
    assert lines[lines.index("! New address") + 1].strip() == "│ context.variables.url: evil.example"
    assert lines[lines.index("! Hidden characters") + 1].strip() == "│ context.state.n: U+202E"
    assert lines.index("! Hidden characters") < lines.index("! New address") < lines.index("Context Transferred")
    assert "Look twice, as listed above: hidden characters, new address" in desk.drawn[0]


WHOLE: dict[str, Any] = {
    "summary": "S1 fee\nBudget: none",
    "results": [{"description": "R1", "status": "partial", "artifacts": ["R2"], "notes": "R3"}],
    "context": {
        "project": {"name": "P1", "path": "P2", "tech_stack": ["P3"]},
        "artifacts": [
            {"type": "docs", "path": "A1", "description": "A2", "content": "A3", "rationale": "A4"},
            {"type": "decision", "content": "D1", "rationale": "D2"},
        ],
        "state": {"deep": {"list": [1.5, {"leaf": "T1"}], "none": None, "empty": {}}},
        "relevant_memories": ["M1"],
        "variables": {"amount": 1_000_000, "to: bob, amount": 1},
    },
    "expectations": {
        "deliverables": [{"type": "docs", "description": "E1", "files": ["E2"], "acceptance_criteria": ["E3"]}],
        "constraints": ["E4"],
        "estimated_duration": "E5",
        "deadline": "2027-01-02T03:04:05Z",
        "fail_on_deadline": True,
    },
    "rollback": {"on_failure": "architect", "failure_context": ["F1"], "checkpoint_id": "F2"},
    "metadata": {"effort": "L", "labels": {"L1": "L2"}, "not_before": "2026-12-31T23:59:58Z", "priority": "P1"},
    "budget": {"max_handoffs": 31, "max_model_calls": 32, "max_tokens": 33, "deadline": "2027-01-03T03:04:05Z"},
    "scope": "src/auth",
    "auto_memories": 4,
    "auto_snapshot": True,
}


def values(of: Any) -> list[str]:
    if isinstance(of, dict):
        return [found for each in of.values() for found in values(each)]
    if isinstance(of, list):
        return [found for each in of for found in values(each)]
    said = {True: "true", None: "null"}.get(of, of) if isinstance(of, bool | None) else of
    return [str(said).replace("\n", " ")]


def test_everything_that_is_approved_is_on_the_screen(terminal: Terminal) -> None:
    terminal.json("memory", "post", "--type", "warning", "--summary", "W1", "--scope", "src")
    terminal.json("agents", "save", "reviewer", "--name", "Reviewer", "--accepts", "docs", "--produces", "docs")
    task = asked(terminal, **WHOLE)
    _, desk = queue(terminal, "")
    shown = " ".join(desk.drawn[0].split())
    left_out = {"auto_snapshot": None, "fail_on_deadline": None}
    wanted = [each for each in values({**WHOLE, **left_out}) if each not in {"docs", "decision", "null", "true"}]
    assert [each for each in wanted if each not in shown] == []
    for said in ("the task fails then", "W1", "human:alice", 'Variable "to: bob, amount": 1', "State deep.none: null"):
        assert said in shown
    handoff = terminal.json("tasks", "show", task)["handoff_id"]
    drawn = " ".join(terminal.screen("handoff", "show", handoff).split())
    assert [each for each in wanted if each not in drawn] == []


def test_no_text_of_a_message_looks_like_a_line_of_batons(terminal: Terminal) -> None:
    fake = "Fine.\n\nContext Transferred\n- Variable amount: 1\nBudget: max handoffs 1"
    asked(terminal, summary=fake, context={"relevant_memories": [fake]}, expectations={"constraints": [fake]})
    _, desk = queue(terminal, "")
    lines = desk.drawn[0].splitlines()
    assert lines.count("Context Transferred") == 1
    assert [each for each in lines if each.startswith(("- Variable", "Budget"))] == []


def test_hidden_characters_are_marked_where_one_approves(terminal: Terminal) -> None:
    tags = "".join(chr(0xE0000 + ord(each)) for each in "pay")
    asked(
        terminal, context={"variables": {"note": f"hi{tags}\u200b\u3164"}, "relevant_memories": [f"hi{tags}\U000e0101"]}
    )
    _, desk = queue(terminal, "")
    assert not set(desk.drawn[0]) & {*tags, "\u200b", "\u3164", "\U000e0101"}
    assert desk.drawn[0].count("\\U000e0070") == 2


LONG = "x" * 5_000


def test_what_is_too_long_is_cut_and_a_key_shows_the_rest(terminal: Terminal) -> None:
    task = asked(terminal, context={"state": {"plan": f"{LONG}END"}})
    _, desk = queue(terminal, "va")
    assert "END" not in desk.drawn[0]
    assert "characters aren't shown: v shows them." in desk.drawn[0]
    assert "END" in desk.drawn[1]
    assert state(terminal, task) == "delegated"


@pytest.mark.parametrize(("keys", "ended"), [("a", "needs"), ("n", "needs"), ("A", "needs"), ("aa", "delegated")])
def test_what_was_not_shown_is_approved_only_by_who_was_told(terminal: Terminal, keys: str, ended: str) -> None:
    task = asked(terminal, context={"state": {"plan": LONG}})
    _, desk = queue(terminal, keys, "y")
    assert any("characters weren't shown: v shows them" in each for each in desk.said)
    assert state(terminal, task) == ended


def test_a_large_message_is_cut_to_a_few_screens(terminal: Terminal) -> None:
    criteria = [f"c{number} {'y' * 300}" for number in range(50)]
    expected = {"deliverables": [{"type": "docs", "description": "E", "acceptance_criteria": criteria}] * 2}
    terminal.json("agents", "save", "reviewer", "--name", "Reviewer", "--produces", "docs")
    asked(terminal, context={"state": {f"k{number}": "y" * 200 for number in range(800)}}, expectations=expected)
    _, desk = queue(terminal, "v")
    assert len(desk.drawn[0].splitlines()) < 130
    assert "c49" not in desk.drawn[0]
    assert desk.drawn[1].count("c49") == 2


def test_what_can_not_be_read_is_not_approved(terminal: Terminal) -> None:
    task = asked(terminal)
    served = terminal.api.gateway.handle

    def handle(route: Any, event: dict[str, Any]) -> dict[str, Any]:
        is_handoff = route.path == "/handoffs/{handoff_id}"
        return served(route, json.loads(re.sub("ho_[0-9a-z]+", "ho_0", json.dumps(event))) if is_handoff else event)

    terminal.monkeypatch.setattr(terminal.api.gateway, "handle", handle)
    made, desk = queue(terminal, "anAs")
    assert (made.decided, state(terminal, task)) == (0, "needs")
    assert "can't be read" in desk.drawn[0]


@pytest.mark.parametrize("key", ["a", "n", "A"])
def test_the_trail_says_what_the_person_had_before_their_eyes(terminal: Terminal, key: str) -> None:
    first, _ = asked(terminal), asked(terminal)
    queue(terminal, key, "y")
    shown = terminal.json("handoff", "show", terminal.json("tasks", "show", first)["handoff_id"])
    events = terminal.json("events", "list", first)["events"]
    assert [each["data"]["seen"] for each in events if "seen" in each["data"]] == [shown["digest"]]


@pytest.mark.parametrize("command", ["list", "tail"])
def test_a_trail_on_the_screen_says_by_which_token_and_what_was_seen(terminal: Terminal, command: str) -> None:
    task = asked(terminal)
    digest = terminal.json("tasks", "show", task)["digest"]
    terminal.json("tasks", "approve", task, "--digest", digest)
    token = terminal.json("events", "list", task)["events"][-1]["data"]["token"]
    said = terminal.screen("events", command, task)
    assert token in said
    assert digest[:12] in said


def test_a_content_that_is_another_one_than_was_shown_is_not_approved(terminal: Terminal) -> None:
    task = asked(terminal)
    served = terminal.api.gateway.handle

    def handle(route: Any, event: dict[str, Any]) -> dict[str, Any]:
        answer = served(route, event)
        if route.path != "/handoffs/{handoff_id}":
            return answer
        return {**answer, "body": json.dumps({**json.loads(answer["body"]), "digest": "0" * 64})}

    terminal.monkeypatch.setattr(terminal.api.gateway, "handle", handle)
    made, desk = queue(terminal, "a")
    assert (made.decided, state(terminal, task)) == (0, "needs")
    assert any(each.startswith("✗ ") and "revision_changed" in each for each in desk.said)


def came_late(terminal: Terminal, *said: dict[str, Any]) -> str:
    """A task that waits for a person, as each worker's lease ended before its result came."""
    terminal.json("agents", "save", "reviewer", "--name", "Reviewer", "--approval", "auto", "--requeue", "needs")
    handed = terminal.agents.hand_off("scout", "reviewer", target={"agent": "reviewer", "reason": "Review it"})
    task = str(handed["task"]["id"])
    for each in said:
        if terminal.json("tasks", "show", task)["state"] == "needs":
            terminal.json("tasks", "approve", task)
        terminal.world.clock.advance(60)
        claim = terminal.agents.take("reviewer")
        terminal.world.clock.advance(3_600)
        sweep(terminal.world.deps)
        assert terminal.agents.say(claim, "complete", **each).status == 409
    return task


def test_a_late_result_is_taken_by_one_key(terminal: Terminal) -> None:
    task = came_late(terminal, {"output": {"verdict": "good"}})
    made, desk = queue(terminal, "t")
    assert "Came Too Late (t takes it)" in desk.drawn[0]
    assert '- output.verdict: "good"' in desk.drawn[0]
    ended = terminal.json("tasks", "show", task)
    assert (made.decided, ended["state"], ended["output"]) == (1, "done", {"verdict": "good"})


def test_of_several_late_results_the_one_that_is_named_is_taken_whole(terminal: Terminal) -> None:
    first = {"output": "one", "notes": ["Looked twice"]}
    task = came_late(terminal, first, {"output": "two"})
    _, desk = queue(terminal, "tt", "3", "1")
    assert any("3 is none of them" in each for each in desk.said)
    assert '- notes.1: "Looked twice"' in desk.drawn[0]
    assert terminal.json("tasks", "show", task)["output"] == "one"


def test_a_long_late_result_is_not_taken_unseen(terminal: Terminal) -> None:
    task = came_late(terminal, {"output": LONG})
    queue(terminal, "t")
    assert state(terminal, task) == "needs"
    queue(terminal, "vt")
    assert state(terminal, task) == "done"


@pytest.mark.parametrize(("key", "said"), [("?", HELP), ("z", SHORT_HELP)])
def test_a_key_that_decides_nothing_says_which_do(
    terminal: Terminal, needs: dict[str, str], key: str, said: str
) -> None:
    assert queue(terminal, key)[1].said[1] == said
    assert [line.partition(" ")[0] for line in HELP.splitlines()] == [*"aAntdxsv", "space", "u", "Enter", "q"]


def test_enter_shows_it_again(terminal: Terminal, needs: dict[str, str]) -> None:
    _, desk = queue(terminal, "\n")
    assert desk.drawn[0] == desk.drawn[1]


def test_what_was_decided_is_said_in_words(terminal: Terminal, needs: dict[str, str]) -> None:
    _, desk = queue(terminal, "daun", "2h")
    said = [each.partition(" is ")[2] for each in desk.said if each.startswith("✓")]
    assert said[0].startswith("put off until 20")
    assert said[1:] == ["delegated", "waiting for approval", "approved for its worker"]
    terminal.json("tasks", "approve", needs["Same 3"])
    assert terminal.screen("tasks", "undo", needs["Same 3"]) == f"{needs['Same 3']} is waiting for approval\n"


def test_all_that_were_approved_at_once_are_taken_back_at_once(terminal: Terminal, needs: dict[str, str]) -> None:
    made, desk = queue(terminal, "a  Auq", "y")
    assert states(terminal, needs) == ["delegated", "needs", "needs", "needs", "needs"]
    assert (made.decided, len(made.items)) == (1, 4)
    assert desk.shown[-1].startswith("Same: 4 left, 1 more")


@pytest.mark.parametrize(("keys", "lines"), [("anu", []), ("axu", ["Not needed"]), ("adu", ["2h"])])
def test_an_undo_of_what_can_not_be_taken_back_takes_back_nothing_else(
    terminal: Terminal, needs: dict[str, str], keys: str, lines: list[str]
) -> None:
    made, desk = queue(terminal, keys, *lines)
    assert states(terminal, needs)[0] == "delegated"
    assert made.decided == 2
    assert any("no approval to take back" in each for each in desk.said)


def test_letters_that_look_alike_are_told_apart(terminal: Terminal) -> None:
    asked(terminal, context={"variables": {"to": "ACME"}})
    asked(terminal, context={"variables": {"to": "AC\u041cE"}})
    _, desk = queue(terminal, "A")
    assert any('variables.to: "ACME" ↔ "AC\u041cE" (U+041C CYRILLIC CAPITAL LETTER EM)' in each for each in desk.said)


def test_what_came_back_since_a_service_changed_its_agent_says_so(terminal: Terminal) -> None:
    task = asked(terminal)
    terminal.json("tasks", "approve", task)
    terminal.world.clock.advance(60)
    changed = {"name": "Another", "runtime": "pull"}
    assert terminal.api.gateway.put(service(), "/agents/reviewer", changed).status == 200
    assert terminal.api.gateway.post(agent("reviewer"), f"/tasks/{task}/claim", {}).status == 409
    _, desk = queue(terminal, "")
    assert re.search(
        r"was approved by human:alice, \w+ ago; since then service:ci changed reviewer: name\n", desk.drawn[0]
    )


@pytest.mark.parametrize(("key", "answer"), [("a", "y"), ("A", "y"), ("a", "n"), ("A", "n")])
def test_agent_that_a_service_changed_meanwhile_is_shown_before_it_is_approved_for(
    terminal: Terminal, key: str, answer: str
) -> None:
    tasks = [asked(terminal), asked(terminal)]
    changed = {"name": "Another", "accepts": ["money"]}
    assert terminal.api.gateway.put(service(), "/agents/reviewer", changed).status == 200
    made, desk = queue(terminal, key, *(["y"] if key == "A" else []), answer)
    assert "✗ service:ci has changed reviewer since this came. It is now:" in desk.said
    assert {'- name: "Another"', '- accepts.1: "money"'} <= {*desk.said}
    decided = len(tasks) if key == "A" else 1
    approved = decided if answer == "y" else 0
    assert [state(terminal, each) for each in tasks].count("delegated") == made.decided == approved


@pytest.mark.parametrize("key", ["a", "n", "A"])
@pytest.mark.parametrize("answers", [["y", "y"], ["y", "n"], ["n"]])
def test_each_changed_agent_of_open_work_is_shown_before_it_is_approved_for(
    terminal: Terminal, key: str, answers: list[str]
) -> None:
    gateway = terminal.api.gateway
    assert gateway.put(ALICE, "/workspace/settings", {"approval_rules": [{"people": ["alice"]}]}).status == 200
    said = {"source": {"agent": "architect"}, "target": {"reason": "Deploy it"}}
    tasks = [gateway.post(ARCHITECT, "/handoffs", said).json["task"]["id"] for _ in range(2)]
    for slug in ("reviewer", "auto-code"):
        assert gateway.put(service(), f"/agents/{slug}", {"name": f"Another {slug}"}).status in {200, 201}
    made, desk = queue(terminal, key, *(["y"] if key == "A" else []), *answers)
    shown = {each for each in desk.said if "has changed" in each}
    assert len(shown) == len(answers)
    decided = 0 if "n" in answers else 2 if key == "A" else 1
    state_after = "next" if key == "n" else "delegated"
    assert [state(terminal, each) for each in tasks].count(state_after) == made.decided == decided


@pytest.mark.parametrize("answer", ["y", "n"])
def test_those_that_came_after_the_change_are_approved_whatever_one_says_of_those_before(
    terminal: Terminal, answer: str
) -> None:
    before = asked(terminal)
    assert terminal.api.gateway.put(service(), "/agents/reviewer", {"name": "Another"}).status == 200
    after = asked(terminal)
    asked(terminal, context={"variables": {"it": "another"}})
    made, desk = queue(terminal, "Au", "y", answer)
    assert len([each for each in desk.said if each.endswith("is approved")]) == (2 if answer == "y" else 1)
    assert (state(terminal, before), state(terminal, after)) == ("needs", "needs"), "u took back what was approved"
    assert made.decided == 0


def test_heartbeats_hide_nothing_of_what_came_back(terminal: Terminal) -> None:
    task = asked(terminal)
    terminal.json("tasks", "approve", task)
    terminal.world.clock.advance(60)
    gateway = terminal.api.gateway
    claim = gateway.post(agent("reviewer"), f"/tasks/{task}/claim", {}).json["claim_id"]
    for _ in range(120):
        assert gateway.post(agent("reviewer"), f"/tasks/{task}/heartbeat", {"claim_id": claim}).status == 200
    gateway.post(agent("reviewer"), f"/tasks/{task}/release", {"claim_id": claim})
    assert gateway.put(service(), "/agents/reviewer", {"name": "Another"}).status == 200
    assert gateway.post(agent("reviewer"), f"/tasks/{task}/claim", {}).status == 409
    _, desk = queue(terminal, "")
    assert "since then service:ci changed reviewer: name" in desk.drawn[0]


def test_it_is_approved_by_its_number_once_it_was_looked_at(terminal: Terminal) -> None:
    task = asked(terminal)
    digest = terminal.json("tasks", "show", task)["digest"]
    assert terminal.api.gateway.put(service(), "/agents/reviewer", {"name": "Another"}).status == 200
    exit_code, _, said = terminal.runs("tasks", "approve", task, "--digest", digest)
    step = re.search(r"then: baton (.*)", said)
    assert (exit_code, step is not None) == (1, True)
    assert step
    assert terminal.runs(*step[1].split(), "--digest", digest)[0] == 0


@pytest.mark.parametrize("keys", ["x", "d", "s", "?", "z", "v", "t", "\n"])
def test_what_is_not_told_decides_nothing(terminal: Terminal, needs: dict[str, str], keys: str) -> None:
    made, _ = queue(terminal, keys)
    assert (made.decided, states(terminal, needs)) == (0, ["needs"] * 5)


def test_a_time_that_is_none_is_said(terminal: Terminal, needs: dict[str, str]) -> None:
    made, desk = queue(terminal, "d", "tomorrow-ish")
    assert made.decided == 0
    assert any("is no time" in each for each in desk.said)


def test_what_somebody_else_decided_leaves_the_queue(terminal: Terminal, needs: dict[str, str]) -> None:
    class Late(ScriptedDesk):
        def key(self) -> str:
            if len(self.shown) == 1:
                terminal.json("tasks", "dismiss", needs["Sign 1 0"], "--reason", "By another")
            return super().key()

    app = CommandContext(clock=terminal.world.clock.now)
    desk = Late(["a"])
    made = Queue(app, desk, waiting(app, None, None)["items"])
    made.run()
    app.close()
    assert (made.decided, len(made.items)) == (0, 4)
    assert any(each.startswith("✗ ") for each in desk.said)


def test_off_a_terminal_the_queue_is_a_list(terminal: Terminal, needs: dict[str, str]) -> None:
    assert len(terminal.json("approvals")["items"]) == 5
    drawn = terminal.screen("approvals")
    assert drawn.count("Content") == 1
    assert [line.split()[1] for line in drawn.splitlines() if line.startswith("task_")] == ["1", "2", "3", "4", "4"]


def in_a_terminal(terminal: Terminal, home: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(Path(baton_cli.__file__).parents[1]),
        "HOME": str(home),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "BATON_URL": terminal.api.url,
        "BATON_TOKEN": os.environ["BATON_TOKEN"],
    }


def test_a_person_decides_in_a_real_terminal_and_leaves_with_an_interrupt(
    terminal: Terminal, needs: dict[str, str], tmp_path: Path
) -> None:
    environment = in_a_terminal(terminal, tmp_path)
    with pseudo_terminal([sys.executable, "-P", "-m", "baton_cli", "approvals"], environment) as screen:
        screen.sees("a approve")
        screen.sees("architect → reviewer")
        screen.sees("Sign 1")
        screen.press("a")
        screen.sees("is delegated")
        screen.sees("architect → reviewer")
        screen.sees("Sign 2")
        screen.press("\x1b[A")  # an arrow: no decision
        screen.sees("a approve")
        screen.press("a" * 40)  # a key that is held down, or a paste
        screen.sees("a approve")
        screen.press("x")
        screen.sees("Why?")
        screen.press("Not needed\n")
        screen.sees("is cancelled")
        screen.sees("Same")
        screen.press("\x03")
        screen.sees("interrupted")
        assert screen.ends() == 130
        assert "\x1b[1m" in screen.raw  # in bold: it is a terminal
    assert states(terminal, needs) == ["delegated", "cancelled", "needs", "needs", "needs"]


@pytest.mark.parametrize(("answer", "ended"), [("y", "delegated"), ("n", "needs")])
def test_in_a_terminal_each_content_is_shown_before_several_are_approved(
    terminal: Terminal, tmp_path: Path, answer: str, ended: str
) -> None:
    tasks = [asked(terminal, context={"variables": {"amount": each}}) for each in (1, 1_000_000)]
    environment = in_a_terminal(terminal, tmp_path)
    line = [sys.executable, "-P", "-m", "baton_cli", "approvals", "approve", "--from", "scout", "--to", "reviewer"]
    with pseudo_terminal(line, environment) as screen:
        screen.sees("Variable amount: 1\n")
        screen.sees("Variable amount: 1000000")
        screen.sees("Approve 2, of 2 contents")
        screen.press(f"{answer}\n")
        assert screen.ends() == (0 if answer == "y" else 1)
    assert [state(terminal, task) for task in tasks] == [ended] * 2


def test_a_long_content_is_read_in_the_pager(terminal: Terminal, tmp_path: Path) -> None:
    task = asked(terminal, context={"state": {"plan": f"{LONG}END"}})
    environment = {**in_a_terminal(terminal, tmp_path), "PAGER": "cat"}
    with pseudo_terminal([sys.executable, "-P", "-m", "baton_cli", "approvals"], environment) as screen:
        screen.sees("v shows them.")
        screen.press("v")
        screen.sees("END")
        screen.press("a")
        screen.sees("is delegated")
        assert screen.ends() == 0
    assert state(terminal, task) == "delegated"


def test_the_last_one_is_shown_before_it_is_approved_too(terminal: Terminal, tmp_path: Path) -> None:
    task = asked(terminal, context={"variables": {"amount": 1}})
    baton = f"{sys.executable} -P -m baton_cli"
    line = f"{baton} tasks show {task} --json > /dev/null; exec {baton} approvals approve @last"
    with pseudo_terminal(["/bin/sh", "-c", line], in_a_terminal(terminal, tmp_path)) as screen:
        screen.sees("Variable amount: 1")
        screen.sees("Approve 1, of 1 contents")
        screen.press("y\n")
        assert screen.ends() == 0
    assert state(terminal, task) == "delegated"


def test_no_review_is_released_that_nobody_has_read(terminal: Terminal) -> None:
    with pytest.raises(AssertionError, match="nobody has looked at it"):
        terminal.json("reviews", "release", "review_7")
