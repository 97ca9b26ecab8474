"""A handoff by its own id."""

from __future__ import annotations

from baton.domain import errors
from baton.domain.access.principal import Principal
from baton.domain.ids import handoff_id_of, task_id_of
from baton.ports.deps import Deps
from baton.ports.details import TaskDetails
from baton.steps.access.read_rights import ReadRights


def find_handoff(deps: Deps, by: Principal, handoff_id: str) -> TaskDetails:
    """Returns the handoff's record as the body, and its task with its outcome. Raises ``Unknown``."""
    task_id = task_of(handoff_id)
    try:
        found = deps.store.tasks.read(by.workspace, task_id, with_body=True)
    except errors.Unknown as exc:
        raise errors.Unknown("handoff") from exc
    ReadRights(deps, by).must_read(found.task, "handoff")
    return found


def task_of(handoff_id: str) -> str:
    """Returns the id of the handoff's task. Raises ``Unknown`` for a text that is no handoff id."""
    task_id = task_id_of(handoff_id)
    if handoff_id_of(task_id) != handoff_id:
        raise errors.Unknown("handoff")
    return task_id
