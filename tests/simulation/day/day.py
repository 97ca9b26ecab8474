"""A simulated day: programs work off tasks through a faulty network, on the real routes in this process."""

from __future__ import annotations

import os
import random
import tempfile
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from baton.bootstrap import forget_all
from baton.services.tasks.sweep import sweep
from simulation.day import programs
from simulation.day.hub import Hub
from simulation.day.network import Network
from simulation.day.programs import LEASE_SECONDS, Outside, Programs, in_virtual_time
from support.clock import NOON
from support.gateway import Gateway
from support.values.tokens import bearer
from support.worlds.faulty_server import Shares
from support.worlds.http_agents import ALICE
from support.worlds.world import World, agent

SWEEP_SECONDS = 60.0
SENDER = "scout"
BY_WORKER, BY_CLIENT, BY_TASKS, BY_MCP = ("w1", "w2"), ("c1", "c2"), ("a1", "a2"), ("m1", "m2")
AGENTS = (*BY_WORKER, *BY_CLIENT, *BY_TASKS, *BY_MCP)
SECONDS_PER_TASK = 8.64  # 10,000 make a day
# The trail of a task that is claimed and done once. Each claim saves one checkpoint at most.
ONCE = ["handoff_initiated", "approved", "handoff_completed"]
# A worker releases a claim if Baton doesn't answer its heartbeats for most of the lease.
OF_CLAIMS = {"handoff_received", "checkpoint_saved", "heartbeat_lost", "requeued", "released", "alert_raised"}
ENVIRONMENT = {"BATON_TABLE": "day", "BATON_PUBLIC_URL": "https://baton.example", "BATON_LOG_LEVEL": "ERROR"}


@dataclass
class HubClock:
    hub: Hub

    def now(self) -> datetime:
        return NOON + timedelta(milliseconds=int(self.hub.now * 1000))

    def monotonic(self) -> float:
        return self.hub.now

    def sleep(self, seconds: float) -> None:
        self.hub.sleep(seconds)


@dataclass(frozen=True)
class Report:
    """``wrong``: which rules were broken, and how."""

    wrong: list[str]
    requests: int
    seconds: float
    faults: Counter[str]
    late_claims: int
    trouble: Counter[str]


def play(seed: int, tasks: int, shares: Shares | None = None) -> Report:
    """Plays the day of a seed. Its choices, and their order, are the same each time."""
    with mock.patch.dict(os.environ, ENVIRONMENT), tempfile.TemporaryDirectory() as folder:
        forget_all()
        random.seed(seed)
        return Day(seed, tasks, shares or Shares(), Path(folder)).play()


