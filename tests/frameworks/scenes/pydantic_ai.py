"""Pydantic AI's scenes: agents of scripted models, against the deployed stack."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from pydantic import BaseModel
from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from baton_client import AsyncRun
from baton_pydantic_ai import ask_people, colleague, outcome_of
from frameworks import scene
from frameworks.scenes.pydantic_ai_deaths import dying_part, killed, lost_claim, one_resumes, resume_part, work_forever
from frameworks.scenes.pydantic_ai_outward import ask_other, colleague_, memory_, serve_one
from frameworks.scenes.pydantic_ai_parts import (
    Said,
    asked,
    block,
    done,
    handed,
    returned,
    scripted,
    served,
    task,
    works,
)
from frameworks.scenes.pydantic_ai_waits import (
    all_three_part,
    approval,
    forged,
    other_process,
    question,
    repeats,
    several_at_once,
    waits_for_colleague,
    whole_call,
)

CANNOT: dict[str, str] = {}


class Verdict(BaseModel):
    branch: str
    is_good: bool


def claimed_task() -> None:
    prompts: list[str] = []

    def first(messages: list[ModelMessage]) -> Any:
        prompts.extend(str(part.content) for part in messages[0].parts if isinstance(part, UserPromptPart))
        return [("final_result", {"branch": "?", "is_good": False})]

    def second(messages: list[ModelMessage]) -> Any:
        assert "no secret is in it" in str(messages[-1]), "the model isn't told what is missing"
        return [("report_on_criterion", {"number": 1, "evidence": "searched all 3 files"}), ("branch", {})]

    def third(messages: list[ModelMessage]) -> Any:
        return [("final_result", {"branch": returned(messages, "branch")[-1], "is_good": True})]

    def make(_run: AsyncRun) -> Agent[str, Verdict]:
        agent = Agent(scripted(first, second, third), deps_type=str, output_type=Verdict)

        @agent.tool
        def branch(ctx: RunContext[str]) -> str:
            return ctx.deps

        return agent

    task_id = asked("Review the login", variables={"branch": "main"}, criteria=["no secret is in it"])
    served(make, deps=lambda work: str(work.variables["branch"]))
    assert done(task_id) == {"branch": "main", "is_good": True}
    assert prompts[0].startswith("Review the login\n"), prompts
    assert '"branch": "main"' in prompts[0], prompts
    unreported = asked("Review the logout", criteria=["all is read"])
    served(lambda _run: Agent(scripted("Good.", "Good!")))
    assert task(unreported)["state"] == "failed", "it ends without evidence"
    page = asked("Page")
    asyncio.run(_of_the_page())
    assert done(page) == "All done"


async def _of_the_page() -> None:
    async with scene.async_agent("reviewer") as baton:
        await block(1)["work"](baton, scripted("All done"), idle_seconds=1.5)


def streaming() -> None:
    events: list[str] = []

    async def stream(messages: list[ModelMessage], _info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        if any(isinstance(each, ModelResponse) for each in messages):
            for word in ("All ", "is ", "well"):
                yield word
        else:
            yield {0: DeltaToolCall("look", "{}", tool_call_id="c1")}

    def make(_run: AsyncRun) -> Agent[object, str]:
        return Agent(FunctionModel(stream_function=stream), tools=[look])

    def look() -> str:
        return "looked"

    task_id = asked()
    served(make, on_event=lambda event: events.append(event.event_kind))
    assert done(task_id) == "All is well"
    assert {"part_start", "part_delta", "function_tool_call", "function_tool_result"} <= set(events), events


def hostile_model() -> None:
    much = "x" * 100_000

    def make(run: AsyncRun) -> Agent[object, str]:
        turns: list[Said] = [
            [("no_such_tool", {}), ("hand_off_to_tester", {"reason": 3, "criteria": "none"})],
            [("hand_off_to_nobody", {"reason": "Do it"}), ("ask_people", {"question": "Which?", "options": ["one"]})],
            [("hand_off_to_tester", {"reason": much}), ("ask_people", {"question": much})],
            [("hand_off_to_tester", {"reason": "Test"}), ("hand_off_to_nobody", {"reason": "Do it"})],
            lambda messages: "\n".join(str(each)[:300] for each in returned(messages)),
        ]
        tools = [colleague(run, each, "Helps.") for each in ("tester", "nobody")]
        return Agent(scripted(*turns), tools=[*tools, ask_people(run)])

    task_id = asked()
    served(make)
    works("tester", "tested")
    served(make)
    said = done(task_id)
    for each in ("no_such_tool", "reason", "nobody", "tested"):
        assert each in said, f"{each} isn't told: {said}"
    assert (handed(task_id), len(scene.questions(task_id))) == (1, 0)

    async def outward() -> str:
        async with scene.async_agent("scout") as baton:
            turns = [
                [("hand_off_to_nobody", {"reason": "Do it"}), ("hand_off_to_tester", {"reason": much})],
                [("outcome_of", {"task_id": "../../etc"})],
                lambda messages: "\n".join(str(each)[:300] for each in returned(messages)),
            ]
            tools = [colleague(baton, each, "Helps.") for each in ("tester", "nobody")]
            return (await Agent(scripted(*turns), tools=[*tools, outcome_of(baton)]).run("Go")).output

    assert asyncio.run(outward()).count("Baton refuses it") == 3


SCENES = {
    "colleague": colleague_, "claimed_task": claimed_task, "waits_for_colleague": waits_for_colleague,
    "approval": approval, "whole_call": whole_call,
    "question": question, "several_at_once": several_at_once, "other_process": other_process,
    "one_resumes": one_resumes, "lost_claim": lost_claim, "repeats": repeats, "killed": killed, "forged": forged,
    "memory": memory_,
    "streaming": streaming, "hostile_model": hostile_model, "serve_one": serve_one, "ask_other": ask_other,
    "work_forever": work_forever, "all_three": all_three_part, "resume": resume_part, "dying": dying_part,
}  # fmt: skip


if __name__ == "__main__":
    scene.main(SCENES)
