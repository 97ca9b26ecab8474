"""A program that hands work to colleagues and remembers, and agents of other frameworks."""

from __future__ import annotations

import asyncio
import os
import re
import threading

from pydantic_ai import Agent

from baton_pydantic_ai import colleague, memory, run_claimed
from frameworks import scene
from frameworks.scenes.pydantic_ai_parts import block, last, returned, scripted, works


def colleague_() -> None:
    """The page's first block."""
    met = {"all is read": "all 3 files"}
    worker = threading.Thread(target=works, args=("reviewer", {"verdict": "good"}), kwargs={"met": met})
    worker.start()
    arguments = {"reason": "Review 1.2", "criteria": [*met]}
    turns = [[("hand_off_to_reviewer", arguments)], last("hand_off_to_reviewer")]

    async def released() -> str:
        async with scene.async_agent("scout") as baton:
            return str(await block(0)["release"](baton, scripted(*turns)))

    said = asyncio.run(released())
    worker.join()
    assert "good" in said, f"the model hasn't got the outcome: {said}"
    each_handoff_has_its_own_outcome()


def each_handoff_has_its_own_outcome() -> None:
    """A model hands the same off twice, with one call id. What it does again in a process after a death isn't new."""
    turns = [[("hand_off_to_reviewer", {"reason": "Review the newest"})] for _ in range(2)]

    async def again() -> list[str]:
        async with scene.async_agent("scout") as baton:
            agent = Agent(
                scripted(*turns, lambda messages: "\n".join(map(str, returned(messages)))),
                tools=[colleague(baton, "reviewer", "Reviews.", patience=0)],
            )
            return [(await agent.run("Have it reviewed", conversation_id="c1")).output for _ in range(2)]

    first, after_death = (re.findall(r"task_\w+", each) for each in asyncio.run(again()))
    assert first == after_death
    assert len(set(first)) == 2, first


def memory_() -> None:
    async def remembered() -> str:
        async with scene.async_agent("scout") as baton:
            turns = [
                [("remember", {"summary": "The login has no rate limit", "kind": "warning"})],
                [("recall", {"words": "login rate limit"})],
                last("recall"),
            ]
            return (await Agent(scripted(*turns), tools=memory(baton)).run("What do we know?")).output

    said = asyncio.run(remembered())
    assert "The login has no rate limit" in said, said


def serve_one() -> None:
    async def one() -> None:
        async with scene.async_agent(os.environ["AGENT"]) as baton, baton.claim(wait=60) as work:
            assert work is not None, "no work"
            await run_claimed(work, lambda _run: Agent(scripted(lambda _messages: f"pydantic_ai did: {work.reason}")))

    asyncio.run(one())


def ask_other() -> None:
    other = os.environ["OTHER"]
    turns = [[(f"hand_off_to_{other}", {"reason": "Look at the login"})], last(f"hand_off_to_{other}")]

    async def ask() -> None:
        async with scene.async_agent(os.environ["AGENT"]) as baton:
            agent = Agent(scripted(*turns), tools=[colleague(baton, other, "Helps.", patience=60)])
            print((await agent.run("Get it looked at")).output)

    asyncio.run(ask())
