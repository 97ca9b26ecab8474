"""What becomes of questions that nobody closes: it is stored, and nothing changes it any more."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from baton.domain.questions.question import Outcome, QuestionKind
from baton.services.claims.complete_task import CompletedWork, complete_task
from baton.services.questions.ask_question import Asked
from baton.services.questions.wait_for_answers import wait_for_answers
from baton.services.tasks.sweep import sweep
from support.worlds.office import ALICE, REFUND, Office
from support.worlds.world import WORKSPACE

TEXT = Asked(kind=QuestionKind.TEXT, text="Which colour?")


@pytest.fixture
def office() -> Office:
    return Office()


def in_a_minute(office: Office) -> datetime:
    now: datetime = office.world.clock.now()
    return now + timedelta(seconds=60)


def test_what_has_expired_is_not_withdrawn_as_its_task_ends(office: Office) -> None:
    expired, left = office.ask(replace(REFUND, until=in_a_minute(office))), office.ask()
    office.world.clock.advance(60)
    sweep(office.deps)
    complete_task(office.deps, office.call, CompletedWork(output="done"))
    assert office.question(expired).outcome is Outcome.EXPIRED
    assert office.question(left).outcome is Outcome.WITHDRAWN


def test_a_question_whose_time_is_over_has_expired_although_no_sweeper_has_found_it(office: Office) -> None:
    expired = office.ask(replace(REFUND, until=in_a_minute(office)))
    office.world.clock.advance(60)
    complete_task(office.deps, office.call, CompletedWork(output="done"))
    assert office.question(expired).outcome is Outcome.EXPIRED


def test_who_waited_hears_of_an_expiry_although_another_clock_is_behind(office: Office) -> None:
    expired, asked = office.ask(replace(REFUND, until=in_a_minute(office))), office.ask(TEXT)
    wait_for_answers(office.deps, office.call, [expired, asked])
    office.world.clock.advance(60)
    sweep(office.deps)
    office.world.clock.advance(-5)  # of the process that takes the answer
    office.answer(asked, ALICE, Outcome.ANSWERED, answer="Blue")
    brought = office.world.claim().details.resume_payload
    assert brought is not None
    assert [each["outcome"] for each in brought["answers"]] == ["expired", "answered"]


def test_what_has_expired_leaves_the_index_of_open_questions(office: Office) -> None:
    office.ask(replace(REFUND, until=in_a_minute(office)))
    office.world.clock.advance(60)
    sweep(office.deps)
    office.world.clock.advance(-60)
    assert office.deps.store.questions.open_questions(WORKSPACE, 10, None).items == ()


def test_what_too_few_have_said_is_no_answer(office: Office) -> None:
    asked = office.ask(replace(TEXT, needed=2, until=in_a_minute(office)))
    action = office.ask(replace(REFUND, needed=2, until=in_a_minute(office)))
    office.answer(asked, ALICE, Outcome.ANSWERED, answer="Blue")
    office.answer(action, ALICE, arguments={"amount": 1})
    office.world.clock.advance(60)
    sweep(office.deps)
    for each in (asked, action):
        assert office.question(each).said() == {"question_id": each, "outcome": "expired"}
