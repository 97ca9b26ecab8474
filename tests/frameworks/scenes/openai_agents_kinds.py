"""Approvals of each kind of tool that the SDK can have approved: people see all that a call executes."""

# ruff: noqa: A002 - ``input`` is the SDK's name

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agents import (
    Agent,
    ApplyPatchTool,
    CustomTool,
    HostedMCPTool,
    Model,
    ModelResponse,
    ShellTool,
    Usage,
    function_tool,
)
from agents.items import ToolApprovalItem
from agents.testing import assistant_message as says
from agents.testing import function_call as calls
from openai.types.responses import (
    Response,
    ResponseApplyPatchToolCall,
    ResponseCompletedEvent,
    ResponseCustomToolCall,
    ResponseFunctionShellToolCall,
)
from openai.types.responses.response_output_item import McpApprovalRequest

from baton_openai_agents.tools import call_of
from frameworks import scene
from frameworks.scenes.openai_agents_parts import begun, claimed, task_of


class Thinking(Model):
    """A scripted model. The SDK's own doesn't stream a shell's call."""

    def __init__(self, turns: Sequence[Any], reads: Callable[[str], object] = len) -> None:
        self.turns, self.reads, self.told = list(turns), reads, ""

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **_more: Any) -> ModelResponse:
        return ModelResponse(self._said(input), Usage(), None)

    async def stream_response(self, system_instructions: Any, input: Any, *_: Any, **_more: Any) -> Any:
        fields: Any = {"id": "r", "object": "response", "output": self._said(input), "tools": [], "usage": None}
        response = Response.model_construct(**fields)
        yield ResponseCompletedEvent.model_construct(type="response.completed", response=response, sequence_number=0)

    def _said(self, given: Any) -> Any:
        self.told = json.dumps(given, default=str)
        self.reads(self.told)
        return self.turns.pop(0)


@dataclass
class Kind:
    """``made``: returns the tool, which notes its effect in the list. ``shown``: the tool's name and the arguments that
    people have to see. ``done``: the effect."""

    made: Callable[[Any, list[Any]], Any]
    call: Any
    shown: tuple[str, dict[str, Any]]
    done: Any


class Editor:
    def __init__(self, done: list[Any]) -> None:
        self.done = done

    def update_file(self, operation: Any) -> None:
        self.done.append([operation.path, operation.diff])

    create_file = delete_file = update_file


def function(needs: Any, done: list[Any]) -> Any:
    @function_tool(needs_approval=needs)
    def ship(version: str) -> str:
        """Ships a version."""
        done.append(version)
        return "shipped"

    return ship


def shell(needs: Any, done: list[Any]) -> Any:
    def execute(request: Any) -> str:
        done.append(request.data.action.commands)
        return "executed"

    return ShellTool(executor=execute, needs_approval=needs)


def patch(needs: Any, done: list[Any]) -> Any:
    return ApplyPatchTool(editor=Editor(done), needs_approval=needs)


def custom(needs: Any, done: list[Any]) -> Any:
    def invoke(_context: Any, given: str) -> str:
        done.append(given)
        return "executed"

    return CustomTool("query", "Runs SQL", invoke, needs_approval=needs)


def hosted_mcp(_needs: Any, _done: list[Any]) -> Any:
    config: Any = {
        "type": "mcp",
        "server_label": "crm",
        "server_url": "https://crm.example",
        "require_approval": "always",
    }
    return HostedMCPTool(config)


def agent(needs: Any, done: list[Any]) -> Any:
    writer = Agent(name="writer", model=Thinking([[says("written")]], lambda told: done.append("a poem" in told)))
    return writer.as_tool("write", "Writes a text", needs_approval=needs)


def inner(needs: Any, done: list[Any]) -> Any:
    """An agent as a tool. Its own tool needs approval."""
    turns = [[says("released")]] if INNER.is_asked else [[calls("ship", {"version": "1.2"}, call_id="c-inner")]]
    releaser = Agent(name="releaser", model=Thinking(turns), tools=[function(needs, done)])
    return releaser.as_tool("release", "Releases a version")


