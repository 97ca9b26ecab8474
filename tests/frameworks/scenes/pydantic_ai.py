"""Pydantic AI's scenes. Their models are scripts that look at the conversation alone, so that any process can go on."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic_ai import Agent, RunContext, Tool
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from baton_client import AsyncRun, ClaimLost, Refused, operations
from baton_pydantic_ai import ask_people, colleague, gated, memory, outcome_of, run_claimed, serve
from frameworks import scene

CANNOT: dict[str, str] = {}
Said = Any  # words, a list of tools with their arguments, or a function of the messages that returns either


def scripted(*turns: Said, turned: list[int] | None = None) -> FunctionModel:
    """A model whose turn is known by what was said before: its words, or tools and their arguments."""

    def answer(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        number = sum(isinstance(each, ModelResponse) for each in messages)
        if turned is not None:
            turned.append(number)
        said = turns[number]
        said = said(messages) if callable(said) else said
        if isinstance(said, str):
            return ModelResponse(parts=[TextPart(said)])
        return ModelResponse(parts=[ToolCallPart(tool, arguments) for tool, arguments in said])

    return FunctionModel(answer)


def returned(messages: list[ModelMessage], tool: str = "") -> list[Any]:
    """What the tools returned so far, the latest last."""
    parts = [part for each in messages for part in each.parts]
    return [part.content for part in parts if isinstance(part, ToolReturnPart) and tool in ("", part.tool_name)]


def last(tool: str) -> Callable[[list[ModelMessage]], str]:
    return lambda messages: f"Then: {returned(messages, tool)[-1]}"


def block(number: int) -> dict[str, Any]:
    """What a block of the page defines."""
    names: dict[str, Any] = {}
    exec(scene.block(number, "Pydantic AI"), names)
    return names


def asked(reason: str = "Release 1.2", **more: Any) -> str:
    with scene.human() as person:
        return person.hand_off("reviewer", reason, agent="scout", **more).id


def served(make: Callable[[AsyncRun], Any], lease_seconds: int = 60, **more: Any) -> None:
    """The reviewer's next task is claimed, and done until it has ended or is put down."""

    async def one() -> None:
        claiming = scene.async_agent("reviewer")
        async with claiming as baton, baton.claim(wait=60, lease_seconds=lease_seconds) as work:
            assert work is not None, "no work"
            with contextlib.suppress(ClaimLost):
                await run_claimed(work, make, **more)

    asyncio.run(one())


def task(task_id: str) -> Any:
    with scene.human() as person:
        return person.send(operations.get_task(task_id))


def done(task_id: str) -> Any:
    found = task(task_id)
    assert found["state"] == "done", f"it is {found['state']}: {found['failure']}"
    return found["output"]


def works(slug: str, output: Any, **more: Any) -> None:
    """A colleague's task is approved and done."""
    scene.approve(scene.waiting_for(slug))
    with scene.agent(slug) as baton, baton.claim(wait=30) as work:
        assert work is not None, f"{slug} has no work"
        work.complete(output, **more)


def handed(parent: str) -> int:
    with scene.human() as person:
        workflow = person.send(operations.get_task(parent))["workflow_id"]
        return len(person.send(operations.list_all_handoffs(workflow=workflow))["items"]) - 1


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


def _all_three(run: AsyncRun, effects: Path, *, slow: float = 0.0) -> Agent[object, str]:
    """Everything that pauses, and a tool that doesn't, in one turn. Its tools tell of themselves in a file."""

    async def ship(ctx: RunContext[object], version: str) -> str:
        _append(effects, f"ship {version} {os.getpid()}")
        return "shipped"

    async def look() -> str:
        _append(effects, "look")
        return "looked"

    def end(messages: list[ModelMessage]) -> str:
        time.sleep(slow)
        return " ".join(str(each) for each in returned(messages))

    turn = [
        ("hand_off_to_tester", {"reason": "Test 1.2"}),
        ("look", {}),
        ("ship", {"version": "1.2"}),
        ("ask_people", {"question": "Which branch?", "options": ["main", "next"]}),
    ]
    tools = [colleague(run, "tester", "Runs the tests."), gated(run, ship), ask_people(run), Tool(look)]
    return Agent(scripted(turn, end), tools=tools)


def _append(path: Path, line: str) -> None:
    """Whole lines, also if the process is killed."""
    to = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(to, f"{line}\n".encode())
    os.close(to)


def _effects() -> Path:
    return Path(tempfile.mkdtemp()) / "effects"


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _all_decided(task_id: str) -> None:
    works("tester", "tested")
    scene.decide(task_id, {"ship": True, "Which branch?": "main"})


