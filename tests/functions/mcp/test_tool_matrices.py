"""What holds of a route holds of the tool that plays it: who may call, what the guardrails refuse, and how wrong
arguments are told. Each tool is walked through by its own schema, so that a new one is covered by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mcp_door.tools.catalogue import TOOLS
from mcp_door.tools.tool import McpTool
from rest.strict_json import MAX_BYTES
from support.models.expected import CALLERS, EXPECTED
from support.models.tool_calls import CALLS
from support.values.bodies import IDS
from support.worlds.http_agents import HttpAgents
from support.worlds.mcp_client import McpClient, ToolAnswer
from support.worlds.operations import WITH_TOKEN
from support.worlds.populated_workspace import WORD, PopulatedWorkspace, populated_workspace
from support.worlds.world import World, agent

PLAYED = {route for tool in TOOLS for route in tool.plays}
OPERATIONS = {each.id: each for each in WITH_TOKEN}
SECRET = "gh" + "p_" + "Zk3Q9vT1xW7bR5mN2cJ8Zk3Q9vT1xW7bR5mN2cJ8"
ARCHITECT, CODER = agent("architect"), agent("auto-code")


# ---- who may call ----------------------------------------------------------------------------------------------------


def test_every_route_that_a_tool_plays_is_asked_for_here() -> None:
    assert CALLS.keys() == PLAYED


@pytest.mark.parametrize("route", sorted(CALLS))
def test_a_tool_answers_everybody_as_its_route_does(route: str) -> None:
    for name in CALLERS:
        decision: str = getattr(EXPECTED[route], name)
        workspace = populated_workspace().of_its_own(OPERATIONS[route])
        by = workspace.caller(name)
        never = called(workspace, by, route, IDS | {"slug": workspace.own}) if decision.startswith("404") else None
        told = called(workspace, by, route, workspace.ids())
        status, _, code = decision.rstrip("+-").partition(" ")
        assert told.is_error == (int(status) >= 400), f"{route} by {name}: {told.text}"
        assert not code or told.code == code, f"{route} by {name}: {told.text}"
        if decision.endswith("-"):
            assert WORD not in str(told.result), f"{route} by {name}: {told.text}"
        assert never is None or told.text == never.text, f"{route} by {name} is told from what doesn't exist"


def called(workspace: PopulatedWorkspace, by: Any, route: str, ids: dict[str, str]) -> ToolAnswer:
    tool, arguments = CALLS[route](ids, workspace.body)
    return McpClient(workspace.gateway).call(by, tool, **arguments)


# ---- guardrails ------------------------------------------------------------------------------------------------------

# Texts that are found again by what they are, and are kept nowhere; and what goes to a route's body as it is.
NAMED = {
    *("claim_id", "agent", "target", "target_agent", "source_agent", "task_id", "cursor", "day", "advanced"),
    *("entry_id", "until", "question_id", "use"),
    "source_digest_url",  # one with a secret in it is refused by the marker's own rules
    "supersedes",  # has to be a decision's id
    "request_id",  # only its hash is kept
}
NEEDED: dict[str, dict[str, Any]] = {
    "handoff": {"reason": "It codes", "target": "auto-code"},
    "create_handoff_marker": {
        "target_agent": "qa",
        "escalation_reason": "Unsigned",
        "source_digest_url": "https://notes.example/1",
        "task_priority": "P0",
    },
    "twining_handoff": {"source_agent": "architect", "summary": "Parsed", "results": []},
    "cancel_task": {"reason": "No longer needed"},
    "delegate": {"parts": [{"target": "qa", "reason": "It tests"}]},
    "wait_for_callback": {"interaction_id": "signature"},
    "ask_person": {"text": "May I pay them?"},
    "checkpoint": {"step_name": "half", "state": {}},
    "fail": {"type": "error", "description": "No"},
    "recall": {"query": "parser"},
    "remember": {"entry_type": "decision", "summary": "We parse by hand"},
}


def texts(tool: McpTool) -> Iterator[tuple[str, Any]]:
    """Each argument that may hold a text of one's own, with a secret in it."""
    for name, schema in tool.shown["inputSchema"]["properties"].items():
        if name in NAMED or "enum" in schema:
            continue
        match schema.get("type", "object"):
            case "string":
                yield name, SECRET
            case "object":
                yield name, {"deep": [SECRET]}
            case "array" if schema["items"].get("type") == "string":
                yield name, [SECRET]
            case "array":
                yield name, [_with_secret(schema["items"])]


def _with_secret(item: Any) -> Any:
    """An item of a list of objects, with the secret in its last text."""
    known = {name: (schema.get("enum") or [schema]) for name, schema in item["properties"].items()}
    plain = {"string": SECRET, "boolean": True, "array": [SECRET], "object": {"deep": SECRET}}
    return {
        name: values[0] if isinstance(values[0], str) else plain[values[0]["type"]] for name, values in known.items()
    }


# The reason of a decision that stops something is masked, and the decision is stored.
MASKED = {("cancel_task", "reason"), ("withdraw_entry", "reason")}
WITH_TEXTS = [(tool.name, name, value) for tool in TOOLS if not tool.reads for name, value in texts(tool)]


