"""A person, an agent or a service hands work off as itself, without naming a source."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.access.rights import Right
from support.gateway import Gateway
from support.worlds.world import World, agent, human, person, service

WORK: Any = {"target": {"agent": "auditor", "reason": "Look at it"}}


@pytest.mark.parametrize(
    ("by", "source"),
    [
        (human(name="ada"), "human:ada"),
        (person(Right.MEMBER, "mia"), "human:mia"),
        (agent("scout"), "scout"),
        (service(), "service:ci"),
    ],
)
def test_a_handoff_without_a_source_is_its_callers(gateway: Gateway, by: Any, source: str) -> None:
    made = gateway.post(by, "/handoffs", WORK)
    assert made.status == 201, made.text
    assert (made.json["task"]["source_agent"], made.json["handoff"]["source"]["agent"]) == (source, source)
    phased = gateway.post(by, "/handoffs", {**WORK, "source": {"phase": "Review"}})
    assert phased.json["handoff"]["source"] == {"agent": source, "phase": "Review"}


def test_a_person_named_like_an_agent_hands_off_as_the_person(world: World, gateway: Gateway) -> None:
    made = gateway.post(human(name="scout"), "/handoffs", WORK)
    assert made.json["task"]["source_agent"] == "human:scout"


def test_an_agent_that_holds_a_claim_names_it_also_without_a_source(world: World, gateway: Gateway) -> None:
    task = gateway.post(human(name="ada"), "/handoffs", {"target": {"agent": "scout", "reason": "Go"}}).json["task"]
    world.clock.advance(60)
    claim = gateway.post(agent("scout"), f"/tasks/{task['id']}/claim", {}).json["claim_id"]
    assert gateway.post(agent("scout"), "/handoffs", WORK).code == "claim_required"
    assert gateway.post(agent("scout"), "/handoffs", {**WORK, "claim_id": claim}).status == 201
