"""Kills -9 at random points over each framework's worker, while a forger writes into its saved runs. No run may be
lost, no handoff or question be there twice, no effect be done twice, and none without its used approval."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from baton_client import Baton, Refused, operations
from frameworks.hits import Hits
from frameworks.lives import Workers
from frameworks.played import path_of
from frameworks.rooms import environment, new_room
from frameworks.verdict import found, tasks_of, wrongs
from support.worlds.deployed import Deployed
from support.worlds.tenant import Tenant

READY = 3  # so many tasks at least wait for a worker: those of the dead come back when their leases are over
FRESH = 10  # one in so many workers loads its framework
KILLED = -9
# From a worker's start to its kill; longer on a busy machine, where it is for so many requests. One that loads its
# framework lives for up to twice as long as that takes.
SHORTEST_LIFE_SECONDS, LONGEST_LIFE_SECONDS, LONGEST_BUSY_LIFE_SECONDS = 0.05, 2.5, 6.0
LONGEST_LIFE_REQUESTS = 12
LINGERS_SECONDS = "0.3"  # at most, before an effect and after it
# Without kills: until any task's state changes, and until all are done.
LONGEST_PAUSE_SECONDS, MOST_SECONDS_WITHOUT_KILLS = 120, 900
# The forger claims as often as this, and replaces one in so many of the suspended runs that it finds.
FORGING_SECONDS, FORGES = 2.0, 6
AT_ONCE = 2
LOOKS_AT_ONCE = 4
OPEN = ("needs", "delegated", "next", "claimed", "waiting")


def played(deployed: Deployed, names: list[str], environments: Path, kills: int, home: Path) -> int:
    """Returns the exit status. ``kills``: in all, shared by the frameworks."""
    each_has = -(-kills // len(names))

    def of(name: str) -> list[str]:
        return list(_problems(deployed, name, environments, each_has, home))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        wrong = [f"{name}: {each}" for name, said in zip(names, pool.map(of, names), strict=True) for each in said]
    for each in wrong:
        print(f"- {each}")
    return 1 if wrong else 0


def _problems(deployed: Deployed, name: str, environments: Path, kills: int, home: Path) -> Iterator[str]:
    begun_at, room = time.monotonic(), new_room(deployed)
    effects, loaded = home / f"{name}.effects", home / f"{name}.loaded"
    effects.touch()
    more = {"AGENT": "reviewer", "EFFECTS": str(effects), "LOADED": str(loaded), "LINGERS": LINGERS_SECONDS}
    env = environment(room, **more, PYTHONPATH=path_of(name))
    hits, over, wrong = Hits(room, loaded), threading.Event(), list[str]()
    forged = set[str]()
    with Workers(name, environments, env, home / f"{name}.log") as workers, ThreadPoolExecutor(3) as pool:
        others = [pool.submit(_people, room, over), pool.submit(_colleague, room, over)]
        others.append(pool.submit(_forger, room, over, forged, random.Random(name)))
        try:
            wrong += _killed(room, workers, hits, random.Random(name), kills)
            _worked_off(room, workers)
        finally:
            over.set()
        for each in others:
            each.result()
    with ThreadPoolExecutor(LOOKS_AT_ONCE) as pool:
        tasks = list(pool.map(partial(found, room, forged=forged), tasks_of(room, "reviewer")))
    done = effects.read_text(encoding="utf-8").split()
    wrong += wrongs(tasks, done, len(tasks_of(room, "tester")))
    minutes = (time.monotonic() - begun_at) / 60
    print(
        f"{name}: {kills} kills, of which {hits}; {len(tasks)} tasks, {len(forged)} forged, {len(done)} effects",
        end=", ",
    )
    print(f"{len(wrong)} problems, {minutes:.1f} minutes", flush=True)
    yield from wrong


def _killed(room: Tenant, workers: Workers, hits: Hits, chance: random.Random, kills: int) -> Iterator[str]:
    ready, took = 0, 0.0
    for number in range(kills):
        for _ in range(READY - ready):
            body = {"source": {"agent": "scout"}, "target": {"agent": "reviewer", "reason": "Release it"}}
            room.human.post("/handoffs", body)
        is_fresh = number % FRESH == FRESH - 1
        began_at = datetime.now(UTC)
        pid = workers.begin(fresh=is_fresh)
        time.sleep(chance.uniform(SHORTEST_LIFE_SECONDS, 2 * workers.loading_seconds if is_fresh else _longest(took)))
        ended = workers.kill()
        if ended != KILLED:
            yield f"a worker ended by itself, with {ended}"
        asked_at = time.monotonic()
        tasks = _tasks(room, "claimed", "delegated")
        took = time.monotonic() - asked_at
        hits.note(pid, began_at, [each for each in tasks if each["claim"]])
        ready = sum(each["claim"] is None for each in tasks)


def _longest(request_seconds: float) -> float:
    return min(max(LONGEST_LIFE_SECONDS, LONGEST_LIFE_REQUESTS * request_seconds), LONGEST_BUSY_LIFE_SECONDS)


def _worked_off(room: Tenant, workers: Workers) -> None:
    """The last worker lives until all is done, or nothing moves any more. Leases of the dead have to end first."""
    workers.begin()
    left, since = dict[str, str](), time.monotonic()
    end = since + MOST_SECONDS_WITHOUT_KILLS
    while (now := {each["id"]: each["state"] for each in _tasks(room, *OPEN)}) and time.monotonic() < end:
        if now != left:
            left, since = now, time.monotonic()
        elif time.monotonic() > since + LONGEST_PAUSE_SECONDS:
            break
        time.sleep(1)
    workers.kill()


def _tasks(room: Tenant, *states: str) -> list[dict[str, Any]]:
    """Returns the reviewer's tasks of these states."""
    asked = "".join(f"&state={each}" for each in states)
    return list(room.human.get(f"/tasks?agent=reviewer&limit=100{asked}")["items"])


