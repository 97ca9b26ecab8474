"""Rights: every deed has one least right, and a person's right follows from their tokens."""

from __future__ import annotations

from datetime import timedelta

import pytest

from baton.adapters.dynamodb import items
from baton.adapters.dynamodb.item_schema import LOWERED_RIGHTS, NUMBER, ItemSchema
from baton.domain.access.person import FOREVER, HeldRight, People, Person, people_of
from baton.domain.access.principal import ACT_AS, Principal, PrincipalKind, tracker_human
from baton.domain.access.rights import Deed, Right, may
from baton.domain.errors import HumanNeeded, RightNeeded, WrittenByNewer
from support.clock import NOON
from support.values.tokens import token_of
from support.worlds.world import WORKSPACE, agent, human, person, service

ORDER = (Right.READER, Right.MEMBER, Right.APPROVER, Right.ADMINISTRATOR)
SOON, LATER = NOON + timedelta(hours=1), NOON + timedelta(days=1)


def test_every_deed_has_a_least_right() -> None:
    assert {each.least for each in Deed} == set(Right)


def test_a_right_includes_the_lower_ones_and_no_higher_one() -> None:
    for place, right in enumerate(ORDER):
        assert [right.covers(each) for each in ORDER] == [place >= other for other in range(len(ORDER))]


@pytest.mark.parametrize("deed", Deed)
def test_a_person_does_the_deeds_of_their_right(deed: Deed) -> None:
    for right in Right:
        by = person(right)
        assert by.may_do(deed) is right.covers(deed.least)
        if by.may_do(deed):
            by.must_have(deed)
            continue
        with pytest.raises(RightNeeded) as refused:
            by.must_have(deed)
        assert refused.value.fields == {"action": deed.value, "right": deed.least, "has": right}


@pytest.mark.parametrize("by", [agent("auditor"), service(), service(act_as=False)], ids=lambda by: by.key)
@pytest.mark.parametrize("deed", Deed)
def test_agents_and_services_have_no_right_and_are_refused_the_deeds_of_people(by: Principal, deed: Deed) -> None:
    assert by.right is None
    assert not by.may_do(deed)
    if deed.is_for_people_only:
        with pytest.raises(HumanNeeded):
            by.must_have(deed)
    else:
        by.must_have(deed)


def test_human_without_a_right_is_an_administrator_by_act_as_and_else_an_approver() -> None:
    assert Principal(WORKSPACE, PrincipalKind.HUMAN, "ann", frozenset({ACT_AS})).right is Right.ADMINISTRATOR
    assert Principal(WORKSPACE, PrincipalKind.HUMAN, "ann").right is Right.APPROVER
    assert tracker_human(WORKSPACE, "u1").right is Right.APPROVER
    assert not may(None, Deed.READ)


def test_a_service_or_agent_gets_no_right_even_if_one_is_given() -> None:
    for kind in (PrincipalKind.SERVICE, PrincipalKind.AGENT):
        assert Principal(WORKSPACE, kind, "ci", right=Right.ADMINISTRATOR).right is None


# Stored


@pytest.mark.parametrize("right", Right)
def test_token_keeps_its_right_and_only_a_lowered_one_has_a_number_of_its_own(right: Right) -> None:
    item = items.token_item(token_of(person(right)))
    read = items.token_from({name: value for name, value in item.items() if name != NUMBER and value is not None})
    assert read == token_of(person(right))
    assert read.right is right
    lowered = right in {Right.READER, Right.MEMBER}
    assert item.get(NUMBER) == (LOWERED_RIGHTS if lowered else None)


def test_release_before_refuses_a_token_with_a_lowered_right() -> None:
    before = ItemSchema(number=1)
    for right in (Right.READER, Right.MEMBER):
        with pytest.raises(WrittenByNewer):
            before.read(items.token_item(token_of(person(right))))


# People


def held(right: Right, expires_at: object = None, token_id: str = "t1") -> HeldRight:
    return HeldRight(token_id, right, expires_at)  # type: ignore[arg-type]


def test_the_right_of_a_person_is_the_highest_of_their_valid_tokens() -> None:
    ann = Person(WORKSPACE, "ann", (held(Right.APPROVER, SOON), held(Right.READER), held(Right.MEMBER, LATER)))
    assert ann.right_at(NOON) is Right.APPROVER
    assert ann.right_at(SOON - timedelta(microseconds=1)) is Right.APPROVER
    assert ann.right_at(SOON) is Right.MEMBER
    assert ann.right_at(LATER) is Right.READER
    assert Person(WORKSPACE, "ann").right_at(NOON) is None


def test_administrators_are_counted_by_name_while_one_of_their_tokens_is_valid() -> None:
    ann = Person(WORKSPACE, "ann", (held(Right.ADMINISTRATOR, SOON), held(Right.ADMINISTRATOR, LATER)))
    bob = Person(WORKSPACE, "bob", (held(Right.APPROVER), held(Right.ADMINISTRATOR, SOON)))
    people = People(WORKSPACE, {"ann": ann, "bob": bob})
    assert people.administrators(NOON) == {"ann", "bob"}
    assert people.administrators(SOON) == {"ann"}
    assert (ann.administers_until(NOON), bob.administers_until(SOON)) == (LATER, SOON)
    assert Person(WORKSPACE, "cy", (held(Right.ADMINISTRATOR),)).administers_until(NOON) == FOREVER


def test_people_are_made_of_humans_tokens_that_are_not_revoked() -> None:
    ann = token_of(human(name="ann"))
    tokens = [ann, ann.revoked(human(), NOON), token_of(agent("auditor")), token_of(service())]
    assert people_of(WORKSPACE, tokens).persons == {
        "ann": Person(WORKSPACE, "ann", (HeldRight(ann.id, Right.ADMINISTRATOR),))
    }


def test_saved_people_have_no_expired_tokens_and_nobody_without_a_token() -> None:
    people = People(WORKSPACE, {"ann": Person(WORKSPACE, "ann", (held(Right.READER, SOON), held(Right.MEMBER, LATER)))})
    bob = Person(WORKSPACE, "bob", (held(Right.MEMBER, SOON),))
    after = people.saved(bob, SOON)
    assert after.version == 1
    assert {name: each.held for name, each in after.persons.items()} == {"ann": (held(Right.MEMBER, LATER),)}
