"""LangGraph's scenes: agents of scripted models, against the deployed stack."""

from __future__ import annotations

import os
import re
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any
from unittest import mock

from baton_langgraph import (
    Report,
    ask_people,
    colleague,
    each_call,
    gated,
    memory,
    outcome_of,
    resume_when_done,
    run_claimed,
    serve,
)
from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt

from baton_client import ClaimLost, Run, operations
from baton_client.errors import AlreadyClaimed
from frameworks import scene
from frameworks.scenes.langgraph_parts import (
    ASK_TESTER,
    DONE,
    Own,
    Scripted,
    agent_of,
    asks,
    begun,
    begun_for,
    block,
    count,
    count_in_tasks,
    done_by,
    ended,
    handoffs,
    note,
    once,
    process,
    ship,
    task_of,
    told,
    waits,
)

CANNOT: dict[str, str] = {}
GO: Any = {"messages": [("user", "go")]}


def colleague_of_a_program() -> None:
    os.environ["BATON_TOKEN"] = os.environ["AGENT_TOKEN"]
    model = Scripted(asks(("hand_off_to_reviewer", {"reason": "Review the login"})), told)
    found: dict[str, Any] = {}
    with mock.patch("langchain.agents.factory.init_chat_model", return_value=model):
        program = threading.Thread(target=lambda: exec(block(0), found), daemon=True)
        program.start()
        done_by("reviewer", {"verdict": "good"})
        program.join(60)
    assert '{"verdict": "good"}' in found["state"]["messages"][-1].text, found
    impatient()
    durable()


def impatient() -> None:
    """It isn't done in time, and is asked for later."""

    def later(messages: Any) -> Any:
        (task_id,) = re.findall(r"task_\w+", told(messages))
        done_by("reviewer", "late")
        return asks(("outcome_of", {"task_id": task_id}))

    with scene.agent("scout") as baton:
        tools = [colleague(baton, "reviewer", "Reviews code", patience=0.2), outcome_of(baton)]
        agent = create_agent(Scripted(asks(("hand_off_to_reviewer", {"reason": "Later"})), later, told), tools)
        said = agent.invoke(GO)["messages"][-1].text
    assert said == "outcome_of: late", said


def durable() -> None:
    """On a thread the tool interrupts, and another agent object goes on."""
    saver = InMemorySaver()
    config: RunnableConfig = {"configurable": {"thread_id": "t1"}}
    with scene.agent("scout") as baton:

        def graph() -> Any:
            model = Scripted(asks(("hand_off_to_reviewer", {"reason": "Durable"})), told)
            return create_agent(model, [colleague(baton, "reviewer", "Reviews code")], checkpointer=saver)

        graph().invoke(GO, config)
        assert len(resume_when_done(graph(), config, baton, seconds=0)["messages"]) == 2, "it isn't done yet"
        done_by("reviewer", "signed")
        said = resume_when_done(graph(), config, baton)["messages"][-1].text
    assert said == "hand_off_to_reviewer: signed", said
    assert handoffs("Durable") == 1


def claimed_task() -> None:
    task_id = begun("Review the login", variables={"branch": "main"}, criteria=["no secret is in it"])
    seen: list[str] = []

    @tool
    def branch(runtime: ToolRuntime[dict[str, str]]) -> str:
        """Tells the branch."""
        return runtime.context["branch"]

    def first(messages: Any) -> Any:
        seen.append(messages[0].text)
        return asks(("branch", {}))

    met = [{"criterion": "no secret is in it", "met": True, "evidence": "searched 3 files"}]
    without = asks(("Report", {"output": "good", "met": []}))
    turns = (first, without, lambda messages: asks(("Report", {"output": messages[2].text, "met": met})))
    once(agent_of(*turns, tools=[branch], response_format=Report))
    assert all(each in seen[0] for each in ("Review the login", "- no secret is in it", '"branch": "main"')), seen[0]
    assert ended(task_id) == "main"
    task_id = begun(variables={"branch": "main"})
    own = StateGraph(Own).add_node("judge", lambda state: {"verdict": f"{state['branch']} is good"})
    once(lambda _run: own.add_edge(START, "judge").compile())
    assert ended(task_id) == {"branch": "main", "verdict": "main is good"}
    os.environ["BATON_TOKEN"] = os.environ["AGENT_TOKEN"]
    task_id = begun()
    with mock.patch("langchain.agents.factory.init_chat_model", return_value=Scripted("served")):
        threading.Thread(target=lambda: exec(block(1), {}), daemon=True).start()
        scene.until(lambda: task_of(task_id)["state"] == "done", "the page's worker has done it")
    three_together = threading.Barrier(3, timeout=60)
    tasks = [begun_for("writer") for _ in range(3)]
    with scene.agent("writer") as baton:
        make = agent_of(lambda _messages: str(three_together.wait() >= 0))
        serve(baton, "writer", make, concurrency=3, idle_seconds=1)
    assert [ended(each) for each in tasks] == ["True"] * 3