def several_at_once() -> None:
    effects, task_id = _effects(), asked()
    served(lambda run: _all_three(run, effects))
    assert _lines(effects) == ["look"]
    works("tester", "tested")
    served(lambda run: _all_three(run, effects))
    assert task(task_id)["state"] == "waiting", "it goes on before people have decided"
    scene.decide(task_id, {"ship": True, "Which branch?": "main"})
    served(lambda run: _all_three(run, effects))
    assert sorted(done(task_id).split()) == ["looked", "main", "shipped", "tested"], "an outcome is missing"
    assert len(_lines(effects)) == 2, f"done twice: {_lines(effects)}"


def _part(name: str, **more: str) -> subprocess.Popen[str]:
    """A scene of its own, in a process of its own."""
    program = [sys.executable, "-P", "-m", "frameworks.scenes.pydantic_ai", name]
    return subprocess.Popen(program, env={**os.environ, **more}, stdout=subprocess.PIPE, text=True)


def all_three_part() -> None:
    served(lambda run: _all_three(run, Path(os.environ["EFFECTS"])))


def other_process() -> None:
    effects, task_id = _effects(), asked()
    assert _part("all_three", EFFECTS=str(effects)).wait() == 0
    assert task(task_id)["state"] == "waiting", "it isn't put down"
    _all_decided(task_id)
    assert _part("all_three", EFFECTS=str(effects)).wait() == 0
    assert "shipped" in done(task_id)
    assert len(_lines(effects)) == 2, f"done twice: {_lines(effects)}"


def resume_part() -> None:
    async def resumed() -> None:
        async with scene.async_agent("reviewer") as baton:
            try:
                async with baton.claim(task=os.environ["TASK"]) as work:
                    assert work is not None
                    await run_claimed(work, lambda run: _all_three(run, Path(os.environ["EFFECTS"]), slow=4))
                    print("went on")
            except Refused as refused:
                print(refused.code)

    scene.until(lambda: Path(os.environ["GO"]).exists(), "the start")
    asyncio.run(resumed())


def one_resumes() -> None:
    effects, task_id = _effects(), asked()
    served(lambda run: _all_three(run, effects))
    _all_decided(task_id)
    go = effects.with_name("go")
    parts = [_part("resume", EFFECTS=str(effects), TASK=task_id, GO=str(go)) for _ in range(2)]
    time.sleep(4)
    go.touch()
    said = sorted(str(each.communicate()[0]).strip() for each in parts)
    assert said == ["already_claimed", "went on"], said
    assert len(_lines(effects)) == 2, f"done twice: {_lines(effects)}"
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


def repeats() -> None:
    effects, task_id = _effects(), asked()

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
                        await run_claimed(work, lambda run: _all_three(run, effects))

    served(lambda run: _all_three(run, effects))
    _all_decided(task_id)
    asyncio.run(again())
    assert "shipped" in done(task_id)
    assert (handed(task_id), len(scene.questions(task_id)), len(_lines(effects))) == (1, 2, 2)

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


def _dying(run: AsyncRun, at: str, effects: Path) -> Agent[object, str]:
    """Kills its process, once, in the gated tool or in the second call of the model."""

    def die(where: str) -> None:
        if where == at and not effects.with_suffix(at).exists():
            effects.with_suffix(at).touch()
            os.kill(os.getpid(), 9)

    async def ship(version: str) -> str:
        _append(effects, version)
        die(".tool")
        return "shipped"

    async def look() -> str:
        _append(effects, "look")
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
    for at, expected in ((".tool", "Not done: an earlier attempt"), (".turn", "looked")):
        effects, task_id = _effects(), asked(f"Dies in the {at}")
        if at == ".tool":
            assert _part("dying", EFFECTS=str(effects), AT=at).wait() == 0
            scene.decide(task_id, {"ship": True})
        assert _part("dying", EFFECTS=str(effects), AT=at).wait() == -9
        assert _part("dying", EFFECTS=str(effects), AT=at).wait() == 0
        assert done(task_id).startswith(expected), "the model isn't told"
        assert len(_lines(effects)) == 1, f"done twice: {_lines(effects)}"


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


def work_forever() -> None:
    effects = Path(os.environ["EFFECTS"])

    async def ship(ctx: RunContext[object], version: str) -> str:
        _append(effects, ctx.tool_call_metadata["question_id"])
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


SCENES = {
    "colleague": colleague_, "claimed_task": claimed_task, "waits_for_colleague": waits_for_colleague,
    "approval": approval, "question": question, "several_at_once": several_at_once, "other_process": other_process,
    "one_resumes": one_resumes, "lost_claim": lost_claim, "repeats": repeats, "killed": killed, "memory": memory_,
    "streaming": streaming, "hostile_model": hostile_model, "serve_one": serve_one, "ask_other": ask_other,
    "work_forever": work_forever, "all_three": all_three_part, "resume": resume_part, "dying": dying_part,
}  # fmt: skip

if __name__ == "__main__":
    scene.main(SCENES)
