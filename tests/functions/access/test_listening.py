"""The bell's door: a connection that opens, looks and ends, as API Gateway tells of it."""

from __future__ import annotations

import json

import pytest

from baton.domain.access.principal import PrincipalKind
from baton.domain.bell.listener import MAX_OF_WORKSPACE, Listener, topic_of
from baton.domain.errors import Busy
from baton.services.access.open_session import open_session
from baton.services.access.renew_session import renew_session
from baton.services.access.revoke_token import revoke_token
from baton.services.agents.register_agent import register_agent
from baton.services.bell.listen import make_ticket
from listen import handler
from support.clock import NOON
from support.values.tokens import token_of
from support.worlds.bell_door import WORK, Door, code_of, offered
from support.worlds.bell_room import HUMAN, BellRoom
from support.worlds.team import Team
from support.worlds.world import WORKSPACE, agent, human


@pytest.fixture
def door() -> Door:
    return Door(BellRoom())


def test_a_token_opens_and_is_in_no_answer(door: Door) -> None:
    assert door.open(headers=door.token(agent("auditor"))) == {"statusCode": 200}
    assert door.listeners == 1


def test_a_ticket_opens_once_and_the_answer_names_the_protocol_without_it(door: Door) -> None:
    headers = offered(door.ticket(human()))
    assert door.open("lists", headers) == {"statusCode": 200, "headers": {"Sec-WebSocket-Protocol": "baton"}}
    assert code_of(door.open("lists", headers)) == (403, "ticket_refused")
    assert door.listeners == 1


@pytest.mark.parametrize("seconds", [30, 3_600])
def test_a_ticket_that_is_over_opens_nothing(door: Door, seconds: int) -> None:
    headers = offered(door.ticket(human()))
    door.room.world.clock.advance(seconds)
    assert code_of(door.open("lists", headers)) == (403, "ticket_refused")


def test_a_ticket_of_a_token_that_was_revoked_since_opens_nothing(door: Door) -> None:
    _, token = door.issued("alice", PrincipalKind.HUMAN)
    headers = offered(make_ticket(door.room.world.deps, token.principal)[1])
    revoke_token(door.room.world.deps, HUMAN, token.id)
    assert code_of(door.open("lists", headers)) == (403, "ticket_refused")
    assert door.listeners == 0


def test_a_ticket_gives_no_more_than_its_token_does(door: Door) -> None:
    assert code_of(door.open("inbox:auditor", offered(door.ticket(agent("scout"))))) == (403, "not_your_agent")


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "https://baton.example.evil.example", "null", "", "http://baton.example"]
)
def test_a_page_of_another_origin_is_refused_whatever_it_shows_and_uses_no_ticket_up(door: Door, origin: str) -> None:
    ticket = door.ticket(human())
    assert code_of(door.open("lists", {**offered(ticket), "Origin": origin})) == (403, "forbidden")
    assert door.open("lists", {**door.token(human()), "Origin": origin})["statusCode"] == 403
    assert door.open("lists", offered(ticket))["statusCode"] == 200


@pytest.mark.parametrize(
    ("headers", "refusal"),
    [
        ({}, (401, "not_authenticated")),
        ({"Sec-WebSocket-Protocol": "baton"}, (401, "not_authenticated")),
        ({"Sec-WebSocket-Protocol": "baton, baton.ticket." + "0" * 64}, (403, "ticket_refused")),
        ({"Sec-WebSocket-Protocol": "baton.ticket."}, (403, "ticket_refused")),
        ({"Authorization": "Bearer baton_unknown00_" + "0" * 64}, (403, "token_refused")),
        ({"Authorization": "Basic eDp5"}, (403, "token_refused")),
    ],
)
def test_a_stranger_is_refused_and_nothing_is_written(
    door: Door, headers: dict[str, str], refusal: tuple[int, str]
) -> None:
    stored = door.room.world.stored()
    assert code_of(door.open(headers=headers)) == refusal
    assert door.room.world.stored() == stored


@pytest.mark.parametrize(
    "listen", [None, "", "x" * 10_000, "work:auditor\n", "task:../x", "lists ", "work:ÄÖÜ", "inbox:#"]
)
def test_what_is_no_topic_is_named(door: Door, listen: str | None) -> None:
    answer = door.open(listen, door.token(agent("auditor")))
    assert code_of(answer) == (422, "invalid_input")
    assert [each["field"] for each in json.loads(answer["body"])["errors"]] == ["listen"]


@pytest.mark.parametrize("listen", ["work:scout", "inbox:scout", "lists"])
def test_an_agent_hears_neither_others_work_nor_the_workspaces_lists(door: Door, listen: str) -> None:
    assert door.open(listen, door.token(agent("auditor")))["statusCode"] == 403
    assert door.listeners == 0