def waits_for_colleague() -> None:
    task_id = begun()
    make = agent_of(asks(ASK_TESTER), told)
    once(make)
    waits(task_id)
    done_by("tester", {"passed": 3})
    once(make)
    assert ended(task_id) == 'hand_off_to_tester: {"passed": 3}'
    within_another_graph()


def within_another_graph() -> None:
    """The agent is a node, and waits twice; its own steps are in the checkpoint, too."""
    task_id = begun()
    turns = (asks(("count", {"what": "files"}), ASK_TESTER), asks(ASK_TESTER), told)
    agent = agent_of(*turns, tools=[count])

    def make(run: Run) -> Any:
        return StateGraph(Own).add_node("agent", agent(run)).add_edge(START, "agent").compile()

    once(make)
    for said in ("first", "second"):
        waits(task_id)
        done_by("tester", said)
        once(make)
    assert ended(task_id) == "hand_off_to_tester: second"
    assert DONE == ["counted files"], DONE


def approval() -> None:
    task_id, heard = begun(), []

    def again(messages: Any) -> Any:
        heard.append(told(messages))
        return asks(("ship", {"version": "9"}))

    make = agent_of(asks(("ship", {"version": "1.2"})), again, told)
    once(make)
    waits(task_id)
    assert DONE == [], "nobody has approved it"
    scene.decide(task_id, {"ship": {"version": "1.3"}})
    once(make)
    assert "1.3" in heard[0], heard
    assert "changed" in heard[0], heard
    scene.decide(task_id, {"ship": "It is Friday"})
    once(make)
    assert DONE == ["shipped 1.3"], DONE
    assert ended(task_id) == "ship!: refused by a person: It is Friday"


def question() -> None:
    task_id = begun()
    make = agent_of(asks(("ask_people", {"question": "Which branch?", "options": ["main", "next"]})), told)
    once(make)
    waits(task_id)
    scene.decide(task_id, {"Which branch?": "next"})
    once(make)
    assert ended(task_id) == "ask_people: next"
    task_id = begun()
    own = StateGraph(Own).add_node("ask", lambda _state: {"verdict": interrupt("Is it good?")}).add_edge(START, "ask")
    once(lambda _run: own.compile())
    scene.decide(task_id, {"Is it good?": "very"})
    once(lambda _run: own.compile())
    assert ended(task_id)["verdict"] == "very"


THREE = (
    ASK_TESTER,
    ("ship", {"version": "1.2"}),
    ("ask_people", {"question": "Which branch?"}),
    ("count", {"what": "files"}),
)


def several_at_once() -> None:
    make = agent_of(asks(*THREE), told, tools=[count])
    saver = InMemorySaver()  # as a durable one of the user's own would be
    all_three(make)
    all_three(agent_of(asks(*THREE), told, tools=[count_in_tasks]), in_tasks=True)
    all_three(agent_of(asks(*THREE), told, tools=[count], checkpointer=saver))


def all_three(make: Any, **how: Any) -> None:
    DONE.clear()
    task_id = begun()
    once(make, **how)
    waits(task_id)
    assert DONE == ["counted files"], DONE
    done_by("tester", "passed")
    once(make, **how)  # nobody has decided yet
    waits(task_id)
    scene.decide(task_id, {"ship": True, "Which branch?": "main"})
    once(make, **how)
    assert ended(task_id) == "hand_off_to_tester: passed; ship: shipped 1.2; ask_people: main; count: counted files"
    assert DONE == ["counted files", "shipped 1.2"], DONE


def other_process() -> None:
    task_id = begun()
    assert process("_three").wait(60) == 0
    waits(task_id)
    done_by("tester", "passed")
    scene.decide(task_id, {"ship": True, "Which branch?": "main"})
    assert process("_three").wait(60) == 0
    assert "ship: shipped 1.2" in ended(task_id)


