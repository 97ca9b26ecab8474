"""Who may answer, how many have to, and what an approval allows."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baton.domain import errors
from baton.domain.access.principal import Principal, PrincipalKind
from baton.domain.questions.approvers import Approvers
from baton.domain.questions.question import Action, Decision, Outcome, Question, QuestionKind

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
GROUPS = {"finance": ("alice", "bob"), "empty": ()}
REFUND = Action(tool="refund", arguments={"amount": 100, "to": "Ada"}, why="It broke")


def person(name: str) -> Principal:
    return Principal("acme", PrincipalKind.HUMAN, name)


def question(**values: Any) -> Question:
    made = Question(
        workspace="acme",
        id="q_1",
        task_id="task_1",
        kind=QuestionKind.ACTION,
        text="May I?",
        asked_by="agent:clerk",
        agent="clerk",
        fence=1,
        asked_at=NOW,
        until=NOW + timedelta(hours=1),
        approvers=Approvers(never=("agent:clerk",)),
        action=REFUND,
    )
    return replace(made, **values)


def approval(by: str, action: Action = REFUND, at: datetime = NOW) -> Decision:
    return Decision(by=by, at=at, outcome=Outcome.APPROVED, digest=action.digest)


def refusal(by: str) -> Decision:
    return Decision(by=by, at=NOW, outcome=Outcome.REFUSED, reason="Too much")


def decided(asked: Question, *decisions: Decision, groups: Any = GROUPS) -> Question:
    for each in decisions:
        asked = asked.decided(person(each.by), each, groups)
    return asked


def of(needed: int = 1, *people: str, group: str | None = None) -> Approvers:
    return Approvers(people=people, group=group, needed=needed, never=("human:carol",))


def test_one_approval_is_enough_unless_more_are_needed() -> None:
    assert decided(question(), approval("alice")).outcome is Outcome.APPROVED
    two = question(approvers=of(2))
    assert decided(two, approval("alice")).outcome is Outcome.OPEN
    assert decided(two, approval("alice"), approval("bob")).outcome is Outcome.APPROVED


def test_the_same_person_counts_once() -> None:
    assert decided(question(approvers=of(2)), approval("alice"), approval("alice")).outcome is Outcome.OPEN


@pytest.mark.parametrize("order", [*permutations(["alice", "bob"])])
def test_two_who_approve_different_arguments_have_approved_neither(order: tuple[str, str]) -> None:
    other = REFUND.with_arguments({"amount": 50, "to": "Ada"})
    asked = decided(question(approvers=of(2)), approval(order[0]), approval(order[1], other))
    assert asked.outcome is Outcome.OPEN
    agreed = decided(asked, approval(order[0], other))
    assert (agreed.outcome, agreed.approved_digest) == (Outcome.APPROVED, other.digest)


def test_one_refusal_ends_it_whoever_approved_before() -> None:
    assert decided(question(approvers=of(2)), approval("alice"), refusal("bob")).outcome is Outcome.REFUSED


@pytest.mark.parametrize(
    ("by", "approvers"),
    [
        (person("carol"), of()),  # on whose behalf it is asked
        (person("carol"), of(1, "carol", "alice")),
        (person("dora"), of(1, "alice")),
        (person("dora"), of(1, group="finance")),
        (Principal("acme", PrincipalKind.AGENT, "alice"), of(1, "alice")),
        (Principal("acme", PrincipalKind.SERVICE, "alice", frozenset({"act_as"})), of()),
    ],
)
def test_who_is_not_asked_can_not_decide(by: Principal, approvers: Approvers) -> None:
    with pytest.raises(errors.NotAsked):
        question(approvers=approvers).decided(by, approval(by.id), GROUPS)


def test_who_was_removed_between_counts_no_more() -> None:
    asked = decided(question(approvers=of(2, group="finance")), approval("alice"))
    later = {"finance": ("bob", "dora")}
    assert decided(asked, approval("bob"), groups=later).outcome is Outcome.OPEN
    assert decided(asked, approval("bob"), approval("dora"), groups=later).outcome is Outcome.APPROVED
    assert asked.approvers.is_hopeless({"finance": ()})
    assert not asked.approvers.is_hopeless(GROUPS)


@pytest.mark.parametrize(
    ("approvers", "field"),
    [(of(3, group="finance"), "needed"), (of(1, group="none"), "group"), (of(1, "carol"), "needed"), (of(0), "needed")],
)
def test_a_rule_that_nobody_could_meet_is_refused(approvers: Approvers, field: str) -> None:
    with pytest.raises(errors.InvalidInput) as refused:
        approvers.check(GROUPS)
    assert refused.value.field == field


def test_an_expiry_is_neither_a_yes_nor_a_no() -> None:
    over = NOW + timedelta(hours=1)
    for decision in (approval("alice", at=over), replace(refusal("alice"), at=over)):
        with pytest.raises(errors.QuestionOver) as refused:
            decided(question(), decision)
        assert refused.value.fields["outcome"] == "expired"
    assert question().expired(over).outcome is Outcome.EXPIRED
    assert question().expired(NOW).outcome is Outcome.OPEN


@pytest.mark.parametrize("outcome", [each for each in Outcome if each is not Outcome.OPEN])
def test_what_is_closed_stays_as_it_is(outcome: Outcome) -> None:
    closed = question(outcome=outcome)
    with pytest.raises(errors.QuestionOver):
        decided(closed, approval("alice"))
    assert closed.expired(NOW + timedelta(days=1)) == closed.withdrawn() == closed


def test_a_question_takes_only_answers_of_its_kind() -> None:
    text = question(kind=QuestionKind.TEXT, action=None)
    yes = Decision(by="alice", at=NOW, outcome=Outcome.ANSWERED, answer="Yes")
    assert decided(text, yes).outcome is Outcome.ANSWERED
    for asked, wrong in [
        (text, approval("alice")),
        (question(), yes),
        (question(), replace(approval("alice"), digest=None)),
        (question(), replace(refusal("alice"), reason=None)),
        (question(kind=QuestionKind.CHOICE, options=("a", "b")), yes),
    ]:
        with pytest.raises(errors.InvalidInput):
            decided(asked, wrong)


def test_an_approval_is_used_once_for_what_was_approved() -> None:
    approved = decided(question(), approval("alice"))
    used = approved.used(REFUND.digest, "clerk", NOW)
    assert used.used_at == NOW
    over = NOW + timedelta(hours=1)
    other = REFUND.with_arguments({"amount": 101, "to": "Ada"})
    for tried, digest, agent, at in [
        (used, REFUND.digest, "clerk", NOW),
        (approved, other.digest, "clerk", NOW),
        (approved, REFUND.digest, "other", NOW),
        (approved, REFUND.digest, "clerk", over),
        (question(), REFUND.digest, "clerk", NOW),
        (decided(question(), refusal("alice")), REFUND.digest, "clerk", NOW),
        (question().expired(over), REFUND.digest, "clerk", NOW),
    ]:
        with pytest.raises(errors.ReceiptRefused):
            tried.used(digest, agent, at)


NAMES = st.sampled_from(["alice", "bob", "carol", "dora"])


@given(st.lists(st.tuples(NAMES, st.integers(0, 1), st.booleans()), max_size=8), st.integers(1, 3))
def test_nothing_is_approved_without_as_many_people_for_the_same_arguments(tries: Any, needed: int) -> None:
    actions = [REFUND, REFUND.with_arguments({"amount": 1})]
    asked = question(approvers=of(needed))
    for name, which, is_refusal in tries:
        try:
            decision = refusal(name) if is_refusal else approval(name, actions[which])
            asked = decided(asked, decision)
        except (errors.NotAsked, errors.QuestionOver):
            continue
    agreed = {each.by for each in asked.decisions if each.digest == asked.approved_digest}
    assert asked.outcome is not Outcome.APPROVED or len(agreed - {"carol"}) >= needed
