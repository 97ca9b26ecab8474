"""The OpenAI Agents SDK's scenes: scripted models, and no network but Baton's."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from agents import Agent, RunContextWrapper, Runner, function_tool
from agents.testing import ModelStep, ScriptedModel
from agents.testing import assistant_message as says
from agents.testing import function_call as calls
from agents.testing.model import ModelCall
from pydantic import BaseModel

from baton_client import AsyncRun, ClaimLost, Refused, operations
from baton_openai_agents import (
    ask_people,
    colleague,
    effect_key,
    gated,
    memory,
    outcome_of,
    run_claimed,
    serve,
)
from frameworks import scene

CANNOT: dict[str, str] = {}
TITLE = "OpenAI Agents SDK"
Make = Callable[[AsyncRun], Agent[Any]]


def begun(reason: str = "Release 1.2", to: str = "reviewer", **more: Any) -> str:
    with scene.human() as person:
        return person.hand_off(to, reason, agent="scout", **more).id


def task_of(task_id: str) -> Any:
    with scene.human() as person:
        return person.send(operations.get_task(task_id))


def handoffs_of(source: str) -> list[Any]:
    with scene.human() as person:
        return list(person.send(operations.list_all_handoffs(source=source))["items"])


def worked(slug: str, output: Any) -> str:
    """An agent of no framework does the task that a human approves before; returns its reason."""
    scene.approve(scene.waiting_for(slug))
    with scene.agent(slug) as baton, baton.claim(wait=20) as work:
        assert work is not None, f"no work for {slug}"
        work.complete(output)
        return work.reason


async def claimed(make: Make, slug: str = "reviewer", **more: Any) -> None:
    """Does one claim's work, as ``serve`` does."""
    async with scene.async_agent(slug) as baton, baton.claim(wait=30) as work:
        assert work is not None, f"no work for {slug}"
        await run_claimed(work, make, **more)


def of(model: ScriptedModel, *tools: Callable[[AsyncRun], Any], **more: Any) -> Make:
    return lambda run: Agent(name="reviewer", model=model, tools=[each(run) for each in tools], **more)


def tester(run: AsyncRun) -> Any:
    return colleague(run, "tester", "Runs the tests")


class Effects:
    """A tool with an effect, and what it has done."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def plain(self, _run: AsyncRun) -> Any:
        @function_tool
        def look(path: str) -> str:
            """Looks at a file."""
            self.done.append(path)
            return f"{path} is fine"

        return look

    def gated(self, run: AsyncRun) -> Any:
        @function_tool
        def ship(version: str) -> str:
            """Ships a version."""
            assert effect_key(), "a gated tool has an effect key"
            self.done.append(version)
            return f"shipped {version}"

        return gated(run, ship, "It is Friday")

    def native(self, _run: AsyncRun) -> Any:
        @function_tool(needs_approval=True)
        def deploy(version: str) -> str:
            """Deploys a version."""
            self.done.append(version)
            return f"deployed {version}"

        return deploy


def outputs(call: ModelCall | None) -> dict[str, str]:
    """Returns what the model was told of its calls, by their ids."""
    assert call is not None
    found = [each for each in call.input if each.get("type") == "function_call_output"]
    return {each["call_id"]: json.dumps(each["output"]) for each in found}


def thinking(think: Callable[[ModelCall], Any]) -> ScriptedModel:
    """A model whose turns follow from the conversation alone: any process can go on."""
    return ScriptedModel([ModelStep.respond(think)] * 100)


def planned(*plan: tuple[str, str, dict[str, Any]]) -> Callable[[ModelCall], Any]:
    def think(call: ModelCall) -> Any:
        done = outputs(call)
        for call_id, name, arguments in plan:
            if call_id not in done:
                return [calls(name, arguments, call_id=call_id)]
        return [says("released")]

    return think


SHIP = ("c-ship", "ship", {"version": "1.2"})
TEST = ("c-test", "hand_off_to_tester", {"reason": "Run the tests of 1.2", "criteria": []})
ASK = ("c-ask", "ask_people", {"text": "Which branch?", "options": ["main", "next"]})


def block(number: int) -> dict[str, Any]:
    """Returns the names of a block of the page, which has been run."""
    names: dict[str, Any] = {}
    exec(compile(scene.block(number, TITLE), f"block {number}", "exec"), names)
    return names


# ---- outward ---------------------------------------------------------------------------------------------------------


async def _colleague() -> None:
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


# ---- inward ----------------------------------------------------------------------------------------------------------


class Verdict(BaseModel):
    branch: str
    good: bool


async def _claimed_task() -> None:
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
    reports = [says(json.dumps({"response": said})) for said in (["searched 3 files"], ["searched 3 files", "42 pass"])]
    model = ScriptedModel([[calls("read", {}, call_id="c1")], [verdict], *[[each] for each in reports]])
    await claimed(of(model, read, output_type=Verdict))
    assert seen == ["main"], "variables are the run's context"
    first = model.first_call
    assert first is not None
    prompt = json.dumps(first.input)
    assert all(each in prompt for each in ("Review the login", "main", *criteria)), prompt
    model.assert_complete()
    task = task_of(task_id)
    assert task["state"] == "done", task
    assert task["output"] == {"branch": "main", "good": True}, task["output"]


async def _waits_for_colleague() -> None:
    task_id = begun()
    await claimed(of(ScriptedModel([[calls(TEST[1], TEST[2], call_id="c1")]]), tester))
    assert task_of(task_id)["state"] == "waiting", "it is put down"
    assert worked("tester", {"passed": 42}) == "Run the tests of 1.2"
    fresh = ScriptedModel([[says("released")]])
    await claimed(of(fresh, tester))
    assert "42" in outputs(fresh.last_call)["c1"]
    assert task_of(task_id)["output"] == "released"


async def _approval() -> None:
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


async def _question() -> None:
    for options, answer in ((["main", "next"], "next"), ([], "whatever is newest")):
        task_id = begun()
        call = calls("ask_people", {"text": "Which branch?", "options": options}, call_id="c1")
        await claimed(of(ScriptedModel([[call]]), ask_people))
        scene.decide(task_id, {"Which branch?": answer})
        model = ScriptedModel([[says("thanks")]])
        await claimed(of(model, ask_people))
        assert answer in outputs(model.last_call)["c1"]


async def _several_at_once() -> None:
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


# ---- processes -------------------------------------------------------------------------------------------------------


def part(name: str, **more: str) -> subprocess.Popen[str]:
    """Another process, which plays a part."""
    command = [sys.executable, "-P", "-m", "frameworks.scenes.openai_agents", name]
    return subprocess.Popen(command, env={**os.environ, **more}, stdout=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str], status: int = 0) -> str:
    said, _ = process.communicate(timeout=120)
    assert process.returncode == status, f"{process.returncode}: {said}"
    return said


def releasing(run: AsyncRun) -> Agent[Any]:
    """Any process's agent: tests, ships and asks, and writes its effects into a file."""

    @function_tool
    def ship(version: str) -> str:
        """Ships a version."""
        if os.environ.get("KILL") == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        with Path(os.environ["EFFECTS"]).open("a", encoding="utf-8") as file:
            file.write(f"{effect_key()}\n")
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


