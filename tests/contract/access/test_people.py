"""People: the tokens of a human name, also in a workspace with tokens that an earlier release issued."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from baton.domain.access.principal import ACT_AS, PrincipalKind
from baton.domain.access.rights import Deed, Right
from baton.domain.access.session import OpenSessions
from baton.domain.access.token import Token
from baton.domain.errors import Conflict
from baton.domain.ids import RANDOM_BYTES, sortable_id
from baton.ports.access import Recorded
from baton.ports.store import Store
from support.clock import NOON
from support.values.records import a_session, a_token
from support.worlds.world import human

ACME = "acme"


def issued(store: Store, token: Token) -> Token:
    """As this release issues a human's token."""
    people = store.tokens.people(ACME)
    record = Recorded(people=people.saved(people.named(token.subject).with_token(token), NOON))
    store.tokens.add_token(token, None, record)
    return token


def of(number: int, name: str, right: Right = Right.APPROVER, **values: Any) -> Token:
    scopes = frozenset({ACT_AS} if right is Right.ADMINISTRATOR else ())
    return a_token(number, workspace=ACME, kind=PrincipalKind.HUMAN, subject=name, scopes=scopes, right=right, **values)


def test_tokens_of_an_earlier_release_are_found_in_the_list_of_tokens(store: Store) -> None:
    for token in (of(1, "ann"), of(2, "bob", Right.ADMINISTRATOR), of(3, "bob")):
        store.tokens.add_token(token)
    people = store.tokens.people(ACME)
    assert people.version == 0
    assert {name: each.right_at(NOON) for name, each in people.persons.items()} == {
        "ann": Right.APPROVER,
        "bob": Right.ADMINISTRATOR,
    }
    assert store.tokens.person(ACME, "bob").right_at(NOON) is Right.ADMINISTRATOR
    assert store.tokens.people(ACME).named("carol").right_at(NOON) is None


def test_first_token_of_this_release_counts_those_of_the_earlier_one(store: Store) -> None:
    store.tokens.add_token(of(1, "ann"))
    issued(store, of(2, "bob", Right.MEMBER))
    assert store.tokens.people(ACME).version == 1
    assert {name: len(each.held) for name, each in store.tokens.people(ACME).persons.items()} == {"ann": 1, "bob": 1}
    assert store.tokens.person(ACME, "bob").right_at(NOON) is Right.MEMBER


def late(number: int, name: str, **values: Any) -> Token:
    """A token that the earlier release issues after a way back, between tokens of this release."""
    at = NOON + timedelta(minutes=number)
    id_ = sortable_id("t", at, number.to_bytes(RANDOM_BYTES)).removeprefix("t_")
    return of(number, name, **{"created_at": at, "id": id_, **values})


def test_tokens_that_an_earlier_release_issues_after_a_way_back_are_found(store: Store) -> None:
    issued(store, of(1, "ann", Right.ADMINISTRATOR))
    for token in (late(2, "bob", right=Right.ADMINISTRATOR), late(3, "cy")):
        store.tokens.add_token(token)
    then = NOON + timedelta(hours=1)
    assert store.tokens.people(ACME).administrators(then) == {"ann", "bob"}
    assert store.tokens.person(ACME, "cy").right_at(then) is Right.APPROVER
    issued(store, late(200, "dan"))
    for name in ("ann", "bob", "cy", "dan"):
        assert len(store.tokens.people(ACME).named(name).held) == 1, name
    assert store.tokens.person(ACME, "bob").right_at(then) is Right.ADMINISTRATOR


def test_token_that_is_written_by_an_earlier_release_while_this_one_issues_another_is_found(store: Store) -> None:
    """Releases run beside each other for minutes, and the clocks of servers differ."""
    issued(store, late(50, "ann"))
    store.tokens.add_token(late(4, "bob"))
    assert store.tokens.people(ACME).named("bob").right_at(NOON) is Right.APPROVER


def test_person_who_left_gets_nothing_back_by_a_token_of_an_earlier_release(store: Store) -> None:
    first = issued(store, of(1, "ann"))
    people = store.tokens.people(ACME)
    left = people.saved(people.named("ann").without_token(first.id), NOON)
    store.tokens.save_revocation(first.revoked(human(), NOON), Recorded(people=left))
    store.tokens.add_token(late(9, "ann"))
    now = NOON + timedelta(hours=1)
    for ann in (store.tokens.person(ACME, "ann"), store.tokens.people(ACME).named("ann")):
        assert ann.still_may(Deed.APPROVE, NOON + timedelta(minutes=10), now)
        assert not ann.still_may(Deed.APPROVE, NOON, now)


def test_tokens_that_ended_are_not_found_again(store: Store) -> None:
    first, second = issued(store, of(1, "ann")), issued(store, late(2, "ann", expires_at=NOON + timedelta(hours=1)))
    store.tokens.add_token(late(3, "bob"))
    store.tokens.save_revocation(late(3, "bob").revoked(human(), NOON))
    people = store.tokens.people(ACME).saved(store.tokens.people(ACME).named("cy"), NOON + timedelta(hours=2))
    assert [each.token_id for each in people.named("ann").held] == [first.id]
    assert second.id not in str(people)
    assert store.tokens.people(ACME).named("bob").held == ()


def test_revoked_token_gives_no_right(store: Store) -> None:
    first, second = issued(store, of(1, "ann")), issued(store, of(2, "ann", Right.READER))
    people = store.tokens.people(ACME)
    left = people.saved(people.named("ann").without_token(first.id), NOON)
    store.tokens.save_revocation(first.revoked(human(), NOON), Recorded(people=left))
    assert store.tokens.person(ACME, "ann").right_at(NOON) is Right.READER
    assert [each.token_id for each in store.tokens.people(ACME).named("ann").held] == [second.id]


def test_revocation_by_a_release_that_knows_no_people_counts(store: Store) -> None:
    token = issued(store, of(1, "ann"))
    store.tokens.save_revocation(token.revoked(human(), NOON))
    assert store.tokens.person(ACME, "ann").right_at(NOON) is None
    assert store.tokens.people(ACME).persons == {}


def test_token_gives_no_right_once_it_has_expired(store: Store) -> None:
    issued(store, of(1, "ann", expires_at=NOON + timedelta(hours=1)))
    ann = store.tokens.person(ACME, "ann")
    assert (ann.right_at(NOON), ann.right_at(NOON + timedelta(hours=1))) == (Right.APPROVER, None)


def test_sessions_are_nobodys_tokens(store: Store) -> None:
    token = of(1, "bob")
    store.tokens.add_token(token)
    session = a_session(40, 1, ACME)
    store.sessions.add_session(session, OpenSessions(ACME, token.id).and_one(session.id))
    assert [each.token_id for each in store.tokens.people(ACME).named("bob").held] == [token.id]


def test_two_tokens_on_the_same_people_have_one_winner(store: Store) -> None:
    people = store.tokens.people(ACME)
    ann, bob = of(1, "ann"), of(2, "bob")
    store.tokens.add_token(ann, None, Recorded(people=people.saved(people.named("ann").with_token(ann), NOON)))
    with pytest.raises(Conflict):
        store.tokens.add_token(bob, None, Recorded(people=people.saved(people.named("bob").with_token(bob), NOON)))
    assert set(store.tokens.people(ACME).persons) == {"ann"}
    assert store.tokens.token(bob.id) is None
