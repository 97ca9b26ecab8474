"""A refusal names the unknown agent, and active agents of the workspace, of which there is one list for all doors."""

from __future__ import annotations

from typing import Any

import pytest

from support.gateway import Gateway
from support.worlds.http_agents import HttpAgents, message
from support.worlds.world import agent, human

ALICE = human()
TOKEN = {"kind": "agent", "subject": "nobody"}


@pytest.fixture
def gateway(http_agents: HttpAgents) -> Gateway:
    return http_agents.gateway


def active(gateway: Gateway) -> list[str]:
    listed = gateway.get(ALICE, "/agents", query="limit=100").json["items"]
    return sorted(each["slug"] for each in listed if each["active"])


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/agents/nobody", None, 404),
        ("GET", "/agents/nobody/health", None, 404),
        ("GET", "/agents/nobody/pending", None, 404),
        ("GET", "/agents/nobody/inbox", None, 404),
        ("POST", "/agents/nobody/claims", {}, 404),
        ("GET", "/tasks?agent=nobody", None, 422),
        ("POST", "/handoffs", message("architect", "nobody"), 422),
        ("POST", "/handoffs", message("nobody", "architect"), 422),
        ("PUT", "/routes/audit", {"agent": "nobody", "mode": "dispatch"}, 422),
        ("POST", "/tokens", TOKEN, 422),
    ],
)
def test_a_refusal_names_the_unknown_agent_and_those_that_there_are(
    gateway: Gateway, method: str, path: str, body: Any, status: int
) -> None:
    path, _, query = path.partition("?")
    refused = gateway.send(ALICE, method, path, body, query=query)
    assert (refused.status, refused.code) == (status, "not_found" if status == 404 else "unknown_agent")
    assert "'nobody'" in refused.json["detail"]
    assert refused.json["agents"] == active(gateway)


def test_an_agent_without_tasks_has_an_empty_list(gateway: Gateway) -> None:
    assert gateway.get(ALICE, "/tasks", query="agent=ciso").json["items"] == []


def test_a_name_that_is_no_slug_is_named_too(gateway: Gateway) -> None:
    refused = gateway.get(ALICE, "/agents/Release.Reviewer")
    assert (refused.status, refused.json["detail"]) == (
        404,
        "No agent 'Release.Reviewer' is registered in this workspace.",
    )
    assert len(gateway.get(ALICE, f"/agents/{'x' * 500}").json["detail"]) < 150


def test_an_agent_that_is_off_is_not_among_them(gateway: Gateway) -> None:
    switched = gateway.put(ALICE, "/agents/auto-code", {"active": False})
    assert switched.status == 200, switched.text
    assert "auto-code" not in gateway.get(ALICE, "/agents/nobody").json["agents"]


def test_of_many_agents_the_first_fifty_are_named(gateway: Gateway) -> None:
    for number in range(51):
        assert gateway.put(ALICE, f"/agents/a{number:02}", {"name": f"Agent {number:02}"}).status == 201
    named = gateway.get(agent("architect"), "/agents/nobody").json["agents"]
    assert named == [f"a{number:02}" for number in range(50)]


def test_agents_of_another_workspace_are_not_named(gateway: Gateway) -> None:
    assert gateway.get(human("other"), "/agents/nobody").json["agents"] == []
