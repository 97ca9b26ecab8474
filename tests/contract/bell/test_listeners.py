"""The store's listeners and tickets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from baton.domain.bell.listener import Listener, Ticket, Topic, place_of, topic_of
from baton.domain.times import seconds
from baton.ports.store import Store
from support.clock import NOON
from support.worlds.rig import Rig
from support.worlds.world import WORKSPACE

WORK = topic_of(WORKSPACE, "work:auditor")
TICKET = Ticket(digest="d" * 64, workspace=WORKSPACE, token_id="t1", expires_at=NOON + seconds(30))


def listener(number: int, topic: Topic = WORK, by: str = "agent:auditor", token_id: str = "t1") -> Listener:
    return Listener(connection_id=f"Lx{number:04d}=", topic=topic, by=by, token_id=token_id, since=NOON)


def test_a_listener_is_read_as_it_was_added(store: Store) -> None:
    one = listener(1)
    store.bell.add_listener(one)
    assert store.bell.listener(one.connection_id) == one
    assert store.bell.listeners([one.connection_id, "unknown="]) == [one]
    assert list(store.bell.of_workspace(WORKSPACE)) == [(one.connection_id, "t1")]


def test_listeners_to_a_topic_are_found_in_the_order_of_their_places_and_no_others_are(store: Store) -> None:
    here = [listener(number) for number in range(20)]
    others = ["work:scout", "inbox:auditor", "lists", "task:auditor"]
    for each in [*here, *(listener(100 + at, topic_of(WORKSPACE, text)) for at, text in enumerate(others))]:
        store.bell.add_listener(each)
    store.bell.add_listener(listener(200, topic_of("elsewhere", "work:auditor")))
    in_order = sorted((each.connection_id for each in here), key=place_of)
    assert store.bell.listening(WORK, 100) == in_order
    assert store.bell.listening(WORK, 5) == in_order[:5]
    assert store.bell.listening(WORK, 5, place_of(in_order[4])) == in_order[5:10]


def test_a_principal_is_counted_without_those_whose_names_begin_alike(store: Store) -> None:
    for number, by in enumerate(["agent:a", "agent:a", "agent:a-b", "agent:ab", "human:a"]):
        store.bell.add_listener(listener(number, by=by))
    assert [store.bell.count(WORKSPACE, 10, by) for by in ("agent:a", "agent:a-b", "agent:b")] == [2, 1, 0]
    assert [store.bell.count(WORKSPACE, limit) for limit in (10, 3)] == [5, 3]


def test_who_has_left_is_found_nowhere_and_leaving_is_safe_to_repeat(store: Store) -> None:
    store.bell.add_listener(listener(1))
    store.bell.add_listener(listener(2))
    for _ in range(2):
        store.bell.remove_listener(listener(1).connection_id)
    assert store.bell.listener(listener(1).connection_id) is None
    assert store.bell.listening(WORK, 10) == [listener(2).connection_id]
    assert store.bell.count(WORKSPACE, 10) == 1


def test_a_connection_that_never_listened_leaves_nothing_behind(store: Store) -> None:
    store.bell.remove_listener("unknown=")
    assert store.bell.listener("unknown=") is None


def test_a_ticket_is_given_to_the_first_who_shows_it(store: Store) -> None:
    store.bell.add_ticket(TICKET)
    assert store.bell.use_ticket(TICKET.digest, "first=", NOON) == TICKET
    assert store.bell.use_ticket(TICKET.digest, "second=", NOON) is None
    assert store.bell.use_ticket("e" * 64, "second=", NOON) is None


@pytest.mark.parametrize(("after", "is_good"), [(29.999, True), (30, False), (3_600, False)])
def test_a_ticket_is_good_for_half_a_minute(store: Store, after: float, is_good: bool) -> None:
    store.bell.add_ticket(TICKET)
    assert (store.bell.use_ticket(TICKET.digest, "first=", NOON + seconds(after)) is not None) == is_good


def test_a_lost_reply_takes_no_ticket_from_who_got_it(rig: Rig) -> None:
    rig.store.bell.add_ticket(TICKET)
    assert rig.other_store.bell.use_ticket(TICKET.digest, "first=", NOON) is not None
    assert rig.store.bell.use_ticket(TICKET.digest, "first=", NOON) == TICKET


def test_connecting_is_one_write_and_leaving_is_one(rig: Rig) -> None:
    one = replace(listener(1), token_id="t9")
    assert rig.count(lambda: rig.store.bell.add_listener(one)) == ["update_item"]
    assert rig.count(lambda: rig.store.bell.listening(WORK, 3)) == ["query"]
    assert rig.count(lambda: rig.store.bell.listeners([one.connection_id])) == ["batch_get_item"]
    assert rig.count(lambda: rig.store.bell.remove_listener(one.connection_id)) == ["update_item"]