@pytest.mark.parametrize(("tool", "name", "value"), WITH_TEXTS, ids=str)
def test_a_secret_in_any_text_is_refused_or_masked_by_the_guardrail(
    http_agents: HttpAgents, world: World, tool: str, name: str, value: Any
) -> None:
    client = McpClient(http_agents.gateway)
    given = needed(client, tool)
    by = ARCHITECT if tool in {"handoff", "create_handoff_marker", "twining_handoff", "cancel_task"} else CODER
    given |= {"deliverable": "code"} if name == "criteria" and tool == "handoff" else {}
    told = client.call(by, tool, **{**given, name: value})
    if (tool, name) in MASKED:
        assert not told.is_error, told.text
        assert "[masked: refused by the guardrail secrets.github_token]" in repr(world.stored())
    else:
        assert told.code == "guardrail", told.text
    assert SECRET not in told.text
    assert SECRET not in repr(world.stored())


def needed(client: McpClient, tool: str) -> dict[str, Any]:
    """What the tool can't do without, with a claim if it needs one."""
    given = dict(NEEDED.get(tool, {}))
    shown = next(each for each in TOOLS if each.name == tool).shown["inputSchema"]
    if "claim_id" in shown.get("required", []):
        client.done(ARCHITECT, "handoff", **NEEDED["handoff"])
        claim = client.done(CODER, "claim_next")
        given |= {"task_id": claim["task_id"], "claim_id": claim["claim_id"]}
    elif "entry_id" in shown.get("required", []):
        given |= {"entry_id": client.done(CODER, "remember", **NEEDED["remember"])["entry_id"]}
    elif "task_id" in shown.get("required", []):
        given |= {"task_id": client.done(ARCHITECT, "handoff", **NEEDED["handoff"])["task_id"]}
    return given


# ---- wrong arguments -------------------------------------------------------------------------------------------------

WRONG: dict[str, list[Any]] = {
    "string": [7, True, {}, []],
    "integer": ["seven", 1.5, True, -1, 10**30],
    "boolean": ["yes", 1],
    "object": ["{", [], 7],
    "array": ["a", {}, 7],
}


def wrong_arguments() -> Iterator[tuple[str, str, Any]]:
    for tool in TOOLS:
        for name, schema in tool.shown["inputSchema"]["properties"].items():
            for value in WRONG.get(schema.get("type", ""), ()):
                yield tool.name, name, value
            if "enum" in schema:
                yield tool.name, name, "another"
        yield tool.name, "colour", "red"


@pytest.mark.parametrize("tool", TOOLS, ids=lambda each: each.name)
def test_wrong_arguments_are_refused_by_their_names(http_agents: HttpAgents, world: World, tool: McpTool) -> None:
    client = McpClient(http_agents.gateway)
    given = needed(client, tool.name)
    before = world.stored()
    for name, value in [(name, value) for each, name, value in wrong_arguments() if each == tool.name]:
        told = client.call(CODER, tool.name, **{**given, name: value})
        assert told.code == "invalid_input", f"{name}={value!r}: {told.text}"
        assert name in told.text, f"{name}={value!r}: {told.text}"
    assert world.stored() == before


# Recall wants one of two (test_tools.py).
@pytest.mark.parametrize("tool", [each for each in TOOLS if each.name != "recall"], ids=lambda each: each.name)
def test_arguments_that_are_missing_are_named(http_agents: HttpAgents, tool: McpTool) -> None:
    client = McpClient(http_agents.gateway)
    required = tool.shown["inputSchema"].get("required", [])
    told = client.call(CODER, tool.name)
    assert told.is_error == bool(required), told.text
    assert all(f"{name}: is required" in told.text for name in required)


PATHS = ["x/await", "../tasks", "a b", "%2e%2e", "x?y=1", "x\n", "", "ü", "x" * 5_000]


@pytest.mark.parametrize(
    "tool",
    [each for each in TOOLS if "task_id" in each.shown["inputSchema"]["properties"]],
    ids=lambda each: each.name,
)
def test_an_id_leads_to_no_other_route(http_agents: HttpAgents, tool: McpTool) -> None:
    client = McpClient(http_agents.gateway)
    given = needed(client, tool.name)
    for task_id in PATHS:
        told = client.call(CODER, tool.name, **{**given, "task_id": task_id})
        assert told.code in {"not_found", "invalid_input"}, (task_id, told.text)


@pytest.mark.parametrize("agent_name", ["../tasks", "auto-code/claims/wait", "AUTO CODE", "", "x\n"])
def test_a_name_leads_to_no_other_route(http_agents: HttpAgents, agent_name: str) -> None:
    told = McpClient(http_agents.gateway).call(CODER, "claim_next", agent=agent_name)
    assert told.code in {"not_found", "invalid_input", "not_your_agent"}, told.text


def test_deep_and_large_arguments_are_refused(http_agents: HttpAgents) -> None:
    client = McpClient(http_agents.gateway)
    deep: Any = "x"
    for _ in range(14):
        deep = [deep]
    message = client.request("tools/call", name="complete", arguments={"task_id": "t", "claim_id": "c", "output": deep})
    assert client.post(CODER, message, **client.headers("tools/call", "complete")).json["error"]["code"] == -32700
    message["params"]["arguments"]["output"] = "x" * MAX_BYTES
    assert client.post(CODER, message, **client.headers("tools/call", "complete")).status == 413
