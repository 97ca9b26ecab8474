"""A run that waits for colleagues and people."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from pydantic_ai import Agent, ApprovalRequired, RunContext, Tool
from pydantic_ai.messages import ModelResponse, ToolCallPart

from baton_client import AsyncRun, operations
from baton_pydantic_ai import ask_people, colleague, gated, run_claimed
from frameworks import scene
from frameworks.scenes.pydantic_ai_parts import (
    all_decided,
    asked,
    doing_all_three,
    done,
    effects_file,
    handed,
    last,
    lines_of,
    returned,
    scripted,
    served,
    start,
    task,
    works,
)


def waits_for_colleague() -> None:
    made: list[int] = []

    def make(run: AsyncRun) -> Agent[object, str]:
        made.append(len(made))
        arguments = {"reason": "Test 1.2", "variables": {"version": "1.2"}}
        turns = [[("hand_off_to_tester", arguments)], last("hand_off_to_tester")]
        return Agent(scripted(*turns), tools=[colleague(run, "tester", "Runs the tests.")])

    task_id = asked()
    served(make)
    assert task(task_id)["state"] == "waiting", "it isn't put down"
    works("tester", {"passed": 12})
    served(make)
    assert "'passed': 12" in done(task_id)
    assert made == [0, 1], "a fresh agent goes on"


def forged() -> None:
    shipped: list[str] = []

    def ship(version: str) -> str:
        """Ships a version."""
        shipped.append(version)
        return f"shipped {version}"

    def make(run: AsyncRun) -> Agent[object, str]:
        return Agent(scripted([("ship", {"version": "1"})], last("ship")), tools=[gated(run, ship)])

    for how in scene.FORGED_WAYS:
        task_id = asked()
        served(make)
        scene.decide(task_id, {"ship": True})
        scene.forge(task_id, how)
        served(make)
        if how == "checkpoint":
            assert shipped == ["1"], shipped
            assert "shipped 1" in done(task_id)
        else:
            assert shipped == [], (how, shipped)
            scene.must_be_refused(task_id)


def approval() -> None:
    shipped: list[str] = []

    def ship(version: str) -> str:
        """Ships a version."""
        shipped.append(version)
        return f"shipped {version}"

    def make(run: AsyncRun) -> Agent[object, str]:
        turns = [[("ship", {"version": each})] for each in ("1", "2", "3")]
        return Agent(scripted(*turns, last("ship")), tools=[gated(run, ship, why="It is Friday")])

    task_id = asked()
    served(make)
    assert shipped == [], "it is done before anybody approves"
    (question,) = scene.questions(task_id)
    assert (question["tool"], question["arguments"], question["text"]) == ("ship", {"version": "1"}, "It is Friday")
    for said, expected in ((True, ["1"]), ({"version": "2.1"}, ["1", "2.1"]), ("Not on Fridays", ["1", "2.1"])):
        scene.decide(task_id, {"ship": said})
        served(make)
        assert shipped == expected, f"after {said!r}: {shipped}"
    assert "Not on Fridays" in done(task_id), "the model isn't told the reason"


def whole_call() -> None:
    """People see all arguments, of each of the framework's ways to ask for an approval."""
    paid: list[str] = []

    def pay(ctx: RunContext[object], note: str, to: str) -> str:
        """Pays."""
        if not ctx.tool_call_approved:
            raise ApprovalRequired
        paid.append(to)
        return f"paid {to}"

    ways: list[Any] = [
        lambda run: [gated(run, pay)],
        lambda _run: [Tool(pay, requires_approval=True)],
        lambda _run: [Tool(pay)],
    ]
    for tools in ways:
        paid.clear()
        arguments = {"note": "x" * 3_000, "to": "mallory"}

        def make(run: AsyncRun, tools: Any = tools, arguments: Any = arguments) -> Agent[object, str]:
            return Agent(scripted([("pay", arguments)], last("pay")), tools=tools(run))

        task_id = asked()
        served(make)
        (question,) = scene.questions(task_id)
        assert (question["tool"], question["arguments"], paid) == ("pay", arguments, [])
        scene.decide(task_id, {"pay": {**arguments, "to": "ada"}})
        served(make)
        assert paid == ["ada"], paid
        assert "paid ada" in done(task_id)


def question() -> None:
    def make(run: AsyncRun) -> Agent[object, str]:
        turns = [
            [("ask_people", {"question": "Which branch?", "options": ["main", "next"]})],
            [("ask_people", {"question": "Why?"})],
            lambda messages: " ".join(returned(messages)),
        ]
        return Agent(scripted(*turns), tools=[ask_people(run)])

    task_id = asked()
    served(make)
    scene.decide(task_id, {"Which branch?": "next"})
    served(make)
    scene.decide(task_id, {"Why?": "It is newer"})
    served(make)
    assert done(task_id) == "next It is newer"


def several_at_once() -> None:
    effects, task_id = effects_file(), asked()
    served(lambda run: doing_all_three(run, effects))
    assert lines_of(effects) == ["look"]
    works("tester", "tested")
    served(lambda run: doing_all_three(run, effects))
    assert task(task_id)["state"] == "waiting", "it goes on before people have decided"
    scene.decide(task_id, {"ship": True, "Which branch?": "main"})
    served(lambda run: doing_all_three(run, effects))
    assert sorted(done(task_id).split()) == ["looked", "main", "shipped", "tested"], "an outcome is missing"
    assert len(lines_of(effects)) == 2, f"done twice: {lines_of(effects)}"


def all_three_part() -> None:
    served(lambda run: doing_all_three(run, Path(os.environ["EFFECTS"])))


def other_process() -> None:
    effects, task_id = effects_file(), asked()
    assert start("all_three", EFFECTS=str(effects)).wait() == 0
    assert task(task_id)["state"] == "waiting", "it isn't put down"
    all_decided(task_id)
    assert start("all_three", EFFECTS=str(effects)).wait() == 0
    assert "shipped" in done(task_id)
    assert len(lines_of(effects)) == 2, f"done twice: {lines_of(effects)}"


def repeats() -> None:
    effects, task_id = effects_file(), asked()

    async def again() -> None:
        async with scene.async_agent("reviewer") as baton:
            for _ in range(2):  # the first dies in the middle
                async with baton.claim(wait=20) as work:
                    assert work is not None
                    if _ == 0:
                        run = AsyncRun(work)
                        assert await run.go_on() is not None
                        await work.release("died")
                    else:
                        await run_claimed(work, lambda run: doing_all_three(run, effects))

    served(lambda run: doing_all_three(run, effects))
    all_decided(task_id)
    asyncio.run(again())
    assert "shipped" in done(task_id)
    assert (handed(task_id), len(scene.questions(task_id)), len(lines_of(effects))) == (1, 2, 2)

    async def outward() -> None:
        async with scene.async_agent("scout") as baton:
            for _ in range(2):
                turns = [[("hand_off_to_writer", {"reason": "Write it"})], last("hand_off_to_writer")]
                tool = colleague(baton, "writer", "Writes.", patience=0.2)
                model = scripted(*turns)
                response = ModelResponse(parts=[ToolCallPart("hand_off_to_writer", {"reason": "Write it"}, "c1")])
                await Agent(model, tools=[tool]).run(message_history=[response], conversation_id="one")

    asyncio.run(outward())
    with scene.human() as person:
        assert len(person.send(operations.list_tasks(agent="writer", state=["needs"]))["items"]) == 1
