"""What the OpenAI Agents SDK's scenes are made of."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents import Agent, function_tool
from agents.testing import ModelStep, ScriptedModel
from agents.testing import assistant_message as says
from agents.testing import function_call as calls
from agents.testing.model import ModelCall

from baton_client import AsyncRun, operations
from baton_openai_agents import colleague, effect_key, gated, run_claimed
from frameworks import scene

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


def part(name: str, **more: str) -> subprocess.Popen[str]:
    """Another process, which plays a part."""
    command = [sys.executable, "-P", "-m", "frameworks.scenes.openai_agents", name]
    return subprocess.Popen(command, env={**os.environ, **more}, stdout=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str], status: int = 0) -> str:
    said, _ = process.communicate(timeout=120)
    assert process.returncode == status, f"{process.returncode}: {said}"
    return said


def effects_file() -> Path:
    path = Path(tempfile.mkdtemp(prefix="effects-")) / "effects"
    path.touch()
    return path