class Day:
    def __init__(self, seed: int, tasks: int, shares: Shares, folder: Path) -> None:
        self.hub, self.count, self._folder = Hub(), tasks, folder
        self.world = World(clock=HubClock(self.hub))  # type: ignore[arg-type]
        self.gateway = Gateway(self.world.deps)
        chance = random.Random(seed)
        self.network = Network(self.hub, self.gateway, chance, shares)
        self.outside = Outside(self.hub, lambda: chance.uniform(10, 120))
        self._left: set[int] = set(range(tasks))
        for slug in (SENDER, *AGENTS):
            body = {"name": slug, "approval": "auto", "root_handoffs_per_hour": 300}
            made = self.gateway.put(ALICE, f"/agents/{slug}", body)
            assert made.status == 201, made.text
            self.gateway.admit(agent(slug))

    def play(self) -> Report:
        token = {slug: bearer(agent(slug)).removeprefix("Bearer ") for slug in (SENDER, *AGENTS)}
        network, outside, hub = self.network, self.outside, self.hub
        with in_virtual_time(hub, Programs(outside)):
            worker = programs.worker(network, outside, {each: token[each] for each in BY_WORKER}, self._folder)
            for slug in BY_CLIENT:
                hub.spawn(slug, partial(programs.serve_by_client, network, outside, token[slug], slug))
            serve = [(programs.serve_by_tasks, BY_TASKS), (programs.serve_by_mcp, BY_MCP)]
            served = [partial(by, network, outside, token[slug], slug) for by, slugs in serve for slug in slugs]
            hub.spawn("tasks", partial(programs.run_tasks, hub, served))
            hub.spawn("sender", partial(self._send, token[SENDER]))
            hub.spawn("sweeper", self._sweep)
            hub.run(self._is_done, self.count * SECONDS_PER_TASK + 1_200)
            seconds = hub.now
            outside.is_over = True
            worker.stop()
            hub.run(lambda: False, hub.now + 240)
        return self._report(seconds)

    def _send(self, token: str) -> None:
        baton = programs.client(self.network, token, SENDER)
        for number in range(self.count):
            self.hub.park(number * SECONDS_PER_TASK)
            to = AGENTS[number % len(AGENTS)]
            baton.hand_off(to, f"Do {number}", variables={"number": number})

    def _sweep(self) -> None:
        while not self.outside.is_over:
            self.hub.sleep(SWEEP_SECONDS)
            sweep(self.world.deps)

    def _is_done(self) -> bool:
        if self.hub.raised:
            return True
        if self.hub.now < self.count * SECONDS_PER_TASK - SECONDS_PER_TASK:
            return False
        self._left = {number for number in self._left if not self._is_ended(number)}
        return not self._left

    def _is_ended(self, number: int) -> bool:
        return all(self._state(each) in {"done", "failed"} for each in self.network.tasks.get(number, ())) and (
            number in self.network.tasks
        )

    def _state(self, task_id: str) -> str:
        return str(self.world.task(task_id).state)

    # The oracle. It looks at what people see, and at what the programs did outside.

    def _report(self, seconds: float) -> Report:
        wrong = [f"{name} raised {exc!r}" for name, exc in self.hub.raised]
        wrong += [f"a 5xx of Baton's own: {each}" for each in self.network.wrong]
        wrong += self._lost_claims(seconds)
        for number in range(self.count):
            wrong += [f"{number}: {each}" for each in self._wrong(number)]
        network, trouble = self.network, Counter(self.outside.trouble)
        return Report(wrong, network.requests, seconds, network.faults, len(network.late), trouble)

    def _lost_claims(self, seconds: float) -> list[str]:
        """Returns the claims that Baton made for a request in time and that no answer brought to the program."""
        network = self.network
        lost = {each: at for each, at in network.made.items() if each not in network.told | network.late.keys()}
        return [f"a claim of {at:.0f} s reached no program" for at in lost.values() if at < seconds - LEASE_SECONDS]

    def _wrong(self, number: int) -> list[str]:
        found = self.network.tasks.get(number, set())
        if len(found) != 1:
            return [f"{len(found)} tasks"]
        (task_id,) = found
        self.hub.now += 1.0  # people have a rate
        task = self.gateway.get(ALICE, f"/tasks/{task_id}").json
        results, keys = self.outside.finished.get(number, []), set(self.outside.effects.get(number, []))
        if task["state"] != "done" or task["output"] not in results:
            return [f"{task['state']} with {task['output']}, {results} were its results: {task['failure']}"]
        late = sum(each == task_id for each in self.network.late.values())
        return [
            *([f"effect keys: {sorted(keys)}"] if len(keys) != 1 else []),
            *([f"{len(results)} results of finished work"] if len(results) != 1 else []),
            *wrong_trail(self._events(task_id), late),
        ]

    def _events(self, task_id: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.gateway.get(ALICE, f"/tasks/{task_id}/events", query="limit=100").json[
            "events"
        ]
        return found


def wrong_trail(events: list[dict[str, Any]], late: int) -> list[str]:
    """Returns what is wrong with a task's trail. ``late``: how many claims nobody could know of."""
    types = [each["type"] for each in events]
    lost = [number for number, each in enumerate(types) if each == "heartbeat_lost"]
    held = [_seconds(events, number) for number in lost]
    claims, saved = types.count("handoff_received"), types.count("checkpoint_saved")
    is_done_once = claims - types.count("released") - len(lost) == 1 and saved <= claims
    if len(lost) > late or not is_done_once or [each for each in types if each not in OF_CLAIMS] != ONCE:
        return [f"its trail: {types}"]
    longest = LEASE_SECONDS + SWEEP_SECONDS
    return [f"nobody held a claim for {each:.0f} s" for each in held if each > longest]


def _seconds(events: list[dict[str, Any]], lost: int) -> float:
    """Returns how long a claim lasted that nobody held."""
    begun = next(each for each in reversed(events[:lost]) if each["type"] == "handoff_received")
    at, until = (datetime.fromisoformat(each["at"]) for each in (begun, events[lost]))
    return (until - at).total_seconds()
