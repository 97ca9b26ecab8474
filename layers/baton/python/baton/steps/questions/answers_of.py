"""What people said to a task that waits for them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from baton.domain.questions.question import Question
from baton.domain.tasks.task import Task
from baton.ports.deps import Deps


def answers_of(deps: Deps, task: Task, now: datetime, *changed: Question) -> dict[str, Any]:
    """Returns what the task comes back with, by what it waits for; nothing for one that waits for no answers.
    ``changed``: questions as they are after the change that is decided on. One read."""
    wanted = () if task.wait is None else task.wait.questions
    if not wanted:
        return {}
    asked = {each.id: each for each in (*deps.store.questions.of_task(task.workspace, task.id), *changed)}
    return {"answers": [asked[each].expired(now).said() for each in wanted if each in asked]}
