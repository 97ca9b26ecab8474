"""A human doesn't want a task now, or not at all."""

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
    """It still needs approval, but no queue shows it before ``until``; whoever knows it may approve it all the same."""
    by.must_be_human("defer a task")
    return change_task(baton, by.workspace, task_id, lambda _: Defer(by=by, until=until, revision=revision), once)


def dismiss_task(baton: Baton, by: Principal, task_id: str, reason: str, once: Once | None = None) -> Dossier:
    """Cancelled while it waits for approval, with what came of it before."""
    by.must_be_human("dismiss a task")

    def dismiss(_: Task) -> Dismiss:
        return Dismiss(by=by, reason=guarded(baton, by.workspace, {"reason": reason})["reason"])

    dossier = change_task(baton, by.workspace, task_id, dismiss, once)
    take_along(baton, dossier.task)
    return dossier
