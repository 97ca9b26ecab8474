"""What Pydantic AI's scenes are made of. Their models are scripts that look at the conversation alone, so that any
process can go on."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic_ai import Agent, RunContext, Tool
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from baton_client import AsyncRun, ClaimLost, operations
from baton_pydantic_ai import ask_people, colleague, gated, run_claimed
from frameworks import scene

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
        ids = (f"call_{place}" for place in range(len(said)))  # those of each other reply, too
        parts = [ToolCallPart(tool, args, tool_call_id=at) for at, (tool, args) in zip(ids, said, strict=True)]
        return ModelResponse(parts=parts)

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


def doing_all_three(run: AsyncRun, effects: Path, *, slow: float = 0.0) -> Agent[object, str]:
    """Everything that pauses, and a tool that doesn't, in one turn. Its tools tell of themselves in a file."""

    async def ship(ctx: RunContext[object], version: str) -> str:
        note(effects, f"ship {version} {os.getpid()}")
        return "shipped"

    async def look() -> str:
        note(effects, "look")
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


def note(path: Path, line: str) -> None:
    """Whole lines, also if the process is killed."""
    to = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(to, f"{line}\n".encode())
    os.close(to)


def effects_file() -> Path:
    return Path(tempfile.mkdtemp()) / "effects"


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def all_decided(task_id: str) -> None:
    works("tester", "tested")
    scene.decide(task_id, {"ship": True, "Which branch?": "main"})


def start(name: str, **more: str) -> subprocess.Popen[str]:
    """A scene of its own, in a process of its own."""
    program = [sys.executable, "-P", "-m", "frameworks.scenes.pydantic_ai", name]
    return subprocess.Popen(program, env={**os.environ, **more}, stdout=subprocess.PIPE, text=True)
