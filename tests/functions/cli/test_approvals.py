"""The queue of single keys: what each does, and one session in a real pseudo-terminal."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import baton_cli
from baton_cli.app import App
from baton_cli.approvals import Queue
from baton_cli.nouns.approvals import waiting
from functions.cli.conftest import Terminal
from support.pseudo_terminal import pseudo_terminal
from support.worlds.http_agents import message
from support.worlds.world import agent, human

ALICE, ARCHITECT = human(), agent("architect")


@dataclass
class ScriptedDesk:
    """Presses ``keys`` one after the other, and types ``lines``; then it leaves."""

    keys: list[str]
    lines: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def key(self) -> str:
        return self.keys.pop(0) if self.keys else "q"

    def line(self, question: str) -> str:
        return self.lines.pop(0) if self.lines else ""

    def show(self, item: dict[str, Any], handoff: dict[str, Any] | None, place: str) -> None:
        self.shown.append(f"{item['title']}: {place}")

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
    app = App(clock=terminal.world.clock.now)
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


def test_all_alike_are_approved_at_once(terminal: Terminal, needs: dict[str, str]) -> None:
    _, desk = queue(terminal, "   A")
    assert desk.shown[3] == "Same: 5 left, 2 like this"
    assert states(terminal, needs) == ["needs", "needs", "needs", "delegated", "delegated"]


def test_an_approval_is_taken_back(terminal: Terminal, needs: dict[str, str]) -> None:
    made, desk = queue(terminal, "uau")
    assert states(terminal, needs)[0] == "needs"
    assert (made.decided, len(made.items)) == (0, 5)
    assert "Nothing was approved yet." in desk.said


@pytest.mark.parametrize("keys", ["x", "d", "s", "?", "z"])
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

    app = App(clock=terminal.world.clock.now)
    desk = Late(["a"])
    made = Queue(app, desk, waiting(app, None, None)["items"])
    made.run()
    app.close()
    assert (made.decided, len(made.items)) == (0, 4)
    assert any(each.startswith("✗ ") for each in desk.said)


def test_off_a_terminal_the_queue_is_a_list(terminal: Terminal, needs: dict[str, str]) -> None:
    assert len(terminal.json("approvals")["items"]) == 5
    assert "architect → reviewer: Sign 1" in terminal.screen("approvals")


def test_a_person_decides_in_a_real_terminal_and_leaves_with_an_interrupt(
    terminal: Terminal, needs: dict[str, str], tmp_path: Path
) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(Path(baton_cli.__file__).parents[1]),
        "HOME": str(tmp_path),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "BATON_URL": terminal.api.url,
        "BATON_TOKEN": os.environ["BATON_TOKEN"],
    }
    with pseudo_terminal([sys.executable, "-P", "-m", "baton_cli", "approvals"], environment) as screen:
        screen.sees("a approve")
        screen.sees("architect → reviewer: Sign 1")
        screen.press("a")
        screen.sees("is delegated")
        screen.sees("architect → reviewer: Sign 2")
        screen.press("\x1b[A")  # an arrow: no decision
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