def three() -> None:
    once(agent_of(asks(*THREE), told, tools=[count]))


def one_resumes() -> None:
    task_id = begun()
    once(agent_of(asks(("ship", {"version": "1.2"})), told))
    scene.decide(task_id, {"ship": True})
    both = [process("_resume", TASK=task_id, EFFECTS=os.devnull) for _ in range(2)]
    done, late = sorted(each.communicate(timeout=60)[0].split() for each in both)
    assert (done, late[:1]) == (["done"], ["late"]), (done, late)
    assert float(late[1]) < 1.5, f"it learns it after {late[1]} s"
    assert ended(task_id) == "ship: shipped 1.2"


def resume() -> None:
    since = time.monotonic()
    try:
        with scene.agent("reviewer") as baton, baton.claim(task=os.environ["TASK"]) as work:
            assert work is not None
            time.sleep(3)
            run_claimed(work, agent_of(asks(("ship", {"version": "1.2"})), told))
            print("done")
    except AlreadyClaimed:
        print("late", time.monotonic() - since)


def lost_claim() -> None:
    """It is cancelled while a tool works; the one tool learns of it by a heartbeat, the other's turn by its save."""
    task_id = ""

    @tool
    def cancelled(heartbeat: bool) -> str:
        """Is there when it happens."""
        with scene.human() as human:
            human.send(operations.cancel(task_id, {"reason": "not wanted any more"}))
        if heartbeat:
            scene.until(lambda: runs[-1].lost, "the claim is lost")
            return str(count.invoke({"what": "files"}))
        return "cancelled"

    runs: list[Run] = []
    for heartbeat in (True, False):
        task_id, model = begun(), Scripted(asks(("cancelled", {"heartbeat": heartbeat})), told)

        def make(run: Run, model: Scripted = model) -> Any:
            runs.append(run)
            return create_agent(model, [cancelled, count])

        try:
            once(make)
        except ClaimLost:
            pass
        else:
            raise AssertionError("it went on")
        assert (model.calls, DONE) == ([0], []), (model.calls, DONE)


def repeats() -> None:
    """LangGraph runs a node again on resume: what has a key is made once; with ``each_call`` nothing is run again."""
    with scene.agent("reviewer") as baton:
        for route, counted in ((tools_condition, 2), (each_call, 1)):
            DONE.clear()
            task_id = begun()
            calls = (
                ("remember", {"summary": f"Node of {counted}"}),
                ("count", {"what": "files"}),
                ("ask_people", {"question": "Which branch?"}),
            )
            model = Scripted(asks(*calls), told)

            def make(run: Run, model: Scripted = model, route: Any = route) -> Any:
                graph = StateGraph(Own).add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
                graph.add_node("tools", ToolNode([*memory(baton), count, ask_people(run)])).add_edge(START, "model")
                return graph.add_conditional_edges("model", route).add_edge("tools", "model").compile()

            once(make)
            scene.decide(task_id, {"Which branch?": "main"})
            once(make)
            assert "ask_people: main" in ended(task_id)
            assert len(DONE) == counted, DONE
            assert len(scene.questions(task_id)) == 1
            entries = [each for each in baton.recall("Node") if each["summary"] == f"Node of {counted}"]
            assert len(entries) == 1, entries
    durable()


def killed() -> None:
    """Once in a tool that was approved, once in the model's turn after it."""
    with tempfile.TemporaryDirectory() as home:
        effects = Path(home) / "effects"
        for how, said in (("tool", "effect!: An earlier attempt began it and died"), ("turn", "effect: done")):
            task_id = begun()
            assert process("_fatal", HOW="", EFFECTS=str(effects)).wait(90) == 0
            scene.decide(task_id, {"effect": True})
            assert process("_fatal", HOW=how, EFFECTS=str(effects)).wait(90) == -signal.SIGKILL
            assert process("_fatal", HOW="", EFFECTS=str(effects)).wait(90) == 0
            assert ended(task_id).startswith(said), ended(task_id)
            assert effects.read_text(encoding="utf-8").split() == ["done"], how
            effects.unlink()


