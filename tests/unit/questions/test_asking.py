"""A worker asks people in the middle of its work, waits or goes on, and does what was approved, once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from baton.domain import errors
from baton.domain.questions.question import Outcome, QuestionKind
from baton.domain.tasks.calls import WorkerCall
from baton.services.access.change_settings import change_settings
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.questions.ask_question import Asked
from baton.services.questions.wait_for_answers import wait_for_answers
from baton.services.tasks.end_task import cancel_task
from baton.services.tasks.sweep import sweep
from baton.steps.claims.take_task import Claimed
from support.worlds.office import ALICE, AUDITOR, REFUND, Office, person
from support.worlds.world import WORKSPACE


def answers_in(claimed: Claimed) -> Any:
    assert claimed.details.resume_payload is not None
    return claimed.details.resume_payload["answers"]


@pytest.fixture
def office() -> Office:
    return Office()


def test_what_was_approved_is_done_once(office: Office) -> None:
    asked = office.ask()
    assert office.answer(asked).outcome is Outcome.APPROVED
    office.use(asked, office.digest(asked))
    with pytest.raises(errors.ReceiptRefused):
        office.use(asked, office.digest(asked))
    assert office.world.trail(office.call.task_id)[-3:] == ["question_asked", "question_decided", "approval_used"]


def test_arguments_that_a_person_changed_are_what_counts(office: Office) -> None:
    asked = office.ask()
    office.answer(asked, arguments={"amount": 50, "to": "Ada"})
    with pytest.raises(errors.ReceiptRefused):
        office.use(asked, office.digest(asked))
    said = office.question(asked).said()
    assert said["arguments"] == {"amount": 50, "to": "Ada"}
    office.use(asked, said["digest"])


def test_who_has_seen_another_action_approves_nothing(office: Office) -> None:
    asked = office.ask()
    with pytest.raises(errors.InvalidInput):
        office.answer(asked, digest="0" * 64)
    assert office.question(asked).is_open


def test_two_of_a_group_and_never_the_same_twice(office: Office) -> None:
    change_settings(office.deps, ALICE, {"groups": {"finance": ["bob", "carol"]}})
    asked = office.ask(Asked(**{**_fields(REFUND), "group": "finance", "needed": 2}))
    with pytest.raises(errors.NotAsked):
        office.answer(asked)
    for by in ("bob", "bob"):
        assert office.answer(asked, person(by)).outcome is Outcome.OPEN
    assert len(office.question(asked).decisions) == 1
    assert office.answer(asked, person("carol")).outcome is Outcome.APPROVED


def test_who_comes_back_into_a_group_says_it_once_more(office: Office) -> None:
    change_settings(office.deps, ALICE, {"groups": {"finance": ["bob", "carol"]}})
    asked = office.ask(Asked(**{**_fields(REFUND), "group": "finance", "needed": 2}))
    office.answer(asked, person("bob"))
    change_settings(office.deps, ALICE, {"groups": {"finance": ["carol", "dora"]}})
    assert office.answer(asked, person("carol")).is_open
    change_settings(office.deps, ALICE, {"groups": {"finance": ["bob", "carol"]}})
    version = office.question(asked).version
    assert office.answer(asked, person("carol")).outcome is Outcome.APPROVED
    assert office.answer(asked, person("carol")).version == version + 1


def test_open_questions_of_a_workspace_are_listed_until_they_are_closed(office: Office) -> None:
    first = office.ask()
    office.world.clock.advance(1)
    second = office.ask()
    page = office.deps.store.questions.open_questions(WORKSPACE, 1, None)
    assert [each.id for each in page.items] == [first]
    rest = office.deps.store.questions.open_questions(WORKSPACE, 10, page.cursor)
    assert [each.id for each in rest.items] == [second]
    office.answer(first, outcome=Outcome.REFUSED, reason="Too much")
    assert [each.id for each in office.deps.store.questions.open_questions(WORKSPACE, 10, None).items] == [second]


def test_who_waits_comes_back_with_what_people_said_and_uses_it_under_the_next_claim(office: Office) -> None:
    refund, question = office.ask(), office.ask(Asked(kind=QuestionKind.TEXT, text="Which colour?"))
    wait_for_answers(office.deps, office.call, [refund, question])
    office.world.clock.advance(3_600)
    office.answer(question, outcome=Outcome.ANSWERED, answer="Blue")
    assert office.world.task(office.call.task_id).state == "waiting"
    office.answer(refund)
    claimed = office.world.claim()
    assert answers_in(claimed) == [
        {"question_id": refund, "outcome": "approved", "digest": office.digest(refund)},
        {"question_id": question, "outcome": "answered", "answer": "Blue"},
    ]
    assert claimed.details.task.attempt == 1
    with pytest.raises(errors.StaleClaim):
        office.use(refund, office.digest(refund))
    office.call = WorkerCall(AUDITOR, office.call.task_id, claimed.claim_id)
    office.use(refund, office.digest(refund))


def test_who_waits_in_vain_comes_back_and_is_told_that_nobody_decided(office: Office) -> None:
    asked = office.ask(Asked(**{**_fields(REFUND), "until": office.world.clock.now() + timedelta(seconds=60)}))
    wait_for_answers(office.deps, office.call, [asked])
    office.world.clock.advance(60)
    sweep(office.deps)
    claimed = office.world.claim()
    assert answers_in(claimed) == [{"question_id": asked, "outcome": "expired"}]


@pytest.mark.parametrize("how", ["cancelled", "completed"])
def test_a_task_that_ends_takes_its_questions_back(office: Office, how: str) -> None:
    asked = office.ask()
    if how == "cancelled":
        cancel_task(office.deps, ALICE, office.call.task_id, "no longer needed")
    else:
        complete_task(office.deps, office.call, CompletedWork(output="done"))
    assert office.question(asked).outcome is Outcome.WITHDRAWN
    assert office.deps.store.questions.open_questions(WORKSPACE, 10, None).items == ()
    with pytest.raises((errors.QuestionOver, errors.TaskEnded)):
        office.answer(asked)


def test_nobody_waits_for_what_is_closed_or_anothers(office: Office) -> None:
    asked = office.ask()
    office.answer(asked)
    for wrong in ([asked], ["qst_none"], []):
        with pytest.raises((errors.QuestionOver, errors.InvalidInput)):
            wait_for_answers(office.deps, office.call, wrong)
    assert office.world.task(office.call.task_id).state == "claimed"


def test_an_expiry_is_neither_a_yes_nor_a_no(office: Office) -> None:
    asked = office.ask(Asked(**{**_fields(REFUND), "until": office.world.clock.now() + timedelta(seconds=60)}))
    office.world.clock.advance(60)
    for outcome in (Outcome.APPROVED, Outcome.REFUSED):
        with pytest.raises(errors.QuestionOver):
            office.answer(asked, outcome=outcome, reason="Late")
    with pytest.raises(errors.ReceiptRefused):
        office.use(asked, office.digest(asked))


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"tool": None}, "tool"),
        ({"kind": QuestionKind.TEXT}, "tool"),
        ({"options": ("a", "b")}, "options"),
        ({"group": "nobody"}, "group"),
        ({"needed": 9}, "needed"),
        ({"people": ("bob",), "needed": 2}, "needed"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(office: Office, changed: dict[str, Any], field: str) -> None:
    with pytest.raises(errors.InvalidInput) as refused:
        office.ask(Asked(**{**_fields(REFUND), **changed}))
    assert refused.value.field == field
    assert office.deps.store.questions.of_task(WORKSPACE, office.call.task_id) == []


def _fields(asked: Asked) -> dict[str, Any]:
    return {name: getattr(asked, name) for name in Asked.__slots__}
