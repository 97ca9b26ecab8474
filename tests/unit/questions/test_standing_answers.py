"""Standing answers: approvals of a kind of action, with an end, and revocable at once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.questions.question import Outcome, Question
from baton.domain.questions.standing_answer import MAX_IN_FORCE, Standing, StandingAnswer
from baton.services.access.change_settings import change_settings
from baton.services.questions.answer_question import Answer, answer_question, revoke_approval, use_approval
from baton.services.questions.ask_question import Asked
from baton.services.questions.list_questions import MAX_EARLIER, find_question
from baton.services.questions.standing_answers import list_standing_answers, revoke_standing_answer
from baton.services.tasks.sweep import sweep
from support.fakes.store import InMemoryStore
from support.worlds.office import ALICE, REFUND, Office, person
from support.worlds.world import WORKSPACE, agent, human

BERT = person("bert")
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
TOOL, THESE = Standing(only_these=False), Standing(only_these=True)
OTHER = replace(REFUND, arguments={"amount": 7, "to": "Bea"})


class Desk(Office):
    def stand(self, standing: Standing = TOOL, by: Principal = ALICE) -> StandingAnswer:
        """Approves a refund, which stands for later ones, and returns the standing answer."""
        question_id = self.ask()
        self.answer(question_id, by, standing=standing)
        return next(each for each in self.standing() if each.question_id == question_id)

    def standing(self) -> list[StandingAnswer]:
        return list(list_standing_answers(self.deps, ALICE, 100, None).items)

    def asked(self, asked: Asked = REFUND) -> Question:
        found: Question = self.question(self.ask(asked))
        return found

    def begin(self, question: Question) -> Question:
        return use_approval(self.deps, self.call, question.id, question.approved_digest or "")


def test_a_tools_standing_answer_approves_whatever_it_is_asked_for_next() -> None:
    desk = Desk()
    given = desk.stand()
    asked = desk.asked(OTHER)
    assert (asked.outcome, asked.decisions[0].by, asked.decisions[0].standing) == (Outcome.APPROVED, "alice", given.id)
    assert desk.begin(asked).used_at
    (now,) = desk.standing()
    assert (now.used, now.begun) == (1, 1)
    told = desk.deps.store.trail.events(WORKSPACE, desk.call.task_id, 0, 100)[-2].data
    assert (told["outcome"], told["approved_by"]) == ("approved", ["alice"])


def test_these_arguments_alone_stand() -> None:
    desk = Desk()
    desk.stand(THESE)
    assert desk.asked(OTHER).is_open
    assert desk.asked(REFUND).outcome is Outcome.APPROVED


@pytest.mark.parametrize("other", [replace(REFUND, tool="delete"), replace(REFUND, people=("bert",))])
def test_another_tool_and_whom_it_is_not_asked_of_have_to_be_decided(other: Asked) -> None:
    desk = Desk()
    desk.stand()
    assert desk.asked(other).is_open


def test_it_ends_after_its_times_and_at_its_time() -> None:
    desk = Desk()
    desk.stand(replace(TOOL, times=2))
    asked = [desk.asked() for _ in range(3)]
    assert [each.outcome for each in asked] == [Outcome.APPROVED, Outcome.APPROVED, Outcome.OPEN]
    assert len(desk.standing()) == 1, "what it has approved can be taken back until it is begun"
    assert [bool(desk.begin(each).used_at) for each in asked[:2]] == [True, True]
    assert desk.standing() == []
    desk.stand()
    desk.world.clock.advance(3_600)
    assert desk.asked().is_open


def test_what_it_approves_ends_with_it() -> None:
    desk = Desk()
    given = desk.stand()
    assert desk.asked().until == given.until


def test_a_revoked_one_approves_nothing_and_what_it_has_approved_allows_nothing() -> None:
    desk = Desk()
    given, asked = desk.stand(), desk.asked()
    assert revoke_standing_answer(desk.deps, BERT, given.id).revoked_by == "bert"
    assert revoke_standing_answer(desk.deps, ALICE, given.id).revoked_by == "bert"
    with pytest.raises(errors.ReceiptRefused):
        desk.begin(asked)
    assert desk.asked().is_open
    assert desk.standing() == []


def test_the_approval_that_it_was_given_with_stands_by_itself() -> None:
    desk = Desk()
    given = desk.stand()
    revoke_standing_answer(desk.deps, ALICE, given.id)
    assert desk.begin(desk.question(given.question_id)).used_at


def test_of_two_that_are_needed_each_persons_counts_once() -> None:
    desk = Desk()
    desk.stand()
    two = desk.asked(replace(REFUND, needed=2))
    assert (two.is_open, [each.by for each in two.decisions]) == (True, ["alice"])
    assert desk.answer(two.id, BERT).outcome is Outcome.APPROVED


def test_who_left_a_group_stands_for_nothing() -> None:
    desk = Desk()
    change_settings(desk.deps, ALICE, {"groups": {"leads": ("alice",)}})
    desk.stand()
    of_leads = replace(REFUND, group="leads")
    assert desk.asked(of_leads).outcome is Outcome.APPROVED
    change_settings(desk.deps, ALICE, {"groups": {"leads": ("bert",)}})
    assert desk.asked(of_leads).is_open


@pytest.mark.parametrize(
    ("answer", "field"),
    [
        (Answer(outcome=Outcome.REFUSED, reason="no", standing=TOOL), "standing"),
        (Answer(outcome=Outcome.APPROVED, digest="", arguments={"amount": 1}, standing=TOOL), "standing"),
        (
            Answer(outcome=Outcome.APPROVED, digest="", standing=replace(TOOL, until=LONG_AGO)),
            "standing.until",
        ),
    ],
)
def test_what_cannot_stand_is_refused(answer: Answer, field: str) -> None:
    desk = Desk()
    question = desk.asked()
    seen = replace(answer, digest=question.action.digest) if question.action and answer.digest is not None else answer
    with pytest.raises(errors.InvalidInput) as refused:
        answer_question(desk.deps, ALICE, desk.call.task_id, question.id, seen)
    assert refused.value.field == field
    assert desk.standing() == []


def test_only_so_many_stand_for_one_tool() -> None:
    desk = Desk()
    for number in range(MAX_IN_FORCE):
        arguments = {"amount": number}
        desk.answer(desk.ask(replace(REFUND, arguments=arguments)), standing=THESE)
    one_more = desk.ask(OTHER)
    with pytest.raises(errors.InvalidInput):
        desk.answer(one_more, standing=THESE)


def test_an_approval_that_is_taken_back_allows_nothing() -> None:
    desk = Desk()
    question = desk.asked()
    approved = desk.answer(question.id)
    revoked = revoke_approval(desk.deps, BERT, desk.call.task_id, question.id, "Wrong account")
    assert revoked.said()["outcome"] == "revoked"
    assert revoked.said()["reason"] == "Wrong account"
    assert revoke_approval(desk.deps, ALICE, desk.call.task_id, question.id, "again") == revoked
    with pytest.raises(errors.ReceiptRefused):
        use_approval(desk.deps, desk.call, question.id, approved.approved_digest or "")


def test_what_was_used_can_not_be_taken_back() -> None:
    desk = Desk()
    desk.stand()
    used = desk.begin(desk.asked())
    with pytest.raises(errors.QuestionOver):
        revoke_approval(desk.deps, ALICE, desk.call.task_id, used.id, "late")


def test_the_last_approval_of_the_same_tool_is_shown_to_people() -> None:
    desk = Desk()
    first = desk.stand(THESE)
    second = desk.ask(OTHER)
    _, earlier = find_question(desk.deps, ALICE, desk.call.task_id, second)
    assert [each.id for each in earlier] == [first.question_id]
    assert find_question(desk.deps, agent("auditor"), desk.call.task_id, second)[1] == []
    assert find_question(desk.deps, human(), desk.call.task_id, first.question_id)[1] == []


def test_the_last_approvals_of_the_same_tool_are_shown_without_revoked_ones() -> None:
    desk = Desk()
    asked = []
    for _ in range(MAX_EARLIER + 2):
        desk.world.clock.advance(1)
        asked.append(desk.ask())
        desk.answer(asked[-1], ALICE)
    revoke_approval(desk.deps, ALICE, desk.call.task_id, asked[-1], "no")
    _, earlier = find_question(desk.deps, ALICE, desk.call.task_id, desk.ask(OTHER))
    assert [each.id for each in earlier] == asked[-2:0:-1]


def test_an_approval_that_was_recorded_under_an_older_key_is_still_read() -> None:
    desk = Desk()
    first = desk.stand(THESE)
    store = desk.world.store
    assert isinstance(store, InMemoryStore)
    items = store.dynamo.items[f"WS#{WORKSPACE}#LAST-APPROVALS"]
    (key,) = items
    items[key.partition("#")[0] + "#"] = {**items.pop(key), "sk": {"S": key.partition("#")[0] + "#"}}
    second = desk.ask(OTHER)
    assert [each.id for each in find_question(desk.deps, ALICE, desk.call.task_id, second)[1]] == [first.question_id]


def test_agents_list_and_revoke_nothing() -> None:
    desk = Desk()
    given = desk.stand()
    with pytest.raises(errors.HumanNeeded):
        revoke_standing_answer(desk.deps, agent("auditor"), given.id)
    with pytest.raises(errors.HumanNeeded):
        list_standing_answers(desk.deps, agent("auditor"), 10, None)
    with pytest.raises(errors.HumanNeeded):
        revoke_approval(desk.deps, agent("auditor"), desk.call.task_id, given.question_id, "no")
    with pytest.raises(errors.Unknown):
        revoke_standing_answer(desk.deps, ALICE, "sta_nothing")


def test_a_task_that_ended_takes_no_approval_back() -> None:
    desk = Desk()
    question = desk.asked()
    desk.world.clock.advance(timedelta(days=40).total_seconds())
    sweep(desk.deps)
    with pytest.raises(errors.QuestionOver):
        revoke_approval(desk.deps, ALICE, desk.call.task_id, question.id, "late")
