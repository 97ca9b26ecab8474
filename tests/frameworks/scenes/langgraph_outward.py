"""A program's own graph that hands work to colleagues, and memory."""

from __future__ import annotations

import os
import re
import threading
from typing import Any
from unittest import mock

from langchain.agents import create_agent
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from baton_client import Misused
from baton_langgraph import (
    colleague,
    memory,
    outcome_of,
    resume_when_done,
)
from frameworks import scene
from frameworks.scenes.langgraph_parts import (
    Own,
    Scripted,
    agent_of,
    asks,
    begun,
    block,
    done_by,
    ended,
    handoffs,
    once,
    said,
    told,
)

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
    outcome_of_another_handoff_is_refused()


def impatient() -> None:
    """It isn't done in time, and is asked for later."""

    def later(messages: Any) -> Any:
        (task_id,) = re.findall(r"task_\w+", told(messages))
        done_by("reviewer", "late")
        return asks(("outcome_of", {"task_id": task_id}))

    with scene.agent("scout") as baton:
        tools = [colleague(baton, "reviewer", "Reviews code", patience=0.2), outcome_of(baton)]
        agent = create_agent(Scripted(asks(("hand_off_to_reviewer", {"reason": "Later"})), later, told), tools)
        last = agent.invoke(GO)["messages"][-1].text
    assert last == f"outcome_of: {said('late')}", last


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
        last = resume_when_done(graph(), config, baton)["messages"][-1].text
    assert last == f"hand_off_to_reviewer: {said('signed')}", last
    assert handoffs("Durable") == 1


def outcome_of_another_handoff_is_refused() -> None:
    """A node that hands off in another order when it is run again. The models' ids are the same in each reply."""
    reasons, heard = ["Pay ada", "Pay mallory"], []
    config: RunnableConfig = {"configurable": {"thread_id": "t2"}}
    with scene.agent("scout") as baton:
        tool = colleague(baton, "reviewer", "Pays")

        def node(_state: Own) -> Own:
            heard.append(tool.invoke(asks((tool.name, {"reason": reasons.pop(0)})).tool_calls[0]).text)
            return {"verdict": heard[-1]}

        graph: Any = StateGraph(Own)
        graph = graph.add_node("pays", node).add_edge(START, "pays").compile(checkpointer=InMemorySaver())
        graph.invoke(GO, config)
        done_by("reviewer", "ada is paid")
        try:
            resume_when_done(graph, config, baton)
        except Misused:
            assert heard == []
        else:
            raise AssertionError(f"the outcome was given to another handoff: {heard}")


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


def ask_other() -> None:
    other = os.environ["OTHER"]
    with scene.agent(os.environ["AGENT"]) as baton:
        turns = (asks((f"hand_off_to_{other}", {"reason": "Look at the login"})), told)
        agent = create_agent(Scripted(*turns), [colleague(baton, other, "Looks")])
        print(agent.invoke(GO)["messages"][-1].text)
