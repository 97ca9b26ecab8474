"""A human defers or dismisses a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.domain.verbs import Defer, Dismiss
from baton.services.change_task import change_task
from baton.services.end_task import take_along
from baton.services.guarded import guarded

if TYPE_CHECKING:
    from datetime import datetime

    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.domain.task import Task
    from baton.ports import Baton, Dossier


def defer_task(
    baton: Baton, by: Principal, task_id: str, until: datetime, revision: int | None, once: Once | None = None
) -> Dossier:
    """Hides the task from every queue until ``until``. It still needs approval, and a caller that knows it may approve
    it before then."""
    by.must_be_human("defer a task")
    return change_task(baton, by.workspace, task_id, lambda _: Defer(by=by, until=until, revision=revision), once)


def dismiss_task(baton: Baton, by: Principal, task_id: str, reason: str, once: Once | None = None) -> Dossier:
    """Cancels a task that waits for approval, with its descendants."""
    by.must_be_human("dismiss a task")

    def dismiss(_: Task) -> Dismiss:
        return Dismiss(by=by, reason=guarded(baton, by.workspace, {"reason": reason})["reason"])

    dossier = change_task(baton, by.workspace, task_id, dismiss, once)
    take_along(baton, dossier.task)
    return dossier
