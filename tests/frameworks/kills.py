"""Kills -9 at random points over each framework's worker. No run may be lost, no handoff or question be there twice, no
effect be done twice."""

from __future__ import annotations

import random
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from baton_client import Baton
from baton_client.verbs import ENDED
from frameworks.played import ROOT, command, path_of
from frameworks.rooms import environment, new_room
from support.worlds.deployed import Deployed
from support.worlds.tenant import Tenant

TASKS = 10
# From a worker's start to its kill: before it has loaded its framework, and until it has done much.
LONGEST_LIFE_SECONDS = 6.0
MOST_SECONDS_WITHOUT_KILLS = 300


def played(deployed: Deployed, names: list[str], environments: Path, kills: int, home: Path) -> int:
    """Returns the exit status. ``kills``: in all, shared by the frameworks."""
    wrong: list[str] = []
    for name in names:
        said = list(_problems(deployed, name, environments, kills // len(names), home))
        print(f"{name}: {kills // len(names)} kills, {len(said)} problems", flush=True)
        wrong += [f"{name}: {each}" for each in said]
    for each in wrong:
        print(f"- {each}")
    return 1 if wrong else 0


def _problems(deployed: Deployed, name: str, environments: Path, kills: int, home: Path) -> Iterator[str]:
    room, chance, effects = new_room(deployed), random.Random(name), home / f"{name}.effects"
    effects.touch()
    env = {**environment(room, AGENT="reviewer", EFFECTS=str(effects)), "PYTHONPATH": path_of(name)}
    worker = [*command(name, "work_forever", environments)]
    tasks: list[str] = []
    over = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        others = [pool.submit(_people, room, over), pool.submit(_colleague, room, over)]
        try:
            for _ in range(kills):
                if not _open(room, tasks):
                    tasks += [_asked(room) for _ in range(TASKS)]
                process = subprocess.Popen(
                    worker, env=env, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
                time.sleep(chance.uniform(0.2, LONGEST_LIFE_SECONDS))
                process.kill()
                process.wait()
            _worked_off(room, tasks, worker, env)
        finally:
            over.set()
        for each in others:
            each.result()
    yield from _found(room, tasks, effects)


def _worked_off(room: Tenant, tasks: list[str], worker: list[str], env: dict[str, str]) -> None:
    """The last worker lives until all is done. Leases of the dead have to end first."""
    process = subprocess.Popen(worker, env=env, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + MOST_SECONDS_WITHOUT_KILLS
        while _open(room, tasks) and time.monotonic() < end:
            time.sleep(0.5)
    finally:
        process.kill()
        process.wait()


def _asked(room: Tenant) -> str:
    body = {"source": {"agent": "scout"}, "target": {"agent": "reviewer", "reason": "Release it"}}
    made = room.human.post("/handoffs", body)
    return str(made["task"]["id"])


def _open(room: Tenant, tasks: list[str]) -> bool:
    return any(room.human.get(f"/tasks/{each}")["state"] not in ENDED for each in tasks[-TASKS:])


def _people(room: Tenant, over: threading.Event) -> None:
    """Approves what comes, and answers what is asked."""
    while not over.wait(0.1):
        for task in room.human.get("/tasks?state=needs")["items"]:
            room.human.post(f"/tasks/{task['id']}/approve", {"revision": task["revision"]})
        for each in room.human.get("/questions")["items"]:
            said: dict[str, Any] = {"outcome": "answered", "answer": (each["options"] or ["yes"])[0]}
            if each["kind"] == "action":
                said = {"outcome": "approved", "digest": each["digest"]}
            room.human.send("POST", f"/tasks/{each['task_id']}/questions/{each['id']}/answer", said)


def _colleague(room: Tenant, over: threading.Event) -> None:
    with Baton(room.deployed.stack.api_url, room.service.token, agent="tester") as baton:
        while not over.is_set():
            with baton.claim(wait=1) as work:
                if work is not None:
                    work.complete("tested")


def _questions(room: Tenant, task_id: str) -> list[Any]:
    return list(room.human.get(f"/tasks/{task_id}/questions")["items"])


def _found(room: Tenant, tasks: list[str], effects: Path) -> Iterator[str]:
    for task_id in tasks:
        task = room.human.get(f"/tasks/{task_id}")
        if task["state"] != "done":
            yield f"{task_id} is {task['state']}: {task['failure']}"
        asked = Counter((each["kind"], each["tool"], each["text"]) for each in _questions(room, task_id))
        yield from (f"{task_id} asks {what} {count} times" for what, count in asked.items() if count > 1)
        (root,) = room.human.get(f"/workflows/{task['workflow_id']}/chain")["nodes"]
        children = Counter(each["title"] for each in root["children"])
        yield from (f"{task_id} hands off {what!r} {count} times" for what, count in children.items() if count > 1)
        if not room.human.get(f"/tasks/{task_id}/events/verify")["matches_task"]:
            yield f"the trail of {task_id} doesn't match"
    done = Counter(effects.read_text(encoding="utf-8").split())
    yield from (f"the effect {key} is done {count} times" for key, count in done.items() if count > 1)
    print(f"{len(tasks)} tasks, {len(done)} effects", flush=True)
