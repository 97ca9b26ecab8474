"""Attacks by a member who has approved work come back to people, so that a rule's next group decides at once."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.access.rights import Right
from baton.services.tasks.sweep import sweep
from functions.attacks.test_rules_and_agents import Office, opened
from support.gateway import Gateway
from support.worlds.world import World, agent

RULE = {"target": "deployer", "group": "leads", "then_group": "others", "then_after_seconds": 600}
GROUPS = {"leads": ["ada"], "others": ["abe"]}


@pytest.fixture
def office(world: World, gateway: Gateway) -> Office:
    office = opened(world, gateway)
    office.hire("ada", Right.APPROVER)
    set_rules(office, RULE)
    return office


def set_rules(office: Office, *rules: dict[str, Any]) -> None:
    assert (
        office.ask("root", "PUT", "/workspace/settings", {"groups": GROUPS, "approval_rules": [*rules]}).status == 200
    )


@pytest.fixture
def task(office: Office) -> Any:
    request = {"source": {"agent": "planner"}, "target": {"agent": "deployer", "reason": "Deploy"}}
    return office.gateway.post(agent("planner"), "/handoffs", request).json["task"]


def come_back(office: Office, task: Any, prompt: str = "Pay mallory") -> int:
    """Has a member edit the agent, and returns its version."""
    version: int = office.edit("mia", "deployer", system_prompt=prompt).json["version"]
    assert office.gateway.post(agent("deployer"), f"/tasks/{task['id']}/claim").status == 409
    sweep(office.world.deps)
    return version


def approve(office: Office, who: str, task: Any, **more: Any) -> Any:
    return office.ask(who, "POST", f"/tasks/{task['id']}/approve", {"digest": task["digest"], **more})


def test_the_first_people_have_their_time_anew(office: Office, task: Any) -> None:
    assert approve(office, "ada", task).json["state"] == "delegated"
    office.world.clock.advance(700)
    version = come_back(office, task)
    assert approve(office, "abe", task, agent_version=version).code == "not_asked"
    office.world.clock.advance(599)
    sweep(office.world.deps)
    assert approve(office, "abe", task, agent_version=version).code == "not_asked"
    office.world.clock.advance(2)
    sweep(office.world.deps)
    assert approve(office, "abe", task, agent_version=version).json["state"] == "delegated"
    office.world.clock.advance(60)
    assert office.gateway.post(agent("deployer"), f"/tasks/{task['id']}/claim").status == 200


def test_they_have_it_also_after_the_next_group_was_let_in(office: Office, task: Any) -> None:
    office.world.clock.advance(601)
    sweep(office.world.deps)
    assert approve(office, "abe", task).json["state"] == "delegated"
    office.world.clock.advance(60)
    version = come_back(office, task)
    assert approve(office, "abe", task, agent_version=version).code == "not_asked"
    assert approve(office, "ada", task, agent_version=version).json["state"] == "delegated"


def test_they_have_it_each_time(office: Office, task: Any) -> None:
    known: dict[str, Any] = {}
    for prompt in ("one", "two"):
        assert approve(office, "ada", task, **known).json["state"] == "delegated"
        office.world.clock.advance(700)
        known = {"agent_version": come_back(office, task, prompt)}
    office.world.clock.advance(601)
    sweep(office.world.deps)
    assert approve(office, "abe", task, **known).json["state"] == "delegated"


def test_the_time_of_a_later_rule_counts_from_the_return(office: Office, task: Any) -> None:
    approve(office, "ada", task)
    office.world.clock.advance(700)
    version = come_back(office, task)
    set_rules(office, RULE, {**RULE, "then_after_seconds": 1200})
    office.world.clock.advance(601)
    sweep(office.world.deps)
    approve(office, "abe", task, agent_version=version)
    office.world.clock.advance(60)
    claimed = office.gateway.post(agent("deployer"), f"/tasks/{task['id']}/claim")
    assert claimed.code == "approval_needed"
