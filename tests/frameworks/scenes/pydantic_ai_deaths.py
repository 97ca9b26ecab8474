"""Claims that are lost, and processes that die."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from baton_client import AsyncRun, Refused, operations
from baton_pydantic_ai import ask_people, colleague, gated, run_claimed, serve
from frameworks import scene
from frameworks.scenes.pydantic_ai_parts import (
    Said,
    all_decided,
    asked,
    doing_all_three,
    done,
    effects_file,
    last,
    lines_of,
    note,
    returned,
    scripted,
    served,
    start,
    task,
)


def resume_part() -> None:
    async def resumed() -> None:
        async with scene.async_agent("reviewer") as baton:
            try:
                async with baton.claim(task=os.environ["TASK"]) as work:
                    assert work is not None
                    await run_claimed(work, lambda run: doing_all_three(run, Path(os.environ["EFFECTS"]), slow=4))
                    print("went on")
            except Refused as refused:
                print(refused.code)

    scene.until(lambda: Path(os.environ["GO"]).exists(), "the start")
    asyncio.run(resumed())


def one_resumes() -> None:
    effects, task_id = effects_file(), asked()
    served(lambda run: doing_all_three(run, effects))
    all_decided(task_id)
    go = effects.with_name("go")
    parts = [start("resume", EFFECTS=str(effects), TASK=task_id, GO=str(go)) for _ in range(2)]
    time.sleep(4)
    go.touch()
    said = sorted(str(each.communicate()[0]).strip() for each in parts)
    assert said == ["already_claimed", "went on"], said
    assert len(lines_of(effects)) == 2, f"done twice: {lines_of(effects)}"
    assert "shipped" in done(task_id)


def lost_claim() -> None:
    _lost("model", expected=[])
    _lost("tool", expected=["looked"])
    task_id, said = asked("Lost while it thinks"), list[str]()

    async def think(_messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        await asyncio.to_thread(cancelled, task_id)
        await asyncio.sleep(120)
        said.append("done")
        return ModelResponse(parts=[TextPart("Never said")])

    begun = time.monotonic()
    served(lambda _run: Agent(FunctionModel(think)), lease_seconds=15)
    assert time.monotonic() - begun < 60, "the model is waited for"
    assert (said, task(task_id)["state"]) == ([], "cancelled")


def cancelled(task_id: str) -> None:
    with scene.human() as person:
        person.send(operations.cancel(task_id, {"reason": "no more"}))


def _lost(during: str, *, expected: list[str]) -> None:
    """The task is cancelled while the model or its tool is at work."""
    task_id, turned, looked = asked(f"Lost in a {during}"), list[int](), list[str]()

    def look() -> None:
        looked.append("looked")
        cancelled(task_id)

    def begin(_messages: list[ModelMessage]) -> Said:
        if during == "model":
            cancelled(task_id)
        return [("look", {})]

    served(lambda _run: Agent(scripted(begin, "Never said", turned=turned), tools=[look]))
    assert turned == [0], f"the model is called again: {turned}"
    assert looked == expected, "a tool is called"
    assert task(task_id)["state"] == "cancelled"


def _dying(run: AsyncRun, at: str, effects: Path) -> Agent[object, str]:
    """Kills its process, once, in the gated tool or in the second call of the model."""

    def die(where: str) -> None:
        if where == at and not effects.with_suffix(at).exists():
            effects.with_suffix(at).touch()
            os.kill(os.getpid(), 9)

    async def ship(version: str) -> str:
        note(effects, version)
        die(".tool")
        return "shipped"

    async def look() -> str:
        note(effects, "look")
        return "looked"

    def after(messages: list[ModelMessage]) -> str:
        die(".turn")
        return str(returned(messages)[-1])

    first = [("ship", {"version": "1.2"})] if at == ".tool" else [("look", {})]
    return Agent(scripted(first, after), tools=[gated(run, ship), look])


def dying_part() -> None:
    at, effects = os.environ["AT"], Path(os.environ["EFFECTS"])
    served(lambda run: _dying(run, at, effects), lease_seconds=15)


def killed() -> None:
    for at, expected in ((".tool", "Not done now"), (".turn", "looked")):
        effects, task_id = effects_file(), asked(f"Dies in the {at}")
        if at == ".tool":
            assert start("dying", EFFECTS=str(effects), AT=at).wait() == 0
            scene.decide(task_id, {"ship": True})
        assert start("dying", EFFECTS=str(effects), AT=at).wait() == -9
        assert start("dying", EFFECTS=str(effects), AT=at).wait() == 0
        assert done(task_id).startswith(expected), "the model isn't told"
        assert len(lines_of(effects)) == 1, f"done twice: {lines_of(effects)}"


def work_forever() -> None:
    effects = Path(os.environ["EFFECTS"])

    async def ship(ctx: RunContext[object], version: str) -> str:
        await asyncio.to_thread(scene.linger)
        note(effects, ctx.tool_call_metadata["question_id"])
        await asyncio.to_thread(scene.linger)
        return "shipped"

    def make(run: AsyncRun) -> Agent[object, str]:
        turns = [
            [("hand_off_to_tester", {"reason": "Test it"})],
            [("ship", {"version": "1.2"})],
            [("ask_people", {"question": "Which branch?", "options": ["main", "next"]})],
            last("ask_people"),
        ]
        tools = [colleague(run, "tester", "Runs the tests."), gated(run, ship), ask_people(run)]
        return Agent(scripted(*turns), tools=tools)

    async def forever() -> None:
        async with scene.async_agent(os.environ["AGENT"]) as baton:
            await serve(baton, os.environ["AGENT"], make, lease_seconds=15)

    asyncio.run(forever())
