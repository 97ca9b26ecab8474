"""Whatever a tool says to do next can be done: it names no tool that the client hasn't asked for."""

from __future__ import annotations

import re
from typing import Any

import pytest

from baton_mcp import serve
from mcp_door.tools import await_task, questions_shown, refusals, steps, tasks_shown
from mcp_door.tools.catalogue import TOOLS, missing_in, tools_of
from support.worlds.mcp_client import McpClient, ToolAnswer
from support.worlds.world import agent, human

ALICE, ARCHITECT, CODER = human(), agent("architect"), agent("auto-code")
SETS = ("worker", "sender", "usual", "all")
STEPS = [
    *refusals.STEPS.values(),
    *(step for _, step in refusals.CLASSES),
    *tasks_shown.NEXT_STEPS.values(),
    *questions_shown.NEXT_STEPS.values(),
    questions_shown.USED,
    await_task.AGAIN,
]


def foreign(text: str, who: str) -> set[str]:
    """Names of tools that are no words of their own, and not in the set."""
    return set(re.findall(r"\w+_\w+", text)) & missing_in(who)


def call(client: McpClient, by: Any, who: str, tool: str, /, **arguments: Any) -> ToolAnswer:
    """As a client with one set of tools."""
    return ToolAnswer(client.ask(by, "tools/call", query=f"tools={who}", name=tool, arguments=arguments))


@pytest.mark.parametrize("who", SETS)
def test_no_step_names_a_tool_that_the_client_lacks_and_each_says_something(who: str) -> None:
    for step in STEPS:
        said = steps.known_step(step, missing_in(who))
        assert not foreign(said, who), step
        assert said, step


@pytest.mark.parametrize("who", SETS)
def test_no_set_of_tools_takes_the_human_out_of_a_step(who: str) -> None:
    """A verb that is also the name of a tool, like release, takes its clause along where the tool is missing."""
    for step in (*STEPS, refusals.ROOT_STEP):
        assert "human" not in step or "human" in steps.known_step(step, missing_in(who)), step


def test_a_step_of_which_nothing_is_left_sends_to_the_user() -> None:
    assert steps.known_step("call complete again", {"complete"}) == "tell your user"
    assert steps.known_step("check the id; list_tasks shows some", {"list_tasks"}) == "check the id"
    assert steps.known_step("check the id; list_tasks shows some", set()) == "check the id; list_tasks shows some"


def test_a_worker_that_hands_on_and_asks_for_an_unknown_id_is_told_of_its_own_tools(client: McpClient) -> None:
    made = call(client, ARCHITECT, "worker", "handoff", reason="It codes", target="auto-code")
    assert "get_task shows it" in made.text
    lost = call(client, CODER, "worker", "get_task", task_id="task_1")
    for told in (made, lost):
        assert not foreign(told.text, "worker"), told.text
    assert "list_tasks" in call(client, CODER, "usual", "get_task", task_id="task_1").text


@pytest.mark.parametrize("who", SETS)
def test_a_worker_and_a_sender_are_told_only_of_what_they_have(client: McpClient, who: str) -> None:
    made = call(client, ARCHITECT, who, "handoff", reason="It codes", target="auto-code", summary="Build it")
    told = [made, call(client, ARCHITECT, who, "handoff", reason="It codes", target="nobody")]
    told += [call(client, ARCHITECT, who, "get_task", task_id=made.data["task_id"])]
    told += [call(client, ARCHITECT, who, "recall", query="what")]
    if "claim_next" in tools_of(who):
        claim = call(client, CODER, who, "claim_next")
        ids = {"task_id": claim.data["task_id"], "claim_id": claim.data["claim_id"]}
        told += [claim, call(client, CODER, who, "complete", **ids), call(client, CODER, who, "claim_next")]
        told += [call(client, CODER, who, "heartbeat", **ids)]
    else:
        told += [call(client, ARCHITECT, who, "await_task", task_id=made.data["task_id"], timeout_seconds=0)]
        told += [call(client, ARCHITECT, who, "list_tasks")]
    for each in told:
        assert not foreign(each.text, who), each.text


@pytest.mark.parametrize("who", SETS)
def test_the_instructions_name_tools_of_the_set_and_say_that_humans_approve_elsewhere(
    client: McpClient, who: str
) -> None:
    method = "server/discover" if client.version == "2026-07-28" else "initialize"
    said = client.ask(ALICE, method, query=f"tools={who}", protocolVersion=client.version)["instructions"]
    assert not foreign(said, who)
    assert "Approvals are made by humans elsewhere" in said
    assert ("claim_next" in said, "await_task" in said) == (who != "sender", who != "worker")
    assert serve.instructions(who) == said, "the program over stdio says the same"


def test_an_agent_that_is_switched_off_is_told_of_its_own_tools(client: McpClient) -> None:
    client.gateway.put(ALICE, "/agents/auto-code", {"active": False})
    for who in SETS:
        assert not foreign(call(client, CODER, who, "get_task", task_id="task_1").text, who)


def test_every_name_of_a_tool_in_a_next_step_is_of_a_tool_that_there_is() -> None:
    """A tool that is renamed or taken out leaves no step behind that names it."""
    names = {tool.name for tool in TOOLS}
    said = {word for step in STEPS for word in re.findall(r"\w+_\w+", step)}
    assert said <= names | {
        "claim_id",
        "task_id",
        "request_id",
        "act_as",
        "question_id",
        "wait_seconds",
        "give_up_claim",
    }
