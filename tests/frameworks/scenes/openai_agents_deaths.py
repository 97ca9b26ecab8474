"""Claims that are lost, and processes that die."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Any

from agents import Agent, function_tool
from agents.testing import ScriptedModel
from agents.testing import assistant_message as says
from agents.testing import function_call as calls
from agents.testing.model import ModelCall

from baton_client import AsyncRun, ClaimLost, Refused, operations
from baton_openai_agents import ask_people, effect_key, gated, run_claimed, serve
from frameworks import scene
from frameworks.scenes.openai_agents_parts import (
    ASK,
    SHIP,
    TEST,
    Effects,
    begun,
    effects_file,
    ended,
    of,
    outputs,
    part,
    planned,
    task_of,
    tester,
    thinking,
    worked,
)


def releasing(run: AsyncRun) -> Agent[Any]:
    """Any process's agent: tests, ships and asks, and writes its effects into a file."""

    @function_tool
    def ship(version: str) -> str:
        """Ships a version."""
        if os.environ.get("KILL") == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        scene.linger()
        with Path(os.environ["EFFECTS"]).open("a", encoding="utf-8") as file:
            file.write(f"{effect_key()}\n")
        scene.linger()
        time.sleep(float(os.environ.get("TAKES", "0")))
        if os.environ.get("KILL") == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return f"shipped {version}"

    @function_tool
    def look(path: str) -> str:
        """Looks at a file."""
        with Path(os.environ["EFFECTS"]).open("a", encoding="utf-8") as file:
            file.write(f"{path}\n")
        return "fine"

    plan: dict[str, list[tuple[str, str, dict[str, Any]]]]
    plan = {"all": [TEST, SHIP, ASK], "ship": [SHIP], "look": [("c-look", "look", {"path": "a"})]}
    plans = planned(*plan[os.environ.get("PLAN", "all")])

    def think(call: ModelCall) -> Any:
        if os.environ.get("KILL") == "between" and outputs(call):
            os.kill(os.getpid(), signal.SIGKILL)
        return [says(" ".join(outputs(call).values()))] if plans(call)[0].type == "message" else plans(call)

    tools = [tester(run), gated(run, ship), ask_people(run), look]
    return Agent(name="reviewer", model=thinking(think), tools=tools)


async def one_claim() -> None:
    """Does one claim of the task TASK, or says that it didn't get it."""
    began = time.monotonic()
    async with scene.async_agent("reviewer") as baton:
        try:
            task = None if "WAITS" in os.environ else os.environ["TASK"]
            async with baton.claim(task=task, wait=60, lease_seconds=15) as work:
                assert work is not None
                await run_claimed(work, releasing)
                print("went on")
        except Refused as refused:
            print(f"refused {refused.code} after {time.monotonic() - began:.1f}")


def other_process() -> None:
    effects, task_id = effects_file(), begun()
    env = {"EFFECTS": str(effects), "TASK": task_id}
    ended(part("part", **env))
    worked("tester", "42 pass")
    ended(part("part", **env))
    scene.decide(task_id, {"ship": True})
    ended(part("part", **env))
    scene.decide(task_id, {"Which branch?": "main"})
    ended(part("part", **env))
    task = task_of(task_id)
    assert task["state"] == "done", task
    assert all(each in task["output"] for each in ("42 pass", "shipped 1.2", "main")), task["output"]
    assert len(effects.read_text().split()) == 1


def one_resumes() -> None:
    effects, task_id = effects_file(), begun()
    env = {"EFFECTS": str(effects), "TASK": task_id, "PLAN": "ship", "TAKES": "3"}
    ended(part("part", **env))
    scene.decide(task_id, {"ship": True})
    said = sorted(ended(each) for each in [part("part", **env), part("part", **env)])
    assert said[1].startswith("went on"), said
    assert said[0].startswith("refused"), said
    assert float(said[0].split()[-1]) < 3, f"the other learns it at once: {said}"
    assert len(effects.read_text().split()) == 1
    assert task_of(task_id)["state"] == "done"


def killed() -> None:
    for kill, done in (("before", 0), ("after", 1)):
        effects, task_id = effects_file(), begun()
        env = {"EFFECTS": str(effects), "TASK": task_id, "PLAN": "ship"}
        ended(part("part", **env))
        scene.decide(task_id, {"ship": True})
        ended(part("part", **env, KILL=kill), -signal.SIGKILL)
        again(env)
        assert "may have been done" in task_of(task_id)["output"], task_of(task_id)
        assert len(effects.read_text().split()) == done, "not a second time"
    effects, task_id = effects_file(), begun()
    env = {"EFFECTS": str(effects), "TASK": task_id, "PLAN": "look"}
    ended(part("part", **env, KILL="between"), -signal.SIGKILL)
    again(env)
    assert "fine" in task_of(task_id)["output"]
    assert effects.read_text().split() == ["a"], "it goes on from the turn that was saved"


def again(env: dict[str, str]) -> None:
    """The next worker, once the lease of the dead one has ended."""
    ended(part("part", **env, WAITS="1"))


async def lost_claim() -> None:
    task_id, done = begun(), Effects()

    def cancelled(run: AsyncRun) -> Any:
        @function_tool
        async def wait() -> str:
            """Waits."""
            with scene.human() as person:
                person.send(operations.cancel(task_id, {"reason": "changed my mind"}))
            await asyncio.to_thread(scene.until, lambda: run.lost, "the loss of the claim")
            return "waited"

        return wait

    model = ScriptedModel([[calls("wait", {}, call_id="c1")], [calls("look", {"path": "a"}, call_id="c2")]])
    try:
        async with scene.async_agent("reviewer") as baton, baton.claim(lease_seconds=15) as work:
            assert work is not None
            await run_claimed(work, of(model, cancelled, done.plain))
    except ClaimLost:
        pass
    else:
        raise AssertionError("it goes on")
    assert len(model.calls) == 1, "no further model call"
    assert done.done == [], "no further tool call"


async def work_forever() -> None:
    async with scene.async_agent(os.environ["AGENT"]) as baton:
        await serve(baton, os.environ["AGENT"], releasing, lease_seconds=15)
