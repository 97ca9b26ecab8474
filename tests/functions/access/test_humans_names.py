"""A human's name in a trail is that human's: who may make a token of it, and which token was shown (invariant 8)."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.access.principal import Principal, PrincipalKind
from baton.services.tasks.verify_trail import verify_trail
from support.gateway import Gateway, Reply
from support.values.tokens import token_of
from support.worlds.world import WORKSPACE, World, human

ADMIN = human(name="alice")
BOB = Principal(WORKSPACE, PrincipalKind.HUMAN, "bob")  # no administrator


def ask(gateway: Gateway, token: str, method: str, path: str, body: Any = None) -> Any:
    return gateway.send(None, method, path, body, headers={"authorization": f"Bearer {token}"})


def mint(gateway: Gateway, by: Principal, kind: str, subject: str, *scopes: str) -> Reply:
    return gateway.post(by, "/tokens", {"kind": kind, "subject": subject, "scopes": list(scopes)})


def session_of(gateway: Gateway, by: Principal) -> dict[str, Any]:
    made: dict[str, Any] = gateway.post(by, "/sessions", {}).json
    return made


def test_approver_makes_tokens_of_agents_alone(world: World, gateway: Gateway) -> None:
    for kind, subject in (("human", "alice"), ("human", "bob"), ("service", "ci")):
        refused = mint(gateway, BOB, kind, subject)
        assert (refused.status, refused.code, refused.json["right"]) == (403, "right_needed", "administrator")
    assert mint(gateway, BOB, "agent", "scout").status == 201
    assert {each["subject"] for each in gateway.get(ADMIN, "/tokens").json["items"]} == {"scout"}


def test_administrator_makes_a_token_of_any_name(gateway: Gateway, world: World) -> None:
    assert mint(gateway, ADMIN, "human", "carol").status == 201
    old = mint(gateway, ADMIN, "human", "dave", "act_as").json
    assert (old["scopes"], old["right"]) == (["act_as"], "administrator")


@pytest.mark.parametrize(("kind", "subject"), [("human", "bob"), ("service", "ci")])
def test_nobody_gives_a_right_that_they_lack(world: World, gateway: Gateway, kind: str, subject: str) -> None:
    refused = mint(gateway, BOB, kind, subject, "act_as")
    assert (refused.status, refused.code) == (403, "right_needed")


@pytest.mark.parametrize("subject", ["alice", "bob"])
def test_session_makes_no_humans_token_an_administrators_neither(world: World, gateway: Gateway, subject: str) -> None:
    text = session_of(gateway, ADMIN)["session_token"]
    refused = ask(gateway, text, "POST", "/tokens", {"kind": "human", "subject": subject})
    assert (refused.status, refused.code) == (403, "token_required")
    for kind, name in (("agent", "scout"), ("service", "ci")):
        assert ask(gateway, text, "POST", "/tokens", {"kind": kind, "subject": name}).status == 201


def test_trail_tells_which_token_of_a_name_approved(world: World, gateway: Gateway) -> None:
    another = mint(gateway, ADMIN, "human", "bob").json
    found = []
    for approve in (
        lambda path: gateway.post(BOB, path, {}),
        lambda path: ask(gateway, another["token"], "POST", path, {}),
    ):
        task_id = world.needing()
        assert approve(f"/tasks/{task_id}/approve").status == 200
        event = gateway.get(ADMIN, f"/tasks/{task_id}/events").json["events"][-1]
        assert event["principal"] == {"kind": "human", "id": "bob"}
        found.append(event["data"]["token"])
        gateway.post(ADMIN, f"/tasks/{task_id}/cancel", {})
    assert found == [token_of(BOB).id, another["id"]]


def test_trail_tells_the_session_and_the_token_that_opened_it(world: World, gateway: Gateway) -> None:
    task_id, session = world.needing(), session_of(gateway, BOB)
    assert ask(gateway, session["session_token"], "POST", f"/tasks/{task_id}/dismiss", {"reason": "no"}).status == 200
    data = gateway.get(ADMIN, f"/tasks/{task_id}/events").json["events"][-1]["data"]
    assert (data["token"], data["session"]) == (token_of(BOB).id, session["session_id"])
    assert verify_trail(world.deps, ADMIN, task_id).matches_task


def test_trail_names_no_credential_of_agents_and_none_that_is_secret(world: World, gateway: Gateway) -> None:
    task_id = world.needing()
    gateway.post(BOB, f"/tasks/{task_id}/approve", {})
    events = gateway.get(ADMIN, f"/tasks/{task_id}/events")
    assert "token" not in events.json["events"][0]["data"]
    assert token_of(BOB).digest not in events.text


def test_another_token_of_a_name_fills_nobodys_sessions(world: World, gateway: Gateway) -> None:
    another = mint(gateway, ADMIN, "human", "bob").json["token"]
    for _ in range(20):
        assert ask(gateway, another, "POST", "/sessions", {}).status == 201
    assert ask(gateway, another, "POST", "/sessions", {}).code == "too_many_sessions"
    assert gateway.post(BOB, "/sessions", {}).status == 201
