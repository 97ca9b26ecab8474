"""A run that waits for colleagues and people."""

from __future__ import annotations

import asyncio
from typing import Any

from agents import Agent, Runner, function_tool
from agents.testing import ScriptedModel
from agents.testing import assistant_message as says
from agents.testing import function_call as calls

from baton_client import AsyncRun, operations
from baton_openai_agents import ask_people, colleague, gated
from frameworks import scene
from frameworks.scenes.openai_agents_parts import (
    ASK,
    SHIP,
    TEST,
    Effects,
    begun,
    claimed,
    handoffs_of,
    of,
    outputs,
    task_of,
    tester,
    worked,
)


async def waits_for_colleague() -> None:
    task_id = begun()
    await claimed(of(ScriptedModel([[calls(TEST[1], TEST[2], call_id="c1")]]), tester))
    assert task_of(task_id)["state"] == "waiting", "it is put down"
    assert worked("tester", {"passed": 42}) == "Run the tests of 1.2"
    fresh = ScriptedModel([[says("released")]])
    await claimed(of(fresh, tester))
    assert "42" in outputs(fresh.last_call)["c1"]
    assert task_of(task_id)["output"] == "released"


async def approval() -> None:
    for tool, name in (("gated", "ship"), ("native", "deploy")):
        for said, done, told in (
            (True, ["1.2"], "1.2"),
            ({"version": "1.3"}, ["1.3"], "1.3"),
            ("Not now", [], "Not now"),
        ):
            effects, task_id = Effects(), begun()
            make = getattr(effects, tool)
            await claimed(of(ScriptedModel([[calls(name, {"version": "1.2"}, call_id="c1")]]), make))
            assert effects.done == [], "nothing is done before a human approves"
            scene.decide(task_id, {name: said})
            model = ScriptedModel([[says("done")]])
            await claimed(of(model, make))
            wanted = [] if tool == "native" and isinstance(said, dict) else done  # the SDK can't change its arguments
            assert effects.done == wanted, (tool, said, effects.done)
            assert told in outputs(model.last_call)["c1"], outputs(model.last_call)
            assert task_of(task_id)["state"] == "done"


async def forged() -> None:
    for tool, name in (("gated", "ship"), ("native", "deploy")):
        for how in scene.FORGED_WAYS:
            effects, task_id = Effects(), begun()
            make = getattr(effects, tool)
            await claimed(of(ScriptedModel([[calls(name, {"version": "1.2"}, call_id="c1")]]), make))
            scene.decide(task_id, {name: True})
            scene.forge(task_id, how)
            await claimed(of(ScriptedModel([[says("done")]]), make))
            if how == "checkpoint":
                assert effects.done == ["1.2"], effects.done
                assert task_of(task_id)["state"] == "done"
            else:
                assert effects.done == [], (tool, how, effects.done)
                scene.must_be_refused(task_id)


async def question() -> None:
    for options, answer in ((["main", "next"], "next"), ([], "whatever is newest")):
        task_id = begun()
        call = calls("ask_people", {"text": "Which branch?", "options": options}, call_id="c1")
        await claimed(of(ScriptedModel([[call]]), ask_people))
        scene.decide(task_id, {"Which branch?": answer})
        model = ScriptedModel([[says("thanks")]])
        await claimed(of(model, ask_people))
        assert answer in outputs(model.last_call)["c1"]
    await outcome_belongs_to_the_call_of_one_agent()


async def outcome_belongs_to_the_call_of_one_agent() -> None:
    """An agent that is a tool of another agent uses the id of that agent's approved call, for a call of its own."""
    effects, task_id = Effects(), begun()

    @function_tool(needs_approval=lambda _context, arguments, _call_id: arguments["version"] != "0.1")
    def ship(version: str) -> str:
        """Ships a version."""
        effects.done.append(version)
        return f"shipped {version}"

    def made(outer: ScriptedModel, inner: ScriptedModel) -> Any:
        def make(run: AsyncRun) -> Agent[Any]:
            helper = Agent(name="helper", model=inner, tools=[gated(run, ship), ask_people(run)])
            tools: list[Any] = [gated(run, ship), helper.as_tool("helper", "Helps")]
            return Agent(name="reviewer", model=outer, tools=tools)

        return make

    both = [calls("ship", {"version": "1.2"}, call_id="c1"), calls("helper", {"input": "go"}, call_id="c2")]
    ask = calls("ask_people", {"text": "Well?", "options": []}, call_id="c3")
    await claimed(made(ScriptedModel([both]), ScriptedModel([[ask]])))
    scene.decide(task_id, {"Well?": "yes", "ship": True})
    model = ScriptedModel([[says("done")]])
    inner = ScriptedModel([[calls("ship", {"version": "0.1"}, call_id="c1")], [says("helped")]])
    await claimed(made(model, inner))
    assert sorted(effects.done) == ["0.1", "1.2"], (effects.done, outputs(inner.last_call), outputs(model.last_call))
    assert task_of(task_id)["state"] == "done"


async def several_at_once() -> None:
    effects, looked, task_id = Effects(), Effects(), begun()
    tools = (tester, effects.gated, ask_people, looked.plain)
    turn = [calls(name, arguments, call_id=call_id) for call_id, name, arguments in (TEST, SHIP, ASK)]
    await claimed(of(ScriptedModel([[*turn, calls("look", {"path": "a"}, call_id="c-look")]]), *tools))
    assert looked.done == ["a"]
    worked("tester", "42 pass")
    await claimed(of(ScriptedModel(), *tools))  # people haven't decided: it waits on, and no model is asked
    scene.decide(task_id, {"ship": True, "Which branch?": "main"})
    model = ScriptedModel([[says("released")]])
    await claimed(of(model, *tools))
    told = outputs(model.last_call)
    assert ["42 pass" in told["c-test"], "shipped" in told["c-ship"], "main" in told["c-ask"]] == [True] * 3, told
    assert (effects.done, looked.done) == (["1.2"], ["a"]), "each is done once"
    assert (len(handoffs_of("reviewer")), len(scene.questions(task_id))) == (1, 2)


async def repeats() -> None:
    effects, task_id = Effects(), begun()
    tools = (tester, effects.gated, ask_people)
    turn = [calls(name, arguments, call_id=call_id) for call_id, name, arguments in (TEST, SHIP, ASK)]
    await claimed(of(ScriptedModel([turn]), *tools))
    worked("tester", "42 pass")
    scene.decide(task_id, {"ship": True, "Which branch?": "main"})
    for model in (ScriptedModel([RuntimeError("out of order")]), ScriptedModel([[says("released")]])):
        try:
            await claimed(of(model, *tools))
        except RuntimeError:
            with scene.human() as person:
                scene.until(lambda: person.send(operations.get_task(task_id))["ready_at"], "a pause")
                await asyncio.sleep(6)
    assert task_of(task_id)["output"] == "released"
    assert effects.done == ["1.2"], "the effect is done once"
    assert (len(handoffs_of("reviewer")), len(scene.questions(task_id))) == (1, 2), "each is asked once"
    async with scene.async_agent("scout") as baton:
        for _ in range(2):  # the program dies, and does the same again
            model = ScriptedModel([[calls("transfer_to_reviewer", {}, call_id="c9")]])
            reviewer = colleague(baton, "reviewer", "Reviews code", patience=0)
            await Runner.run(Agent(name="triage", model=model, handoffs=[reviewer]), "Review the login")
    made = [each for each in handoffs_of("scout") if each["title"] == "Review the login"]
    assert len(made) == 1, "one handoff"
