"""What questions change in a task: its trail says who asked, who decided, and what was done with it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from baton.domain import errors
from baton.domain.access.principal import SWEEPER, system
from baton.domain.questions.question import MAX_OPEN
from baton.domain.tasks import commands
from baton.domain.tasks.change import Change
from baton.domain.tasks.task import OpenQuestion, Task, Wait
from baton.domain.tasks.transitions import transition
from baton.domain.tasks.wake import next_look
from support.worlds.world import WORKSPACE, World, agent, human

CODER = agent("auditor")


class Desk:
    """One claimed task; each change is committed, so that its trail is checked."""

    def __init__(self) -> None:
        self.world = World().settle()
        claimed = self.world.claimed()
        self.claim_id, self.task_id = claimed.claim_id, claimed.details.task.id

    @property
    def now(self) -> datetime:
        return self.world.clock.now()

    @property
    def task(self) -> Task:
        return self.world.task(self.task_id)

    def does(self, command: commands.TaskCommand) -> Change:
        change = transition(self.task, command, self.now)
        self.world.store.commit(WORKSPACE, change)
        assert self.world.trail(self.task_id)[-1] == change.events[-1].type if change.events else True
        return change

    def asks(self, name: str, seconds: int = 3_600, claim_id: str = "") -> Change:
        question = OpenQuestion(name, self.now + timedelta(seconds=seconds))
        told = {"question_id": name}
        return self.does(commands.Ask(by=CODER, claim_id=claim_id or self.claim_id, question=question, told=told))

    def waits_for(self, *names: str) -> Change:
        at = self.now
        wait = Wait(number=1, since=at, alert_at=at + timedelta(days=1), questions=names)
        return self.does(commands.WaitFor(by=CODER, claim_id=self.claim_id, wait=wait))

    def decides(self, name: str, outcome: str = "approved", by: Any = None) -> Change:
        told = {"question_id": name, "decided": outcome}
        payload = {"answers": {name: outcome}}
        return self.does(
            commands.Decide(by=by or human(), question_id=name, told=told, outcome=outcome, resume_payload=payload)
        )

    def sweeps(self) -> Change:
        return self.does(commands.Sweep(by=system(WORKSPACE, SWEEPER), agent=None))


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_the_trail_says_who_asked_and_who_decided(desk: Desk) -> None:
    desk.asks("q_1")
    desk.decides("q_1")
    desk.does(commands.UseApproval(by=CODER, claim_id=desk.claim_id, question_id="q_1", digest="d"))
    assert desk.world.trail(desk.task_id)[-3:] == ["question_asked", "question_decided", "approval_used"]
    asked, decided, used = desk.world.store.trail.events(WORKSPACE, desk.task_id, 0, 100)[-3:]
    assert [(each.principal_kind, each.principal_id) for each in (asked, decided, used)] == [
        ("agent", "auditor"),
        ("human", human().id),
        ("agent", "auditor"),
    ]
    assert (desk.task.asked, desk.task.questions, desk.task.state) == (1, (), "claimed")


def test_who_waits_comes_back_with_the_last_answer_and_loses_no_attempt(desk: Desk) -> None:
    desk.asks("q_1")
    desk.asks("q_2")
    attempt = desk.task.attempt
    desk.waits_for("q_1", "q_2")
    assert (desk.task.state, desk.task.attempt) == ("waiting", attempt - 1)
    assert desk.decides("q_1").resume_payload is None
    assert desk.task.state == "waiting"
    change = desk.decides("q_2")
    assert (desk.task.state, desk.task.wait, desk.task.target_agent) == ("delegated", None, "auditor")
    assert change.resume_payload == {"wait": 1, "questions": ["q_1", "q_2"], "answers": {"q_2": "approved"}}


def test_a_question_that_more_have_to_decide_stays_open(desk: Desk) -> None:
    desk.asks("q_1")
    desk.decides("q_1", "open")
    assert [each.id for each in desk.task.questions] == ["q_1"]


def test_what_nobody_decides_in_time_expires_and_the_task_goes_on(desk: Desk) -> None:
    desk.asks("q_1", 60)
    desk.asks("q_2", 7_200)
    desk.waits_for("q_1")
    assert next_look(desk.task, desk.now) == desk.now + timedelta(seconds=60)
    desk.world.clock.advance(60)
    assert "question_expired" in desk.sweeps().reasons
    assert desk.world.trail(desk.task_id)[-2:] == ["question_expired", "resumed"]
    assert ([each.id for each in desk.task.questions], desk.task.state) == (["q_2"], "delegated")


@pytest.mark.parametrize("late", ["expired", "decided", "another", "ended"])
def test_a_decision_that_comes_too_late_is_refused(desk: Desk, late: str) -> None:
    desk.asks("q_1", 60)
    if late == "expired":
        desk.world.clock.advance(60)
    elif late == "decided":
        desk.decides("q_1")
    elif late == "ended":
        desk.does(commands.Cancel(by=human()))
    with pytest.raises((errors.QuestionOver, errors.TaskEnded)):
        desk.decides("q_2" if late == "another" else "q_1")


def test_nobody_but_a_human_decides_and_nobody_but_the_holder_asks(desk: Desk) -> None:
    desk.asks("q_1")
    for by in (CODER, system(WORKSPACE, SWEEPER)):
        with pytest.raises(errors.HumanNeeded):
            desk.decides("q_1", by=by)
    with pytest.raises(errors.StaleClaim):
        desk.asks("q_2", claim_id="clm_of_another")


def test_a_task_asks_no_more_than_people_can_answer(desk: Desk) -> None:
    for number in range(MAX_OPEN):
        desk.asks(f"q_{number}")
    with pytest.raises(errors.TooManyQuestions):
        desk.asks("q_more")
    desk.decides("q_0")
    desk.asks("q_more")
