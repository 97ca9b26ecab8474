"""The list of conversations over HTTP: what of each is shown, to whom, and by which filter."""

from __future__ import annotations

from typing import Any

import pytest

from baton.domain.access.principal import CONVERSE, Principal, PrincipalKind
from support.gateway import Gateway
from support.worlds.world import WORKSPACE, World, agent, human, service

ALICE, BOB, STRANGER = human(), human(name="bob"), human("other")
TALKER = Principal(WORKSPACE, PrincipalKind.AGENT, "scout", frozenset({CONVERSE}))


def begun(world: World, gateway: Gateway, by: Principal = ALICE, **changes: Any) -> Any:
    world.clock.advance(1)
    reply = gateway.post(by, "/conversations", {"agent": "auditor", "message": "Is it ready?", **changes})
    assert reply.status == 201, reply.text
    return reply.json


def listed(gateway: Gateway, by: Principal = ALICE, query: str = "") -> list[Any]:
    reply = gateway.get(by, "/conversations", query=query)
    assert reply.status == 200, reply.text
    assert reply.json["next_cursor"] is None
    return list(reply.json["items"])


def ids(items: list[Any]) -> list[str]:
    return [each["conversation_id"] for each in items]


def test_a_conversation_shows_who_began_it_and_who_holds_it_now(world: World, gateway: Gateway) -> None:
    made = begun(world, gateway, message="Look at it.\n\nAnd at the rest.")
    (first,) = listed(gateway)
    assert first == {
        "conversation_id": made["conversation_id"],
        "title": made["task"]["title"],
        "begun_by": "human:alice",
        "begun_with": "auditor",
        "agent": "auditor",
        "agent_name": "Client Repo Auditor",
        "state": "open",
        "created_at": made["task"]["created_at"],
        "updated_at": made["task"]["updated_at"],
    }
    world.clock.advance(5)
    claim = gateway.post(agent("auditor"), f"/tasks/{made['task']['id']}/claim").json
    target = {"agent": "runner", "reason": "It is the runner's"}
    moved = gateway.post(
        agent("auditor"), f"/tasks/{claim['task']['id']}/transfer", {"claim_id": claim["claim_id"], "target": target}
    )
    assert moved.status == 200, moved.text
    (now,) = listed(gateway)
    assert (now["agent"], now["begun_with"], now["state"]) == ("runner", "auditor", "open")
    assert now["updated_at"] > first["updated_at"]


def test_a_conversation_that_waits_for_a_message_is_idle(world: World, gateway: Gateway) -> None:
    over, going_on = begun(world, gateway), begun(world, gateway)
    gateway.post(ALICE, f"/tasks/{over['task']['id']}/cancel")
    assert [each["state"] for each in listed(gateway)] == ["open", "idle"]
    assert ids(listed(gateway, query="state=idle")) == [over["conversation_id"]]
    assert ids(listed(gateway, query="state=open")) == [going_on["conversation_id"]]
    assert gateway.get(ALICE, "/conversations", query="state=done").fields == ["state"]
    said = gateway.post(ALICE, f"/conversations/{over['conversation_id']}/messages", {"message": "And now?"})
    assert said.status == 201
    (first, second) = listed(gateway)
    assert (second["conversation_id"], second["state"]) == (over["conversation_id"], "open")
    assert second["title"] == first["title"] == "Is it ready?", "of the first message, whatever is said later"


def test_the_latest_begun_come_first_page_by_page(world: World, gateway: Gateway) -> None:
    made = [begun(world, gateway)["conversation_id"] for _ in range(5)]
    found: list[str] = []
    query = "limit=2"
    while query:
        page = gateway.get(ALICE, "/conversations", query=query).json
        found += ids(page["items"])
        query = page["next_cursor"] and f"limit=2&cursor={page['next_cursor']}"
    assert found == made[::-1]


