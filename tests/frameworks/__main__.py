"""Plays each cell of docs/frameworks.md: every behaviour of every framework, and all ordered pairs, with scripted
models against a deployed local stack of its own. Exit status: 0 if the page is true, 1 if not."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from frameworks import kills, matrix
from frameworks.played import ADAPTED, BEHAVIOURS, ENVIRONMENTS, Played, cannot, play, python_of
from frameworks.rooms import deployed_on, environment, new_room
from support.worlds.deployed import Deployed
from support.worlds.tenant import Tenant
from tools.stack import stack

# Of each package, which says the version of a framework.
PACKAGES = {
    "openai_agents": "openai-agents",
    "langgraph": "langgraph",
    "strands": "strands-agents",
    "pydantic_ai": "pydantic-ai-slim",
}


def main() -> int:
    parser = argparse.ArgumentParser(description="The cells of docs/frameworks.md")
    parser.add_argument("environments", type=Path, help="the folder that has an environment per framework")
    parser.add_argument("--of", default="", help="one framework alone; the page isn't compared")
    parser.add_argument("--scene", default="", help="one behaviour alone, or pairs")
    parser.add_argument(
        "--kills", type=int, default=0, help="so many kills -9 of running workers, in place of the cells"
    )
    parser.add_argument("--write", action="store_true", help="write the matrix into the page")
    asked = parser.parse_args()
    environments = asked.environments.resolve()
    with (
        tempfile.TemporaryDirectory(prefix="baton-frameworks-") as home,
        stack.running(Path(home)) as running,
        deployed_on(running) as deployed,
    ):
        names = [asked.of] if asked.of else list(ADAPTED)
        if asked.kills:
            return kills.played(deployed, names, environments, asked.kills, Path(home))
        cells = {} if asked.scene == "pairs" else _cells(deployed, names, environments, asked.scene)
        pairs = _pairs(deployed, environments, asked.of) if asked.scene in ("", "pairs") else {}
        if asked.of or asked.scene:
            return 1 if matrix.NO in [*cells.values(), *pairs.values()] else 0
    versions = {name: _version(name, environments) for name in ADAPTED}
    made = matrix.written(versions, cells, pairs, {name: cannot(name) for name in ADAPTED})
    if asked.write:
        matrix.write(made)
    if matrix.NO in [*cells.values(), *pairs.values()]:
        print("NOT all holds.")
        return 1
    if made != matrix.claimed():
        print("All holds, but docs/frameworks.md doesn't say so: make frameworks WRITE=1")
        return 1
    print("All of docs/frameworks.md holds.")
    return 0


def _cells(deployed: Deployed, names: list[str], environments: Path, scene: str) -> dict[tuple[str, str], str]:
    wanted = [(name, each) for each in BEHAVIOURS if scene in ("", each) for name in names]

    def cell(at: tuple[str, str]) -> str:
        name, behaviour = at
        if behaviour in cannot(name):
            return matrix.CANNOT
        return _told(f"{name} {behaviour}", play(name, behaviour, environments, environment(new_room(deployed))))

    return dict(zip(wanted, _two_at_once(cell, wanted), strict=True))


def _pairs(deployed: Deployed, environments: Path, of: str) -> dict[tuple[str, str], str]:
    wanted = [(source, target) for source in ENVIRONMENTS for target in ENVIRONMENTS if of in ("", source, target)]

    def pair(at: tuple[str, str]) -> str:
        return _told(f"{at[0]} → {at[1]}", _handed(new_room(deployed), *at, environments))

    return dict(zip(wanted, _two_at_once(pair, wanted), strict=True))


def _handed(room: Tenant, source: str, target: str, environments: Path) -> Played:
    """The scout, of one framework, hands work to the reviewer, of the other, and gets its words; a human approves."""
    asks = environment(room, AGENT="scout", OTHER="reviewer")
    serves = environment(room, AGENT="reviewer")
    over = threading.Event()
    with ThreadPoolExecutor(2) as pool:
        pool.submit(_approving, room, over)
        served = pool.submit(play, target, "serve_one", environments, serves)
        asked = play(source, "ask_other", environments, asks)
        over.set()
        worked = served.result()
    if not (asked.is_good and worked.is_good):
        return Played(False, f"{asked.said}\n{worked.said}")
    if not room.human.get("/tasks?state=done")["items"]:
        return Played(False, "no handoff is done")
    wanted = f"{target} did"
    return Played(wanted in asked.said, f"the outcome lacks {wanted!r}:\n{asked.said}")


def _approving(room: Tenant, over: threading.Event) -> None:
    """A human who approves what comes."""
    while not over.wait(0.1):
        for each in room.human.get("/tasks?state=needs")["items"]:
            room.human.post(f"/tasks/{each['id']}/approve", {"revision": each["revision"]})


def _two_at_once(act: Callable[[tuple[str, str]], str], wanted: list[tuple[str, str]]) -> list[str]:
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(act, wanted))


def _told(what: str, played: Played) -> str:
    print(f"{'ok  ' if played.is_good else 'FAIL'} {what}", flush=True)
    if not played.is_good:
        print("\n".join(f"     {line}" for line in played.said.splitlines()), flush=True)
    return matrix.YES if played.is_good else matrix.NO


def _version(name: str, environments: Path) -> str:
    read = f"import importlib.metadata as m; print(m.version({PACKAGES[name]!r}))"
    found = subprocess.run([python_of(name, environments), "-c", read], capture_output=True, text=True, check=True)
    return found.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