def fatal() -> None:
    how = os.environ["HOW"]

    def effect(word: str) -> str:
        """Has an effect."""
        note(word)
        if how == "tool":
            os.kill(os.getpid(), signal.SIGKILL)
        return word

    def second(messages: Any) -> str:
        if how == "turn":
            os.kill(os.getpid(), signal.SIGKILL)
        return told(messages)

    model = Scripted(asks(("effect", {"word": "done"})), second)
    once(lambda run: create_agent(model, [], middleware=[gated(run, effect)]))


def remembers() -> None:
    begun()
    with scene.agent("reviewer") as baton:
        tools = memory(baton)
        calls = [
            asks(("remember", {"summary": "The login has no tests", "kind": "warning"})),
            asks(("recall", {"words": "login tests"})),
        ]
        task_id = begun()
        once(agent_of(*calls, told, tools=tools))
        once(agent_of(asks(("recall", {"words": "login tests"})), told, tools=tools))
    assert "The login has no tests" in ended(task_id)


def streaming() -> None:
    events: list[Any] = []
    task_id = begun()
    once(agent_of(asks(("count", {"what": "files"})), "all is good", tools=[count]), on_event=events.append)
    assert ended(task_id) == "all is good"
    modes = [mode for mode, _ in events]
    assert {"updates", "messages"} <= set(modes), modes
    words = "".join(
        chunk[0].text for mode, chunk in events if mode == "messages" and chunk[1]["langgraph_node"] == "model"
    )
    assert "all is good" in words, words


def hostile_model() -> None:
    task_id, heard = begun(), []
    nonsense = asks(
        ("rm_rf", {"path": "/"}),
        ("ship", {"verse": 1}),
        ("hand_off_to_nobody", {"reason": "Do it"}),
        ("ask_people", {"question": "x" * 100_000}),
        ("hand_off_to_tester", {"reason": "y" * 4_000}),
        ("hand_off_to_tester", {"variables": "none"}),
    )

    def hears(messages: Any) -> Any:
        heard.append(told(messages))
        one = asks(("count", {"what": "a"})).tool_calls[0]
        return asks().model_copy(update={"tool_calls": [one, one]})  # twice the same id

    def make(run: Run) -> Any:
        its = [colleague(run, "nobody", "Isn't there"), colleague(run, "tester", "Tests"), ask_people(run), count]
        return create_agent(Scripted(nonsense, hears, "enough"), its, middleware=[gated(run, ship)])

    once(make)
    assert ended(task_id) == "enough"
    for words in ("rm_rf!: Error", "ship!: ", "unknown_agent", "too long", "2000", "reason: Field required"):
        assert words in heard[0], (words, heard[0][:3000])
    assert DONE == ["counted a", "counted a"], DONE
    assert scene.questions(task_id) == []
    task_id = begun()
    once(agent_of(asks(("count", {"what": os.urandom(300_000).hex()})), "too much", tools=[count]))
    assert "too_large" in str(ended(task_id, "failed"))


def serve_one() -> None:
    def make(run: Run) -> Any:
        return create_agent(Scripted(f"langgraph did: {run.work.reason}"), [])

    once(make, os.environ["AGENT"])


def ask_other() -> None:
    other = os.environ["OTHER"]
    with scene.agent(os.environ["AGENT"]) as baton:
        turns = (asks((f"hand_off_to_{other}", {"reason": "Look at the login"})), told)
        agent = create_agent(Scripted(*turns), [colleague(baton, other, "Looks")])
        print(agent.invoke(GO)["messages"][-1].text)


def work_forever() -> None:
    def make(run: Run) -> Any:
        def effect(key: str) -> str:
            """Has an effect."""
            note(key)
            return "done"

        turns = (
            asks(ASK_TESTER),
            asks(("effect", {"key": run.work.task_id})),
            asks(("ask_people", {"question": "Is it good?", "options": ["yes", "no"]})),
            told,
        )
        its = [colleague(run, "tester", "Tests"), ask_people(run)]
        return create_agent(Scripted(*turns), its, middleware=[gated(run, effect)])

    with scene.agent(os.environ["AGENT"]) as baton:
        serve(baton, os.environ["AGENT"], make, lease_seconds=15)


if __name__ == "__main__":
    scene.main(
        {
            "colleague": colleague_of_a_program,
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
            "memory": remembers,
            "streaming": streaming,
            "hostile_model": hostile_model,
            "serve_one": serve_one,
            "ask_other": ask_other,
            "work_forever": work_forever,
            "_three": three,
            "_resume": resume,
            "_fatal": fatal,
        }
    )
