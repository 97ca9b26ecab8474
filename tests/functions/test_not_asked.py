"""403 ``not_asked`` gives the reason why a person may not decide, and the people who may."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.access.rights import Right
from support.gateway import Gateway
from support.worlds.http_agents import HttpAgents, message
from support.worlds.world import World, human, person, service

ANN, BEN = person(Right.ADMINISTRATOR, "ann"), person(Right.ADMINISTRATOR, "ben")
EVE = human(name="eve")


@pytest.fixture
def change(gateway: Gateway) -> dict[str, Any]:
    """A pending change of ann's."""
    for by, name in ((ANN, "ann"), (ANN, "ben")):
        made = gateway.post(by, "/tokens", {"kind": "human", "subject": name, "right": "administrator"})
        assert made.status == 201 or _approved(gateway, made.json), made.text
    made = gateway.post(ANN, "/tokens", {"kind": "human", "subject": "cy", "right": "administrator"})
    assert made.status == 202, made.text
    pending: dict[str, Any] = made.json
    return pending


def _approved(gateway: Gateway, change: dict[str, Any]) -> bool:
    path = f"/workspace/changes/{change['id']}/approve"
    return gateway.post(BEN, path, {"digest": change["digest"]}).status == 200


def detail(reply: Any) -> str:
    assert (reply.status, reply.code) == (403, "not_asked"), reply.text
    return str(reply.json["detail"])


def test_askers_are_told_that_another_administrator_decides(gateway: Gateway, change: dict[str, Any]) -> None:
    path = f"/workspace/changes/{change['id']}"
    told = detail(gateway.post(ANN, f"{path}/approve", {"digest": change["digest"]}))
    assert told == f"You asked for the change {change['id']}: another administrator decides on it."


def test_only_the_asker_withdraws(gateway: Gateway, change: dict[str, Any]) -> None:
    told = detail(gateway.post(BEN, f"/workspace/changes/{change['id']}/withdraw", {}))
    assert "human:ann asked for the change" in told
    assert "refuse it" in told


def test_only_the_asker_repeats_an_approved_request(gateway: Gateway, change: dict[str, Any]) -> None:
    assert _approved(gateway, change)
    body = {"kind": "human", "subject": "cy", "right": "administrator", "change_id": change["id"]}
    told = detail(gateway.post(BEN, "/tokens", body))
    assert "only human:ann repeats the request" in told


def ruled(gateway: Gateway, world: World) -> str:
    """A task that only the leads approve."""
    HttpAgents(gateway).hire_in(world)
    saved = gateway.put(service(), "/agents/qa", {"name": "QA", "approval": "manual"})
    rule = {"target": "qa", "group": "leads", "not_author": True}
    settings = {"groups": {"leads": ["ada"]}, "approval_rules": [rule]}
    assert gateway.put(human(), "/workspace/settings", settings).status == 200, saved.text
    made = gateway.post(service(), "/handoffs", message("scout", "qa"))
    assert made.status == 201, made.text
    return str(made.json["task"]["id"])


def test_a_person_outside_of_the_group_is_told_its_name_and_no_members(gateway: Gateway, world: World) -> None:
    told = detail(gateway.post(EVE, f"/tasks/{ruled(gateway, world)}/approve", {}))
    assert "the group leads" in told
    assert "ada" not in told


def test_the_author_of_work_is_told_that_others_approve_it(gateway: Gateway, world: World) -> None:
    ruled(gateway, world)
    ada = human(name="ada")
    made = gateway.post(ada, "/handoffs", message("scout", "qa"))
    assert made.status == 201, made.text
    told = detail(gateway.post(ada, f"/tasks/{made.json['task']['id']}/approve", {}))
    assert "as you asked for it: another person decides" in told