def _people(room: Tenant, over: threading.Event) -> None:
    """Approves what comes, and answers what is asked. What is refused comes again."""
    while not over.wait(0.5):
        for task in room.human.get("/tasks?state=needs")["items"]:
            room.human.send("POST", f"/tasks/{task['id']}/approve", {"revision": task["revision"]})
        for each in room.human.get("/questions")["items"]:
            said: dict[str, Any] = {"outcome": "answered", "answer": (each["options"] or ["yes"])[0]}
            if each["kind"] == "action":
                said = {"outcome": "approved", "digest": each["digest"]}
            room.human.send("POST", f"/tasks/{each['task_id']}/questions/{each['id']}/answer", said)


def _forger(room: Tenant, over: threading.Event, forged: set[str], chance: random.Random) -> None:
    """Has the token of the workers and not their key. Claims their work now and then, and saves a checkpoint that looks
    like a run: that must change nothing. One in a few of the suspended runs it replaces: that must execute nothing."""
    with Baton(room.deployed.stack.api_url, room.service.token, agent="reviewer") as baton:
        while not over.wait(FORGING_SECONDS):
            with suppress(Refused), baton.claim(wait=0) as work:
                if work is None:
                    continue
                work.save({"form": "baton.run/1", "state": "x", "calls": [], "outcomes": {}, "asked": {}}, "run")
                saved: Any = work.raw["run_state"]
                if saved and chance.randrange(FORGES) == 0:
                    forged.add(work.task_id)
                    signature = chance.choice([saved["signature"], "0" * 64])
                    body: Any = {"claim_id": work.claim_id, "state": saved["state"], "signature": signature}
                    baton.send(operations.run_state(work.task_id, body))
                work.release()


def _colleague(room: Tenant, over: threading.Event) -> None:
    with Baton(room.deployed.stack.api_url, room.service.token, agent="tester") as baton:
        while not over.is_set():
            with baton.claim(wait=2) as work:
                if work is not None:
                    work.complete("tested")