async def _part() -> None:
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


def effects_file() -> Path:
    path = Path(tempfile.mkdtemp(prefix="effects-")) / "effects"
    path.touch()
    return path


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


async def _lost_claim() -> None:
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


async def _repeats() -> None:
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


# ---- the rest --------------------------------------------------------------------------------------------------------


async def _memory() -> None:
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


async def _streaming() -> None:
    looked, seen = Effects(), list[str]()
    begun()
    model = ScriptedModel([[calls("look", {"path": "a"}, call_id="c1")], [says("a long word")]])
    await claimed(of(model, looked.plain), on_event=lambda event: seen.append(getattr(event, "name", event.type)))
    assert seen.index("tool_called") < seen.index("tool_output") < seen.index("message_output_created"), seen
    assert "raw_response_event" in seen, seen


async def _hostile_model() -> None:
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


# ---- with others -----------------------------------------------------------------------------------------------------


def _first_line(call: ModelCall) -> Any:
    content = call.input if isinstance(call.input, str) else call.input[0]["content"]
    return [says(f"openai_agents did: {content.splitlines()[0]}")]


async def _serve_one() -> None:
    async with scene.async_agent(os.environ["AGENT"]) as baton, baton.claim(wait=60) as work:
        assert work is not None
        await run_claimed(work, of(thinking(_first_line)))


async def _ask_other() -> None:
    other = os.environ["OTHER"]
    async with scene.async_agent(os.environ["AGENT"]) as baton:
        model = ScriptedModel([[calls(f"transfer_to_{other}", {}, call_id="c1")]])
        remote = colleague(baton, other, "Looks at things")
        result = await Runner.run(Agent(name="triage", model=model, handoffs=[remote]), "Look at the login")
        print(result.final_output)


async def _work_forever() -> None:
    async with scene.async_agent(os.environ["AGENT"]) as baton:
        await serve(baton, os.environ["AGENT"], releasing, lease_seconds=15)


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


ASYNC: list[Callable[[], Coroutine[Any, Any, None]]]
ASYNC = [_colleague, _claimed_task, _waits_for_colleague, _approval, _question, _several_at_once, _lost_claim, _repeats]
ASYNC += [_memory, _streaming, _hostile_model, _serve_one, _ask_other, _work_forever, _part]
SCENES = {
    "other_process": other_process,
    "one_resumes": one_resumes,
    "killed": killed,
    "serving": serving,
    **{each.__name__.removeprefix("_"): played(each) for each in ASYNC},
}

if __name__ == "__main__":
    scene.main(SCENES)
