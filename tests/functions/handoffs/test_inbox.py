"""What waits for an agent, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from support.worlds.http_agents import ALICE, HttpAgents
from support.worlds.world import World, agent, human, service

ARCHITECT = agent("architect")


def inbox(http_agents: HttpAgents, by: Any = ARCHITECT, query: str = "") -> Any:
    return http_agents.gateway.get(by, "/agents/architect/inbox", query=query)


def news(http_agents: HttpAgents, count: int = 1) -> None:
    for number in range(count):
        http_agents.say(http_agents.begun(summary=str(number)), "complete")


def test_news_stay_until_they_are_acknowledged(http_agents: HttpAgents, world: World) -> None:
    for _ in range(3):
        news(http_agents)
        world.clock.advance(1)
    first = inbox(http_agents, query="limit=2").json
    assert len(first["items"]) == 2
    rest = inbox(http_agents, query=f"limit=2&cursor={first['next_cursor']}").json
    assert (len(rest["items"]), rest["next_cursor"]) == (1, None)
    ids = [each["id"] for each in first["items"]]
    path = "/agents/architect/inbox/ack"
    for _ in range(2):
        assert http_agents.gateway.post(ARCHITECT, path, {"ids": [*ids, ids[0]]}).json == {"acknowledged": 2}
    assert inbox(http_agents).json["items"] == rest["items"]


def test_own_inbox_only(http_agents: HttpAgents) -> None:
    news(http_agents)
    for by, status, code in (
        (agent("qa"), 403, "not_your_agent"),
        (service(act_as=False), 403, "scope_required"),
    ):
        assert (inbox(http_agents, by).status, inbox(http_agents, by).code) == (status, code)
        reply = http_agents.gateway.post(by, "/agents/architect/inbox/ack", {"ids": ["x"]})
        assert (reply.status, reply.code) == (status, code)
    for by in (ALICE, service()):
        assert len(inbox(http_agents, by).json["items"]) == 1
    assert http_agents.gateway.post(service(), "/agents/architect/inbox/ack", {"ids": ["x"]}).status == 200


def test_other_workspaces_agents_answer_like_unknown_ones(http_agents: HttpAgents) -> None:
    stranger = human("other")
    for end in ("inbox", "pending"):
        foreign = http_agents.gateway.get(stranger, f"/agents/architect/{end}")
        assert foreign.status == 404
        unknown = http_agents.gateway.get(stranger, f"/agents/nobody/{end}")
        assert unknown.json == {**foreign.json, "detail": foreign.json["detail"].replace("architect", "nobody")}
    assert http_agents.gateway.post(stranger, "/agents/architect/inbox/ack", {"ids": ["x"]}).status == 404


@pytest.mark.parametrize("ids", [None, [], ["x"] * 101, [1], ["a b"]])
def test_wrong_acknowledgement_is_named(http_agents: HttpAgents, ids: Any) -> None:
    reply = http_agents.gateway.post(ARCHITECT, "/agents/architect/inbox/ack", {} if ids is None else {"ids": ids})
    assert (reply.status, reply.fields[0].partition(".")[0]) == (422, "ids")


def test_pending_is_what_nobody_has_taken_yet(http_agents: HttpAgents, world: World) -> None:
    http_agents.say(http_agents.begun(summary="done"), "complete")
    http_agents.begun(summary="held")
    for title in ("old", "new"):
        world.clock.advance(1)
        http_agents.hand_off(summary=title)
    reply = http_agents.gateway.get(ALICE, "/agents/auto-code/pending").json
    assert [each["title"] for each in reply["items"]] == ["new", "old"]
    page = http_agents.gateway.get(ALICE, "/agents/auto-code/pending", query="limit=1").json
    assert [each["title"] for each in page["items"]] == ["new"]
    assert page["next_cursor"]
