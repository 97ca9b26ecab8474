"""What questions to people change in a task (docs/spec/questions.md)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from baton.domain import errors
from baton.domain.access.rights import Deed
from baton.domain.questions.question import MAX_OF_TASK, MAX_OPEN, Outcome
from baton.domain.task_state import State
from baton.domain.tasks import commands
from baton.domain.tasks.change import Change, EventRecorder, requeue
from baton.domain.tasks.event_type import EventType
from baton.domain.tasks.task import Task


def ask(task: Task, command: commands.Ask, at: datetime) -> Change:
    """Also extends the claim. Raises ``StaleClaim`` and ``TooManyQuestions``."""
    claim = task.current_claim(command.claim_id, command.by)
    if len(task.questions) >= MAX_OPEN or task.asked >= MAX_OF_TASK:
        raise errors.TooManyQuestions(task.id, MAX_OPEN, MAX_OF_TASK)
    recorder = EventRecorder(task, task, command.by, at)
    questions = task.questions if command.question is None else (*task.questions, command.question)
    recorder.record(EventType.QUESTION_ASKED, command.told, asked=task.asked + 1, questions=questions)
    recorder.task = recorder.task.changed(claim=claim.renewed(at, None, task.hard_deadline))
    return recorder.end()


def decide(task: Task, command: commands.Decide, at: datetime) -> Change:
    """Raises ``HumanNeeded``, ``TaskEnded``, and ``QuestionOver`` for one that the task no longer waits for."""
    command.by.must_have(Deed.ANSWER)
    if task.is_ended:
        raise errors.TaskEnded(task.id, task.state)
    is_open = any(each.id == command.question_id and each.until > at for each in task.questions)
    if not is_open:
        raise errors.QuestionOver(command.question_id, "closed")
    recorder = EventRecorder(task, task, command.by, at)
    left = task.questions
    if command.outcome != Outcome.OPEN:
        left = tuple(each for each in left if each.id != command.question_id)
    recorder.record(EventType.QUESTION_DECIDED, {**command.told, "outcome": command.outcome}, questions=left)
    _resume_answered(recorder, command.resume_payload)
    return recorder.end()


def revoke_approval(task: Task, command: commands.RevokeApproval, at: datetime) -> Change:
    """The question itself says whether it may be revoked. Raises ``HumanNeeded`` and ``TaskEnded``."""
    command.by.must_have(Deed.REVOKE_APPROVAL)
    if task.is_ended:
        raise errors.TaskEnded(task.id, task.state)
    recorder = EventRecorder(task, task, command.by, at)
    recorder.record(EventType.APPROVAL_REVOKED, command.told)
    return recorder.end()


def use_approval(task: Task, command: commands.UseApproval, at: datetime) -> Change:
    """Also extends the claim. The question itself says whether it may be used. Raises ``StaleClaim``."""
    claim = task.current_claim(command.claim_id, command.by)
    recorder = EventRecorder(task, task, command.by, at)
    recorder.record(EventType.APPROVAL_USED, {"question_id": command.question_id, "digest": command.digest})
    recorder.task = recorder.task.changed(claim=claim.renewed(at, None, task.hard_deadline))
    return recorder.end()


def expire_questions(recorder: EventRecorder, answers: dict[str, Any]) -> list[str]:
    """Takes out what nobody has decided in time. A task that waits for nothing else goes on."""
    over = [each for each in recorder.task.questions if each.until <= recorder.at]
    for question in over:
        left = tuple(each for each in recorder.task.questions if each != question)
        recorder.record(EventType.QUESTION_EXPIRED, {"question_id": question.id}, questions=left)
    if over:
        _resume_answered(recorder, answers)
    return ["question_expired"] if over else []


def _resume_answered(recorder: EventRecorder, resume_payload: dict[str, Any]) -> None:
    """Ends a wait whose last question is closed. A wait uses no attempt."""
    task, wait = recorder.task, recorder.task.wait
    if task.state is not State.WAITING or wait is None or not wait.questions:
        return
    if {each.id for each in task.questions} & {*wait.questions}:
        return
    data = {"by": "answered", "wait": wait.number}
    requeue(recorder, EventType.RESUMED, data, ready_at=recorder.at, wait=None)
    recorder.extras["resume_payload"] = {"wait": wait.number, "questions": list(wait.questions), **resume_payload}
