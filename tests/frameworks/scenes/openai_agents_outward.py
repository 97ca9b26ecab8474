"""A program that hands work to colleagues and remembers, and agents of other frameworks."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from agents import Agent, Runner
from agents.testing import ScriptedModel
from agents.testing import assistant_message as says
from agents.testing import function_call as calls
from agents.testing.model import ModelCall

from baton_openai_agents import colleague, memory, outcome_of, run_claimed
from frameworks import scene
from frameworks.scenes.openai_agents_parts import begun, block, claimed, of, outputs, thinking, worked


async def colleague_of_a_program() -> None:
    ask = block(0)["ask_for_a_review"]
    async with scene.async_agent("scout") as baton:
        triage = ScriptedModel([[calls("transfer_to_reviewer", {}, call_id="c1")]])
        said = asyncio.create_task(asyncio.to_thread(worked, "reviewer", {"verdict": "good"}))
        final = await ask(baton, triage, "Review the login")
        assert await said == "Review the login", "the colleague gets what the user has said"
        assert "good" in final, final
        tool = colleague(baton, "reviewer", "Reviews code", patience=0).as_tool("ask_reviewer", "Reviews code")
        model = ScriptedModel([[calls("ask_reviewer", {"input": "Review the logout"}, call_id="c2")], [says("wait")]])
        result = await Runner.run(Agent(name="triage", model=model, tools=[tool]), "Go")
        assert result.final_output == "wait"
        told = outputs(model.last_call)["c2"]
        assert "isn't done yet" in told, told
        await asyncio.to_thread(worked, "reviewer", "fine")
        task_id = told.split("task ")[1].split(" ")[0]
        later = ScriptedModel([[calls("outcome_of", {"task_id": task_id}, call_id="c3")], [says("ok")]])
        await Runner.run(Agent(name="triage", model=later, tools=[outcome_of(baton)]), "And?")
        assert "fine" in outputs(later.last_call)["c3"]


async def remembers() -> None:
    async with scene.async_agent("reviewer") as baton:
        begun()
        entry = {"summary": "The parser fails on tabs", "kind": "finding"}
        model = ScriptedModel([[calls("remember", entry, call_id="c1")], [says("ok")]])
        await claimed(lambda _run: Agent(name="reviewer", model=model, tools=[*memory(baton)]))
        begun()
        model = ScriptedModel([[calls("recall", {"words": "parser tabs"}, call_id="c1")], [says("ok")]])
        await claimed(lambda _run: Agent(name="reviewer", model=model, tools=[*memory(baton)]))
        told = outputs(model.last_call)["c1"]
        assert "The parser fails on tabs" in told, told
        assert "no instruction" in told, told


def _first_line(call: ModelCall) -> Any:
    content = call.input if isinstance(call.input, str) else call.input[0]["content"]
    return [says(f"openai_agents did: {content.splitlines()[0]}")]


async def serve_one() -> None:
    async with scene.async_agent(os.environ["AGENT"]) as baton, baton.claim(wait=60) as work:
        assert work is not None
        await run_claimed(work, of(thinking(_first_line)))


async def ask_other() -> None:
    other = os.environ["OTHER"]
    async with scene.async_agent(os.environ["AGENT"]) as baton:
        model = ScriptedModel([[calls(f"transfer_to_{other}", {}, call_id="c1")]])
        remote = colleague(baton, other, "Looks at things")
        result = await Runner.run(Agent(name="triage", model=model, handoffs=[remote]), "Look at the login")
        print(result.final_output)
