"""The OpenAI Agents SDK's scenes: scripted models, and no network but Baton's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from agents import Agent, RunContextWrapper, Runner, function_tool
from agents.testing import ScriptedModel
from agents.testing import assistant_message as says
from agents.testing import function_call as calls
from pydantic import BaseModel

from baton_client import AsyncRun, operations
from baton_openai_agents import ask_people, colleague
from frameworks import scene
from frameworks.scenes.openai_agents_deaths import (
    killed,
    lost_claim,
    one_claim,
    one_resumes,
    other_process,
    work_forever,
)
from frameworks.scenes.openai_agents_kinds import whole_call
from frameworks.scenes.openai_agents_outward import ask_other, colleague_of_a_program, remembers, serve_one
from frameworks.scenes.openai_agents_parts import (
    SHIP,
    Effects,
    begun,
    block,
    claimed,
    of,
    outputs,
    planned,
    task_of,
    tester,
    thinking,
)
from frameworks.scenes.openai_agents_waits import (
    approval,
    forged,
    question,
    repeats,
    several_at_once,
    waits_for_colleague,
)

CANNOT: dict[str, str] = {}


class Verdict(BaseModel):
    branch: str
    good: bool


async def claimed_task() -> None:
    criteria = ["no secret is in it", "the tests pass"]
    task_id = begun("Review the login", variables={"branch": "main"}, criteria=criteria)
    seen: list[str] = []

    def read(_run: AsyncRun) -> Any:
        @function_tool
        def read(context: RunContextWrapper[dict[str, Any]]) -> str:
            """Reads the branch."""
            seen.append(context.context["branch"])
            return "3 files"

        return read

    verdict = says(Verdict(branch="main", good=True).model_dump_json())
    first, second = ({"criterion": each, "evidence": f"shows that {each}"} for each in criteria)
    reports = [says(json.dumps({"response": said})) for said in ([second], [second, first])]  # in another order
    model = ScriptedModel([[calls("read", {}, call_id="c1")], [verdict], *[[each] for each in reports]])
    await claimed(of(model, read, output_type=Verdict))
    assert seen == ["main"], "variables are the run's context"
    prompt = json.dumps(model.calls[0].input)
    assert all(each in prompt for each in ("Review the login", "main", *criteria)), prompt
    model.assert_complete()
    task = task_of(task_id)
    assert task["state"] == "done", task
    assert task["output"] == {"branch": "main", "good": True}, task["output"]
    with scene.human() as person:
        completion: Any = person.send(operations.get_handoff(task["handoff_id"]))["completion"]
    reported = completion["verification"]["acceptance_criteria_met"]
    assert [each["criterion"] in each["evidence"] for each in reported] == [True, True], reported


async def streaming() -> None:
    looked, seen = Effects(), list[str]()
    begun()
    model = ScriptedModel([[calls("look", {"path": "a"}, call_id="c1")], [says("a long word")]])
    await claimed(of(model, looked.plain), on_event=lambda event: seen.append(getattr(event, "name", event.type)))
    assert seen.index("tool_called") < seen.index("tool_output") < seen.index("message_output_created"), seen
    assert "raw_response_event" in seen, seen


async def hostile_model() -> None:
    effects, task_id = Effects(), begun()

    def nobody(run: AsyncRun) -> Any:
        return colleague(run, "nobody", "Isn't there")

    long = "x" * 100_000
    turns: Sequence[Any] = [
        [calls("no_such_tool", {}, call_id="c1"), calls("look", "{{{", call_id="c2")],
        [calls("hand_off_to_tester", "{}", call_id="c3"), calls("ship", "[]", call_id="c4")],
        [calls("hand_off_to_tester", {"reason": long, "criteria": []}, call_id="c5"), calls("ship", "]", call_id="c6")],
        [calls("hand_off_to_nobody", {"reason": "Do it", "criteria": []}, call_id="c7")],
        [calls("hand_off_to_tester", {"reason": "x" * 2001, "criteria": []}, call_id="c8")],
        [calls("ask_people", {"text": "Well?", "options": ["one"]}, call_id="c9")],
        [says(long)],
    ]
    model = ScriptedModel(turns)
    await claimed(of(model, tester, nobody, effects.gated, ask_people, effects.plain), max_turns=20)
    told = outputs(model.last_call)
    assert len(told) == 9, told.keys()
    assert "not found" in told["c1"], told["c1"]
    assert all("Not done" in told[f"c{each}"] for each in (3, 4, 5, 6, 7, 8, 9)), told
    assert "nobody" in told["c7"], told["c7"]
    assert "2000" in told["c8"], told["c8"]
    assert effects.done == []
    assert task_of(task_id)["state"] == "done"
    async with scene.async_agent("scout") as baton:
        for slug, words in (("nobody", "Do it"), ("reviewer", long)):
            model = ScriptedModel([[calls(f"transfer_to_{slug}", {}, call_id="c1")]])
            remote = colleague(baton, slug, "Reviews code", patience=0)
            result = await Runner.run(Agent(name="triage", model=model, handoffs=[remote]), words)
            assert "Nothing was handed off" in result.final_output, result.final_output


def serving() -> None:
    """The page's block for serving."""
    task_id = begun()

    async def play() -> None:
        async with scene.async_agent("reviewer") as baton:
            ship = function_tool(lambda version: f"shipped {version}", name_override="ship")
            work = asyncio.create_task(block(1)["work"](baton, thinking(planned(SHIP)), ship))
            await asyncio.to_thread(scene.until, lambda: scene.questions(task_id), "the question")
            scene.decide(task_id, {"ship": True})
            await asyncio.to_thread(scene.until, lambda: task_of(task_id)["state"] == "done", "the end")
            work.cancel()

    asyncio.run(play())


def played(play: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    return lambda: asyncio.run(play())


SCENES = {
    "colleague": played(colleague_of_a_program),
    "claimed_task": played(claimed_task),
    "waits_for_colleague": played(waits_for_colleague),
    "approval": played(approval),
    "whole_call": played(whole_call),
    "question": played(question),
    "several_at_once": played(several_at_once),
    "other_process": other_process,
    "one_resumes": one_resumes,
    "lost_claim": played(lost_claim),
    "repeats": played(repeats),
    "killed": killed,
    "forged": played(forged),
    "memory": played(remembers),
    "streaming": played(streaming),
    "hostile_model": played(hostile_model),
    "serve_one": played(serve_one),
    "ask_other": played(ask_other),
    "work_forever": played(work_forever),
    "part": played(one_claim),
    "serving": serving,
}


if __name__ == "__main__":
    scene.main(SCENES)
