"""Warnings of the settings about approval rules that too few people can meet."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.access.principal import PrincipalKind, operator
from baton.domain.access.rights import Right
from baton.services.access.issue_token import TokenRequest, issue_token
from support.gateway import Gateway
from support.worlds.world import WORKSPACE, World, agent, person, service

ROOT = person(Right.ADMINISTRATOR)


@pytest.fixture
def people(world: World) -> dict[str, str]:
    """Ann and ben may approve, cem may not."""
    rights = {"ann": Right.APPROVER, "ben": Right.APPROVER, "cem": Right.MEMBER}
    requests = (TokenRequest(kind=PrincipalKind.HUMAN, subject=name, right=right) for name, right in rights.items())
    return {each.subject: issue_token(world.deps, operator(WORKSPACE), each)[0].id for each in requests}


def warnings_of(gateway: Gateway, *rules: dict[str, Any], **values: Any) -> list[str]:
    reply = gateway.put(ROOT, "/workspace/settings", {**values, "approval_rules": list(rules)})
    assert reply.status == 200
    assert gateway.get(ROOT, "/workspace/settings").json["warnings"] == reply.json["warnings"]
    warnings: list[str] = reply.json["warnings"]
    return warnings


@pytest.mark.usefixtures("people")
def test_rule_that_enough_people_can_meet_has_no_warning(gateway: Gateway) -> None:
    assert warnings_of(gateway) == []
    assert warnings_of(gateway, {"people": ["ann"]}, {"needed": 2}) == []
    assert warnings_of(gateway, {"people": ["ann", "ben"], "not_author": True}) == []


@pytest.mark.usefixtures("people")
def test_rule_whose_people_lack_the_right_to_approve_has_a_warning(gateway: Gateway) -> None:
    groups = {"leads": ["ann", "cem", "nobody"]}
    assert warnings_of(gateway, {"people": ["ben"]}, {"group": "leads", "needed": 2}, groups=groups) == [
        (
            "approval_rules.1: nobody can meet this rule: it needs 2, and 1 person may approve. Name more people "
            "with the right approver."
        ),
        "approval_rules.1: no valid token gives cem, nobody the right to approve.",
    ]


@pytest.mark.usefixtures("people")
def test_rule_for_more_people_than_the_workspace_has_approvers_has_a_warning(gateway: Gateway) -> None:
    assert warnings_of(gateway, {"needed": 3}) == [
        (
            "approval_rules.0: nobody can meet this rule: it needs 3, and 2 people may approve. Give more people the "
            "right approver."
        )
    ]


@pytest.mark.usefixtures("people")
def test_rule_that_leaves_too_few_people_without_the_author_has_a_warning(gateway: Gateway) -> None:
    assert warnings_of(gateway, {"people": ["ann", "ben"], "needed": 2, "not_author": True}) == [
        (
            "approval_rules.0: nobody can approve the work of ann, ben under this rule: it needs 2, and excludes the "
            "author. Name more people with the right approver."
        )
    ]


def test_warning_follows_the_tokens_of_people(gateway: Gateway, people: dict[str, str]) -> None:
    assert warnings_of(gateway, {"people": ["ann"]}) == []
    assert gateway.send(ROOT, "DELETE", f"/tokens/{people['ann']}").status == 200
    assert len(gateway.get(ROOT, "/workspace/settings").json["warnings"]) == 2


def test_rule_for_any_approver_has_no_warning_in_a_workspace_with_a_tracker(gateway: Gateway) -> None:
    assert warnings_of(gateway, {"needed": 3}, tracker={"database": "0" * 32}) == []


def test_agents_read_no_warnings(gateway: Gateway) -> None:
    assert warnings_of(gateway, {"people": ["nobody"]})
    for by in (agent("planner"), service(act_as=False)):
        assert "warnings" not in gateway.get(by, "/workspace/settings").json