def test_a_persons_own_are_found_by_who_began_them(world: World, gateway: Gateway) -> None:
    own, bobs = begun(world, gateway), begun(world, gateway, BOB)
    agents = begun(world, gateway, TALKER)
    by = {"human:alice": own, "human:bob": bobs, "agent:scout": agents}
    for key, made in by.items():
        assert ids(listed(gateway, query=f"begun_by={key.replace(':', '%3A')}")) == [made["conversation_id"]]
    assert listed(gateway, query="begun_by=human%3Acarol") == []


def test_a_handoff_without_a_message_is_no_conversation(world: World, gateway: Gateway) -> None:
    asks = {"source": {"agent": "alice"}, "target": {"agent": "auditor", "reason": "Look"}}
    assert gateway.post(ALICE, "/handoffs", asks).status == 201
    assert listed(gateway) == []


def test_a_message_that_was_held_back_is_listed_once_it_is_released(world: World, gateway: Gateway) -> None:
    made = begun(world, gateway, TALKER)
    refused = gateway.post(TALKER, "/conversations", {"agent": "scout", "message": "To myself"})
    assert refused.status == 409
    assert ids(listed(gateway)) == [made["conversation_id"]]
    world.clock.advance(1)
    released = gateway.post(ALICE, f"/manual-reviews/{refused.json['review_id']}/release", {})
    assert released.status == 200, released.text
    (latest, first) = listed(gateway)
    assert (latest["conversation_id"], latest["begun_by"]) == (released.json["task"]["workflow_id"], "agent:scout")
    assert first["conversation_id"] == made["conversation_id"]


@pytest.mark.parametrize(
    ("by", "seen"),
    [
        (ALICE, "all"),
        (BOB, "all"),
        (service(), "all"),
        (service(act_as=False), "none"),
        (agent("auditor"), "all"),
        (agent("runner"), "none"),
        (STRANGER, "none"),
    ],
)
def test_a_list_has_what_its_reader_takes_part_in(world: World, gateway: Gateway, by: Principal, seen: str) -> None:
    made = begun(world, gateway)
    assert ids(listed(gateway, by)) == ([made["conversation_id"]] if seen == "all" else [])


def test_a_service_finds_what_it_began_and_agents_all_where_they_share(world: World, gateway: Gateway) -> None:
    chat = service(act_as=False)
    own = begun(world, gateway, chat)
    begun(world, gateway)
    assert ids(listed(gateway, chat)) == [own["conversation_id"]]
    gateway.put(ALICE, "/workspace/settings", {"agents_read": "workspace"})
    assert len(listed(gateway, agent("runner"))) == 2
    assert ids(listed(gateway, chat)) == [own["conversation_id"]]


def test_who_does_a_separate_part_does_not_find_the_conversation(world: World, gateway: Gateway) -> None:
    made = begun(world, gateway)
    world.clock.advance(5)
    claim = gateway.post(agent("auditor"), f"/tasks/{made['task']['id']}/claim").json
    branches = [{"call_id": "a", "target": {"agent": "runner", "reason": "Try it"}}]
    asks = {"claim_id": claim["claim_id"], "branches": branches}
    assert gateway.post(agent("auditor"), f"/tasks/{made['task']['id']}/delegate", asks).status == 200
    assert gateway.get(agent("runner"), f"/conversations/{made['conversation_id']}").json["message"] == ""
    assert listed(gateway, agent("runner")) == []
    assert [each["agent"] for each in listed(gateway, agent("auditor"))] == ["auditor"]


def test_a_list_that_was_seen_is_not_sent_again(world: World, gateway: Gateway) -> None:
    made = begun(world, gateway)
    first = gateway.get(ALICE, "/conversations")
    again = {"if-none-match": first.headers["ETag"]}
    assert gateway.get(ALICE, "/conversations", headers=again).status == 304
    gateway.post(ALICE, f"/tasks/{made['task']['id']}/cancel")
    assert gateway.get(ALICE, "/conversations", headers=again).status == 200
