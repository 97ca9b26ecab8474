"""Compares a question with the trail of its task before its approval is used."""

from __future__ import annotations

from collections.abc import Iterator

from baton.domain import errors
from baton.domain.questions.question import Question
from baton.domain.tasks.question_check import agrees, told_by
from baton.domain.tasks.tail import event_from
from baton.domain.tasks.task import Task
from baton.domain.tasks.trail import Event
from baton.ports.deps import Deps

PAGE = 100


def must_agree_with_trail(deps: Deps, task: Task, question: Question) -> None:
    """Raises ``ReceiptRefused`` if the stored question differs from its digest in the trail: its item was changed past
    Baton. Reads the trail only if the last decision is no longer in the task's tail."""
    told = told_by(event_from(entry, "") for entry in task.meta.tail if entry).get(question.id)
    if told is None or not told.digest:
        told = told_by(_events(deps, task)).get(question.id)
    if not agrees(told, question, is_ended=False):
        raise errors.ReceiptRefused(question.id, "the stored question differs from its digest in the task's trail")


def _events(deps: Deps, task: Task) -> Iterator[Event]:
    after = 0
    while events := deps.store.trail.events(task.workspace, task.id, after, PAGE):
        yield from events
        if len(events) < PAGE:
            return
        after = events[-1].seq
