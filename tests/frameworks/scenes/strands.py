"""The scenes of Strands Agents. The models are scripts that see nothing but the conversation: any process goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from strands import Agent, Snapshot, ToolContext, tool
from strands.hooks import MessageAddedEvent
from strands.models.model import Model
from strands.types.tools import AgentTool

from baton_client import ClaimLost, Run, operations
from baton_client.briefing import MAY_BE_DONE
from baton_client.errors import AlreadyClaimed
from baton_client.verbs import Task
from baton_strands import ask_people, colleague, gated, memory, outcome_of, run_claimed, serve
from frameworks import scene

CANNOT: dict[str, str] = {}
Turn = str | list[tuple[str, dict[str, Any]]]
Factory = Callable[[Run], Agent]
LEASE_SECONDS = 15  # the shortest


class Scripted(Model):
    """Says the turn that follows those that the conversation has: a text, or calls of tools."""

    def __init__(self, *turns: Turn, seconds: float = 0.0) -> None:
        self.turns, self.seconds = turns, seconds
        self.heard: list[Any] = []

    def update_config(self, **_: Any) -> None: ...

    def get_config(self) -> Any:
        return {}

    async def structured_output(self, output_model: Any, prompt: Any, *_: Any, **__: Any) -> AsyncGenerator[Any, None]:
        yield {}

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:
        self.heard.append(messages)
        time.sleep(self.seconds)  # noqa: ASYNC251 - a model may hold the loop up
        number = sum(each["role"] == "assistant" for each in messages)
        turn = self.turns[number]
        calls = [] if isinstance(turn, str) else turn
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(turn, str):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": turn}}}
            yield {"contentBlockStop": {}}
        for place, (name, arguments) in enumerate(calls):
            use = {"name": name, "toolUseId": f"call.{number}:{place}"}  # not of the characters that Baton takes
            yield {"contentBlockStart": {"start": {"toolUse": use}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(arguments)}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}}

    @property
    def told(self) -> list[tuple[str, str]]:
        """What the tools have returned, as the model has heard it last: status and text."""
        blocks = [block for message in self.heard[-1] for block in message["content"] if "toolResult" in block]
        results = [each["toolResult"] for each in blocks]
        return [(each["status"], "".join(part.get("text", "") for part in each["content"])) for each in results]


def handed(reason: str = "Release 1.2", **more: Any) -> str:
    with scene.human() as human:
        return human.hand_off("reviewer", reason, agent="scout", **more).id


def does(factory: Factory, *, slug: str = "reviewer", wait: float = 20.0, lease_seconds: int = 60) -> None:
    """One claim, by an agent object of its own."""
    with scene.agent(slug) as baton, baton.claim(wait=wait, lease_seconds=lease_seconds) as work:
        assert work is not None, f"{slug} has nothing to do"
        run_claimed(work, factory)


def tests() -> None:
    """The tester does what was handed to it, once a human has approved that."""
    scene.approve(scene.waiting_for("tester"))
    with scene.agent("tester") as baton, baton.claim(wait=20) as work:
        assert work is not None
        work.complete("all pass")


def ended(task_id: str, state: str = "done") -> Task:
    with scene.human() as human:
        task = human.wait(task_id, seconds=60)
    assert task.state == state, f"{task.state}: {task.failure}"
    return task


def made(slug: str) -> int:
    """So many tasks were handed to the agent."""
    with scene.human() as human:
        return len(human.send(operations.list_tasks(agent=slug, state=["needs", "done"]))["items"])


@contextmanager
def meanwhile(act: Callable[[], object]) -> Iterator[None]:
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(act)
        yield
        other.result()


def of(model: Model, *tools: AgentTool | Any, **more: Any) -> Agent:
    return Agent(model=model, tools=list(tools), callback_handler=None, **more)


def effect_into(done: list[Any], name: str = "ship") -> AgentTool:
    @tool(name=name, context=True)
    def ship(version: str, tool_context: ToolContext[Any]) -> str:
        """Ships a version."""
        done.append((version, tool_context.invocation_state.get("effect_key")))
        return f"shipped {version}"

    return ship


# ---- the behaviours


def colleague_outside() -> None:
    page: dict[str, Any] = {}
    exec(scene.block(0, "Strands"), page)
    model = Scripted([("ask_reviewer", {"reason": "Review the login", "variables": {"branch": "main"}})], "released")

    def others() -> None:
        scene.approve(scene.waiting_for("reviewer"))
        with scene.agent("reviewer") as baton, baton.claim(wait=20) as work:
            assert work is not None
            assert work.variables == {"branch": "main"}
            work.complete({"verdict": "good"})

    with meanwhile(others), scene.agent("scout") as baton:
        said = page["release"](baton, model)
    assert said.strip() == "released"
    assert model.told == [("success", '{"verdict": "good"}')], model.told
    slow = Scripted([("ask_writer", {"reason": "Write"})], [("outcome_of", {"task_id": "task_none"})], "later")
    with scene.agent("scout") as baton:
        of(slow, colleague(baton, "writer", "Writes", patience=0.2), outcome_of(baton))("Write the notes")
    assert "hasn't ended yet" in slow.told[0][1], slow.told
    assert slow.told[1][0] == "error", slow.told


def claimed_task() -> None:
    page: dict[str, Any] = {}
    exec(scene.block(1, "Strands"), page)
    seen: list[Any] = []

    @tool(context=True)
    def look(tool_context: ToolContext[Any]) -> str:
        """Looks."""
        seen.append(tool_context.invocation_state["variables"])
        return "looked"

    wanted, other = "no secret is in it", "it is fast"
    reports = [[("Report", {"criteria": [{"criterion": each, "evidence": "looked"}]})] for each in (wanted, other)]
    both = {"criteria": [{"criterion": each, "evidence": "measured"} for each in (wanted, other)]}
    model = Scripted([("look", {})], "It is good", reports[0], [("Report", both)])
    task_id = handed("Review the login", variables={"branch": "main"}, criteria=[wanted, other])
    does(lambda _: of(model, look))
    task = ended(task_id)
    assert (task.output, seen) == ("It is good", [{"branch": "main"}]), (task.output, seen)
    first = json.dumps(model.heard[0])
    assert all(each in first for each in ("Review the login", wanted, "branch", "no instruction")), first
    assert other in json.dumps(model.heard[-1][-1]), "the model isn't told which criterion is missing"
    never = handed("Review the logout", criteria=[wanted])
    empty: Turn = [("Report", {"criteria": []})]
    does(lambda _: of(Scripted("It is good", empty, empty)))
    assert "no secret" in str(ended(never, "failed").failure)
    budgeted = handed("Look and look", budget={"max_model_calls": 1})
    does(lambda _: of(Scripted([("look", {})], "never"), look))
    assert "limit_turns" in str(ended(budgeted, "failed").failure)
    plain = handed("Say it")
    with scene.agent("reviewer") as baton:
        page["work"](baton, Scripted("said"))
    assert ended(plain).output == "said"


def waits_for_colleague() -> None:
    agents: list[Agent] = []

    def factory(run: Run) -> Agent:
        turns = [("ask_tester", {"reason": "Run the tests", "criteria": ["all ran"], "variables": {"of": "src"}})]
        agents.append(of(Scripted(turns, "released"), colleague(run, "tester", "Runs the tests")))
        return agents[-1]

    task_id = handed()
    does(factory)
    with scene.human() as human:
        assert human.send(operations.get_task(task_id))["state"] == "waiting"
    scene.approve(scene.waiting_for("tester"))
    with scene.agent("tester") as baton, baton.claim(wait=20) as work:
        assert work is not None
        assert work.variables == {"of": "src"}
        work.complete("all pass", met={"all ran": "the log"})
    does(factory)
    assert ended(task_id).output == "released"
    assert len(agents) == 2
    assert isinstance(agents[1].model, Scripted)
    assert agents[1].model.told == [("success", "all pass")], agents[1].model.told
    assert isinstance(agents[0].model, Scripted)
    assert agents[0].model.heard[0][0] == agents[1].model.heard[0][0], "it goes on with another conversation"


def approval() -> None:
    done: list[Any] = []
    models: list[Scripted] = []

    def factory(run: Run) -> Agent:
        models.append(Scripted(*([("ship", {"version": each})] for each in ("1.2", "1.3", "1.4")), "shipped some"))
        return of(models[-1], gated(run, effect_into(done), "It is Friday"))

    task_id = handed()
    for said, versions in ((True, []), ({"version": "1.3.1"}, ["1.2"]), ("not on Friday", ["1.2", "1.3.1"])):
        does(factory)
        assert [version for version, _ in done] == versions, done
        scene.decide(task_id, {"ship": said})
    does(factory)
    assert ended(task_id).output == "shipped some"
    assert [version for version, _ in done] == ["1.2", "1.3.1"], done
    keys = {key for _, key in done}
    assert len(keys) == 2, keys
    assert keys < {each["id"] for each in scene.questions(task_id)}, "an effect key isn't the question's id"
    status, text = models[-1].told[-1]
    assert status == "error", text
    assert "not on Friday" in text, text


def question() -> None:
    models: list[Scripted] = []

    def factory(run: Run) -> Agent:
        asked = {"question": "Which branch?", "options": ["main", "next"]}
        turns: list[Turn] = [[("ask_people", asked)], [("ask_people", {"question": "Why?"})], [("own", {})]]

        @tool(context=True)
        def own(tool_context: ToolContext[Any]) -> str:
            """An interrupt of the user's own."""
            return str(tool_context.interrupt("own", "by itself"))

        models.append(Scripted(*turns, "so be it"))
        return of(models[-1], ask_people(run), own)

    task_id = handed()
    does(factory)
    assert scene.questions(task_id)[0]["kind"] == "choice"
    for text, said in (("Which branch?", "next"), ("Why?", "It is newer"), ("own: by itself", "yes")):
        scene.decide(task_id, {text: said})
        does(factory)
    assert ended(task_id).output == "so be it"
    assert [text for _, text in models[-1].told] == ["next", "It is newer", "yes"], models[-1].told


