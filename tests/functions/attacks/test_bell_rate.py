"""Attack ``m4_looks``: one token polls the bell without end, over many connections and processes. The shared count
refuses it."""

from __future__ import annotations

from functools import partial
from itertools import cycle

import pytest

from baton.domain.access.metering import BELL_POLLS_PER_MINUTE, Meter
from baton.services.access.change_settings import change_settings
from support.faults.threads import all_at_once
from support.gateway import Gateway
from support.worlds.bell_door import Door, code_of, offered
from support.worlds.bell_room import HUMAN, BellRoom
from support.worlds.world import agent, human

AUDITOR, SCOUT = agent("auditor"), agent("scout")
CONNECTIONS = 5


@pytest.fixture
def door() -> Door:
    return Door(BellRoom())


def limited(door: Door, per_minute: int) -> None:
    change_settings(door.room.world.deps, HUMAN, {"requests_per_minute": per_minute})


def polled(door: Door, connection_id: str, most: int = 200) -> int:
    """Polls until the answer is a refusal. Returns the number of polls that were answered."""
    return next(number for number in range(most) if door.look(connection_id) != 200)


def test_a_connection_over_its_rate_is_told_when_to_come_back_and_closed(door: Door) -> None:
    door.open(headers=door.token(AUDITOR))
    assert polled(door, "door1=") == BELL_POLLS_PER_MINUTE - 1  # the opening is the first of them
    assert door.room.connections.heard[-1] == ("door1=", {"refused": "rate_limited", "retry_after_seconds": 60})
    assert (door.room.connections.open, door.listeners) == (set(), 0)


def test_a_minute_of_polls_spread_over_processes_is_counted_by_the_table(door: Door) -> None:
    door.open(headers=door.token(AUDITOR))
    processes = [door.in_another_process() for _ in range(40)]
    answered = [each.look("door1=") for each in processes].count(200)
    assert answered == BELL_POLLS_PER_MINUTE - 1


def test_polls_at_the_same_moment_are_counted_once_each(door: Door) -> None:
    door.open(headers=door.token(AUDITOR))
    outcomes = all_at_once([partial(door.in_another_process().look, "door1=") for _ in range(20)])
    assert outcomes.count(200) == BELL_POLLS_PER_MINUTE - 1


def test_the_token_opens_and_polls_nothing_for_a_minute_at_any_process(door: Door) -> None:
    headers = door.token(AUDITOR)
    door.room.world.clock.advance(30)
    door.open(headers=headers)
    door.open(headers=headers)
    polled(door, "door1=")
    for other in (door, door.in_another_process()):
        assert code_of(other.open(headers=headers)) == (429, "rate_limited")
    assert door.in_another_process().look("door2=") == 429
    assert door.room.connections.open == set()

    door.room.world.clock.advance(59)
    assert door.in_another_process().open(headers=headers)["statusCode"] == 429
    door.room.world.clock.advance(1)
    assert door.in_another_process().open(headers=headers)["statusCode"] == 200


def test_another_token_of_the_same_agent_and_other_callers_are_not_refused(door: Door) -> None:
    door.open(headers=door.token(AUDITOR))
    polled(door, "door1=")
    other, _ = door.issued("auditor")
    assert door.open(headers=other)["statusCode"] == 200
    assert door.open("work:scout", door.token(SCOUT))["statusCode"] == 200


def test_a_session_that_polls_without_end_is_refused_with_its_tickets(door: Door) -> None:
    door.open("lists", offered(door.ticket(human())))
    polled(door, "door1=")
    assert code_of(door.in_another_process().open("lists", offered(door.ticket(human())))) == (429, "rate_limited")


def test_polls_of_many_connections_count_as_requests_of_their_caller(door: Door) -> None:
    """The attack: HTTP was refused after 63 requests, and the same token's polls went on."""
    limited(door, 60)
    headers = door.token(AUDITOR)
    for _ in range(CONNECTIONS + 1):
        assert door.open(headers=headers)["statusCode"] == 200
    answered = 0
    for number in cycle(range(1, CONNECTIONS + 2)):
        if door.in_another_process().look(f"door{number}=") != 200:
            break
        answered += 1
    assert answered == 60 - (CONNECTIONS + 1)


def test_requests_over_http_and_polls_have_one_limit(door: Door) -> None:
    limited(door, 60)
    headers = door.token(AUDITOR)
    door.open(headers=headers)
    world = door.room.world
    gateway = Gateway(world.deps)
    statuses = [gateway.get(AUDITOR, "/agents/auditor").status for _ in range(70)]
    assert 429 in statuses
    assert door.look("door1=") == 429


def test_a_person_has_no_more_of_the_bell_than_an_agent(door: Door) -> None:
    limited(door, 60)
    headers = door.token(human())
    codes = []
    for _ in range(61):
        door.meter = Meter()
        answer = door.open("lists", headers)
        codes.append("opened" if answer["statusCode"] == 200 else code_of(answer)[1])
    assert codes == ["opened"] * 50 + ["too_many_listeners"] * 10 + ["rate_limited"]


def test_a_client_that_keeps_to_the_protocol_is_never_refused(door: Door) -> None:
    """It polls twice after it has opened, then every nine minutes, and opens again every two hours."""
    headers, clock = door.token(AUDITOR), door.room.world.clock
    for _ in range(2):
        door.open(headers=headers)
        connection_id = f"door{door.opened}="
        for pause in (2, *(540,) * 13):
            assert door.look(connection_id) == 200
            clock.advance(pause)
        door.event("$disconnect", connection_id)


def test_a_refused_token_costs_the_table_nothing_more_in_this_process(door: Door) -> None:
    headers = door.token(AUDITOR)
    door.open(headers=headers)
    polled(door, "door1=")
    stored = door.room.world.stored()
    assert door.open(headers=headers)["statusCode"] == 429
    assert door.room.world.stored() == stored


def test_a_count_that_cannot_be_written_hinders_nobody(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    door.open(headers=door.token(AUDITOR))
    monkeypatch.setattr(door.room.world.store.uses, "count_bell_use", lambda *_: 1 / 0)
    door.meter = Meter()
    assert door.look("door1=") == 200
