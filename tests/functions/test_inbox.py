"""What waits for an agent, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from support.desk import ALICE, Desk
from support.gateway import Gateway
from support.world import World, agent, human, service

ARCHITECT = agent("architect")


@pytest.fixture
def desk(gateway: Gateway) -> Desk:
    return Desk(gateway).hire()


def inbox(desk: Desk, by: Any = ARCHITECT, query: str = "") -> Any:
    return desk.gateway.get(by, "/agents/architect/inbox", query=query)


def news(desk: Desk, count: int = 1) -> None:
    for number in range(count):
        desk.say(desk.begun(summary=str(number)), "complete")


def test_news_stay_until_they_are_acknowledged(desk: Desk, world: World) -> None:
    for _ in range(3):
        news(desk)
        world.clock.advance(1)
    first = inbox(desk, query="limit=2").json
    assert len(first["items"]) == 2
    rest = inbox(desk, query=f"limit=2&cursor={first['next_cursor']}").json
    assert (len(rest["items"]), rest["next_cursor"]) == (1, None)
    ids = [each["id"] for each in first["items"]]
    path = "/agents/architect/inbox/ack"
    for _ in range(2):
        assert desk.gateway.post(ARCHITECT, path, {"ids": [*ids, ids[0]]}).json == {"acknowledged": 2}
    assert inbox(desk).json["items"] == rest["items"]


def test_own_inbox_only(desk: Desk) -> None:
    news(desk)
    for by, status, code in (
        (agent("qa"), 403, "not_your_agent"),
        (service(act_as=False), 403, "scope_required"),
    ):
        assert (inbox(desk, by).status, inbox(desk, by).code) == (status, code)
        reply = desk.gateway.post(by, "/agents/architect/inbox/ack", {"ids": ["x"]})
        assert (reply.status, reply.code) == (status, code)
    for by in (ALICE, service()):
        assert len(inbox(desk, by).json["items"]) == 1
    assert desk.gateway.post(service(), "/agents/architect/inbox/ack", {"ids": ["x"]}).status == 200


def test_other_workspaces_agents_answer_like_unknown_ones(desk: Desk) -> None:
    stranger = human("other")
    for end in ("inbox", "pending"):
        foreign = desk.gateway.get(stranger, f"/agents/architect/{end}")
        assert foreign.status == 404
        assert desk.gateway.get(stranger, f"/agents/nobody/{end}").json == foreign.json
    assert desk.gateway.post(stranger, "/agents/architect/inbox/ack", {"ids": ["x"]}).status == 404


@pytest.mark.parametrize("ids", [None, [], ["x"] * 101, [1], ["a b"]])
def test_wrong_acknowledgement_is_named(desk: Desk, ids: Any) -> None:
    reply = desk.gateway.post(ARCHITECT, "/agents/architect/inbox/ack", {} if ids is None else {"ids": ids})
    assert (reply.status, reply.fields[0].partition(".")[0]) == (422, "ids")


def test_pending_is_what_nobody_has_taken_yet(desk: Desk, world: World) -> None:
    desk.say(desk.begun(summary="done"), "complete")
    desk.begun(summary="held")
    for title in ("old", "new"):
        world.clock.advance(1)
        desk.hand_off(summary=title)
    reply = desk.gateway.get(ALICE, "/agents/auto-code/pending").json
    assert [each["title"] for each in reply["items"]] == ["new", "old"]
    page = desk.gateway.get(ALICE, "/agents/auto-code/pending", query="limit=1").json
    assert [each["title"] for each in page["items"]] == ["new"]
    assert page["next_cursor"]
