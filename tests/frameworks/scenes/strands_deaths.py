"""Claims that are lost, and processes that die."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from strands import Agent, ToolContext, tool

from baton_client import ClaimLost, Run, operations
from baton_client.briefing import MAY_BE_DONE
from baton_client.errors import AlreadyClaimed
from baton_strands import ask_people, colleague, gated, run_claimed, serve
from frameworks import scene
from frameworks.scenes.strands_parts import (
    LEASE_SECONDS,
    Scripted,
    Turn,
    does,
    effect_into,
    effects,
    ended,
    handed,
    note,
    of,
    played,
    start,
    tests,
)


def one_resumes() -> None:
    def factory(run: Run) -> Agent:
        return of(Scripted([("ask_people", {"question": "Which branch?"})], "went on", seconds=3), ask_people(run))

    task_id = handed()
    does(factory)
    scene.decide(task_id, {"Which branch?": "main"})
    both = [start("resumes", TASK=task_id) for _ in range(2)]
    for each in both:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    outputs = []
    for each in both:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    outputs = sorted(each.communicate(timeout=60)[0].strip() for each in both)
    assert outputs == ["was told at once", "went on"], outputs
    assert ended(task_id).output == "went on"


def lost_claim() -> None:
    for where, calls in (("before", 0), ("in a tool", 1), ("by a heartbeat", 1)):
        _lost(where, calls)


def _lost(where: str, calls: int) -> None:
    done: list[Any] = []
    model = Scripted([("cancel", {})], [("ship", {"version": "1.2"})], "never")

    def cancel_it(run: Run) -> None:
        with scene.human() as human:
            human.send(operations.cancel(task_id, {"reason": "not wanted"}))
        if where != "in a tool":
            scene.until(lambda: run.lost, "the heartbeat that tells")

    def factory(run: Run) -> Agent:
        @tool
        def cancel() -> str:
            """Has the work cancelled."""
            cancel_it(run)
            return "cancelled"

        if where == "before":
            cancel_it(run)
        return of(model, cancel, effect_into(done))

    task_id = handed()
    try:
        does(factory, lease_seconds=LEASE_SECONDS)  # a heartbeat every 5 s
    except ClaimLost:
        pass
    else:
        raise AssertionError("it isn't told that the claim is lost")
    assert len(model.heard) == calls, f"{where}: the model is called without a claim"
    assert done == [], f"{where}: a tool is called without a claim"
    ended(task_id, "cancelled")


def killed() -> None:
    with effects() as path:
        task_id = handed("Release it")
        assert played("part", EFFECTS=path).returncode == 0
        tests()
        assert played("part", EFFECTS=path).returncode == 0
        scene.decide(task_id, {"effect": True})
        assert played("part", EFFECTS=path, DIES="effect").returncode == -signal.SIGKILL
        assert len(Path(path).read_text().split()) == 1
        assert played("part", EFFECTS=path).returncode == 0  # when the lease has ended
        scene.decide(task_id, {"Which branch?": "main"})
        assert played("part", EFFECTS=path).returncode == 0
        assert ended(task_id).output == "released: it isn't done now"
        assert len(Path(path).read_text().split()) == 1, "the effect is done twice"
    with effects() as path:
        between = handed("Think")
        assert played("thinks", EFFECTS=path, DIES="turn 1").returncode == -signal.SIGKILL
        assert played("thinks", EFFECTS=path).returncode == 0
        assert ended(between).output == "thought"
        turns = Path(path).read_text().split()
        assert turns == ["0", "noted", "1", "1"], turns  # the killed turn alone is asked for again


def releasing(run: Run) -> Agent:
    """Colleague, gated effect, question, and the end."""

    @tool(context=True)
    def effect(tool_context: ToolContext[Any]) -> str:
        """Releases it."""
        scene.linger()
        note(tool_context.invocation_state["effect_key"])
        scene.linger()
        if os.environ.get("DIES") == "effect":
            os.kill(os.getpid(), signal.SIGKILL)
        return "released"

    class Releasing(Scripted):
        async def stream(self, messages: Any, *args: Any, **more: Any) -> AsyncIterator[Any]:
            said = json.dumps(messages)
            self.turns = (*self.turns[:3], "released: it isn't done now" if MAY_BE_DONE in said else "released")
            async for event in super().stream(messages, *args, **more):
                yield event

    turns: list[Turn] = [
        [("ask_tester", {"reason": "Run the tests"})],
        [("effect", {})],
        [("ask_people", {"question": "Which branch?", "options": ["main", "next"]})],
    ]
    tools = [colleague(run, "tester", "Runs the tests"), gated(run, effect), ask_people(run)]
    return of(Releasing(*turns, ""), *tools)


def part() -> None:
    does(releasing, wait=60, lease_seconds=LEASE_SECONDS)


def thinks() -> None:
    class Thinking(Scripted):
        async def stream(self, messages: Any, *args: Any, **more: Any) -> AsyncIterator[Any]:
            number = sum(each["role"] == "assistant" for each in messages)
            note(str(number))
            if os.environ.get("DIES") == f"turn {number}":
                os.kill(os.getpid(), signal.SIGKILL)
            async for event in super().stream(messages, *args, **more):
                yield event

    @tool
    def think() -> str:
        """Thinks."""
        note("noted")
        return "thought"

    does(lambda _: of(Thinking([("think", {})], "thought"), think), wait=60, lease_seconds=LEASE_SECONDS)


def resumes() -> None:
    def factory(run: Run) -> Agent:
        return of(Scripted([("ask_people", {"question": "Which branch?"})], "went on", seconds=3), ask_people(run))

    with scene.agent("reviewer") as baton:
        print("ready", flush=True)
        input()
        begun = time.monotonic()
        try:
            with baton.claim(task=os.environ["TASK"]) as work:
                assert work is not None
                run_claimed(work, factory)
                print("went on")
        except AlreadyClaimed:
            print("was told at once" if time.monotonic() - begun < 2 else "was told late")


def work_forever() -> None:
    with scene.agent(os.environ["AGENT"]) as baton:
        serve(baton, os.environ["AGENT"], releasing, lease_seconds=LEASE_SECONDS)