class INNER:
    is_asked = False


COMMANDS = ["echo 1", "rm -rf /srv/data"]
PATCH = {"type": "update_file", "path": "/etc/hosts", "diff": "+1.2.3.4 example.com"}
KINDS = {
    "function": Kind(function, calls("ship", {"version": "1.2"}, call_id="c1"), ("ship", {"version": "1.2"}), "1.2"),
    "shell": Kind(
        shell,
        ResponseFunctionShellToolCall.model_validate(
            {"id": "i1", "call_id": "c1", "type": "shell_call", "status": "completed", "action": {"commands": COMMANDS}}
        ),
        ("shell", {"action": {"commands": COMMANDS}}),
        COMMANDS,
    ),
    "patch": Kind(
        patch,
        ResponseApplyPatchToolCall.model_validate(
            {"id": "i1", "call_id": "c1", "type": "apply_patch_call", "status": "completed", "operation": PATCH}
        ),
        ("apply_patch", {"operation": PATCH}),
        [PATCH["path"], PATCH["diff"]],
    ),
    "custom": Kind(
        custom,
        ResponseCustomToolCall(call_id="c1", input="drop table orders", name="query", type="custom_tool_call"),
        ("query", {"input": "drop table orders"}),
        "drop table orders",
    ),
    "hosted MCP": Kind(
        hosted_mcp,
        McpApprovalRequest(
            id="c1", arguments='{"id": 7}', name="delete", server_label="crm", type="mcp_approval_request"
        ),
        ("delete", {"server_label": "crm", "arguments": {"id": 7}}),
        None,
    ),
    "agent": Kind(agent, calls("write", {"input": "a poem"}, call_id="c1"), ("write", {"input": "a poem"}), True),
    "inner": Kind(inner, calls("release", {"input": "1.2"}, call_id="c1"), ("ship", {"version": "1.2"}), "1.2"),
}


async def _always(_context: Any, _arguments: Any, _call_id: str) -> bool:
    return True


async def whole_call() -> None:
    for name, kind in KINDS.items():
        for needs in (True, _always):
            for decision in ("approved", "changed", "refused"):
                await _asked_and_decided(name, kind, needs, decision)
    _empty_calls()


async def _asked_and_decided(name: str, kind: Kind, needs: Any, decision: str) -> None:
    at, done, task_id = f"{name}, {needs}, {decision}", list[Any](), begun()
    INNER.is_asked = False
    model = Thinking([[kind.call]])
    await claimed(lambda _run: Agent(name="ops", model=model, tools=[kind.made(needs, done)]))
    assert done == [], (at, done)
    (question,) = scene.questions(task_id)
    assert (question["tool"], question["arguments"]) == kind.shown, (at, question["tool"], question["arguments"])
    given: Any = {"approved": True, "changed": {**kind.shown[1], "other": 1}, "refused": "Not now"}[decision]
    scene.decide(task_id, {kind.shown[0]: given})
    INNER.is_asked = True
    model = Thinking([[says("done")]])
    await claimed(lambda _run: Agent(name="ops", model=model, tools=[kind.made(needs, done)]))
    (question,) = scene.questions(task_id)
    is_done = decision == "approved"
    assert bool(question["used_at"]) == is_done, (at, question)
    if name == "hosted MCP":  # its server executes the call once it gets this
        assert f'"approve": {str(is_done).lower()}' in model.told, (at, model.told)
    else:
        assert done == ([kind.done] if is_done else []), (at, done)
    assert task_of(task_id)["state"] == "done", at


def _empty_calls() -> None:
    """No person is asked about a call without content."""
    for raw in (
        {"type": "function_call", "call_id": "c1", "name": "ship"},
        {"type": "shell_call", "call_id": "c1", "status": "completed", "action": None},
        {"type": "mcp_approval_request", "id": "c1", "name": "delete"},
    ):
        item = ToolApprovalItem(Agent(name="ops"), raw, str(raw.get("name", "shell")))
        try:
            call = call_of(item)
        except ValueError:
            continue
        raise AssertionError(f"people are asked about nothing: {call}")
