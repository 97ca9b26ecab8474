"""Ending a task from outside of its work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baton.domain.verbs import Cancel, Resolve
from baton.services.change_task import change_task

if TYPE_CHECKING:
    from baton.domain.idempotency import Once
    from baton.domain.principal import Principal
    from baton.ports import Baton, Dossier


def resolve_task(
    baton: Baton, by: Principal, task_id: str, output: Any, reason: str | None, once: Once | None = None
) -> Dossier:
    """The work turned out to be done elsewhere: ``done``, with what came of it. Human only."""
    by.must_be_human("resolve a task")
    verb = Resolve(by=by, reason=reason, has_output=output is not None)
    return change_task(baton, by.workspace, task_id, lambda _: verb, once, output)


def cancel_task(baton: Baton, by: Principal, task_id: str, reason: str | None, once: Once | None = None) -> Dossier:
    """By a human or the task's creator. A worker that still holds it learns so at its next verb."""
    return change_task(baton, by.workspace, task_id, lambda _: Cancel(by=by, reason=reason), once)
