"""A run that waits for colleagues and people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import interrupt

from baton_client import Call, Misused, Run, operations
from baton_langgraph import (
    ask_people,
    each_call,
    memory,
)
from baton_langgraph.pauses import paused
from frameworks import scene
from frameworks.scenes.langgraph_deaths import Died
from frameworks.scenes.langgraph_outward import durable
from frameworks.scenes.langgraph_parts import (
    ASK_TESTER,
    DONE,
    Own,
    Scripted,
    agent_of,
    asks,
    begun,
    count,
    done_by,
    ended,
    once,
    process,
    said,
    told,
    waits,
)


def waits_for_colleague() -> None:
    task_id = begun()
    make = agent_of(asks(ASK_TESTER), told)
    once(make)
    waits(task_id)
    done_by("tester", {"passed": 3})
    once(make)
    assert ended(task_id) == f"hand_off_to_tester: {said({'passed': 3})}"
    within_another_graph()


def within_another_graph() -> None:
    """The agent is a node, and waits twice; its own steps are in the checkpoint, too."""
    task_id = begun()
    turns = (asks(("count", {"what": "files"}), ASK_TESTER), asks(ASK_TESTER), told)
    agent = agent_of(*turns, tools=[count])

    def make(run: Run) -> Any:
        return StateGraph(Own).add_node("agent", agent(run)).add_edge(START, "agent").compile()

    once(make)
    for output in ("first", "second"):
        waits(task_id)
        done_by("tester", output)
        once(make)
    assert ended(task_id) == f"hand_off_to_tester: {said('second')}"
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


def forged() -> None:
    for how in scene.FORGED_WAYS:
        task_id = begun()
        make = agent_of(asks(("ship", {"version": "1.2"})), told)
        once(make)
        waits(task_id)
        scene.decide(task_id, {"ship": True})
        scene.forge(task_id, how)
        once(make)
        if how == "checkpoint":
            assert DONE == ["shipped 1.2"], DONE
            assert ended(task_id) == "ship: shipped 1.2"
        else:
            assert DONE == [], (how, DONE)
            scene.must_be_refused(task_id)


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
    each_pause_of_a_task_is_asked()
    outcome_of_another_call_is_refused()
    calls_of_one_node_are_asked_one_by_one()


def each_pause_of_a_task_is_asked() -> None:
    """A task interrupts twice. An answer belongs to its own question: also if both have the same text, after a death,
    and in a graph within a node."""
    for asked in (("Is ada a supplier?", "May I pay mallory?"), ("Again?", "Again?")):
        for saver in (None, InMemorySaver()):
            for is_within in (False, True):
                for dies_after in (0, 1, 2):
                    twice_asked(asked, saver, dies_after, is_within=is_within)


def twice_asked(asked: tuple[str, str], saver: InMemorySaver | None, dies_after: int, *, is_within: bool) -> None:
    def ask(_state: Own) -> Own:
        return {"verdict": ", ".join(interrupt(each) for each in asked)}

    def make(_run: Run) -> Any:
        graph: Any = StateGraph(Own)
        graph.add_node("ask", ask).add_edge(START, "ask")
        if is_within:
            graph = StateGraph(Own).add_node("within", graph.compile()).add_edge(START, "within")
        return graph.compile(checkpointer=saver)

    def dying(event: Any) -> None:
        paused_before.extend(["pause"] if "__interrupt__" in event[1] else [])
        if len(paused_before) == dies_after:
            raise Died

    task_id = begun()
    for number, answer in enumerate(("first", "second"), 1):
        paused_before = ["pause"] * (number - 1)
        if number == dies_after:
            try:
                once(make, on_event=dying)
            except Died:
                assert len(scene.questions(task_id)) == number - 1
            else:
                raise AssertionError("it didn't die")
        once(make)
        waits(task_id)
        assert [each["text"] for each in scene.questions(task_id)] == [*asked[:number]]
        scene.decide(task_id, {asked[number - 1]: answer})
    once(make)
    assert ended(task_id)["verdict"] == "first, second"


def outcome_of_another_call_is_refused() -> None:
    """A node that asks in another order when it is run again."""
    wanted = [Call.ask("call_0", "Is ada a supplier?"), Call.ask("call_0", "May I pay mallory?", needed=2)]

    def ask(_state: Own) -> Own:
        said = str(paused(wanted.pop(0)).value)
        DONE.append(said)
        return {"verdict": said}

    graph: Any = StateGraph(Own)
    graph.add_node("ask", ask).add_edge(START, "ask")
    task_id = begun()
    once(lambda _run: graph.compile())
    scene.decide(task_id, {"Is ada a supplier?": "yes"})
    try:
        once(lambda _run: graph.compile())
    except Misused:
        assert DONE == []
    else:
        raise AssertionError("the answer was given to another question")
    with scene.human() as human:
        human.send(operations.cancel(task_id, {"reason": "no second attempt"}))


def calls_of_one_node_are_asked_one_by_one() -> None:
    """A ``ToolNode`` without ``each_call``, which runs one call after the other."""
    questions = ("Is ada a supplier?", "May I pay mallory?")
    model = Scripted(asks(*(("ask_people", {"question": each}) for each in questions)), told)

    def make(run: Run) -> Any:
        graph: Any = StateGraph(Own).add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
        graph.add_node("tools", ToolNode([ask_people(run)])).add_edge(START, "model").add_edge("tools", "model")
        return graph.add_conditional_edges("model", tools_condition).compile().with_config(max_concurrency=1)

    task_id = begun()
    for each, answer in zip(questions, ("yes", "no"), strict=True):
        once(make)
        scene.decide(task_id, {each: answer})
    once(make)
    assert ended(task_id) == "ask_people: yes; ask_people: no"


def whole_call() -> None:
    """People are asked about an interrupt of the program's own only if they see its whole value."""
    for note, is_asked in (("x" * 1_900, True), ("x" * 2_000, False)):
        make = interrupting({"note": note, "to": "mallory"})
        task_id = begun()
        once(make)
        if is_asked:
            (question,) = scene.questions(task_id)
            assert "mallory" in question["text"], question["text"][-100:]
            scene.decide(task_id, {question["text"]: "yes"})
            once(make)
        verdict = ended(task_id)["verdict"]
        assert verdict == "yes" if is_asked else "2000" in verdict, verdict
        assert len(scene.questions(task_id)) == int(is_asked)


def interrupting(value: Any) -> Callable[[Run], Any]:
    def ask(_state: Own) -> Own:
        return {"verdict": interrupt(value)}

    graph: Any = StateGraph(Own)
    graph.add_node("ask", ask).add_edge(START, "ask")
    return lambda _run: graph.compile()


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
    all_three(agent_of(asks(*THREE), told, tools=[count], checkpointer=saver))


def all_three(make: Any) -> None:
    DONE.clear()
    task_id = begun()
    once(make)
    waits(task_id)
    assert DONE == ["counted files"], DONE
    done_by("tester", "passed")
    once(make)  # nobody has decided yet
    waits(task_id)
    scene.decide(task_id, {"ship": True, "Which branch?": "main"})
    once(make)
    others = "ship: shipped 1.2; ask_people: main; count: counted files"
    assert ended(task_id) == f"hand_off_to_tester: {said('passed')}; {others}"
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
