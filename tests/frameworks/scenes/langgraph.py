"""LangGraph's scenes: agents of scripted models, against the deployed stack."""

from __future__ import annotations

import os
import threading
from typing import Any
from unittest import mock

from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langchain_core.tools import tool
from langgraph.graph import START, StateGraph

from baton_client import Number, Run
from baton_langgraph import (
    Report,
    ask_people,
    colleague,
    gated,
    serve,
)
from frameworks import scene
from frameworks.scenes.langgraph_deaths import fatal, killed, lost_claim, one_resumes, resume, work_forever
from frameworks.scenes.langgraph_outward import ask_other, colleague_of_a_program, remembers
from frameworks.scenes.langgraph_parts import (
    DONE,
    Own,
    Scripted,
    agent_of,
    asks,
    begun,
    begun_for,
    block,
    count,
    ended,
    once,
    ship,
    task_of,
    told,
)
from frameworks.scenes.langgraph_waits import (
    approval,
    forged,
    other_process,
    question,
    repeats,
    several_at_once,
    three,
    waits_for_colleague,
    whole_call,
)

CANNOT: dict[str, str] = {}


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
    task_id = begun(variables={"branch": Number("0.10")})
    own = StateGraph(Own).add_node("judge", lambda state: {"verdict": f"{state['branch']} is good"})
    once(lambda _run: own.add_edge(START, "judge").compile())
    assert ended(task_id) == {"branch": 0.1, "verdict": "0.1 is good"}
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
    for words in (
        "rm_rf!: Error",
        "ship!: ",
        "unknown_agent",
        "ask_people!: Baton refuses it",
        "2000",
        "reason: Field required",
    ):
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


SCENES = {
    "colleague": colleague_of_a_program,
    "claimed_task": claimed_task,
    "waits_for_colleague": waits_for_colleague,
    "approval": approval,
    "whole_call": whole_call,
    "question": question,
    "several_at_once": several_at_once,
    "other_process": other_process,
    "one_resumes": one_resumes,
    "lost_claim": lost_claim,
    "repeats": repeats,
    "killed": killed,
    "forged": forged,
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

if __name__ == "__main__":
    scene.main(SCENES)