def several_at_once() -> None:
    done: list[Any] = []
    looks: list[int] = []
    models: list[Scripted] = []

    @tool
    def look() -> str:
        """Looks."""
        looks.append(1)
        return "looked"

    def factory(run: Run) -> Agent:
        turn = [
            ("ask_tester", {"reason": "Run the tests"}),
            ("ship", {"version": "1.2"}),
            ("look", {}),
            ("ask_people", {"question": "Which branch?"}),
        ]
        models.append(Scripted(turn, "all of it"))
        tools = [colleague(run, "tester", "Runs the tests"), gated(run, effect_into(done)), ask_people(run), look]
        return of(models[-1], *tools)

    task_id = handed()
    does(factory)
    assert done == []
    scene.decide(task_id, {"ship": True, "Which branch?": "main"})
    tests()
    does(factory)
    assert ended(task_id).output == "all of it"
    assert len(done) == len(looks) == 1, (done, looks)
    told = sorted(text for _, text in models[-1].told)
    assert told == ["all pass", "looked", "main", "shipped 1.2"], told


def other_process() -> None:
    with effects() as path:
        task_id = handed("Release it")
        assert played("part", EFFECTS=path).returncode == 0
        tests()
        for said in ({"effect": True}, {"Which branch?": "main"}):
            assert played("part", EFFECTS=path).returncode == 0
            scene.decide(task_id, said)
        assert played("part", EFFECTS=path).returncode == 0
        assert ended(task_id).output == "released"
        assert len(Path(path).read_text().split()) == 1
        assert made("tester") == 1


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


