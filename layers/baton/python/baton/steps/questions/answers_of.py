"""What people said to a task that waits for them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from baton.domain.canonical_json import canonical_json
from baton.domain.questions.question import Question
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps

# Bytes of canonical JSON, in all. An item of the table has room for 400 KB.
MAX_TOLD = 200_000
_ALWAYS = {"question_id", "outcome", "digest"}


def answers_of(deps: Deps, task: Task, now: datetime, *changed: Question) -> dict[str, Any]:
    """Returns what the task comes back with, by what it waits for; nothing for one that waits for no answers.
    ``changed``: questions as they are after the change that is decided on. What is too long to be told is left out: the
    question has it. One read."""
    wanted = () if task.wait is None else task.wait.questions
    if not wanted:
        return {}
    found = deps.store.questions.some(task.workspace, task.id, wanted)
    asked = {each.id: each for each in (*found, *changed)}
    return {"answers": _in_short(asked[each].expired(now).said() for each in wanted if each in asked)}


def _in_short(answers: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns all, those that leave no room for the next without their content: a task that comes back is one item."""
    told, room = list[dict[str, Any]](), MAX_TOLD
    for each in answers:
        size = len(canonical_json(each).encode())
        is_told = size <= room
        told.append(each if is_told else {name: each[name] for name in _ALWAYS & each.keys()} | {"is_cut": True})
        room -= size if is_told else 0
    return told
