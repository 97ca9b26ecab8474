"""What Strands' scenes are made of. The models are scripts that see nothing but the conversation: any process goes
on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from strands import Agent, ToolContext, tool
from strands.models.model import Model
from strands.types.tools import AgentTool

from baton_client import Run, operations
from baton_client.verbs import Task
from baton_strands import run_claimed
from frameworks import scene

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
            use = {"name": name, "toolUseId": f"call.{place}"}  # as in each other reply, and none that Baton takes
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