def repeats() -> None:
    bodies: list[str] = []

    def factory(run: Run) -> Agent:
        turn = [("ask_tester", {"reason": "Run the tests"}), ("ask_people", {"question": "Why?"}), ("note", {})]

        @tool
        def note() -> str:
            """Notes."""
            bodies.append("note")
            return "noted"

        return of(Scripted(turn, "released"), colleague(run, "tester", "Runs the tests"), ask_people(run), note)

    task_id = handed()
    does(factory)
    scene.decide(task_id, {"Why?": "so"})
    tests()
    does(factory)
    ended(task_id)
    assert (made("tester"), len(scene.questions(task_id)), bodies) == (1, 1, ["note"]), bodies
    # Outside of a task: an agent that is restored before its tools were called calls them again.
    with scene.agent("scout") as baton:
        kept: list[Any] = []

        def outside() -> Agent:
            turn = [("ask_writer", {"reason": "Write"}), ("remember", {"summary": "It is written", "kind": "finding"})]
            return of(Scripted(turn, "written"), colleague(baton, "writer", "Writes", patience=0), *memory(baton))

        first = outside()
        first.add_hook(lambda _: kept.append(first.take_snapshot(preset="session").to_dict()), MessageAddedEvent)
        first("Write the notes")
        again = outside()
        again.load_snapshot(Snapshot.from_dict(kept[1]))
        again(None)
        assert made("writer") == 1, "the framework's repeat makes a second handoff"
        assert len(baton.recall("written")) == 1, "the framework's repeat makes a second entry"


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


def memories() -> None:
    model = Scripted(
        [("remember", {"summary": "Session tokens are opaque", "kind": "decision", "detail": "src/auth"})],
        [("recall", {"words": "session tokens"})],
        "known",
    )
    task_id = handed()
    does(lambda run: of(model, *memory(run)))
    ended(task_id)
    (_, key), (status, found) = model.told
    assert status == "success", found
    assert "Session tokens are opaque" in found, found
    assert key.startswith("ent_"), key


