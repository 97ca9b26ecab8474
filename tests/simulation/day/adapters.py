"""A part of the day for the adapters: each framework, in a process of its own environment, works off tasks through a
faulty server on loopback. Time is real here, so an answer that is lost is a closed connection."""

from __future__ import annotations

import os
import random
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from frameworks.played import ADAPTED, ROOT, path_of, python_of
from support.gateway import Gateway, event_of, route_of, sent
from support.http_server import Received, Sent, served
from support.values.tokens import bearer
from support.worlds.faulty_server import FaultyServer, Shares
from support.worlds.http_agents import ALICE
from support.worlds.worker_processes import ScaledClock
from support.worlds.world import World, agent

SENDER = "scout"
# The trail of a task that is claimed and done once, but for the checkpoints of its run.
ONCE = ["handoff_initiated", "approved", "handoff_received", "handoff_completed"]


def played(environments: Path, seed: int, tasks: int, shares: Shares | None = None) -> tuple[list[str], Counter[str]]:
    """Returns what is wrong after each framework has done so many tasks, and the faults that it met."""
    world = World(clock=ScaledClock(1.0))  # type: ignore[arg-type]
    gateway = Gateway(world.deps)
    for slug in (SENDER, *map(_slug, ADAPTED)):
        body = {"name": slug, "approval": "auto", "root_handoffs_per_hour": 300}
        made = gateway.put(ALICE, f"/agents/{slug}", body)
        assert made.status == 201, made.text
        gateway.admit(agent(slug))
    made_of = {name: [_handed_off(gateway, _slug(name), number) for number in range(tasks)] for name in ADAPTED}
    server = FaultyServer(partial(_answer, gateway), random.Random(seed), shares or Shares())
    with served(server.answer) as url, ThreadPoolExecutor(2) as pool:
        said = list(pool.map(lambda name: _served_by(name, environments, url, tasks), ADAPTED))
    wrong = [f"{name}: {each}" for name, each in zip(ADAPTED, said, strict=True) if each]
    for name, task_ids in made_of.items():
        for number, task_id in enumerate(task_ids):
            wrong += [f"{name} {number}: {each}" for each in _wrong(gateway, task_id, f"{name} did: Do {number}")]
    return wrong, server.faults


def _answer(gateway: Gateway, request: Received) -> Sent:
    return sent(gateway.handle(route_of(request.method, request.path.partition("?")[0]), event_of(request)))


def _slug(name: str) -> str:
    return name.replace("_", "-")


def _handed_off(gateway: Gateway, slug: str, number: int) -> str:
    body = {"source": {"agent": SENDER}, "target": {"agent": slug, "reason": f"Do {number}"}}
    made = gateway.post(agent(SENDER), "/handoffs", body)
    assert made.status == 201, made.text
    return str(made.json["task"]["id"])


def _served_by(name: str, environments: Path, url: str, tasks: int) -> str:
    """Returns what the framework's process said, if it failed."""
    line = [str(python_of(name, environments)), "-P", "-m", "simulation.day.adapted", name, str(tasks)]
    slug = _slug(name)
    given = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": path_of(name),
        "HOME": "/nonexistent",
        "BATON_URL": url,
        "AGENT_TOKEN": bearer(agent(slug)).removeprefix("Bearer "),
        "AGENT": slug,
        "BATON_RUN_KEY": "7" * 64,
        "OPENAI_API_KEY": "no-key",
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
    }
    done = subprocess.run(line, env=given, cwd=ROOT, capture_output=True, text=True, timeout=3_600, check=False)
    return "" if done.returncode == 0 else "\n".join((done.stdout + done.stderr).split("\n")[-12:])


def _wrong(gateway: Gateway, task_id: str, output: str) -> list[str]:
    task: dict[str, Any] = gateway.get(ALICE, f"/tasks/{task_id}").json
    events = gateway.get(ALICE, f"/tasks/{task_id}/events", query="limit=100").json["events"]
    types = [each["type"] for each in events if each["type"] != "checkpoint_saved"]
    return [
        *([] if task["output"] == output else [f"{task['state']} with {task['output']!r}: {task['failure']}"]),
        *([] if types == ONCE else [f"its trail: {types}"]),
    ]
