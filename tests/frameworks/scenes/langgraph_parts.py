"""What LangGraph's scenes are made of."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain.agents import create_agent
from langchain.messages import AnyMessage
from langchain.tools import tool
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph.message import add_messages

from baton_client import Run, operations
from baton_client.texts import as_data
from baton_langgraph import ask_people, colleague, gated, run_claimed
from frameworks import scene

Turn = AIMessage | str | Callable[[list[BaseMessage]], "AIMessage | str"]

ASK_TESTER = ("hand_off_to_tester", {"reason": "Test the login", "variables": {"branch": "main"}})
DONE: list[str] = []  # what tools have done in this process


class Own(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    branch: str
    verdict: str


@tool
def ship(version: str) -> str:
    """Ships a version."""
    DONE.append(f"shipped {version}")
    return DONE[-1]


@tool
def count(what: str) -> str:
    """Counts."""
    DONE.append(f"counted {what}")
    return DONE[-1]


def agent_of(*turns: Turn, tools: Any = (), **more: Any) -> Callable[[Run], Any]:
    """Returns a factory of agents with a colleague, people, and a tool that people approve."""

    def make(run: Run) -> Any:
        its = [colleague(run, "tester", "Runs the tests"), ask_people(run), *tools]
        return create_agent(Scripted(*turns), its, middleware=[gated(run, ship)], **more)

    return make


def note(line: str) -> None:
    """Adds a line to the file of the effects."""
    with Path(os.environ["EFFECTS"]).open("a", encoding="utf-8") as notes:
        notes.write(f"{line}\n")


class Scripted(BaseChatModel):
    """A model whose next reply depends on how many it has given in the conversation: any process goes on with it."""

    turns: tuple[Any, ...]
    calls: list[int]

    def __init__(self, *turns: Turn) -> None:
        fields: Any = {"turns": turns, "calls": []}
        super().__init__(**fields)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Scripted:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> ChatResult:
        number = sum(isinstance(each, AIMessage) for each in messages)
        self.calls.append(number)
        turn = self.turns[number]
        said = turn(messages) if callable(turn) else turn
        message = AIMessage(said) if isinstance(said, str) else said.model_copy(update={"id": None})
        return ChatResult(generations=[ChatGeneration(message=message)])


def asks(*calls: tuple[str, dict[str, Any]]) -> AIMessage:
    """A reply with tool calls; their ids are those of each other reply, too."""
    made = [{"name": name, "args": args, "id": f"call_{number}"} for number, (name, args) in enumerate(calls)]
    return AIMessage("", tool_calls=made)


def told(messages: list[BaseMessage]) -> str:
    """Returns what the tools said since the model's last reply."""
    last = max(number for number, each in enumerate(messages) if isinstance(each, AIMessage))
    said = [each for each in messages[last:] if isinstance(each, ToolMessage)]
    return "; ".join(f"{each.name}{'!' if each.status == 'error' else ''}: {each.text}" for each in said)


def said(output: Any) -> str:
    """Returns what a model is told of a colleague's output."""
    return as_data("what it said", output)


def begun(reason: str = "Release 1.2", **more: Any) -> str:
    """Has work for the reviewer; returns its task's id."""
    return begun_for("reviewer", reason, **more)


def begun_for(slug: str, reason: str = "Write it", **more: Any) -> str:
    with scene.human() as human:
        return human.hand_off(slug, reason, agent="scout", **more).id


def once(make: Callable[[Run], Any], slug: str = "reviewer", **more: Any) -> None:
    """Does the agent's next task, as far as it goes."""
    with scene.agent(slug) as baton, baton.claim(wait=60, lease_seconds=15) as work:
        assert work is not None, f"there is no work for {slug}"
        run_claimed(work, make, **more)


def done_by(slug: str, output: Any) -> None:
    """Approves what waits for this agent, and does it as another worker."""
    scene.approve(scene.waiting_for(slug))
    with scene.agent(slug) as baton, baton.claim(wait=20) as work:
        assert work is not None, f"there is no work for {slug}"
        work.complete(output)


def task_of(task_id: str) -> Any:
    with scene.human() as human:
        return human.send(operations.get_task(task_id))


def ended(task_id: str, state: str = "done") -> Any:
    """Returns the task's output; of a failed one its failure."""
    task = task_of(task_id)
    assert task["state"] == state, f"it is {task['state']}: {task['failure']}"
    return task["output"] if state == "done" else task["failure"]


def waits(task_id: str) -> None:
    assert task_of(task_id)["state"] == "waiting", f"it is {task_of(task_id)['state']}"


def handoffs(reason: str) -> int:
    with scene.human() as human:
        listed = human.send(operations.list_all_handoffs(source="scout", state=["needs", "delegated", "done"]))["items"]
    return sum(reason in str(each) for each in listed)


def process(play: str, **environment: str) -> subprocess.Popen[str]:
    """Plays a scene's part in a process of its own."""
    command = [sys.executable, "-P", "-m", "frameworks.scenes.langgraph", play]
    return subprocess.Popen(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True)


def block(number: int) -> str:
    """Returns a Python block of LangGraph's part of the page."""
    return scene.block(number, "LangGraph")