def streaming() -> None:
    events: list[Any] = []
    task_id = handed()
    with scene.agent("reviewer") as baton:
        serve(baton, "reviewer", lambda _: of(Scripted("bit by bit")), idle_seconds=1, on_event=events.append)
    ended(task_id)
    assert any(each.get("data") == "bit by bit" for each in events), events


def hostile_model() -> None:
    done: list[Any] = []
    deep: dict[str, Any] = {}
    for _ in range(20):
        deep = {"a": deep}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("no_such_tool", {}),
        ("bad name!", {}),
        ("ask_tester", {}),
        ("ask_tester", {"reason": ["not", "a", "text"]}),
        ("ask_nobody", {"reason": "Are you there?"}),
        ("ask_people", {"question": "Which?", "options": ["one"]}),
        ("ask_people", {"question": "\x00\ud800"}),
        ("ship", {"wrong": 1}),
        ("ship", {"version": deep}),
        ("remember", {"summary": "x", "kind": "nonsense"}),
        ("remember", {"summary": "x" * 100_000}),
        ("ask_people", {"question": "x" * 100_000}),
        ("ask_tester", {"reason": "x" * 100_000}),
    ]

    def survives(turns: list[Turn]) -> Scripted:
        model = Scripted(*turns, "survived")

        def factory(run: Run) -> Agent:
            tools = [colleague(run, "tester", "Runs the tests"), colleague(run, "nobody", "Isn't there")]
            return of(model, *tools, gated(run, effect_into(done)), ask_people(run), *memory(run))

        task_id = handed()
        does(factory)
        assert ended(task_id).output == "survived"
        good = [each for each in model.told if each[0] != "error"]
        assert not good, good
        assert len(model.told) == len(calls)
        assert (done, scene.questions(task_id)) == ([], []), done
        return model

    one_by_one = survives([[each] for each in calls])
    assert "nobody" in one_by_one.told[4][1], "Baton's own words aren't told"
    survives([calls])


# ---- processes of their own


@contextmanager
def effects() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "effects"
        path.touch()
        yield str(path)


def start(name: str, **more: str) -> subprocess.Popen[str]:
    program, pipe = [sys.executable, "-P", "-m", "frameworks.scenes.strands", name], subprocess.PIPE
    return subprocess.Popen(program, env={**os.environ, **more}, stdin=pipe, stdout=pipe, text=True)


def played(name: str, **more: str) -> subprocess.CompletedProcess[str]:
    process = start(name, **more)
    out, _ = process.communicate(timeout=90)
    return subprocess.CompletedProcess(name, process.returncode, out)


def note(line: str) -> None:
    with Path(os.environ["EFFECTS"]).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def releasing(run: Run) -> Agent:
    """Colleague, gated effect, question, and the end."""

    @tool(context=True)
    def effect(tool_context: ToolContext[Any]) -> str:
        """Releases it."""
        note(tool_context.invocation_state["effect_key"])
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


def serve_one() -> None:
    class Echo(Scripted):
        async def stream(self, messages: Any, *args: Any, **more: Any) -> AsyncIterator[Any]:
            self.turns = (f"strands did: {messages[0]['content'][0]['text'].splitlines()[0]}",)
            async for event in super().stream(messages, *args, **more):
                yield event

    does(lambda _: of(Echo()), slug=os.environ["AGENT"], wait=60)


def ask_other() -> None:
    model = Scripted([("ask_" + os.environ["OTHER"], {"reason": "Look at the login"})], "asked")
    with scene.agent(os.environ["AGENT"]) as baton:
        of(model, colleague(baton, os.environ["OTHER"], "Does it", patience=60))("Have the login looked at")
    print(model.told[0][1])


def work_forever() -> None:
    with scene.agent(os.environ["AGENT"]) as baton:
        serve(baton, os.environ["AGENT"], releasing, lease_seconds=LEASE_SECONDS)


SCENES: dict[str, Callable[[], object]] = {
    "colleague": colleague_outside,
    "claimed_task": claimed_task,
    "waits_for_colleague": waits_for_colleague,
    "approval": approval,
    "question": question,
    "several_at_once": several_at_once,
    "other_process": other_process,
    "one_resumes": one_resumes,
    "lost_claim": lost_claim,
    "repeats": repeats,
    "killed": killed,
    "memory": memories,
    "streaming": streaming,
    "hostile_model": hostile_model,
    "serve_one": serve_one,
    "ask_other": ask_other,
    "work_forever": work_forever,
    "part": part,
    "thinks": thinks,
    "resumes": resumes,
}

if __name__ == "__main__":
    scene.main(SCENES)