def test_a_caller_of_another_workspace_finds_nothing_of_this_one(door: Door) -> None:
    task_id = door.room.world.needing()
    door.room.world.settle("elsewhere")
    elsewhere = human("elsewhere")
    assert code_of(door.open(f"task:{task_id}", door.token(elsewhere))) == (404, "not_found")
    assert door.open("lists", door.token(elsewhere))["statusCode"] == 200
    assert door.listeners == 0


def test_an_agent_that_is_switched_off_listens_to_nothing(door: Door) -> None:
    headers = door.token(agent("auditor"))
    register_agent(door.room.world.deps, HUMAN, "auditor", {"active": False})
    for listen in (WORK, "inbox:auditor"):
        assert code_of(door.open(listen, headers)) == (403, "inactive_agent")


def test_a_full_workspace_takes_no_more(door: Door) -> None:
    for number in range(MAX_OF_WORKSPACE):
        door.room.world.store.bell.add_listener(
            Listener(
                connection_id=f"c{number}=", topic=topic_of(WORKSPACE, WORK), by="agent:scout", token_id="t", since=NOON
            )
        )
    assert code_of(door.open(headers=door.token(agent("auditor")))) == (429, "too_many_listeners")


def test_who_leaves_is_forgotten_also_twice_and_also_without_having_been_let_in(door: Door) -> None:
    door.open(headers=door.token(agent("auditor")))
    for connection_id in ("door1=", "door1=", "never="):
        assert door.event("$disconnect", connection_id)["statusCode"] == 200
    assert door.listeners == 0


@pytest.mark.parametrize("body", ['{"action": "look"}', "", "[", '{"action": {}}', "x" * 100_000])
def test_whatever_a_listener_says_is_a_look_which_is_answered(door: Door, body: str) -> None:
    door.open(headers=door.token(agent("auditor")))
    door.room.world.ready()
    assert door.event("$default", "door1=", body=body) == {"statusCode": 200}
    ((connection_id, message),) = door.room.connections.heard
    assert (connection_id, set(message), message["looked"]) == ("door1=", {"looked", "due_at"}, WORK)


def test_a_look_of_a_revoked_token_is_the_end_of_its_connection(door: Door) -> None:
    headers, token = door.issued("auditor")
    door.open(headers=headers)
    revoke_token(door.room.world.deps, HUMAN, token.id)
    assert door.event("$default", "door1=")["statusCode"] == 403
    assert (door.room.connections.open, door.room.connections.heard, door.listeners) == (set(), [], 0)


def test_a_look_of_a_connection_that_is_forgotten_closes_it_so_that_it_comes_again(door: Door) -> None:
    door.room.connections.open.add("lost=")
    assert door.event("$default", "lost=")["statusCode"] == 404
    assert door.room.connections.open == set()


def test_a_busy_table_ends_no_connection(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    door.open(headers=door.token(agent("auditor")))

    def busy(_connection_id: str) -> None:
        raise Busy

    monkeypatch.setattr(door.room.world.store.bell, "listener", busy)
    assert door.event("$default", "door1=")["statusCode"] == 503
    assert door.room.connections.open == {"door1="}


def test_a_session_listens_until_it_is_over_and_goes_on_when_it_is_renewed(door: Door) -> None:
    deps, clock = door.room.world.deps, door.room.world.clock
    door.token(human())
    session, text = open_session(deps, token_of(human()).principal)
    door.open("lists", {"Authorization": f"Bearer {text}"})
    clock.advance(800)
    renew_session(deps, session.principal)
    clock.advance(800)
    door.room.world.needing()
    assert door.room.ring().rung == 1
    clock.advance(200)
    Team(world=door.room.world).ask("auditor")
    report = door.room.ring()
    assert (report.rung, report.closed, door.room.connections.open) == (0, 1, set())


def test_a_session_that_is_signed_out_is_closed_at_once(door: Door) -> None:
    door.token(human())
    session, text = open_session(door.room.world.deps, token_of(human()).principal)
    door.open("lists", {"Authorization": f"Bearer {text}"})
    door.room.world.clock.advance(60)
    revoke_token(door.room.world.deps, HUMAN, session.id)
    assert door.room.ring().closed == 1
    assert door.room.connections.open == set()


def test_an_error_of_ours_is_answered_and_tells_nothing(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(handler, "begin_listening", broken)
    answer = door.open(headers=door.token(agent("auditor")))
    assert code_of(answer) == (500, "internal")
    assert "secret detail" not in answer["body"]
