"""One task with its items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baton.services.reading import Rights

if TYPE_CHECKING:
    from baton.domain.principal import Principal
    from baton.domain.transcript import Usage
    from baton.ports import Baton, Dossier


def read_task(baton: Baton, by: Principal, task_id: str) -> tuple[Dossier, Usage]:
    """Returns the task with its body, and its usage. Two reads. Raises ``Unknown``."""
    dossier = baton.store.read(by.workspace, task_id, with_body=True)
    Rights(baton, by).must_read(dossier.task)
    usage, _ = baton.store.usage(by.workspace, dossier.task.workflow_id, task_id)
    return dossier, usage
