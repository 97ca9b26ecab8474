"""The notes about a task or a manual review, and a task's late results."""

from __future__ import annotations

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.ports.deps import Deps
from baton.ports.paging import Page
from baton.steps.access.read_rights import readable_task

_MOST_DIGITS = 8


def notes_of_task(deps: Deps, by: Principal, task_id: str, limit: int, cursor: str | None) -> Page:
    """Returns the task's notes, newest first. Raises ``Unknown``."""
    readable_task(deps, by, task_id)
    return list_notes(deps, by.workspace, task_id, limit, cursor)


def late_results_of_task(deps: Deps, by: Principal, task_id: str, limit: int, cursor: str | None) -> Page:
    """Returns the task's late results, as ``late_results`` does. Raises ``Unknown``."""
    readable_task(deps, by, task_id)
    return late_results(deps, by.workspace, task_id, limit, cursor)


def list_notes(deps: Deps, workspace: str, about: str, limit: int, cursor: str | None) -> Page:
    """Returns the notes, newest first."""
    found = deps.store.tasks.notes(workspace, about, limit + 1, cursor)
    page = found[:limit]
    return Page(page, page[-1].id if len(found) > limit else None)


def late_results(deps: Deps, workspace: str, task_id: str, limit: int, cursor: str | None) -> Page:
    """Returns the late results, ordered by the fences of their claims. Raises ``InvalidInput`` for a cursor that is no
    fence."""
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) <= _MOST_DIGITS):
        raise errors.InvalidInput("cursor", "is not one that was given out")
    found = deps.store.trail.late_results(workspace, task_id, limit + 1, int(cursor or 0))
    page = found[:limit]
    return Page(page, str(page[-1].claim_fence) if len(found) > limit else None)
