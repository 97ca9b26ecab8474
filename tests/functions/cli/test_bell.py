"""The commands that wait do so by the bell: a real WebSocket server, and Baton in this process."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import count
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from baton_cli.nouns import claiming
from baton_client import bell as listening
from baton_client.bell import BellTimes
from functions.cli.conftest import Terminal
from support.fakes.fake_bell import FakeBell, fake_bell
from support.worlds.world import agent

CODER = agent("auto-code")


@pytest.fixture
def bell(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeBell]:
    """Nothing lags here: its second look comes soon after the first."""
    monkeypatch.setattr(listening, "BellTimes", partial(BellTimes, settle=0.1))
    with fake_bell() as made:
        gateway = terminal.api.gateway
        gateway.deps = replace(gateway.deps, bell_url=made.url)
        yield made


@pytest.fixture
def tower(bell: FakeBell) -> Iterator[FakeBell]:
    """Whoever asks again and again, or polls, fails. The server itself sleeps while it ends."""
    with pytest.MonkeyPatch.context() as while_it_rings:
        while_it_rings.setattr(time, "sleep", lambda _: pytest.fail("it asks again and again"))
        yield bell


def afterwards(tower: FakeBell, topic: str, act: Callable[[], Any]) -> Thread:
    """Acts, and rings, once the command listens and has looked for the second time."""

    def run() -> None:
        tower.until(lambda: tower.looks >= 2)
        act()
        tower.ring(topic)

    thread = Thread(target=run)
    thread.start()
    return thread


def polls(terminal: Terminal) -> int:
    return sum(route.path.endswith("/wait") for route in terminal.api.served)


def completes(terminal: Terminal, claim: dict[str, Any]) -> Callable[[], Any]:
    return lambda: terminal.agents.say(claim, "complete", output="done")


def test_await_is_told_that_the_task_has_ended(terminal: Terminal, tower: FakeBell) -> None:
    claim = terminal.agents.begun()
    task_id = claim["task"]["id"]
    acting = afterwards(tower, f"task:{task_id}", completes(terminal, claim))
    assert terminal.json("await", task_id)["output"] == "done"
    acting.join()
    # At first, when the bell opens, at its second look, and when it rings.
    assert sum(route.path.endswith("/await") for route in terminal.api.served) <= 4


def test_await_ends_in_time_also_if_nothing_is_rung(terminal: Terminal, tower: FakeBell) -> None:
    claim = terminal.agents.begun()
    assert terminal.runs("await", claim["task"]["id"], "--timeout", "0.5")[0] == 5


def test_a_watch_is_told_of_each_change(terminal: Terminal, tower: FakeBell) -> None:
    claim = terminal.agents.begun()
    task_id = claim["task"]["id"]
    acting = afterwards(tower, f"task:{task_id}", completes(terminal, claim))
    assert terminal.json("tasks", "watch", task_id)["state"] == "done"
    acting.join()


def test_a_chain_is_watched_by_what_changes_in_the_workspace(terminal: Terminal, tower: FakeBell) -> None:
    claim = terminal.agents.begun()
    acting = afterwards(tower, "lists", completes(terminal, claim))
    drawn = terminal.screen("handoff", "history", claim["task"]["workflow_id"], "--watch")
    acting.join()
    assert drawn.count("✓ Completed") == 1


def test_a_tail_is_told_and_has_the_last_entry(terminal: Terminal, tower: FakeBell) -> None:
    claim = terminal.agents.begun()
    task_id = claim["task"]["id"]
    acting = afterwards(tower, f"task:{task_id}", completes(terminal, claim))
    code, out, _ = terminal.runs("events", "tail", task_id, "--follow")
    acting.join()
    types = [json.loads(line)["type"] for line in out.splitlines()]
    assert (code, types[0], types[-1], polls(terminal)) == (0, "handoff_initiated", "handoff_completed", 0)


def test_who_waits_for_work_is_rung(terminal: Terminal, tower: FakeBell) -> None:
    made: list[Any] = []
    terminal.sit(CODER)
    acting = afterwards(tower, "work:auto-code", lambda: made.append(terminal.agents.hand_off()))
    claim = terminal.json("tasks", "claim", "--agent", "auto-code", "--wait", "60")
    acting.join()
    assert (claim["task"]["id"], polls(terminal)) == (made[0]["task"]["id"], 0)


def test_who_waits_for_a_task_is_rung_for_its_change(terminal: Terminal, tower: FakeBell) -> None:
    claim = terminal.agents.begun()
    first = {"claim_id": claim["claim_id"], "not_before": _later(terminal)}
    assert terminal.agents.say(claim, "release", **first).status == 200
    task_id = claim["task"]["id"]
    terminal.sit(CODER)
    acting = afterwards(tower, f"task:{task_id}", lambda: terminal.world.clock.advance(7200))
    assert terminal.json("tasks", "claim", task_id, "--wait", "60", "--agent", "auto-code")["task"]["id"] == task_id
    acting.join()


def test_a_first_lease_is_that_of_a_poll(terminal: Terminal, bell: FakeBell) -> None:
    terminal.sit(CODER)
    terminal.world.clock.stands_still = False
    said = ("tasks", "claim", "--agent", "auto-code", "--wait", "0.01", "--first-lease", "30")
    assert terminal.runs(*said)[0] == 5
    assert (polls(terminal) > 0, bell.handshakes) == (True, [])


def test_however_short_the_wait_there_is_one_look(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal.sit(CODER)
    hours = count(step=3600)
    monkeypatch.setattr(claiming, "time", SimpleNamespace(monotonic=lambda: float(next(hours))))
    assert terminal.runs("tasks", "claim", "--agent", "auto-code", "--wait", "1", "--first-lease", "30")[0] == 5
    assert polls(terminal) == 1


def _later(terminal: Terminal) -> str:
    return (terminal.world.clock.now() + timedelta(hours=1)).isoformat().replace("+00:00", "Z")
