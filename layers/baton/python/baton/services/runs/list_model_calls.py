"""When a task's model was called, and what each call took: of a task that Baton runs."""

from __future__ import annotations

from baton.domain.access.principal import Principal
from baton.domain.runs.transcript import EntryKind
from baton.ports.deps import Deps
from baton.ports.paging import Page
from baton.steps.access.read_rights import readable_task


def list_model_calls(deps: Deps, by: Principal, task_id: str, limit: int, cursor: str | None) -> Page:
    """Returns the replies of ``limit`` entries of the task's transcript, in order. A call without a reply that was kept
    isn't among them. Raises ``Unknown``."""
    readable_task(deps, by, task_id)
    page = deps.store.runs.entries(by.workspace, task_id, limit, cursor)
    return Page(tuple(entry for entry in page.items if entry.kind is EntryKind.REPLY), page.cursor)
